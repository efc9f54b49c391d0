# Size, distances to the medoid and, where all pairs are known, diameter, separation and isolation of each cluster.
# Distances are d(i, j) at [i, j], and may be asymmetric.
cluster_statistics <- function(clustering, k, distances, weights, pairs) {
  members <- split(seq_along(clustering), factor(clustering, seq_len(k)))
  average <- function(rows) {
    if (is.null(weights)) mean(distances[rows]) else sum(weights[rows] * distances[rows]) / sum(weights[rows])
  }
  highest <- function(values) if (length(values)) max(values) else NA_real_
  clusinfo <- cbind(
    size = lengths(members),
    max_diss = vapply(members, function(rows) highest(distances[rows]), 0),
    av_diss = vapply(members, average, 0),
    diameter = NA_real_,
    separation = NA_real_
  )
  rownames(clusinfo) <- NULL
  isolation <- rep(NA_integer_, k)
  if (!is.null(pairs)) {
    for (cluster in seq_len(k)) {
      rows <- members[[cluster]]
      if (!length(rows)) next
      within <- pairs[rows, rows, drop = FALSE]
      diag(within) <- 0
      widest <- apply(within, 1, max)
      nearest <- if (k > 1) apply(pairs[rows, -rows, drop = FALSE], 1, min) else rep(0, length(rows))
      clusinfo[cluster, "diameter"] <- max(widest)
      clusinfo[cluster, "separation"] <- min(nearest)
      # Rousseeuw's: an L-cluster holds, for each member, all that is nearer than anything outside; an L*-cluster is
      # narrower than its distance to the others.
      isolation[cluster] <- if (length(rows) == 1 || k == 1 || any(widest >= nearest)) {
        0L
      } else if (max(widest) < min(nearest)) {
        2L
      } else {
        1L
      }
    }
  }
  isolation <- factor(isolation, levels = 0:2, labels = c("no", "L", "L*"))
  list(clusinfo = clusinfo, isolation = stats::setNames(isolation, seq_len(k)))
}

# Silhouettes (Rousseeuw 1987) in the form of pam().
exact_silhouettes <- function(clustering, k, pairs, labels) {
  n <- length(clustering)
  sizes <- tabulate(clustering, k)
  sums <- matrix(0, k, n)
  present <- which(sizes > 0)
  sums[present, ] <- rowsum(pairs, factor(clustering, present))
  own <- cbind(clustering, seq_len(n))
  within <- (sums[own] - diag(pairs)) / (sizes[clustering] - 1)
  means <- sums / sizes
  means[own] <- Inf
  means[sizes == 0, ] <- Inf
  neighbor <- max.col(t(-means), ties.method = "first")
  between <- means[cbind(neighbor, seq_len(n))]
  widths <- (between - within) / pmax(between, within)
  widths[sizes[clustering] == 1 | is.nan(widths)] <- 0
  in_silinfo(seq_len(n), clustering, neighbor, widths, k, labels)
}

in_silinfo <- function(rows, cluster, neighbor, widths, k, labels) {
  order <- order(cluster, -widths)
  table <- cbind(cluster = cluster, neighbor = neighbor, sil_width = widths)[order, , drop = FALSE]
  rownames(table) <- if (is.null(labels)) rows[order] else labels[rows[order]]
  averages <- vapply(seq_len(k), function(one) {
    here <- widths[cluster == one]
    if (length(here)) mean(here) else NA_real_
  }, 0)
  list(widths = table, clus.avg.widths = averages, avg.width = mean(widths))
}

# Silhouettes of sampled rows, each compared with all rows. The neighbor is the cluster of the second nearest medoid.
sampled_silhouettes <- function(found, input, clustering, order, id) {
  if (!is.null(input$distance)) return(NULL)
  given <- by_matrix(input)
  samples <- as.integer(min(sampled_rows, input$n))
  drawn <- run(engine()$sampled_silhouette, found = found$python, X = to_python(given), samples = samples,
               seed = found$seed, names = input$columns)
  drawn <- from_python(drawn)
  rows <- as.integer(drawn$rows) + 1L
  silinfo <- in_silinfo(rows, clustering[rows], second_nearest(given, id, rows, clustering[rows]),
                        as.numeric(drawn$widths), found$k, input$labels)
  silinfo$avg.width <- drawn$value
  structure(silinfo, sampled = length(rows))
}

second_nearest <- function(input, id, rows, cluster) {
  distances <- if (input$kind == "matrix") {
    t(input$values[id, rows, drop = FALSE])
  } else if (input$kind == "stored") {
    return(rep(NA_integer_, length(rows)))
  } else {
    distances_from(with_rows(input, id), length(id), with_rows(input, rows))
  }
  distances[cbind(seq_along(rows), cluster)] <- Inf
  max.col(-distances, ties.method = "first")
}

with_rows <- function(input, rows) {
  input$values <- take(input, rows)
  input$n <- length(rows)
  input
}
