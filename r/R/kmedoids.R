#' k-medoids clustering
#'
#' Finds `k` observations, the medoids, so that the sum of distances from every observation to its nearest medoid is
#' smallest. By default the answer is that of PAM (Kaufman and Rousseeuw 1990), without an n x n matrix where n is
#' large.
#'
#' @section Data and their default metrics:
#' \tabular{ll}{
#'   `x` \tab `metric` \cr
#'   numeric matrix, or data frame of numbers \tab `"euclidean"` \cr
#'   data frame with factors, texts, logical values or dates \tab `"gower"` \cr
#'   `dist` or `dissimilarity`; square matrix with `diss = TRUE` \tab none \cr
#'   sparse matrix of the package Matrix \tab `"euclidean"` \cr
#'   character vector, or data frame of one text column \tab `"levenshtein"` \cr
#'   list of numeric vectors or matrices (series) \tab `"dtw"` \cr
#'   list of character vectors (tokens) \tab `"levenshtein"` \cr
#'   list of anything \tab an R function \cr
#'   path of a Parquet file, or of a folder of them \tab `"euclidean"` \cr
#' }
#' A dissimilarity may be asymmetric: row i of the matrix holds the distances from observation i, as a medoid, to all
#' others.
#'
#' Under `"gower"` numbers, dates and ordered factors differ by their share of the column's range, everything else is
#' equal or not, and missing values are left out pair by pair. Rows with missing values do not become medoids while
#' there are at least `k` without; pass `candidates = "all"` to let them. Logical columns are categories, whereas
#' [cluster::daisy()] counts them as asymmetric; `type` says otherwise, with the list of `daisy()`:
#' `type = list(asymm = "ill", ordratio = "stage", logratio = 3)`, and `factor`, `symm` and `numeric`.
#'
#' A function is called as `metric(medoid, observation)` and returns one number. It gets rows of a matrix, or of
#' a data frame of numbers, as vectors with names, rows of any other data frame as data frames of one row, and elements
#' of a list or vector as they are. It always runs in R's main
#' thread. Up to 5,000 rows all pairs are computed first; above that, or with `statistics = "none"`, only those that the
#' search asks for.
#'
#' @param x The data; see below.
#' @param k The number of clusters.
#' @param metric A name, see [available_metrics()], or a function of two observations. The default depends on `x`.
#' @param ... Parameters of the metric, such as `p = 3` for `"minkowski"` or `symmetric = TRUE` for a function that is
#'   (for half the calls), and further settings of the Python function `medoids.k_medoids`: `max_iter`, `swap`,
#'   `n_init`, `delta`, `memory_limit`, `time_limit`, `max_evaluations`, `objective`, `min_size`,
#'   `max_size`, `frozen_medoids` and `candidates` (rows, counted from 1),
#'   `checkpoint`, `resume`. For Parquet files, `columns` chooses columns. `metric_params = list(weights = c(age = 2))`
#'   passes parameters of a metric whose names are taken.
#' @param weights A number >= 0 for each observation, which multiplies its distance.
#' @param algorithm `"auto"`, `"pam"`, `"fastpam1"`, `"fasterpam"`, `"pairedpam"`, `"banditpam++"`, `"clara"`, `"tabu"`,
#'   `"active"` and others.
#' @param init `"build"`, `"lab"`, `"random"`, `"k-medoids++"`, or the rows to start from.
#' @param n_restarts The number of perturbed restarts after convergence, of which the best is kept.
#' @param stand Whether to subtract the mean of each column and to divide by its mean absolute deviation, as [pam()]
#'   does.
#' @param diss Whether `x` is a dissimilarity.
#' @param keep.data Whether the result holds the data.
#' @param keep.diss Whether the result holds all dissimilarities. By default up to 100 rows and, where plots need them,
#'   up to 2,000.
#' @param statistics Silhouettes, diameters and separations need all distances. `"auto"`: up to 5,000 rows; above that,
#'   silhouettes of 1,000 sampled rows. Or `"exact"`, `"sampled"`, `"none"`.
#' @param seed An integer for what is random. By default it is drawn from R's random numbers, so that [set.seed()]
#'   decides.
#' @param threads The number of threads; all cores by default. Results do not depend on it.
#' @param trace Whether to report each step by [message()].
#'
#' @return A list of class `c("medoids", "pam", "partition")` with the components of [cluster::pam.object]: `medoids`,
#'   `id.med`, `clustering` (clusters are numbered by first appearance), `objective` (mean distance to the nearest
#'   medoid after the start and at the end), `isolation`, `clusinfo`, `silinfo`, `diss`, `call` and `data`; and
#'   \describe{
#'     \item{observations}{the data where they are neither matrix nor data frame;}
#'     \item{distances}{from each observation to its medoid;}
#'     \item{loss}{the (weighted) mean distance, `objective["swap"]`;}
#'     \item{algorithm, reason}{what ran, and why;}
#'     \item{n_evaluations}{the number of distances computed;}
#'     \item{n_swaps, converged}{the number of swaps, and whether the search ended by itself;}
#'     \item{trace}{a data frame with a row for each step;}
#'     \item{gap}{the proved share by which the loss may exceed the best possible one, `NA` where nothing was proved;
#'     see [certify()];}
#'     \item{settings}{what [predict()], [certify()] and [report()] need.}
#'   }
#'   Where silhouettes are sampled, `silinfo` has the attribute `"sampled"`, the number of rows; the neighbor is then
#'   the cluster of the second nearest medoid, and diameters, separations and isolation are `NA`. Silhouettes, diameters
#'   and separations count each row once, whatever its weight.
#'
#' @seealso [pam()], [predict.medoids()], [k_path()], [certify()], [report()]
#' @examplesIf medoids_available()
#' fit <- kmedoids(iris[, 1:4], 3)
#' fit
#' table(fit$clustering, iris$Species)
#'
#' # a table with factors: gower
#' kmedoids(iris, 3)$medoids
#' kmedoids(iris, 3, "gower", type = list(logratio = "Petal.Width"))$loss
#'
#' # texts
#' kmedoids(c("ape", "apes", "tape", "zebra", "zebras", "cobra"), 2)$medoids
#'
#' # a function
#' letters_apart <- function(a, b) length(setdiff(a, b)) + length(setdiff(b, a))
#' words <- strsplit(c("ape", "apes", "tape", "zebra", "zebras", "cobra"), "")
#' kmedoids(words, 2, letters_apart, symmetric = TRUE)$id.med
#' @export
kmedoids <- function(x, k, metric = "euclidean", ..., weights = NULL, algorithm = "auto", init = "build",
                     n_restarts = 0, stand = FALSE, diss = inherits(x, "dist"), keep.data = TRUE, keep.diss = NULL,
                     statistics = c("auto", "exact", "sampled", "none"), seed = NULL, threads = NULL, trace = FALSE) {
  call <- match.call()
  if (missing(k)) medoids_error("k is missing; pass the number of clusters, for which k_path() makes suggestions")
  dots <- split_dots(list(...))
  input <- as_input(x, if (missing(metric)) NULL else metric, dots$params, diss = diss, stand = stand)
  statistics <- choice("statistics", statistics, c("auto", "exact", "sampled", "none"))
  input <- with_pairs(input, statistics, trace)
  found <- search_medoids(input, k, weights = weights, algorithm = algorithm, init = init, n_restarts = n_restarts,
                          seed = seed, threads = threads, trace = trace, more = dots$settings)
  new_medoids(found, input, call, keep.data = keep.data, keep.diss = keep.diss, statistics = statistics)
}

# The first of the default choices, or the one that was given.
choice <- function(name, value, choices) {
  if (identical(value, choices)) return(choices[1])
  if (!is.character(value) || length(value) != 1 || !value %in% choices) {
    medoids_error(name, " must be one of ", paste0('"', choices, '"', collapse = ", "))
  }
  value
}

# Settings of the search, and parameters of the metric.
split_dots <- function(dots) {
  if (length(dots) && (is.null(names(dots)) || any(names(dots) == ""))) {
    medoids_error("arguments after metric must be named")
  }
  own <- c(n_clusters = "k", sample_weight = "weights", random_state = "seed", n_jobs = "threads", callback = "trace",
           verbose = "trace")
  wrong <- intersect(names(dots), names(own))
  if (length(wrong)) medoids_error(wrong[1], " is called ", own[[wrong[1]]], " in R")
  known <- c(from_python(engine()$keywords()), later_settings)
  is_setting <- names(dots) %in% setdiff(known, "metric_params")
  params <- c(dots[!is_setting & names(dots) != "metric_params"], as.list(dots$metric_params))
  list(settings = dots[is_setting], params = params)
}

# Settings that Python packages of some age do not have.
later_settings <- c("n_restarts", "tol", "min_size", "max_size", "gap", "time_limit", "max_evaluations", "objective")

# Knows all distances where these are needed and each is a call of an R function.
with_pairs <- function(input, statistics, trace) {
  if (is.null(input$distance) || !wants_pairs(input$n, statistics)) return(input)
  if (trace) message(sprintf("computing the distances of %d rows", input$n))
  input$all_pairs <- function_matrix(input)
  input
}

wants_pairs <- function(n, statistics) statistics == "exact" || statistics == "auto" && n <= exact_rows

# Runs a fit; returns what was found, in R's terms but for the numbers of rows.
search_medoids <- function(input, k, weights = NULL, algorithm = "auto", init = "build", n_restarts = 0, seed = NULL,
                           threads = NULL, trace = FALSE, more = list()) {
  k <- number_of_clusters(k, input$n)
  weights <- checked_weights(weights, input$n)
  seed <- if (is.null(seed)) sample.int(.Machine$integer.max, 1) else whole("seed", seed, 0)
  given <- by_matrix(input)
  settings <- c(
    list(metric = python_metric(given), metric_params = given$metric_params, algorithm = algorithm,
         init = if (is.numeric(init)) python_rows(checked_rows("init", init, input$n)) else init,
         sample_weight = if (!is.null(weights)) array(weights), random_state = seed,
         n_jobs = if (!is.null(given$distance)) 1L else if (!is.null(threads)) whole("threads", threads, 1),
         callback = NULL),
    engine_settings(c(more, if (!identical(as.numeric(n_restarts), 0)) list(n_restarts = n_restarts)), input$n)
  )
  arguments <- c(list(engine_function("k_medoids"), X = to_python(given), n_clusters = k), settings)
  found <- tryCatch(
    do.call(run, c(arguments, list(steps = isTRUE(as.logical(trace)), distance = given$distance,
                                   names = input$columns))),
    medoids_error = function(e) {
      if (identical(algorithm, "optimal") && grepl("is unknown", conditionMessage(e), fixed = TRUE)) {
        too_old("algorithm = \"optimal\"")
      }
      stop(e)
    }
  )
  described <- from_python(engine()$described(found))
  c(described, list(python = found, k = length(described$medoids), weights = weights, seed = seed, asked = algorithm,
                    candidates = more$candidates))
}

engine_function <- function(name) reticulate::py_get_attr(reticulate::import("medoids", convert = FALSE), name)

too_old <- function(what) {
  version <- from_python(engine()$versions())$medoids
  medoids_error("the installed Python package medoids ", version, " is too old for ", what, "; run install_medoids() ",
                "for a later one, and restart R")
}

whole_settings <- c("n_init", "max_iter", "cache_width", "n_restarts", "min_size", "max_size", "max_evaluations")

# Settings as Python takes them: whole numbers as integers, rows counted from 0.
engine_settings <- function(settings, n) {
  known <- from_python(engine()$keywords())
  for (name in names(settings)) {
    if (!name %in% known) too_old(name)
    value <- settings[[name]]
    settings[[name]] <- if (name %in% c("frozen_medoids", "candidates") && is.numeric(value)) {
      python_rows(checked_rows(name, value, n))
    } else if (name %in% whole_settings) {
      if (!is.null(value)) whole(name, value, 0)
    } else if (name == "checkpoint") {
      path.expand(value)
    } else if (name == "k_range") {
      as.list(as.integer(value))
    } else {
      value
    }
  }
  settings
}

whole <- function(name, value, least) {
  if (!is.numeric(value) || length(value) != 1 || is.na(value) || value != round(value) || value < least) {
    medoids_error(sprintf("%s must be one whole number of at least %s", name, least))
  }
  if (value > .Machine$integer.max) value else as.integer(value)
}

number_of_clusters <- function(k, n) {
  if (identical(k, "auto")) return(k)
  k <- whole("k", k, 1)
  if (k > n) medoids_error(sprintf("k = %d is more than the number of rows, %d", k, as.integer(n)))
  k
}

checked_weights <- function(weights, n) {
  if (is.null(weights)) return(NULL)
  if (!is.numeric(weights) || length(weights) != n) {
    medoids_error(sprintf("weights must be %d numbers, one for each row; there are %d", as.integer(n), length(weights)))
  }
  bad <- which(!is.finite(weights) | weights < 0)[1]
  if (!is.na(bad)) {
    medoids_error(sprintf("weights[%d] is %s; weights must be finite and not negative", bad, format(weights[bad])))
  }
  as.numeric(weights)
}

checked_rows <- function(name, rows, n) {
  bad <- which(is.na(rows) | rows != round(rows) | rows < 1 | rows > n)[1]
  if (!is.na(bad)) {
    medoids_error(sprintf("%s[%d] is %s, which is not a row of x; it has rows 1 to %s", name, bad, format(rows[bad]),
                          format(n, scientific = FALSE)))
  }
  twice <- which(duplicated(rows))[1]
  if (!is.na(twice)) {
    medoids_error(sprintf("%s has row %d twice; medoids must be different rows", name, as.integer(rows[twice])))
  }
  rows
}
