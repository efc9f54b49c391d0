#' Clusters of new data
#'
#' @param object A result of [kmedoids()], [pam()] or [clara()].
#' @param newdata New observations in the form of the data of the fit; columns of a data frame are found by name. For a
#'   fit to dissimilarities, a matrix with a row for each new observation and a column for each observation of the fit.
#'   If it is missing, the observations of the fit.
#' @param type `"cluster"`: the cluster of the nearest medoid. `"distance"`: the distances to all medoids. `"prob"`: how
#'   much each observation belongs to each medoid, the membership of fuzzy c-medoids in proportion to `d^(-1/(m-1))` for
#'   the distance `d`. It is not the probability of a model.
#' @param m How soft memberships are, above 1.
#' @param ... Not used.
#' @return A vector of cluster numbers, or a matrix with a column for each cluster; named by the rows of `newdata`.
#' @examplesIf medoids_available()
#' fit <- kmedoids(iris[1:100, 1:4], 2)
#' predict(fit, iris[101:105, ])
#' predict(fit, iris[101:105, ], type = "distance")
#' predict(fit, iris[101:105, ], type = "prob")
#' @export
predict.medoids <- function(object, newdata, type = c("cluster", "distance", "prob"), m = 2, ...) {
  type <- choice("type", type, c("cluster", "distance", "prob"))
  if (missing(newdata)) {
    if (type == "cluster") return(object$clustering)
    if (object$settings$kind == "matrix") {
      if (is.null(object$diss)) {
        medoids_error("the fit holds no dissimilarities; pass newdata, or fit with keep.diss = TRUE")
      }
      newdata <- as.matrix(object$diss)
    } else {
      newdata <- NULL
    }
  }
  found <- new_distances(object, newdata)
  colnames(found$distances) <- seq_along(object$id.med)
  if (type != "cluster") {
    rownames(found$distances) <- found$labels
    return(if (type == "prob") memberships(found$distances, m) else found$distances)
  }
  cluster <- max.col(-found$distances, ties.method = "first")
  if (is.null(found$labels)) cluster else stats::setNames(cluster, found$labels)
}

# Shares in proportion to d^(-1/(m-1)); an observation at distance 0 belongs there only.
memberships <- function(distances, m) {
  if (!is.numeric(m) || length(m) != 1 || is.na(m) || m <= 1 || is.infinite(m)) {
    medoids_error("m must be one number above 1; 2 is usual, and memberships harden towards 1")
  }
  negative <- which(distances < 0)[1]
  if (!is.na(negative)) {
    at <- arrayInd(negative, dim(distances))
    medoids_error(sprintf("the distance from medoid %d to row %d is %s; memberships need distances >= 0", at[2], at[1],
                          format(distances[negative])))
  }
  nearest <- apply(distances, 1, min)
  # As shares of the nearest distance, no power overflows.
  shares <- (ifelse(distances == 0, 1, nearest / distances))^(1 / (m - 1))
  shares / rowSums(shares)
}

new_distances <- function(object, newdata) {
  settings <- object$settings
  if (settings$kind == "matrix") return(from_given(object, newdata))
  if (settings$kind == "objects") return(by_function(object, newdata))
  input <- input_of(object, newdata, new = TRUE)
  medoids <- input
  medoids$kind <- if (settings$kind == "stored") "vectors" else settings$kind
  medoids$values <- if (settings$kind == "stored") object$medoids else settings$prototypes
  list(distances = distances_from(medoids, length(object$id.med), input), labels = input$labels)
}

from_given <- function(object, newdata) {
  n <- object$settings$n
  newdata <- as.matrix(newdata)
  if (!is.numeric(newdata) || ncol(newdata) != n) {
    medoids_error(sprintf(paste0("the fit is to dissimilarities: newdata must be a numeric matrix with a column for each of ",
                                 "its %d observations, but has %d"), as.integer(n), ncol(newdata)))
  }
  distances <- newdata[, object$id.med, drop = FALSE]
  bad <- which(!is.finite(distances))[1]
  if (!is.na(bad)) {
    at <- arrayInd(bad, dim(distances))
    medoids_error(sprintf("newdata[%d, %d] is %s; dissimilarities must be finite numbers", at[1], object$id.med[at[2]],
                          format(distances[bad])))
  }
  list(distances = unname(distances), labels = rownames(newdata))
}

by_function <- function(object, newdata) {
  input <- input_of(object, newdata, new = TRUE)
  medoids <- input
  medoids$values <- object$settings$prototypes
  distances <- matrix(0, input$n, length(object$id.med))
  for (cluster in seq_along(object$id.med)) {
    medoid <- input$get(medoids$values, cluster)
    for (row in seq_len(input$n)) {
      distances[row, cluster] <- named_pair(
        checked_distance(input$call(medoid, input$get(input$values, row))),
        sprintf("medoid %d and row %d of newdata", cluster, row)
      )
    }
  }
  list(distances = distances, labels = input$labels)
}

# The data of a fit, or new data, as an input in the same form.
input_of <- function(object, x = NULL, new = FALSE) {
  settings <- object$settings
  coding <- settings$coding
  if (is.null(x)) {
    x <- if (is.null(object$data)) object$observations else object$data
    coding[c("center", "scale")] <- NULL # what a fit keeps is standardized already
    if (is.null(x) && settings$kind == "matrix") x <- object$diss
    if (is.null(x)) medoids_error("the fit does not hold its data; pass them, or fit with keep.data = TRUE")
  }
  matrix <- settings$kind == "matrix"
  if (settings$kind %in% c("vectors", "stored", "objects")) x <- same_columns(x, settings)
  if (settings$kind == "sparse" && is.matrix(x)) x <- Matrix::Matrix(x, sparse = TRUE)
  input <- as_input(x, if (!matrix) settings$metric, settings$params, diss = matrix, gaps = isTRUE(coding$gaps),
                    coding = coding, new = new && settings$kind != "stored")
  if (isTRUE(coding$gaps)) input$coding$gaps <- TRUE
  if (new) input["all_pairs"] <- list(NULL)
  if (!new && input$n != settings$n) {
    medoids_error(sprintf("x has %d rows, but the fit had %d; pass the data of the fit", as.integer(input$n),
                          as.integer(settings$n)))
  }
  input
}

# The columns of the fit, by name where both have names.
same_columns <- function(x, settings) {
  if (is.character(x)) return(x)
  p <- settings$coding$p
  if (is.null(dim(x)) && is.numeric(x) && !is.null(p) && length(x) == p) x <- matrix(x, 1, dimnames = list(NULL, names(x)))
  if (is.null(dim(x))) return(x)
  if (!is.null(settings$columns) && !is.null(colnames(x))) {
    lacking <- setdiff(settings$columns, colnames(x))
    if (length(lacking)) medoids_error(sprintf("newdata has no column \"%s\", which the fit has", lacking[1]))
    return(x[, settings$columns, drop = FALSE])
  }
  if (!is.null(p) && ncol(x) != p) medoids_error(sprintf("newdata has %d columns, but the fit has %d", ncol(x), as.integer(p)))
  x
}
