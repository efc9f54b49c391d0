#' medoids: k-medoids clustering of anything, with the answer that PAM would give
#'
#' [kmedoids()] clusters numeric matrices, data frames, sparse matrices, texts, lists, dissimilarities and Parquet
#' folders; [pam()] and [clara()] take the arguments of their namesakes in \pkg{cluster}. Results have the classes of
#' \pkg{cluster}, so that its methods work on them. [k_path()] helps to choose the number of clusters, [certify()]
#' says how good the medoids are, and [report()] writes a page to show to colleagues.
#'
#' The work is done by the Python package of the same name; [install_medoids()] installs it, and [medoids_config()]
#' shows what is installed.
#'
#' @keywords internal
#' @importFrom cluster daisy
#' @importFrom stats predict
"_PACKAGE"

.onLoad <- function(libname, pkgname) {
  require_python(asNamespace("reticulate"))
}

# Declares what Python needs, where reticulate can make an environment of its own (1.41 and later).
require_python <- function(reticulate) {
  py_require <- get0("py_require", envir = reticulate, mode = "function")
  if (is.null(py_require)) return(invisible(FALSE))
  py_require(python_packages(), python_version = ">=3.11")
  invisible(TRUE)
}

python_packages <- function() "medoids[cli,report,strings]"
