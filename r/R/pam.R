#' Partitioning around medoids, with cluster's arguments
#'
#' `pam()` and `clara()` take the arguments of [cluster::pam()] and [cluster::clara()], in the same order and with the
#' same defaults, so that a script that was written for \pkg{cluster} runs after `library(medoids)`. There is no limit
#' on the number of rows: up to 5,000 rows the search compares all swaps exactly; beyond that it may sample distances
#' and gives PAM's answer with high probability.
#'
#' Missing values in numeric data are treated as in \pkg{cluster}: two rows are compared by the columns in which both
#' have a value, and the sum is scaled up accordingly. A data frame goes through [data.matrix()], so that factors become
#' numbers; [kmedoids()] compares them as categories.
#'
#' `clara()` draws `samples` samples of `sampsize` rows, of which each contains the best medoids so far, finds the
#' medoids of each and keeps those that are best for all rows. [kmedoids()] is mostly better, and fast enough for
#' millions of rows.
#'
#' @param x A numeric matrix or data frame; for `pam()` also dissimilarities.
#' @param k The number of clusters, less than the number of rows.
#' @param diss Whether `x` holds dissimilarities.
#' @param metric `"euclidean"`, `"manhattan"`, or any other of [available_metrics()].
#' @param medoids Rows to start from, or `"random"`; by default the BUILD phase of PAM.
#' @param nstart The number of random starts, of which the best is kept.
#' @param stand Whether to divide each column by its mean absolute deviation, after subtracting the mean.
#' @param cluster.only Whether to return the clustering only.
#' @param do.swap Whether to run the SWAP phase.
#' @param keep.diss,keep.data Whether the result holds the dissimilarities and the data.
#' @param variant,pamonce Accepted. `"faster"` (or 6) starts at random and takes any swap that improves; all others have
#'   the result of the original, which is computed as fast as any.
#' @param trace.lev,trace If positive, each step is reported by [message()].
#'
#' @return `pam()`: as [kmedoids()]. `clara()`: a list of class `c("medoids", "clara", "partition")` with the components
#'   of [cluster::clara.object], or the clustering if `cluster.only`.
#' @seealso [kmedoids()]
#' @examplesIf medoids_available()
#' fit <- pam(ruspini, 4)
#' summary(fit)
#' plot(fit)
#' predict(fit, data.frame(x = c(20, 100), y = c(60, 120)))
#' @export
pam <- function(x, k, diss = inherits(x, "dist"), metric = c("euclidean", "manhattan"),
                medoids = if (is.numeric(nstart)) "random", nstart = if (variant == "faster") 1L else NA, stand = FALSE,
                cluster.only = FALSE, do.swap = TRUE, keep.diss = !diss && !cluster.only && n < 100,
                keep.data = !diss && !cluster.only,
                variant = c("original", "o_1", "o_2", "f_3", "f_4", "f_5", "faster"), pamonce = FALSE, trace.lev = 0) {
  call <- match.call()
  variants <- c("original", "o_1", "o_2", "f_3", "f_4", "f_5", "faster")
  if (!missing(variant) && !missing(pamonce)) medoids_error("set either variant or pamonce, but not both")
  variant <- if (missing(variant)) variants[as.integer(pamonce) + 1L] else choice("variant", variant, variants)
  if (is.na(variant)) medoids_error("pamonce must be TRUE, FALSE or a number from 0 to 6")
  input <- pam_input(x, diss, if (length(metric) > 1) metric[1] else metric, stand)
  n <- input$n
  k <- whole("k", k, 1)
  if (k >= n) medoids_error(sprintf("k = %d must be less than the number of rows, %d", k, as.integer(n)))
  random <- identical(medoids, "random") || variant == "faster" && is.null(medoids)
  found <- pam_search(
    input, k,
    algorithm = if (variant == "faster" && n <= exact_rows) "fasterpam" else "auto",
    init = if (random) "random" else if (is.null(medoids)) "build" else medoids,
    # cluster's pam() draws no random numbers, and a script may count on that; a sampling search needs them.
    seed = if (random || n > exact_rows) NULL else 0L,
    trace = trace.lev > 0,
    more = c(list(swap = "best"), if (random && is.numeric(nstart)) list(n_init = max(1, nstart)),
             if (!do.swap) list(max_iter = 0))
  )
  result <- new_medoids(found, input, call, keep.data = keep.data, keep.diss = keep.diss,
                        statistics = if (cluster.only) "none" else "auto")
  if (cluster.only) result$clustering else result
}

pam_input <- function(x, diss, metric, stand) {
  if (!diss && is.data.frame(x)) x <- data.matrix(x)
  if (diss && length(dim(x)) == 2) x <- stats::as.dist(x) # the lower triangle decides, as in cluster
  as_input(x, metric, diss = diss, stand = stand, gaps = TRUE)
}

# Stopping before the first swap is what do.swap = FALSE asks for, so that Python need not warn of it.
pam_search <- function(input, k, ...) {
  withCallingHandlers(search_medoids(input, k, ...), medoids_warning = function(w) {
    if (grepl("max_iter = 0 ", conditionMessage(w), fixed = TRUE)) invokeRestart("muffleWarning")
  })
}
