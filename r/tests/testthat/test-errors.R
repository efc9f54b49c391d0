test_that("messages of Python count from 1 and use the names of R", {
  say <- medoids:::in_r_terms
  expect_identical(say("Input X contains NaN: X[4, 0] is nan."), "Input x contains NaN: x[5, 1] is NaN.")
  expect_identical(say("X[2][0, 1] is inf"), "x[[3]][1, 2] is inf")
  expect_identical(say("row 0 and row 9 of X"), "row 1 and row 10 of x")
  expect_identical(say("row 0 and query 2 of X"), "row 1 and row of newdata 3 of x")
  expect_identical(say("init[0]=7 is not a row of X, which has rows 0 to 5"),
                   "init[1] = 8 is not a row of x, which has rows 1 to 6")
  expect_identical(say("sample_weight[3]=-1.0 is negative"), "weights[4] = -1.0 is negative")
  expect_identical(say("n_clusters=9 is more than n_jobs=2"), "k = 9 is more than threads = 2")
  expect_identical(say("column 1 of X", c("a", "b")), "column 2 (\"b\") of x")
  expect_identical(say("algorithm='x' must be one of ['a', 'b']"), "algorithm = \"x\" must be one of \"a\", \"b\"")
  expect_identical(say("pass resume=True, or None"), "pass resume = TRUE, or NULL")
  expect_identical(say("install it: pip install \"medoids[strings]\""), "install it: install_medoids()")
})

test_that("wrong data are named by row and column", {
  skip_without_python()
  x <- iris[, 1:4]
  x[7, 2] <- NA
  expect_match(refusal(kmedoids(x, 3)), "x\\[7, 2\\] \\(column \"Sepal.Width\"\\) is NA; .*na.omit.*pam\\(\\).*gower")
  x[7, 2] <- Inf
  expect_match(refusal(kmedoids(x, 3)), "x\\[7, 2\\].* is Inf")
  expect_match(refusal(kmedoids(iris, 3, "euclidean")), "column 5 of x \\(\"Species\"\\) is of class factor")
  expect_match(refusal(pam(data.frame(a = c(1, NA, 3), b = c(NA, 2, 3)), 1)), "rows 1 and 2 of x have no column")
  expect_match(refusal(pam(rbind(c(1, 2), NA, c(3, 4)), 1)), "row 2 of x has no value at all")
  expect_match(refusal(kmedoids(data.frame(a = c(1, NA), b = factor(c("x", NA))), 1)), "row 2 of x has no value at all")
  expect_match(refusal(kmedoids(dist(c(1, NA, 3)), 2)), "rows 1 and 2 is NA")
  expect_match(refusal(kmedoids(matrix(1:6, 3), 2, diss = TRUE)), "3 rows and 2 columns")
  expect_match(refusal(kmedoids(c("a", NA, "b"), 2)), "x\\[2\\] is NA")
  expect_match(refusal(kmedoids(list(1:3, NULL, 2), 2)), "x\\[\\[2\\]\\] is missing")
  expect_match(refusal(kmedoids(list(1:3, c(1, NA, 2), 2:5), 2)), "x\\[\\[2\\]\\]\\[2\\] is NaN")
  expect_match(refusal(kmedoids("no such file", 2)), "no file or folder has that name")
  expect_match(refusal(kmedoids(1:10, 2)), "matrix\\(x\\) for one column")
  expect_match(refusal(kmedoids(matrix("a", 2, 2), 1)), "matrix of type character")
  expect_match(refusal(kmedoids(iris[0, 1:4], 1)), "empty")
  expect_match(refusal(kmedoids(cbind(iris[1:3], 1), 3, stand = TRUE)), "column 4 of x .* is constant")
  expect_match(refusal(kmedoids(cbind(iris, z = I(as.list(1:150))), 3)), "column 6 of x \\(\"z\"\\) is of class AsIs")
})

test_that("wrong arguments are named", {
  skip_without_python()
  x <- iris[, 1:4]
  expect_match(refusal(kmedoids(x)), "k is missing; pass the number of clusters")
  expect_match(refusal(kmedoids(x, 0)), "k must be one whole number")
  expect_match(refusal(kmedoids(x, 151)), "k = 151 is more than the number of rows, 150")
  expect_match(refusal(kmedoids(x, 3, "euclidian")), "did you mean \"euclidean\"")
  expect_match(refusal(kmedoids(x, 3, algorithm = "bogus")), "algorithm = \"bogus\" is unknown; it must be one of \"")
  expect_match(refusal(kmedoids(x, 3, init = c(1, 2, 200))), "init\\[3\\] is 200, .*rows 1 to 150")
  expect_match(refusal(kmedoids(x, 3, init = c(1, 2, 2))), "row 2 twice")
  expect_match(refusal(kmedoids(x, 3, weights = 1:3)), "150 numbers")
  expect_match(refusal(kmedoids(x, 3, weights = c(1, -1, rep(1, 148)))), "weights\\[2\\] is -1")
  expect_match(refusal(kmedoids(x, 3, wrong = 1)), "\"wrong\" is unknown")
  expect_match(refusal(kmedoids(x, 3, random_state = 1)), "random_state is called seed in R")
  expect_match(refusal(kmedoids(x, 3, "euclidean", 5)), "must be named")
  expect_match(refusal(kmedoids(x, 3, statistics = "some")), "statistics must be one of")
  expect_match(refusal(kmedoids(x, 3, metric = 5)), "metric must be one name")
})

test_that("what a function does wrong is named by rows", {
  skip_without_python()
  x <- as.matrix(iris[1:10, 1:4])
  for (statistics in c("auto", "none")) {
    expect_match(refusal(kmedoids(x, 3, function(a, b) stop("oops"), statistics = statistics)), "for rows \\d+ and \\d+ of x: oops")
    expect_match(refusal(kmedoids(x, 3, function(a, b) NA, statistics = statistics)), "metric returned NA")
    expect_match(refusal(kmedoids(x, 3, function(a, b) a - b, statistics = statistics)), "metric returned 4 values")
  }
  expect_match(refusal(kmedoids(x, 3, function(a, b) if (identical(a, x[3, ]) && identical(b, x[7, ])) NaN else 1)),
               "for rows 3 and 7 of x")
})

test_that("errors have no Python traceback and no call", {
  skip_without_python()
  error <- expect_error(kmedoids(iris[, 1:4], 3, "euclidian"), class = "medoids_error")
  expect_s3_class(error, c("medoids_error", "error", "condition"), exact = TRUE)
  expect_no_match(conditionMessage(error), "Traceback|File \"|py_last_error")
  expect_identical(error$type, "ValueError")
})

test_that("what an old Python package lacks is said", {
  skip_without_python()
  known <- reticulate::py_to_r(medoids:::engine()$keywords())
  expect_match(refusal(medoids:::engine_settings(list(from_the_future = 1), 10)), "too old for from_the_future; run install_medoids")
  if ("n_restarts" %in% known) {
    better <- kmedoids(iris[, 1:4], 7, n_restarts = 5, seed = 1)
    expect_lte(better$loss, kmedoids(iris[, 1:4], 7)$loss)
  } else {
    expect_match(refusal(kmedoids(iris[, 1:4], 3, n_restarts = 5)), "too old for n_restarts")
  }
})
