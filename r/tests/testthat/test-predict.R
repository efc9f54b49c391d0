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

test_that("memberships are those of fuzzy c-medoids", {
  skip_without_python()
  fit <- kmedoids(iris[, 1:4], 3)
  shares <- predict(fit, iris, "prob")
  expect_equal(unname(rowSums(shares)), rep(1, 150), tolerance = 1e-12)
  expect_equal(unname(diag(shares[fit$id.med, ])), rep(1, 3))
  distances <- predict(fit, iris, "distance")
  others <- -fit$id.med
  by_hand <- function(m) (1 / distances[others, ])^(1 / (m - 1)) / rowSums((1 / distances[others, ])^(1 / (m - 1)))
  expect_equal(shares[others, ], by_hand(2), tolerance = 1e-12)
  expect_equal(predict(fit, iris, "prob", m = 1.5)[others, ], by_hand(1.5), tolerance = 1e-12)
  expect_match(refusal(predict(fit, iris, "prob", m = 1)), "m must be one number above 1")
})

test_that("variances and covariances are those of the fit", {
  skip_without_python()
  x <- as.matrix(iris[, 1:4])
  fit <- kmedoids(x, 3, "seuclidean")
  scaled <- sweep(x, 2, apply(x, 2, sd), "/")
  by_hand <- as.matrix(dist(scaled))[, fit$id.med]
  expect_equal(unname(predict(fit, x, "distance")), unname(by_hand), tolerance = 1e-9)
  expect_equal(unname(predict(fit, x[1:5, ], "distance")), unname(by_hand[1:5, ]), tolerance = 1e-9)
  fit <- kmedoids(x, 3, "mahalanobis")
  by_hand <- sapply(fit$id.med, function(i) sqrt(mahalanobis(x, x[i, ], cov(x))))
  expect_equal(unname(predict(fit, x[1:5, ], "distance")), unname(by_hand[1:5, ]), tolerance = 1e-9)
})

test_that("types of columns are those of daisy", {
  skip_without_python()
  data(flower, package = "cluster", envir = environment())
  type <- list(asymm = c("V1", "V3"), ordratio = 7, logratio = "V8")
  expected <- cluster::daisy(flower, "gower", type = type)
  fit <- kmedoids(flower, 3, "gower", type = type, keep.diss = TRUE)
  expect_equal(as.numeric(fit$diss), as.numeric(expected), tolerance = 1e-9)
  distances <- unname(predict(fit, flower[18:1, ], "distance"))
  expect_equal(distances, unname(as.matrix(expected)[18:1, fit$id.med]), tolerance = 1e-9)
  expect_identical(predict(fit, flower), fit$clustering)
  expect_match(refusal(kmedoids(flower, 3, "gower", type = list(asymm = "V9"))), "type names column V9, which x does not have")
  expect_match(refusal(kmedoids(flower, 3, "gower", type = list(wrong = "V1"))), "each name of type must be one of")
  expect_match(refusal(kmedoids(flower, 3, "gower", type = "V1")), "type must be a list of types and columns as daisy")
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
