# Starts R code in another process, which says when it is ready; returns its number and where its output goes.
started <- function(before, after) {
  file <- tempfile(fileext = ".R")
  ready <- tempfile()
  output <- tempfile()
  writeLines(c(
    sprintf(".libPaths(%s)", paste(deparse(.libPaths()), collapse = "")),
    "suppressMessages(library(medoids))",
    before,
    sprintf("writeLines(as.character(Sys.getpid()), %s)", deparse(ready)),
    after
  ), file)
  system2(file.path(R.home("bin"), "Rscript"), shQuote(file), stdout = output, stderr = output, wait = FALSE)
  wait_for(function() file.exists(ready) && length(readLines(ready, warn = FALSE)) == 1, 120)
  list(process = as.integer(readLines(ready)), said = function() readLines(output, warn = FALSE))
}

# Sends Ctrl-C to a long computation in another process; returns what that says and how long it took.
interrupted <- function(computation) {
  child <- started(
    c("x <- matrix(rnorm(2e6), 1e5)", "invisible(kmedoids(x[1:4000, ], 3, statistics = 'none'))"),
    c(
      sprintf("r <- tryCatch({%s; 'finished'}, interrupt = function(i) 'interrupted')", computation),
      "cat(r, format(as.numeric(Sys.time()), digits = 15), round(kmedoids(iris[, 1:4], 3)$loss, 6), '\n')"
    )
  )
  on.exit(tools::pskill(child$process))
  Sys.sleep(1)
  sent <- as.numeric(Sys.time())
  tools::pskill(child$process, tools::SIGINT)
  answer <- function() grep("^(interrupted|finished) ", child$said(), value = TRUE)
  wait_for(function() length(answer()) > 0, 60)
  if (length(answer()) == 0) stop("no answer, but: ", paste(child$said(), collapse = "\n"))
  said <- strsplit(answer()[1], " ")[[1]]
  list(what = said[1], seconds = as.numeric(said[2]) - sent, loss = as.numeric(said[3]),
       besides = setdiff(child$said(), answer()))
}

wait_for <- function(condition, seconds) {
  end <- Sys.time() + seconds
  while (!condition() && Sys.time() < end) Sys.sleep(0.05)
}

test_that("Ctrl-C stops a fit and leaves R usable", {
  skip_without_python()
  skip_on_os("windows")
  for (computation in c(
    "kmedoids(x, 20)",
    "kmedoids(x[1:4000, ], 3, function(a, b) sum(abs(a - b)))",
    "kmedoids(x[1:4000, ], 3, function(a, b) sum(abs(a - b)), statistics = 'none')"
  )) {
    found <- interrupted(computation)
    expect_identical(found$what, "interrupted")
    expect_lt(found$seconds, 10) # it takes less than a second; a busy machine may take longer
    expect_equal(found$loss, 0.654208)
    expect_identical(found$besides, character(0)) # nothing of Python's own is printed
  }
})

test_that("R survives one interrupt after another", {
  skip_without_python()
  skip_on_os("windows")
  child <- started(
    c(
      "x <- matrix(rnorm(2e5), 1e4)",
      "fits <- list(function() kmedoids(x, 10), function() kmedoids(iris[, 1:4], 3),",
      "             function() kmedoids(x[1:200, ], 3, function(a, b) sum(abs(a - b)), statistics = 'none'))",
      "invisible(fits[[1]]())"
    ),
    c(
      "caught <- turn <- 0",
      "while (caught < 10) caught <- tryCatch(repeat {",
      "  turn <- turn + 1",
      "  fits[[1 + turn %% 3]]()",
      "}, interrupt = function(i) caught + 1)",
      "fit <- NULL",
      "while (is.null(fit)) fit <- tryCatch(kmedoids(iris[, 1:4], 3), interrupt = function(i) NULL)",
      "cat('alive', fit$id.med, '\n')"
    )
  )
  on.exit(tools::pskill(child$process))
  set.seed(1)
  # Signals that arrive together count once: more are sent until ten have been caught.
  for (turn in 1:40) {
    Sys.sleep(runif(1, 0.3, 0.6))
    if (turn > 10) wait_for(function() length(child$said()) > 0, 2)
    if (length(child$said()) > 0) break
    tools::pskill(child$process, tools::SIGINT)
  }
  wait_for(function() length(child$said()) > 0, 30)
  expect_identical(trimws(child$said()), "alive 8 79 113")
})

test_that("an error in R while Python waits ends the job", {
  skip_without_python()
  before <- reticulate::import("threading")$active_count()
  calls <- 0
  expect_error(kmedoids(as.matrix(iris[, 1:4]), 3, statistics = "none", metric = function(a, b) {
    calls <<- calls + 1
    if (calls > 50) stop("enough") else 1
  }), "enough", class = "medoids_error")
  expect_identical(reticulate::import("threading")$active_count(), before)
})
