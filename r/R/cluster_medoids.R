#' The most typical members of given clusters
#'
#' The medoid of each cluster that somebody else made: [stats::kmeans()], [stats::cutree()], a column of a table.
#'
#' @param x,metric,weights,stand,diss,... As for [kmedoids()].
#' @param labels The cluster of each row: numbers, texts or a factor. Rows with `NA`, or the number -1, which
#'   stands for noise, are left out.
#' @param n How many members of each cluster, the most typical first.
#' @return A data frame with the columns `label`, `row`, `mean_distance` (to the members of the cluster) and `size`.
#' @examplesIf medoids_available() && reticulate::py_has_attr(reticulate::import("medoids"), "cluster_medoids")
#' cluster_medoids(iris[, 1:4], iris$Species)
#' @export
cluster_medoids <- function(x, labels, n = 1, metric = "euclidean", ..., weights = NULL, stand = FALSE,
                            diss = inherits(x, "dist")) {
  dots <- split_dots(list(...))
  input <- as_input(x, if (missing(metric)) NULL else metric, dots$params, diss = diss, stand = stand)
  if (length(labels) != input$n) {
    medoids_error(sprintf("labels must be %d values, one for each row; there are %d", as.integer(input$n), length(labels)))
  }
  if (is.numeric(labels)) labels[labels == -1] <- NA
  labels <- factor(labels)
  n <- whole("n", n, 1)
  package <- reticulate::import("medoids", convert = FALSE)
  if (!reticulate::py_has_attr(package, "cluster_medoids")) too_old("cluster_medoids()")
  codes <- as.integer(labels) - 1L
  codes[is.na(codes)] <- -1L # what Python leaves out as noise
  input <- by_matrix(with_pairs(input, "exact", FALSE))
  arguments <- list(package$cluster_medoids, X = to_python(input), labels = array(codes), n = n,
                    metric = python_metric(input), names = input$columns)
  if (!is.null(weights)) arguments$sample_weight <- array(checked_weights(weights, input$n))
  if (!is.null(input$metric_params)) arguments$metric_params <- input$metric_params
  typical_members(do.call(run, arguments), levels(labels), n)
}

typical_members <- function(found, levels, n) {
  field <- function(name) from_python(reticulate::py_get_attr(found, name))
  k <- length(field("labels"))
  # One row for each cluster, with n columns.
  rows <- matrix(as.integer(unlist(field("medoid_indices"))), nrow = k) + 1L
  means <- matrix(as.numeric(unlist(field("mean_distances"))), nrow = k)
  clusters <- rep(seq_len(k), times = ncol(rows))
  members <- data.frame(
    label = levels[as.integer(unlist(field("labels"))) + 1L][clusters],
    row = as.vector(rows),
    mean_distance = as.vector(means),
    size = as.integer(unlist(field("sizes")))[clusters]
  )
  members <- members[order(clusters, rep(seq_len(ncol(rows)), each = k)), ]
  members <- members[!is.na(members$row) & members$row > 0, ]
  rownames(members) <- NULL
  members
}
