#' A page to show to colleagues
#'
#' Writes a clustering as one HTML file that needs no network and no other file: the medoids, the sizes of clusters, a
#' map, silhouettes, and the loss after each step.
#'
#' @param object A result of [kmedoids()] or [pam()].
#' @param file Where to write.
#' @param x The data of the fit; not needed where it holds them.
#' @param title The title of the page.
#' @param ... Not used.
#' @return `file`, invisibly.
#' @examplesIf medoids_available()
#' page <- tempfile(fileext = ".html")
#' report(kmedoids(iris[, 1:4], 3), page, title = "Iris")
#' # browseURL(page)
#' @export
report <- function(object, file, ...) UseMethod("report")

#' @rdname report
#' @export
report.medoids <- function(object, file, x = NULL, title = NULL, ...) {
  if (!is.character(file) || length(file) != 1) medoids_error("file must be one path, such as \"page.html\"")
  input <- by_matrix(with_pairs(input_of(object, x), "exact", FALSE))
  options <- list(
    title = title,
    feature_names = as.list(if (!input$kind %in% c("matrix", "texts", "things")) input$columns),
    ids = as.list(input$labels),
    command = paste(deparse(object$call), collapse = " "),
    shown = shown_rows(object, input)
  )
  run(engine()$write_report, fields = report_fields(object, input), trace = report_trace(object$trace),
      X = to_python(input), path = path.expand(file), options = options[lengths(options) > 0], names = input$columns)
  invisible(file)
}

report_fields <- function(object, input) {
  weights <- object$settings$weights
  total <- if (is.null(weights)) input$n else sum(weights)
  list(
    medoid_indices = python_rows(object$id.med),
    labels = python_rows(object$clustering),
    distances = array(object$distances),
    inertia = object$loss * total,
    loss = object$loss,
    n_swaps = if (is.null(object$n_swaps)) 0L else as.integer(object$n_swaps),
    converged = !isFALSE(object$converged),
    algorithm = object$algorithm,
    reason = object$reason,
    n_evaluations = if (is.null(object$n_evaluations)) 0L else as.integer(min(object$n_evaluations, .Machine$integer.max)),
    parameters = list(n_clusters = length(object$id.med), metric = python_metric(input),
                      metric_params = input$metric_params, algorithm = object$settings$algorithm,
                      random_state = object$settings$seed),
    sample_weight = if (!is.null(weights)) array(weights)
  )
}

report_trace <- function(trace) {
  rows <- function(values) lapply(values, function(row) if (is.na(row)) NULL else row - 1L)
  list(
    phase = as.list(trace$phase), medoid_in = rows(trace$medoid_in), medoid_out = rows(trace$medoid_out),
    loss = as.list(trace$loss), n_evaluations = as.list(trace$n_evaluations), seconds = as.list(trace$seconds),
    references = as.list(trace$references), candidates = as.list(trace$candidates)
  )
}

# The rows in their own units and words.
shown_rows <- function(object, input) {
  coding <- object$settings$coding
  if (input$kind == "table") {
    columns <- lapply(object$settings$columns, function(name) {
      column <- input$data[[name]]
      as.list(if (is.numeric(column)) as.numeric(column) else as.character(column))
    })
    return(engine()$labelled(columns))
  }
  if (input$kind == "vectors" && !is.null(coding$center)) {
    return(sweep(sweep(input$values, 2, coding$scale, "*"), 2, coding$center, "+"))
  }
  NULL
}
