#' @rdname pam
#' @param samples The number of samples.
#' @param sampsize The number of rows of a sample.
#' @param medoids.x Whether the result holds the rows of the medoids.
#' @param rngR Whether samples are drawn by R's random numbers, so that [set.seed()] decides; otherwise they are the
#'   same in every call.
#' @param pamLike,correct.d Accepted: swaps are those of [pam()], and missing values are treated correctly.
#' @export
clara <- function(x, k, metric = c("euclidean", "manhattan", "jaccard"), stand = FALSE, cluster.only = FALSE, samples = 5,
                  sampsize = min(n, 40 + 2 * k), trace = 0, medoids.x = TRUE, keep.data = medoids.x, rngR = FALSE,
                  pamLike = FALSE, correct.d = TRUE) {
  call <- match.call()
  if (inherits(x, "dist")) medoids_error("clara() takes data, not dissimilarities; use pam()")
  input <- pam_input(x, FALSE, if (length(metric) > 1) metric[1] else metric, stand)
  input["all_pairs"] <- list(NULL) # clara() never needs all of them
  n <- input$n
  k <- whole("k", k, 1)
  if (k >= n) medoids_error(sprintf("k = %d must be less than the number of rows, %d", k, as.integer(n)))
  samples <- whole("samples", samples, 1)
  sampsize <- whole("sampsize", sampsize, min(k + 1L, n))
  if (sampsize > n) medoids_error(sprintf("sampsize = %d is more than the number of rows, %d", sampsize, as.integer(n)))
  if (!rngR) keep_random_numbers(20L)
  best <- NULL
  for (turn in seq_len(samples)) {
    rows <- drawn_rows(n, sampsize, best$id)
    part <- with_rows(input, rows)
    part$labels <- input$labels[rows]
    found <- pam_search(part, k, seed = 0L)
    id <- rows[found$medoids + 1L]
    distances <- distances_from(with_rows(input, id), k, input)
    nearest <- max.col(-distances, ties.method = "first")
    nearest[id] <- seq_len(k)
    to_medoid <- distances[cbind(seq_len(n), nearest)]
    loss <- mean(to_medoid)
    if (trace > 0) message(sprintf("sample %d of %d: mean distance %.6g", turn, samples, loss))
    if (is.null(best) || loss < best$loss) {
      best <- list(id = id, rows = rows, found = found, nearest = nearest, distances = to_medoid, loss = loss)
    }
  }
  clara_result(best, input, k, call, cluster.only, medoids.x, keep.data)
}

# A fixed seed for the caller, whose own random numbers go on afterwards as if nothing had been drawn.
keep_random_numbers <- function(seed, frame = parent.frame()) {
  before <- get0(".Random.seed", envir = globalenv(), inherits = FALSE)
  restore <- function() {
    if (is.null(before)) rm(".Random.seed", envir = globalenv()) else assign(".Random.seed", before, envir = globalenv())
  }
  do.call(on.exit, list(as.call(list(restore)), add = TRUE), envir = frame)
  set.seed(seed)
}

drawn_rows <- function(n, size, keep) {
  others <- sample.int(n, min(n, size + length(keep)))
  sort(c(keep, utils::head(setdiff(others, keep), size - length(keep))))
}

clara_result <- function(best, input, k, call, cluster.only, medoids.x, keep.data) {
  order <- unique(best$nearest)
  clustering <- match(best$nearest, order)
  if (!is.null(input$labels)) names(clustering) <- input$labels
  if (cluster.only) return(clustering)
  id <- best$id[order]
  sizes <- tabulate(clustering, k)
  widest <- as.numeric(tapply(best$distances, clustering, max))
  # The distance from each medoid to the nearest other one, by which cluster measures isolation here.
  between <- distances_from(with_rows(input, id), k, with_rows(input, id))
  diag(between) <- Inf
  clusinfo <- cbind(size = sizes, max_diss = widest, av_diss = as.numeric(tapply(best$distances, clustering, mean)),
                    isolation = if (k > 1) widest / apply(between, 1, min) else widest)
  sample <- with_rows(input, best$rows)
  pairs <- all_pairs(sample)
  labels <- if (is.null(input$labels)) best$rows else input$labels[best$rows]
  result <- list(
    sample = labels,
    medoids = if (medoids.x) medoid_rows(input, id),
    i.med = id,
    clustering = clustering,
    objective = best$loss,
    clusinfo = clusinfo,
    diss = as_dissimilarity(pairs, c(sample[names(sample) != "labels"], list(labels = labels))),
    call = call,
    silinfo = if (k > 1) exact_silhouettes(unname(clustering)[best$rows], k, pairs, labels),
    data = if (keep.data) input$data,
    id.med = id,
    distances = best$distances,
    loss = best$loss,
    algorithm = "clara",
    reason = "asked for",
    trace = as_trace(best$found$trace),
    gap = NA_real_,
    settings = list(kind = input$kind, metric = input$metric, params = input$params, coding = input$coding,
                    columns = input$columns, prototypes = take(input, id), algorithm = "clara", seed = 0L, n = input$n)
  )
  structure(result[!vapply(result, is.null, NA)], class = c("medoids", "clara", "partition"), Metric = input$metric)
}
