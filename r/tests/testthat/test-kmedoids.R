test_that("clusters are numbered by first appearance, and everything counts from 1", {
  skip_without_python()
  fit <- kmedoids(ruspini, 4)
  expect_s3_class(fit, c("medoids", "pam", "partition"), exact = TRUE)
  expect_identical(unique(unname(fit$clustering)), 1:4)
  expect_identical(names(fit$clustering), rownames(ruspini))
  expect_identical(unname(fit$clustering[fit$id.med]), 1:4)
  expect_identical(rownames(fit$medoids), rownames(ruspini)[fit$id.med])
  expect_equal(fit$loss, loss_of(as.matrix(dist(ruspini)), fit$id.med), tolerance = 1e-12)
  expect_equal(fit$distances, apply(as.matrix(dist(ruspini))[fit$id.med, ], 2, min), ignore_attr = TRUE)
  expect_identical(fit$gap, NA_real_)
  expect_true(fit$converged)
})

test_that("the first medoid is the row with the lowest sum of distances", {
  skip_without_python()
  fit <- kmedoids(ruspini, 4)
  expect_identical(fit$trace$medoid_in[1], unname(which.min(colSums(as.matrix(dist(ruspini))))))
})

test_that("data frames with factors, ordered factors, dates and gaps go by gower", {
  skip_without_python()
  x <- data.frame(
    age = c(24, 31, NA, 65, 71, 68),
    city = c("Oslo", "Oslo", "Oslo", "Rome", NA, "Rome"),
    size = factor(c("S", "S", "M", "L", "L", "L"), levels = c("S", "M", "L"), ordered = TRUE),
    since = as.Date("2024-01-01") + c(0, 5, 10, 90, 95, 100),
    member = c(TRUE, TRUE, TRUE, FALSE, FALSE, TRUE)
  )
  fit <- kmedoids(x, 2)
  expect_identical(fit$settings$metric, "gower")
  expect_identical(fit$clustering, c(1L, 1L, 1L, 2L, 2L, 2L))
  # between rows 1 and 2 by hand: 7/47 of the ages, 0, 0, 5/100 of the dates, 0
  expect_equal(as.matrix(fit$diss)[2, 1], (7 / 47 + 0.05) / 5, tolerance = 1e-12)
  # between rows 3 and 4: no age; other city; ranks 2 and 3 of 3; 80/100; other membership
  expect_equal(as.matrix(fit$diss)[4, 3], (1 + 0.5 + 0.8 + 1) / 4, tolerance = 1e-12)
  expect_s3_class(fit$medoids, "data.frame")
  expect_identical(fit$medoids, x[fit$id.med, ])
  heavy <- kmedoids(x, 2, metric_params = list(weights = c(age = 3)))
  expect_equal(as.matrix(heavy$diss)[2, 1], (3 * 7 / 47 + 0.05) / 7, tolerance = 1e-12)
  expect_false(any(kmedoids(x, 2)$id.med %in% c(3, 5)))
  code <- data.frame(zip = c(1, 1, 2, 2), y = c(0, 0.1, 0.9, 1))
  expect_equal(as.matrix(kmedoids(code, 2, "gower", categorical = "zip")$diss)[3, 1], (1 + 0.9) / 2)
})

test_that("numbers of a data frame are a matrix", {
  skip_without_python()
  fit <- kmedoids(iris[, 1:4], 3)
  expect_identical(fit$settings$metric, "euclidean")
  expect_true(is.matrix(fit$data))
  expect_identical(kmedoids(as.matrix(iris[, 1:4]), 3)$id.med, fit$id.med)
})

test_that("texts, tokens, sets, trees, series and places are taken", {
  skip_without_python()
  words <- c("ape", "apes", "tape", "zebra", "zebras", "cobra")
  skip_if_not(reticulate::py_module_available("rapidfuzz"), "rapidfuzz is not installed")
  expect_identical(kmedoids(words, 2)$medoids, c("ape", "zebra"))
  expect_identical(kmedoids(data.frame(word = words), 2)$id.med, c(1L, 4L))
  expect_equal(kmedoids(words, 2)$loss, mean(c(0, 1, 1, 0, 1, 2)))
  visits <- list(c("home", "shop", "cart"), c("home", "shop", "cart", "pay"), c("blog", "about"), c("blog", "about", "jobs"))
  expect_identical(kmedoids(visits, 2, "normalized_indel")$clustering, c(1L, 1L, 2L, 2L))
  baskets <- list(c("tea", "milk"), c("tea", "milk", "honey"), c("nails", "hammer"), c("nails", "hammer", "saw"))
  expect_identical(kmedoids(baskets, 2, "jaccard")$clustering, c(1L, 1L, 2L, 2L))
  pages <- list(list("html", "head", list("body", "p", "p")), list("html", list("body", "p")), list("svg", "g", list("g", "path")))
  expect_identical(kmedoids(pages, 2, "tree_edit", rename = 1.5)$clustering, c(1L, 1L, 2L))
  rise <- seq(0, 1, length.out = 30)
  fall <- seq(1, 0, length.out = 40)
  series <- list(fall, rep(fall, each = 2), rise, rise[c(TRUE, FALSE)])
  expect_identical(kmedoids(series, 2)$clustering, c(1L, 1L, 2L, 2L))
  cities <- rbind(c(48.86, 2.35), c(50.85, 4.35), c(52.37, 4.90), c(40.71, -74.01), c(42.36, -71.06))
  expect_identical(kmedoids(cities, 2, "haversine", degrees = TRUE)$clustering, c(1L, 1L, 1L, 2L, 2L))
})

test_that("sparse matrices stay sparse", {
  skip_without_python()
  skip_if_not_installed("Matrix")
  set.seed(1)
  x <- Matrix::rsparsematrix(200, 30, 0.2)
  sparse <- kmedoids(x, 4)
  dense <- kmedoids(as.matrix(x), 4)
  expect_identical(sparse$id.med, dense$id.med)
  expect_equal(sparse$loss, dense$loss, tolerance = 1e-12)
  expect_s4_class(sparse$medoids, "dgCMatrix")
  expect_equal(predict(sparse, x[1:5, ], "distance"), predict(dense, as.matrix(x[1:5, ]), "distance"), tolerance = 1e-7)
})

test_that("an R function is a metric, on all pairs or on those that are asked for", {
  skip_without_python()
  x <- as.matrix(iris[seq(1, 150, 5), 1:4])
  calls <- 0
  manhattan <- function(a, b) {
    calls <<- calls + 1
    sum(abs(a - b))
  }
  named <- kmedoids(x, 3, "manhattan")
  all <- kmedoids(x, 3, manhattan)
  expect_identical(calls, 900)
  expect_identical(all$id.med, named$id.med)
  expect_equal(all$silinfo, named$silinfo, tolerance = 1e-12)
  calls <- 0
  half <- kmedoids(x, 3, manhattan, symmetric = TRUE)
  expect_identical(calls, 465)
  expect_identical(half$id.med, named$id.med)
  asked <- kmedoids(x, 3, manhattan, statistics = "none")
  expect_identical(asked$id.med, named$id.med)
  expect_null(asked$silinfo)
  power <- kmedoids(x, 3, function(a, b, p) sum(abs(a - b)^p)^(1 / p), p = 3)
  expect_equal(power$loss, kmedoids(x, 3, "minkowski", p = 3)$loss, tolerance = 1e-12)
})

test_that("a function gets what it is documented to get", {
  skip_without_python()
  expect_equal(kmedoids(iris[1:9, 1:4], 2, function(a, b) abs(a[["Sepal.Length"]] - b[["Sepal.Length"]]))$loss,
               kmedoids(iris[1:9, 1, drop = FALSE], 2)$loss)
  by_row <- kmedoids(iris[c(1:3, 101:103), ], 2, function(a, b) as.numeric(a$Species != b$Species))
  expect_identical(unname(by_row$clustering), c(1L, 1L, 1L, 2L, 2L, 2L))
  numbers <- list(1, 2, 10, 11)
  expect_identical(kmedoids(numbers, 2, function(a, b) abs(a - b))$clustering, c(1L, 1L, 2L, 2L))
  # orientation: a is the medoid
  expect_identical(kmedoids(list(1, 2, 3), 1, function(a, b) if (a == 2) 0 else 5)$id.med, 2L)
})

test_that("Parquet folders stay on disk", {
  skip_without_python()
  skip_if_not(reticulate::py_module_available("pyarrow.parquet"), "pyarrow is not installed")
  set.seed(1)
  x <- matrix(rnorm(300), 100, dimnames = list(NULL, c("x", "y", "z")))
  folder <- tempfile()
  dir.create(folder)
  columns <- lapply(as.data.frame(x), as.list)
  table <- reticulate::import("pyarrow")$table(columns)
  reticulate::import("pyarrow.parquet")$write_table(table, file.path(folder, "a.parquet"))
  stored <- kmedoids(folder, 3)
  memory <- kmedoids(x, 3)
  expect_identical(stored$id.med, memory$id.med)
  expect_equal(stored$medoids, memory$medoids)
  expect_equal(stored$silinfo, memory$silinfo, tolerance = 1e-9)
  expect_identical(predict(stored, x[1:5, ]), memory$clustering[1:5])
  expect_identical(kmedoids(folder, 3, columns = c("x", "y"))$id.med, kmedoids(x[, 1:2], 3)$id.med)
  expect_match(refusal(certify(stored)), "does not hold its data")
})

test_that("weights are as good as repeated rows", {
  skip_without_python()
  times <- rep(c(1, 2, 0), 50)
  weighted <- kmedoids(iris[, 1:4], 3, weights = times)
  repeated <- kmedoids(iris[rep(1:150, times), 1:4], 3)
  expect_equal(weighted$loss, repeated$loss, tolerance = 1e-12)
  expect_equal(weighted$medoids, repeated$medoids, ignore_attr = TRUE)
  sizes <- as.numeric(tapply(times, weighted$clustering, sum))
  expect_equal(sum(sizes * weighted$clusinfo[, "av_diss"]) / sum(times), weighted$loss, tolerance = 1e-12)
})

test_that("set.seed() decides unless seed is given", {
  skip_without_python()
  draw <- function(...) kmedoids(iris[, 1:4], 3, init = "random", max_iter = 1, ...)$trace$loss[1]
  expect_random <- function(...) suppressWarnings(draw(...))
  set.seed(1)
  first <- expect_random()
  second <- expect_random()
  set.seed(1)
  expect_identical(expect_random(), first)
  expect_false(first == second)
  expect_identical(expect_random(seed = 3), expect_random(seed = 3))
})

test_that("settings of the engine pass through, with rows counted from 1", {
  skip_without_python()
  expect_true(all(c(5, 60) %in% kmedoids(iris[, 1:4], 3, frozen_medoids = c(5, 60))$id.med))
  expect_warning(kmedoids(iris[, 1:4], 3, max_iter = 0), "increase max_iter", class = "medoids_warning")
  started <- suppressWarnings(kmedoids(iris[, 1:4], 3, init = c(2, 60, 150), max_iter = 0))
  expect_setequal(started$id.med, c(2, 60, 150))
  expect_identical(kmedoids(iris[, 1:4], 3, algorithm = "pairedpam", threads = 1)$id.med, kmedoids(iris[, 1:4], 3)$id.med)
  said <- messages_of(kmedoids(iris[, 1:4], 3, trace = TRUE))
  expect_match(said, "swap row 79 for row 62: loss 0.654208", all = FALSE)
  expect_length(kmedoids(ruspini, "auto")$id.med, 4)
})

test_that("k = 1 and k = n work", {
  skip_without_python()
  one <- kmedoids(iris[, 1:4], 1)
  expect_null(one$silinfo)
  expect_identical(one$id.med, unname(which.min(colSums(as.matrix(dist(iris[, 1:4]))))))
  all <- kmedoids(iris[1:5, 1:4], 5)
  expect_identical(all$id.med, 1:5)
  expect_identical(all$loss, 0)
})

test_that("statistics are exact, sampled or left out", {
  skip_without_python()
  exact <- kmedoids(iris[, 1:4], 3)
  sampled <- kmedoids(iris[, 1:4], 3, statistics = "sampled")
  expect_identical(attr(sampled$silinfo, "sampled"), 150L)
  expect_equal(sampled$silinfo$avg.width, exact$silinfo$avg.width, tolerance = 1e-9)
  expect_equal(sampled$silinfo$clus.avg.widths, exact$silinfo$clus.avg.widths, tolerance = 1e-9)
  expect_null(kmedoids(iris[, 1:4], 3, statistics = "none")$silinfo)
})

test_that("a long result prints in a page", {
  skip_without_python()
  set.seed(1)
  fit <- kmedoids(matrix(rnorm(4000), 2000), 3, statistics = "none")
  expect_lt(length(capture.output(print(fit))), 30)
  expect_output(print(kmedoids(ruspini, 4)), "Clustering vector")
})

test_that("a budget of distances is kept", {
  skip_without_python()
  expect_warning(fit <- kmedoids(iris[, 1:4], 3, max_evaluations = 2000, seed = 1), "max_evaluations")
  expect_lte(fit$n_evaluations, 2000)
  expect_false(fit$converged)
})

test_that("clusters have the sizes that were asked for", {
  skip_without_python()
  fit <- kmedoids(iris[, 1:4], 3, min_size = 48, max_size = 52)
  expect_true(all(table(fit$clustering) %in% 48:52))
  expect_error(kmedoids(iris[, 1:4], 3, max_size = 40), "hold 120 rows, and x has 150")
})
