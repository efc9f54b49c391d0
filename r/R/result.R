# Rows up to which dissimilarities are kept: as pam() does, and where plots need them.
few_rows <- 100L
plotted_rows <- 2000L
# Rows whose silhouettes are computed where all are too many.
sampled_rows <- 1000L

# The result in the form of cluster's pam().
new_medoids <- function(found, input, call, keep.data = TRUE, keep.diss = NULL, statistics = "auto", pairs = NULL) {
  order <- unique(found$labels)
  order <- c(order, setdiff(seq_len(found$k) - 1L, order)) # clusters without members come last
  clustering <- match(found$labels, order)
  id <- as.integer(found$medoids[order + 1L]) + 1L
  if (wants_pairs(input$n, statistics) && is.null(pairs)) pairs <- all_pairs(input)
  measured <- cluster_statistics(clustering, found$k, found$distances, found$weights, pairs)
  silinfo <- if (found$k == 1 || statistics == "none") {
    NULL
  } else if (!is.null(pairs)) {
    exact_silhouettes(clustering, found$k, pairs, input$labels)
  } else {
    sampled_silhouettes(found, input, clustering, order, id)
  }
  if (is.null(keep.diss)) {
    plain <- input$kind == "vectors"
    keep.diss <- !is.null(pairs) && (if (plain) input$n < few_rows else input$n <= plotted_rows)
  }
  if (keep.diss && is.null(pairs)) pairs <- all_pairs(input)
  tabular <- is.data.frame(input$data) || is.matrix(input$data)
  trace <- as_trace(found$trace)
  built <- trace$loss[trace$phase == "build"]
  result <- list(
    medoids = medoid_rows(input, id),
    id.med = id,
    clustering = if (is.null(input$labels)) clustering else stats::setNames(clustering, input$labels),
    objective = c(build = if (length(built)) built[length(built)] else found$loss, swap = found$loss),
    isolation = measured$isolation,
    clusinfo = measured$clusinfo,
    silinfo = silinfo,
    diss = if (keep.diss) as_dissimilarity(pairs, input),
    call = call,
    data = if (keep.data && tabular) input$data,
    observations = if (keep.data && !tabular) input$data,
    distances = as.numeric(found$distances),
    loss = found$loss,
    algorithm = found$algorithm,
    reason = found$reason,
    n_evaluations = found$n_evaluations,
    n_swaps = found$n_swaps,
    converged = found$converged,
    trace = trace,
    gap = if (is.nan(found$gap)) NA_real_ else found$gap,
    settings = list(
      kind = input$kind, metric = input$metric, params = input$params, coding = input$coding,
      columns = input$columns, prototypes = prototypes(input, id), algorithm = found$asked, candidates = found$candidates,
      weights = found$weights, seed = found$seed, n = input$n
    )
  )
  # As in cluster, what there is not is left out; silinfo and diss are looked for by name.
  structure(result[!vapply(result, is.null, NA)], class = c("medoids", "pam", "partition"))
}

as_trace <- function(trace) {
  trace <- as.data.frame(lapply(trace, unlist), stringsAsFactors = FALSE)
  if (!nrow(trace)) {
    return(data.frame(phase = character(), medoid_in = integer(), medoid_out = integer(), loss = numeric(),
                      n_evaluations = numeric(), seconds = numeric(), references = numeric(), candidates = numeric()))
  }
  for (name in c("medoid_in", "medoid_out")) trace[[name]] <- as.integer(ifelse(trace[[name]] < 0, NA, trace[[name]] + 1))
  trace
}

# The medoids as the user gave them; under dissimilarities their labels or numbers, as in pam().
medoid_rows <- function(input, id) {
  if (input$kind == "matrix") return(if (is.null(input$labels)) id else input$labels[id])
  if (input$kind == "stored") {
    rows <- from_python(engine()$stored_rows(input$python, python_rows(id)))
    return(matrix(rows, length(id), dimnames = list(NULL, input$columns)))
  }
  data <- input$original
  if (is.null(data)) data <- input$data
  if (length(dim(data)) == 2) data[id, , drop = FALSE] else data[id]
}

# The medoids as Python takes them, for predict().
prototypes <- function(input, id) {
  switch(input$kind, matrix = , stored = NULL, take(input, id))
}

as_dissimilarity <- function(pairs, input) {
  values <- stats::as.dist((pairs + t(pairs)) / 2)
  metric <- if (is.function(input$metric)) "function" else input$metric
  structure(as.numeric(values), Size = input$n, Labels = input$labels, class = c("dissimilarity", "dist"),
            Metric = if (is.null(input$metric_name)) metric else input$metric_name)
}

#' @export
print.medoids <- function(x, ...) {
  if (length(x$clustering) <= 1000) return(NextMethod())
  cat("Medoids:\n")
  print(x$medoids, ...)
  cat("Cluster sizes:\n")
  print(stats::setNames(x$clusinfo[, "size"], seq_len(nrow(x$clusinfo))), ...)
  cat("Objective function:\n")
  print(x$objective, ...)
  cat("\nAvailable components:\n")
  print(names(x), ...)
  invisible(x)
}
