test_that("a sample of all rows is pam", {
  skip_without_python()
  whole <- clara(iris[, 1:4], 3, samples = 1, sampsize = 150)
  exact <- cluster::pam(iris[, 1:4], 3)
  expect_equal(whole$i.med, exact$id.med)
  expect_identical(whole$clustering, exact$clustering)
  expect_equal(whole$objective, exact$objective[["swap"]], tolerance = 1e-9)
  theirs <- cluster::clara(iris[, 1:4], 3, samples = 1, sampsize = 150)
  expect_equal(whole$clusinfo, theirs$clusinfo, tolerance = 1e-9)
  expect_equal(whole$silinfo$avg.width, theirs$silinfo$avg.width, tolerance = 1e-9)
})

test_that("the result has the components of cluster, and its methods work", {
  skip_without_python()
  fit <- clara(iris[, 1:4], 3)
  expect_true(all(names(cluster::clara(iris[, 1:4], 3)) %in% names(fit)))
  distances <- as.matrix(dist(iris[, 1:4]))
  expect_equal(fit$objective, loss_of(distances, fit$i.med), tolerance = 1e-12)
  expect_length(fit$sample, 46)
  expect_true(all(fit$i.med %in% fit$sample))
  expect_output(print(fit), "Best sample")
  expect_output(print(summary(fit)), "Average silhouette width of best sample")
  pdf(NULL)
  on.exit(dev.off())
  plot(fit)
  expect_identical(predict(fit, iris[1:20, ]), fit$clustering[1:20])
  expect_identical(clara(iris[, 1:4], 3)$i.med, fit$i.med)
  expect_identical(clara(iris[, 1:4], 3, cluster.only = TRUE), fit$clustering)
})

test_that("set.seed() decides with rngR", {
  skip_without_python()
  set.seed(1)
  first <- clara(iris[, 1:4], 3, rngR = TRUE)$sample
  second <- clara(iris[, 1:4], 3, rngR = TRUE)$sample
  set.seed(1)
  expect_identical(clara(iris[, 1:4], 3, rngR = TRUE)$sample, first)
  expect_false(identical(first, second))
})

test_that("wrong arguments are refused", {
  skip_without_python()
  expect_match(refusal(clara(dist(ruspini), 2)), "use pam")
  expect_match(refusal(clara(ruspini, 4, sampsize = 100)), "more than the number of rows, 75")
  expect_match(refusal(clara(ruspini, 4, samples = 0)), "samples must be one whole number")
})
