test_that("the methods of cluster work", {
  skip_without_python()
  pdf(NULL)
  on.exit(dev.off())
  for (fit in list(kmedoids(iris[, 1:4], 3), kmedoids(cluster::flower, 3), kmedoids(dist(ruspini), 4))) {
    expect_output(print(fit), "Objective function")
    expect_output(print(summary(fit)), "Average silhouette width of total data set")
    plot(fit)
    clusplot(fit)
    widths <- cluster::silhouette(fit)
    expect_s3_class(widths, "silhouette")
    expect_equal(summary(widths)$avg.width, fit$silinfo$avg.width)
    plot(widths)
  }
  set.seed(1)
  ours <- cluster::clusGap(as.matrix(ruspini), medoids::pam, K.max = 5, B = 5, verbose = FALSE)
  set.seed(1)
  theirs <- cluster::clusGap(as.matrix(ruspini), cluster::pam, K.max = 5, B = 5, verbose = FALSE)
  expect_equal(ours$Tab, theirs$Tab, tolerance = 1e-9)
})

test_that("factoextra works", {
  skip_without_python()
  skip_if_not_installed("factoextra")
  fit <- kmedoids(iris[, 1:4], 3)
  pdf(NULL)
  on.exit(dev.off())
  expect_s3_class(print(factoextra::fviz_cluster(fit)), "ggplot")
  expect_s3_class(print(factoextra::fviz_silhouette(fit, print.summary = FALSE)), "ggplot")
})

test_that("broom works", {
  skip_without_python()
  skip_if_not_installed("broom")
  for (fit in list(kmedoids(iris[, 1:4], 3), kmedoids(cluster::flower, 3))) {
    expect_identical(nrow(broom::tidy(fit)), 3L)
    expect_identical(broom::glance(fit)$avg.silhouette.width, fit$silinfo$avg.width)
    expect_identical(as.integer(broom::augment(fit)$.cluster), unname(fit$clustering))
  }
})
