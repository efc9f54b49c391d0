test_that("the clusters of the fit are predicted again, by any kind of data", {
  skip_without_python()
  fits <- list(
    kmedoids(iris[, 1:4], 3), kmedoids(iris[, 1:4], 3, stand = TRUE), kmedoids(iris, 3), kmedoids(iris[, 1:4], 3, "manhattan"),
    kmedoids(iris[, 1:4], 3, function(a, b) sum(abs(a - b)), symmetric = TRUE)
  )
  for (fit in fits) {
    expect_identical(predict(fit, iris), fit$clustering)
    expect_identical(predict(fit), fit$clustering)
    distances <- predict(fit, iris, "distance")
    expect_equal(apply(distances, 1, min), fit$distances, tolerance = 1e-9)
    expect_equal(predict(fit, type = "distance"), distances, tolerance = 1e-12)
  }
})

test_that("columns are found by name, and levels and ranges are those of the fit", {
  skip_without_python()
  fit <- kmedoids(iris[, 1:4], 3)
  expect_identical(predict(fit, iris[5:8, 5:1]), fit$clustering[5:8])
  expect_match(refusal(predict(fit, iris[, 2:4])), "newdata has no column \"Sepal.Length\"")
  expect_match(refusal(predict(fit, unname(as.matrix(iris[, 1:3])))), "3 columns, but the fit has 4")
  expect_identical(predict(fit, unlist(iris[60, 1:4])), fit$clustering[60])
  expect_match(refusal(predict(fit, rbind(iris[1:2, 1:4], NA))), "newdata\\[3, 1\\] .* is NA; leave such rows out")

  x <- data.frame(age = c(20, 30, 70, 80), city = factor(c("Oslo", "Oslo", "Rome", "Rome")))
  mixed <- kmedoids(x, 2)
  new <- data.frame(city = c("Rome", "Oslo", "Paris"), age = c(90, NA, 20))
  expect_identical(predict(mixed, new), c(2L, 1L, 1L))
  # age 90 against 70 on a range of 60; the same city
  expect_equal(unname(predict(mixed, new, "distance")[1, 2]), (abs(90 - mixed$medoids$age[2]) / 60 + 0) / 2)
  expect_equal(unname(predict(mixed, new, "distance")[3, 2]), (abs(20 - mixed$medoids$age[2]) / 60 + 1) / 2)
})

test_that("texts and dissimilarities are predicted", {
  skip_without_python()
  distances <- as.matrix(dist(ruspini))
  fit <- kmedoids(dist(ruspini), 4)
  expect_identical(predict(fit, distances[1:6, ]), fit$clustering[1:6])
  expect_match(refusal(predict(fit, distances[1:6, 1:5])), "a column for each of its 75 observations, but has 5")
  skip_if_not(reticulate::py_module_available("rapidfuzz"), "rapidfuzz is not installed")
  words <- kmedoids(c("ape", "apes", "tape", "zebra", "zebras", "cobra"), 2)
  expect_identical(predict(words, "grape"), 1L)
  expect_equal(unname(predict(words, c("grape", "zero"), "distance")), rbind(c(2, 5), c(4, 2)))
})

test_that("a saved fit predicts in another session", {
  skip_without_python()
  fit <- kmedoids(iris[, 1:4], 3)
  file <- tempfile(fileext = ".rds")
  saveRDS(fit, file)
  said <- in_child(sprintf("suppressMessages(library(medoids)); cat('is', predict(readRDS(%s), iris[c(1, 60, 120), ]))", deparse(file)))
  expect_match(paste(said, collapse = "\n"), paste("is", paste(fit$clustering[c(1, 60, 120)], collapse = " ")), fixed = TRUE)
})
