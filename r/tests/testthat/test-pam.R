expect_same_as_cluster <- function(x, k, ..., ties = FALSE) {
  ours <- medoids::pam(x, k, ...)
  theirs <- cluster::pam(x, k, ...)
  expect_equal(ours$objective, theirs$objective, tolerance = 1e-9)
  expect_equal(ours$silinfo$avg.width, theirs$silinfo$avg.width, tolerance = 1e-9)
  if (ties) return(invisible())
  for (field in c("id.med", "medoids", "clustering", "isolation", "data", "diss")) {
    expect_equal(ours[[field]], theirs[[field]], tolerance = 1e-9, info = field, ignore_attr = field == "data")
  }
  expect_equal(ours$clusinfo, theirs$clusinfo, tolerance = 1e-9)
  expect_equal(ours$silinfo$clus.avg.widths, theirs$silinfo$clus.avg.widths, tolerance = 1e-9)
  expect_equal(ours$silinfo$widths, theirs$silinfo$widths, tolerance = 1e-9)
}

test_that("numeric data have the result of cluster", {
  skip_without_python()
  for (k in 2:6) expect_same_as_cluster(iris[, 1:4], k)
  for (k in 1:6) expect_same_as_cluster(cluster::ruspini, k)
  for (k in 2:3) expect_same_as_cluster(cluster::agriculture, k)
  expect_same_as_cluster(iris[, 1:4], 3, stand = TRUE)
  expect_same_as_cluster(cluster::ruspini, 4, metric = "manhattan")
  expect_same_as_cluster(cluster::ruspini, 4, do.swap = FALSE)
})

test_that("missing values are left out pair by pair, as in cluster", {
  skip_without_python()
  for (k in 2:5) expect_same_as_cluster(cluster::votes.repub, k)
  expect_same_as_cluster(cluster::votes.repub, 3, stand = TRUE)
})

test_that("dissimilarities have the result of cluster", {
  skip_without_python()
  flower <- cluster::daisy(cluster::flower)
  for (k in 2:5) expect_same_as_cluster(flower, k)
  expect_same_as_cluster(as.matrix(dist(cluster::ruspini)), 4, diss = TRUE)
})

test_that("random matrices have the result of cluster", {
  skip_without_python()
  for (seed in 1:20) {
    set.seed(seed)
    n <- sample(20:200, 1)
    expect_same_as_cluster(matrix(rnorm(n * 3), n), sample(2:8, 1))
  }
})

test_that("gower has the result of daisy and pam", {
  skip_without_python()
  for (k in 2:5) {
    ours <- kmedoids(cluster::flower, k)
    theirs <- cluster::pam(cluster::daisy(cluster::flower), k)
    expect_equal(ours$objective, theirs$objective, tolerance = 1e-9)
    expect_equal(ours$id.med, theirs$id.med)
    expect_equal(ours$silinfo$avg.width, theirs$silinfo$avg.width, tolerance = 1e-9)
    expect_equal(unname(ours$diss), unname(cluster::daisy(cluster::flower)), ignore_attr = TRUE, tolerance = 1e-12)
  }
})

test_that("the arguments of cluster are taken", {
  skip_without_python()
  expect_identical(names(formals(medoids::pam)), names(formals(cluster::pam)))
  expect_identical(names(formals(medoids::clara)), names(formals(cluster::clara)))
  expect_identical(lapply(formals(medoids::clara), deparse), lapply(formals(cluster::clara), deparse))
  only <- pam(ruspini, 4, cluster.only = TRUE)
  expect_identical(only, cluster::pam(ruspini, 4, cluster.only = TRUE))
  given <- pam(ruspini, 4, medoids = c(1, 2, 3, 4))
  expect_equal(given$objective, cluster::pam(ruspini, 4, medoids = c(1, 2, 3, 4))$objective, tolerance = 1e-9)
  expect_identical(pam(ruspini, 4, pamonce = 5)$id.med, pam(ruspini, 4)$id.med)
  expect_identical(pam(ruspini, 4, variant = "f_4")$id.med, pam(ruspini, 4)$id.med)
  set.seed(1)
  expect_equal(pam(ruspini, 4, nstart = 10)$objective[["swap"]], pam(ruspini, 4)$objective[["swap"]])
  expect_equal(pam(ruspini, 4, variant = "faster", nstart = 10)$algorithm, "fasterpam")
  expect_null(pam(ruspini, 4, keep.diss = FALSE, keep.data = FALSE)$diss)
  expect_match(messages_of(pam(ruspini, 4, trace.lev = 1)), "build row", all = FALSE)
  expect_match(refusal(pam(ruspini, 75)), "must be less than the number of rows, 75")
  expect_match(refusal(pam(ruspini, 4, variant = "f_3", pamonce = 2)), "not both")
})

test_that("an old script draws the random numbers that it drew before", {
  skip_without_python()
  set.seed(5)
  pam(ruspini, 4)
  clara(ruspini, 4)
  ours <- runif(1)
  set.seed(5)
  expect_identical(ours, runif(1))
})

test_that("there is no limit on rows, and gaps need no matrix", {
  skip_without_python()
  set.seed(2)
  x <- matrix(rnorm(70000 * 2), 70000) + 10 * sample(0:1, 70000, TRUE)
  expect_error(cluster::pam(x, 2), "not more than 65536")
  fit <- pam(x, 2)
  expect_identical(fit$clustering, match(x[, 1] + x[, 2] > 10, unique(x[, 1] + x[, 2] > 10)))
  expect_identical(attr(fit$silinfo, "sampled"), 1000L)
  expect_true(all(is.na(fit$clusinfo[, "diameter"])))

  few <- x[1:5200, ]
  few[c(1, 7), 1] <- NA
  ours <- pam(few, 2)
  expect_equal(ours$objective[["swap"]], cluster::pam(few, 2)$objective[["swap"]], tolerance = 1e-9)
  expect_identical(predict(ours, few[1:10, ]), ours$clustering[1:10])
})
