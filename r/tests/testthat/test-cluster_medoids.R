test_that("the most typical members are those of plain loops", {
  skip_without_python()
  has <- reticulate::py_has_attr(reticulate::import("medoids"), "cluster_medoids")
  skip_if_not(has, "the installed Python package medoids has no cluster_medoids yet")
  found <- cluster_medoids(iris[, 1:4], iris$Species)
  distances <- as.matrix(dist(iris[, 1:4]))
  for (at in 1:3) {
    rows <- which(iris$Species == found$label[at])
    expect_identical(found$row[at], unname(rows[which.min(colSums(distances[rows, rows]))]))
  }
  expect_identical(found$size, c(50L, 50L, 50L))
  noise <- c(rep(-1, 50), rep(1, 50), rep(NA, 50))
  expect_identical(cluster_medoids(iris[, 1:4], noise)$size, 50L)
})

test_that("a Python package without it is said to be too old", {
  skip_without_python()
  has <- reticulate::py_has_attr(reticulate::import("medoids"), "cluster_medoids")
  skip_if(has, "the installed Python package medoids has cluster_medoids")
  expect_match(refusal(cluster_medoids(iris[, 1:4], iris$Species)), "too old for cluster_medoids")
})

test_that("what Python returns becomes a table", {
  skip_without_python()
  expect_match(refusal(cluster_medoids(iris[, 1:4], 1:3)), "labels must be 150 values")
  code <- paste(
    "from types import SimpleNamespace", "import numpy as np",
    "stub = SimpleNamespace(labels=np.array([0, 1]), medoid_indices=np.array([[4, 2], [7, 9]]),",
    "    mean_distances=np.array([[0.5, 0.6], [1.5, 1.6]]), sizes=np.array([3, 5]))", sep = "\n"
  )
  stub <- reticulate::py_run_string(code, convert = FALSE, local = TRUE)[["stub"]]
  found <- medoids:::typical_members(stub, c("a", "b"), 2)
  expect_identical(found$label, c("a", "a", "b", "b"))
  expect_identical(found$row, c(5L, 3L, 8L, 10L))
  expect_equal(found$mean_distance, c(0.5, 0.6, 1.5, 1.6))
  expect_identical(found$size, c(3L, 3L, 5L, 5L))
})
