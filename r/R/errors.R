# Raises an error of class "medoids_error"; it is reported for the function that the user called.
medoids_error <- function(..., call = NULL, type = NULL) {
  message <- paste0(...)
  stop(structure(
    class = c("medoids_error", "error", "condition"),
    list(message = message, call = call, type = type)
  ))
}

medoids_warning <- function(message) {
  warning(structure(class = c("medoids_warning", "warning", "condition"), list(message = message, call = NULL)))
}

# Replaces every match of a pattern by what a function of its groups returns.
gsub_groups <- function(pattern, text, replacement) {
  found <- gregexpr(pattern, text, perl = TRUE)
  regmatches(text, found) <- lapply(regmatches(text, found), function(matches) {
    vapply(matches, function(one) {
      groups <- regmatches(one, regexec(pattern, one, perl = TRUE))[[1]][-1]
      replacement(groups)
    }, "")
  })
  text
}

plus1 <- function(text) format(as.numeric(text) + 1, scientific = FALSE, trim = TRUE)

# Says what Python says in R's terms: rows and columns count from 1, and arguments have their names in R.
in_r_terms <- function(text, columns = NULL) {
  text <- sub("Remove such rows, or fill them, for example with sklearn.impute.SimpleImputer",
              "Remove such rows (na.omit), or fill them", text, fixed = TRUE)
  text <- gsub_groups("\\bX\\[(\\d+), (\\d+)\\]", text, function(g) sprintf("x[%s, %s]", plus1(g[1]), plus1(g[2])))
  text <- gsub_groups("\\bX\\[(\\d+)\\]\\[([0-9, ]+)\\]", text, function(g) {
    inner <- vapply(strsplit(g[2], ", ")[[1]], plus1, "")
    sprintf("x[[%s]][%s]", plus1(g[1]), paste(inner, collapse = ", "))
  })
  text <- gsub_groups("\\brows 0 to (\\d+)", text, function(g) sprintf("rows 1 to %s", plus1(g[1])))
  text <- gsub_groups("\\b(row|query) (\\d+)", text, function(g) {
    sprintf("%s %s", if (g[1] == "query") "row of newdata" else "row", plus1(g[2]))
  })
  text <- gsub_groups("\\b(init|frozen_medoids|medoid_indices|candidates)\\[(\\d+)\\]=(-?\\d+)", text, function(g) {
    sprintf("%s[%s] = %s", g[1], plus1(g[2]), plus1(g[3]))
  })
  text <- gsub_groups("\\bsample_weight\\[(\\d+)\\]=", text, function(g) sprintf("weights[%s] = ", plus1(g[1])))
  text <- gsub_groups("\\bcolumn (\\d+)\\b", text, function(g) {
    at <- as.numeric(g[1]) + 1
    if (at <= length(columns)) sprintf("column %s (\"%s\")", plus1(g[1]), columns[at]) else paste("column", plus1(g[1]))
  })
  names <- c(n_clusters = "k", n_samples = "nrow(x)", sample_weight = "weights", random_state = "seed",
             n_jobs = "threads", medoid_indices = "medoids", k_range = "k")
  for (name in names(names)) text <- gsub(sprintf("\\b%s\\b", name), names[[name]], text, perl = TRUE)
  text <- gsub_groups("\\b(True|False|None)\\b", text, function(g) {
    c(True = "TRUE", False = "FALSE", None = "NULL")[[g[1]]]
  })
  text <- gsub("\\bX\\b", "x", text, perl = TRUE)
  text <- gsub("\\[('[^\\]]*')\\]", "\\1", text, perl = TRUE)
  text <- gsub("'([^' ]*)'", "\"\\1\"", text, perl = TRUE)
  text <- gsub("\\b([a-z_]+)=(?=[\\w\"-])", "\\1 = ", text, perl = TRUE)
  text <- gsub("\\bcallable\\b", "function", text, perl = TRUE)
  text <- gsub("\\bnan\\b", "NaN", text, perl = TRUE)
  gsub_groups("pip install \"?medoids\\[(\\w+)\\]\"?", text, function(g) "install_medoids()")
}
