test_that("a swap that improves is found, with rows counted from 1", {
  skip_without_python()
  x <- as.matrix(iris[, 1:4])
  distances <- as.matrix(dist(x))
  found <- certify(x, c(1, 51, 101))
  expect_equal(found$loss, loss_of(distances, c(1, 51, 101)), tolerance = 1e-12)
  swapped <- c(setdiff(c(1, 51, 101), found$swap[["out"]]), found$swap[["in"]])
  expect_equal(found$gain, found$loss - loss_of(distances, swapped), tolerance = 1e-12)
  best <- Inf
  for (out in 1:3) for (into in 1:150) best <- min(best, loss_of(distances, c(c(1, 51, 101)[-out], into)))
  expect_equal(loss_of(distances, swapped), best, tolerance = 1e-12)
  expect_output(print(found), "putting row 79 in the place of row 51")
})

test_that("a fit is certified with its own metric, weights and scale", {
  skip_without_python()
  fit <- kmedoids(iris[, 1:4], 3)
  found <- certify(fit)
  expect_null(found$swap)
  expect_lt(found$gap, 0.01)
  expect_output(print(found), "no swap improves; within 0\\.01% of the optimum")
  others <- list(
    kmedoids(iris[, 1:4], 3, stand = TRUE), kmedoids(iris, 3), kmedoids(iris[, 1:4], 3, weights = 1:150),
    kmedoids(dist(ruspini), 4), kmedoids(ruspini, 4, function(a, b) sum(abs(a - b))), pam(cluster::votes.repub, 3)
  )
  for (other in others) expect_equal(certify(other)$loss, other$loss, tolerance = 1e-9)
  slim <- kmedoids(iris[, 1:4], 3, stand = TRUE, keep.data = FALSE)
  expect_match(refusal(certify(slim)), "does not hold its data")
  expect_equal(certify(slim, iris)$loss, slim$loss, tolerance = 1e-9)
  expect_match(refusal(certify(slim, iris[1:20, ])), "20 rows, but the fit had 150")
  expect_match(refusal(certify(iris[, 1:4], c(1, 999))), "medoids\\[2\\] is 999")
})
