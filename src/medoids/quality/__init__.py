"""How good a clustering is, and which number of clusters to take.

- ``fitted.py``: what any fit found, for the functions that look at it.
- ``silhouettes.py``: how well points lie in their clusters, without a matrix.
- ``certificate.py``: whether a swap improves, and a lower bound on the best loss.
- ``membership.py``: how much a point belongs to each medoid.
- ``typical.py``: the most typical members of clusters that anybody made.
- ``k_path.py``: a clustering for every k in a range, and which one to take.

Imports the pipeline and what is below it.
"""
