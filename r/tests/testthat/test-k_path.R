test_that("each fit is the one that kmedoids() gives, with a suggestion", {
  skip_without_python()
  path <- k_path(ruspini, 2:8)
  expect_identical(path$scores$k, 2:8)
  for (k in c(2, 4, 8)) {
    alone <- kmedoids(ruspini, k)
    expect_identical(path$fits[[as.character(k)]]$id.med, alone$id.med)
    expect_equal(path$scores$loss[path$scores$k == k], alone$loss, tolerance = 1e-12)
    expect_equal(path$scores$silhouette[path$scores$k == k], alone$silinfo$avg.width, tolerance = 1e-9)
  }
  for (criterion in c("medoid_silhouette", "silhouette", "elbow", "stability")) {
    expect_equal(as.integer(suggest(path, criterion)), 4)
  }
  expect_output(print(path), "Suggested: k = 4")
  expect_output(print(suggest(path)), "highest medoid silhouette")
  expect_match(refusal(suggest(path, "magic")), "criterion must be one of")
  expect_match(refusal(k_path(ruspini, 70:80)), "k = 76 is more than the number of rows")
  pdf(NULL)
  on.exit(dev.off())
  expect_identical(plot(path), path)
})

test_that("other data and metrics work", {
  skip_without_python()
  expect_identical(k_path(cluster::flower, 2:4)$fits[["3"]]$id.med, kmedoids(cluster::flower, 3)$id.med)
  apart <- function(a, b) sum(abs(a - b))
  path <- k_path(ruspini, 3:5, apart, symmetric = TRUE)
  expect_identical(path$fits[["4"]]$id.med, kmedoids(ruspini, 4, "manhattan")$id.med)
  expect_identical(as.integer(suggest(path)), 4L)
  expect_true(is.na(k_path(ruspini, 1:2)$scores$silhouette[1]))
})

test_that("a path from another session says what to do", {
  skip_without_python()
  file <- tempfile(fileext = ".rds")
  saveRDS(k_path(ruspini, 2:4), file)
  path <- readRDS(file)
  expect_output(print(path), "k = 2 to 4")
  expect_match(refusal(suggest(path)), "run k_path\\(\\) again")
})
