#' Is it good? A certificate
#'
#' Checks whether any single swap of a medoid still improves, and computes a lower bound on the loss of any `k` medoids.
#'
#' @param x A result of [kmedoids()] or [pam()], or data as for [kmedoids()].
#' @param data The data of the fit; not needed where it holds them.
#' @param medoids The rows of the medoids, from any source.
#' @param metric,diss As for [kmedoids()].
#' @param weights A number for each row. Those of the fit are known.
#' @param seed,threads As for [kmedoids()].
#' @param ... Parameters of the metric.
#' @return A list of class `"medoids_certificate"`: `loss`, `swap` (rows out and in of the swap that improves most, or
#'   `NULL`), `gain` (by how much it lowers the loss), `exact` (whether all swaps were compared on all rows),
#'   `error_probability` (that a swap was overlooked), `lower_bound` and `bound_probability`, `gap` (the share by which
#'   the loss may exceed the best one), `n_evaluations` and `seconds`.
#' @examplesIf medoids_available()
#' certify(kmedoids(iris[, 1:4], 3))
#' certify(iris[, 1:4], c(1, 51, 101))
#' @export
certify <- function(x, ...) UseMethod("certify")

#' @rdname certify
#' @export
certify.medoids <- function(x, data = NULL, seed = NULL, threads = NULL, ...) {
  settings <- x$settings
  certificate(input_of(x, data), x$id.med, settings$weights, settings$candidates, seed, threads)
}

#' @rdname certify
#' @export
certify.default <- function(x, medoids, metric = "euclidean", ..., weights = NULL, diss = inherits(x, "dist"),
                            seed = NULL, threads = NULL) {
  dots <- split_dots(list(...))
  input <- as_input(x, if (missing(metric)) NULL else metric, dots$params, diss = diss)
  certificate(input, medoids, checked_weights(weights, input$n), dots$settings$candidates, seed, threads)
}

certificate <- function(input, medoids, weights, candidates, seed, threads) {
  input <- by_matrix(with_pairs(input, "auto", FALSE))
  found <- run(
    engine()$certified, X = to_python(input), medoid_indices = python_rows(checked_rows("medoids", medoids, input$n)),
    metric = python_metric(input), metric_params = input$metric_params,
    sample_weight = if (!is.null(weights)) array(weights),
    candidates = if (is.numeric(candidates)) python_rows(candidates) else candidates,
    random_state = if (is.null(seed)) sample.int(.Machine$integer.max, 1) else whole("seed", seed, 0),
    n_jobs = if (!is.null(input$distance)) 1L else if (!is.null(threads)) whole("threads", threads, 1),
    distance = input$distance, names = input$columns
  )
  found <- from_python(found)
  swap <- as.integer(unlist(found$swap)) + 1L
  found["swap"] <- list(if (swap[1] > 0) c(out = swap[1], `in` = swap[2]))
  structure(found, class = "medoids_certificate")
}

#' @export
print.medoids_certificate <- function(x, ...) {
  swap <- if (is.null(x$swap)) {
    sure <- if (x$exact) "" else sprintf(" (with probability %.4g)", 1 - x$error_probability)
    paste0("no swap improves", sure)
  } else {
    sprintf("putting row %d in the place of row %d lowers the loss by %.4g", x$swap[["in"]], x$swap[["out"]], x$gain)
  }
  bound <- if (is.infinite(x$gap)) {
    sprintf("the best loss is at least %.4g", x$lower_bound)
  } else {
    sure <- if (x$bound_probability == 1) "" else sprintf(" (with probability %.4g)", x$bound_probability)
    sprintf("within %.2g%% of the optimum%s", 100 * x$gap, sure)
  }
  cat("Loss ", format(x$loss), ": ", swap, "; ", bound, "\n", sep = "")
  invisible(x)
}
