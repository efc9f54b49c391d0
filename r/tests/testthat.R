library(testthat)
library(medoids)

test_check("medoids")
