test_that("py_require() is called where reticulate has it", {
  asked <- NULL
  stub <- new.env()
  stub$py_require <- function(packages, ..., python_version) asked <<- list(packages, python_version)
  expect_true(medoids:::require_python(stub))
  expect_identical(asked, list("medoids[cli,report,strings]", ">=3.11"))
  expect_false(medoids:::require_python(new.env()))
})

test_that("loading prints nothing and does not start Python", {
  said <- in_child(c(
    "suppressPackageStartupMessages(library(cluster))",
    "invisible(loadNamespace('medoids'))",
    "cat('started:', reticulate::py_available(initialize = FALSE))"
  ))
  expect_identical(said, "started: FALSE")
})

test_that("a missing Python or package says what to run", {
  ask <- c("suppressMessages(library(medoids))", "print(medoids_config()$available)",
           "tryCatch(kmedoids(iris[, 1:4], 3), medoids_error = function(e) cat('said:', conditionMessage(e)))")
  said <- paste(in_child(ask, env = "RETICULATE_PYTHON=/no/such/python"), collapse = "\n")
  expect_match(said, "FALSE")
  expect_match(said, "said: no Python was found; run medoids::install_medoids\\(\\), and restart R")
  python <- "/usr/bin/python3"
  skip_if_not(file.exists(python), "there is no /usr/bin/python3")
  has <- suppressWarnings(system2(python, c("-c", shQuote("import medoids")), stdout = FALSE, stderr = FALSE)) == 0
  skip_if(has, "/usr/bin/python3 has the package medoids")
  said <- paste(in_child(ask, env = sprintf("RETICULATE_PYTHON=%s", python)), collapse = "\n")
  expect_match(said, "said: .*(has no Python package medoids|needs 3.11|cannot use the NumPy|no Python was found)")
  expect_match(said, "install_medoids|pip install")
})

test_that("the configuration names versions", {
  skip_without_python()
  config <- medoids_config()
  expect_true(config$available)
  expect_true(medoids_available())
  expect_output(print(config), "numpy [0-9.]+")
  expect_gte(config$threads, 1)
})

test_that("metrics are listed", {
  skip_without_python()
  metrics <- available_metrics()
  expect_true(all(c("euclidean", "gower", "dtw", "levenshtein") %in% metrics$name))
  expect_identical(names(metrics), c("name", "kind", "aliases", "formula", "parameters", "extra"))
})
