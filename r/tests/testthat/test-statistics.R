test_that("silhouettes are those of cluster", {
  set.seed(3)
  distances <- as.matrix(dist(matrix(rnorm(120), 40)))
  clustering <- c(1:5, sample(4, 35, TRUE)) # the fifth has one member
  ours <- medoids:::exact_silhouettes(clustering, 5, unname(distances), NULL)
  theirs <- cluster::silhouette(clustering, dmatrix = distances)
  expect_equal(ours$avg.width, mean(theirs[, "sil_width"]), tolerance = 1e-12)
  at <- as.integer(rownames(ours$widths))
  expect_equal(unname(ours$widths), unname(theirs[at, ]), ignore_attr = TRUE, tolerance = 1e-12)
  expect_identical(order(ours$widths[, "cluster"], -ours$widths[, "sil_width"]), 1:40)
})

test_that("a silhouette of identical rows is 0", {
  ours <- medoids:::exact_silhouettes(c(1, 1, 2, 2), 2, matrix(0, 4, 4), NULL)
  expect_identical(unname(ours$widths[, "sil_width"]), c(0, 0, 0, 0))
})

test_that("diameter, separation and isolation follow their definitions", {
  # points on a line: {0, 1}, {10, 12}, {15}
  distances <- as.matrix(dist(c(0, 1, 10, 12, 15)))
  found <- medoids:::cluster_statistics(c(1, 1, 2, 2, 3), 3, c(0, 1, 0, 2, 0), NULL, distances)
  expect_equal(found$clusinfo[, "diameter"], c(1, 2, 0))
  expect_equal(found$clusinfo[, "separation"], c(9, 3, 3))
  expect_equal(found$clusinfo[, "max_diss"], c(1, 2, 0))
  expect_equal(found$clusinfo[, "av_diss"], c(0.5, 1, 0))
  expect_identical(as.character(found$isolation), c("L*", "L*", "no"))
  weighted <- medoids:::cluster_statistics(c(1, 1, 2, 2, 3), 3, c(0, 1, 0, 2, 0), c(1, 3, 1, 1, 1), NULL)
  expect_equal(weighted$clusinfo[, "av_diss"], c(0.75, 1, 0))
  expect_true(all(is.na(weighted$isolation)))
})
