skip_without_python <- function() {
  problem <- medoids:::python_problem()
  skip_if(!is.null(problem), problem)
}

# What an expression raises; fails if it raises nothing.
refusal <- function(expression) conditionMessage(expect_error(expression, class = "medoids_error"))

# The mean distance to the nearest of some rows, by plain loops.
loss_of <- function(distances, medoids) {
  total <- 0
  for (row in seq_len(nrow(distances))) total <- total + min(distances[medoids, row])
  total / nrow(distances)
}

# Runs R code in another process in which this package can be loaded; returns what it prints.
in_child <- function(code, env = character()) {
  file <- tempfile(fileext = ".R")
  writeLines(c(sprintf(".libPaths(%s)", paste(deparse(.libPaths()), collapse = "")), code), file)
  suppressWarnings(system2(file.path(R.home("bin"), "Rscript"), shQuote(file), stdout = TRUE, stderr = TRUE, env = env))
}

# The messages of an expression.
messages_of <- function(expression) {
  said <- character()
  withCallingHandlers(expression, message = function(m) {
    said <<- c(said, conditionMessage(m))
    invokeRestart("muffleMessage")
  })
  said
}
