state <- new.env(parent = emptyenv())

# The Python side of this package, imported when it is first needed.
engine <- function() {
  if (is.null(state$engine)) {
    problem <- python_problem()
    if (!is.null(problem)) medoids_error(problem)
    folder <- system.file("python", package = "medoids")
    state$engine <- reticulate::import_from_path("medoids_r", path = folder, convert = FALSE)
  }
  state$engine
}

# An object of Python as one of R. Evaluated first, so that a missing Python is reported by engine().
from_python <- function(value) {
  suspendInterrupts({
    force(value)
    reticulate::py_to_r(value)
  })
}

# What stands in the way of Python, and what to run; NULL if nothing does.
python_problem <- function() {
  choose_environment()
  # Without this, old versions of reticulate ask whether to install Miniconda.
  if (is.na(Sys.getenv("RETICULATE_MINICONDA_ENABLED", NA))) {
    Sys.setenv(RETICULATE_MINICONDA_ENABLED = "FALSE")
    on.exit(Sys.unsetenv("RETICULATE_MINICONDA_ENABLED"))
  }
  there <- tryCatch(reticulate::py_available(initialize = TRUE), error = function(e) FALSE)
  remedy <- "run medoids::install_medoids(), and restart R"
  if (!there) {
    return(paste0("no Python was found; ", remedy, ". If there is one with the package medoids, name it before R ",
                  "starts Python: Sys.setenv(RETICULATE_PYTHON = \"/path/to/python\")"))
  }
  python <- reticulate::py_config()$python
  if (utils::compareVersion(as.character(reticulate::py_config()$version), "3.11") < 0) {
    return(sprintf("%s is Python %s, and medoids needs 3.11 or later; %s", python, reticulate::py_config()$version,
                   remedy))
  }
  if (!reticulate::py_module_available("medoids")) {
    return(sprintf("%s has no Python package medoids; %s", python, remedy))
  }
  if (!reticulate::py_numpy_available()) {
    return(sprintf(paste0("reticulate %s cannot use the NumPy of %s; update reticulate (1.38 or later takes NumPy 2), or ",
                          "run %s -m pip install \"numpy<2\""),
                   utils::packageVersion("reticulate"), python, python))
  }
  NULL
}

# The environment that install_medoids() makes, unless the user has chosen another one.
choose_environment <- function() {
  chosen <- nzchar(Sys.getenv("RETICULATE_PYTHON")) || nzchar(Sys.getenv("RETICULATE_PYTHON_ENV"))
  if (chosen || reticulate::py_available(initialize = FALSE)) return(invisible())
  if (tryCatch(reticulate::virtualenv_exists("r-medoids"), error = function(e) FALSE)) {
    reticulate::use_virtualenv("r-medoids", required = FALSE)
  }
}

#' Install the Python package medoids
#'
#' Makes a virtual environment of Python and installs the Python package medoids, with what reports, texts and Parquet
#' need, into it. [kmedoids()] finds that environment by itself. Restart R afterwards.
#'
#' With reticulate 1.41 or later this is mostly not needed: reticulate then makes an environment by itself when Python
#' is first used.
#'
#' @param source What to install: the name of the package, the folder of its sources, or the address of an archive, as
#'   `pip install` takes it.
#' @param envname The name of the virtual environment.
#' @param python A Python of version 3.11 or later to make the environment with; by default the one that reticulate
#'   finds.
#' @param ... Passed to [reticulate::py_install()].
#' @return `NULL`, invisibly.
#' @examples
#' \dontrun{
#' install_medoids()
#' install_medoids("~/src/medoids")   # a checkout of the sources
#' }
#' @export
install_medoids <- function(source = "medoids", envname = "r-medoids", python = NULL, ...) {
  packages <- if (dir.exists(path.expand(source))) {
    paste0(normalizePath(source), sub("^medoids", "", python_packages()))
  } else if (identical(source, "medoids")) {
    python_packages()
  } else {
    source
  }
  # Versions before 1.38 do not know NumPy 2, which pyarrow 24 and later needs; earlier ones need pandas.
  if (utils::packageVersion("reticulate") < "1.38") packages <- c("numpy<2", "pyarrow<24", "pandas", packages)
  # R sets this for itself; a Python with libraries of its own may then fail to load them, such as that of HTTPS.
  libraries <- Sys.getenv("LD_LIBRARY_PATH", NA)
  if (!is.na(libraries)) {
    Sys.unsetenv("LD_LIBRARY_PATH")
    on.exit(Sys.setenv(LD_LIBRARY_PATH = libraries))
  }
  if (!reticulate::virtualenv_exists(envname)) reticulate::virtualenv_create(envname, python = python)
  reticulate::py_install(packages, envname = envname, method = "virtualenv", ...)
  message("Restart R, and library(medoids) will use the environment \"", envname, "\".")
  invisible()
}

#' What is installed
#'
#' `medoids_config()` returns the versions of Python and of the packages that a fit uses; `medoids_available()` says
#' whether [kmedoids()] can run. Both start Python.
#'
#' @return `medoids_config()`: a list of class `"medoids_config"` with `available`, `problem` (what is missing and what
#'   to run, or `NULL`), `python`, `versions` and `threads`. `medoids_available()`: `TRUE` or `FALSE`.
#' @examples
#' medoids_available()
#' medoids_config()
#' @export
medoids_config <- function() {
  problem <- python_problem()
  config <- list(available = is.null(problem), problem = problem, python = NULL, versions = NULL, threads = NULL)
  if (tryCatch(reticulate::py_available(), error = function(e) FALSE)) {
    config$python <- reticulate::py_config()$python
  }
  if (is.null(problem)) {
    config$versions <- unlist(c(
      reticulate = as.character(utils::packageVersion("reticulate")),
      Python = as.character(reticulate::py_config()$version),
      from_python(engine()$versions())
    ))
    config$threads <- as.integer(reticulate::import("os")$cpu_count())
  }
  structure(config, class = "medoids_config")
}

#' @export
print.medoids_config <- function(x, ...) {
  if (!is.null(x$python)) cat("Python:   ", x$python, "\n", sep = "")
  if (!is.null(x$problem)) {
    cat("medoids cannot run: ", x$problem, "\n", sep = "")
    return(invisible(x))
  }
  versions <- ifelse(nzchar(x$versions), x$versions, "(not installed)")
  cat("Versions: ", paste(names(x$versions), versions, collapse = ", "), "\n", sep = "")
  cat("Threads:  ", x$threads, "\n", sep = "")
  invisible(x)
}

#' @rdname medoids_config
#' @export
medoids_available <- function() is.null(python_problem())

#' The metrics that can be named
#'
#' Any R function of two observations is a metric as well.
#'
#' @return A data frame with the columns `name`, `kind` (of data), `aliases`, `formula`, `parameters` (with their
#'   defaults) and `extra` (what has to be installed for it).
#' @examplesIf medoids_available()
#' head(available_metrics())
#' @export
available_metrics <- function() {
  as.data.frame(lapply(from_python(engine()$metrics()), as.character))
}
