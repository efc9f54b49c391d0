# The rows of an input as Python takes them.
to_python <- function(input) suspendInterrupts(converted(input, input$values))

converted <- function(input, values) {
  switch(input$kind,
    vectors = if (isTRUE(input$coding$gaps)) {
      reticulate::r_to_py(cbind(replace(values, is.na(values), 0), !is.na(values)))
    } else {
      reticulate::r_to_py(unname(values))
    },
    table = reticulate::r_to_py(unname(values)),
    matrix = reticulate::r_to_py(unname(values)),
    sparse = engine()$sparse(array(values@x), array(values@i), array(values@p), as.list(dim(values))),
    texts = reticulate::r_to_py(as.list(values)),
    things = reticulate::r_to_py(lapply(values, thing, series = identical(input$metric, "dtw"))),
    objects = reticulate::r_to_py(as.list(seq_len(input$n) - 1L)),
    stored = input$python
  )
}

# Some observations, by their rows.
take <- function(input, rows) {
  values <- input$values
  if (length(dim(values)) == 2) values[rows, , drop = FALSE] else values[rows]
}

# A series, a sequence of tokens, a set or a tree.
thing <- function(value, series) {
  if (series) return(reticulate::np_array(if (is.matrix(value)) value else as.numeric(value)))
  if (is.list(value)) return(unname(lapply(value, function(part) if (is.list(part)) thing(part, FALSE) else part)))
  if (is.factor(value)) value <- as.character(value)
  as.list(unname(value))
}

python_metric <- function(input) {
  if (input$kind == "vectors" && isTRUE(input$coding$gaps)) engine()$gaps(input$metric) else input$metric
}

# Row numbers of R as row numbers of Python.
python_rows <- function(rows) reticulate::np_array(as.integer(rows) - 1L, dtype = "int64")

# Distances from the first m rows of one input to those of another: a matrix with a row for each of the latter.
distances_from <- function(medoids, m, newdata) {
  rows <- to_python(medoids)
  if (medoids$kind == "table") rows <- reticulate::r_to_py(unname(rbind(medoids$values, medoids$coding$ranges)))
  found <- run(engine()$distances_from, rows = rows, m = as.integer(m), X = to_python(newdata),
               metric = python_metric(medoids), metric_params = medoids$metric_params, names = medoids$columns)
  from_python(found)
}

# All distances, d(i, j) at [i, j].
all_pairs <- function(input) {
  if (!is.null(input$all_pairs)) return(input$all_pairs)
  if (input$kind == "matrix") return(input$values)
  if (!is.null(input$distance)) return(function_matrix(input))
  ranges <- if (input$kind == "table") unname(input$coding$ranges)
  found <- run(engine()$pairwise, X = to_python(input), metric = python_metric(input),
               metric_params = input$metric_params, ranges = ranges, names = input$columns)
  from_python(found)
}

# The same observations given by all their distances, where these are known or each is a call of an R function.
by_matrix <- function(input) {
  if (is.null(input$all_pairs)) return(input)
  input$kind <- "matrix"
  input$values <- input$all_pairs
  input["distance"] <- input["metric_params"] <- list(NULL)
  input$metric <- "precomputed"
  input
}
