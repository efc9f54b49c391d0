#' How many clusters? A clustering for every k
#'
#' Clusters with every number of clusters in a range. The start is computed once, and all fits share the distances that
#' any of them computed, so that this costs far less than separate fits.
#'
#' @param x,metric,weights,stand,diss,seed,threads,trace,... As for [kmedoids()].
#' @param k The numbers of clusters.
#' @param algorithm `"auto"`, `"fastpam1"` or `"pairedpam"`.
#' @param object A result of `k_path()`.
#' @param criterion `"medoid_silhouette"`, `"silhouette"`: the highest mean. `"elbow"`: where the loss bends most.
#'   `"stability"`: the agreement of fits on halves of the data, which are computed when they are first asked for.
#' @return `k_path()`: a list of class `"medoids_path"` with `scores` (a data frame with `k`, `loss`,
#'   `medoid_silhouette`, `silhouette` and `smallest_cluster`), `fits` (a result as of [kmedoids()] for each k, named by
#'   k; above 5,000 rows without silhouettes), `build` (rows in the order in which the start chose them), `algorithm`,
#'   `reason`, `n_evaluations` and `call`. `suggest()`: a number of clusters, with the reason as attribute `"why"`.
#' @examplesIf medoids_available()
#' path <- k_path(ruspini, 2:8)
#' path
#' suggest(path)
#' plot(path)
#' path$fits[["4"]]$medoids
#' @export
k_path <- function(x, k = 2:10, metric = "euclidean", ..., weights = NULL, algorithm = "auto", stand = FALSE,
                   diss = inherits(x, "dist"), seed = NULL, threads = NULL, trace = FALSE) {
  call <- match.call()
  dots <- split_dots(list(...))
  input <- as_input(x, if (missing(metric)) NULL else metric, dots$params, diss = diss, stand = stand)
  for (one in k) number_of_clusters(one, input$n)
  input <- with_pairs(input, "exact", trace) # stability calls the metric again later
  given <- by_matrix(input)
  weights <- checked_weights(weights, input$n)
  seed <- if (is.null(seed)) sample.int(.Machine$integer.max, 1) else whole("seed", seed, 0)
  arguments <- c(
    list(engine_function("k_path"), X = to_python(given), k_range = as.list(as.integer(k)), metric = python_metric(given),
         metric_params = given$metric_params, algorithm = algorithm,
         sample_weight = if (!is.null(weights)) array(weights), random_state = seed,
         n_jobs = if (!is.null(threads)) whole("threads", threads, 1), callback = NULL,
         steps = isTRUE(as.logical(trace)), names = input$columns),
    engine_settings(dots$settings, input$n)
  )
  path <- do.call(run, arguments)
  scored <- from_python(engine()$scored(path))
  statistics <- if (input$n <= exact_rows) "exact" else "none"
  pairs <- if (statistics == "exact") all_pairs(input)
  fits <- lapply(scored$fits, function(found) {
    found <- c(found, list(k = length(found$medoids), weights = weights, seed = seed, asked = algorithm,
                           candidates = dots$settings$candidates))
    new_medoids(found, input, call, statistics = statistics, pairs = pairs)
  })
  scores <- as.data.frame(lapply(scored$scores, as.numeric))
  scores$k <- as.integer(scores$k)
  scores$smallest_cluster <- as.integer(scores$smallest_cluster)
  scores[] <- lapply(scores, function(column) replace(column, is.nan(column), NA))
  structure(
    list(scores = scores, fits = stats::setNames(fits, scores$k), build = as.integer(scored$build) + 1L,
         algorithm = scored$algorithm, reason = scored$reason, n_evaluations = scored$n_evaluations, call = call,
         python = path),
    class = "medoids_path"
  )
}

#' @rdname k_path
#' @export
suggest <- function(object, ...) UseMethod("suggest")

#' @rdname k_path
#' @export
suggest.medoids_path <- function(object, criterion = c("medoid_silhouette", "silhouette", "elbow", "stability"), ...) {
  criterion <- choice("criterion", criterion, c("medoid_silhouette", "silhouette", "elbow", "stability"))
  if (reticulate::py_is_null_xptr(object$python)) {
    medoids_error("this path was saved in another session, and suggest() needs its Python object; run k_path() again")
  }
  found <- from_python(run(engine()$suggest, path = object$python, criterion = criterion))
  structure(as.integer(found$k), why = found$why, class = "medoids_suggestion")
}

#' @export
print.medoids_suggestion <- function(x, ...) {
  cat(attr(x, "why"), "\n", sep = "")
  invisible(x)
}

#' @export
print.medoids_path <- function(x, ...) {
  cat("k-medoids for k = ", paste(range(x$scores$k), collapse = " to "), ", ", x$algorithm, "\n", sep = "")
  print(x$scores, row.names = FALSE, ...)
  if (nrow(x$scores) > 1 && !reticulate::py_is_null_xptr(x$python)) {
    cat("Suggested: ", attr(suggest(x), "why"), "\n", sep = "")
  }
  invisible(x)
}

#' @rdname k_path
#' @export
plot.medoids_path <- function(x, ...) {
  before <- graphics::par(mfrow = c(1, 2))
  on.exit(graphics::par(before))
  scores <- x$scores
  graphics::plot(scores$k, scores$loss, type = "b", pch = 19, xlab = "k", ylab = "mean distance to the medoid", ...)
  silhouettes <- as.matrix(scores[c("medoid_silhouette", "silhouette")])
  graphics::matplot(scores$k, silhouettes, type = "b", pch = c(19, 1), lty = 1, col = c("black", "grey50"), xlab = "k",
                    ylab = "mean silhouette", ...)
  graphics::legend("bottomright", c("medoid silhouette", "silhouette"), pch = c(19, 1), col = c("black", "grey50"),
                   bty = "n")
  invisible(x)
}
