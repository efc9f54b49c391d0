"""How good a clustering is, and which number of clusters to take: silhouettes, certificates, paths over k."""
