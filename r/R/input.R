# Rows up to which all distances are computed for silhouettes, diameters and separations.
exact_rows <- 5000L

# What the user's data are to Python. An input is a list with
#   kind     "vectors", "sparse", "table", "matrix", "texts", "things" or "stored"
#   values   the observations as that kind needs them
#   n, labels, columns
#   metric, metric_params   as Python takes them; `distance` is set where the metric is an R function of two row numbers
#   data     what the result keeps
#   coding   how new data are brought into the same form
as_input <- function(x, metric = NULL, params = list(), diss = FALSE, stand = FALSE, gaps = FALSE, coding = NULL,
                     new = FALSE) {
  engine() # says what to run if Python is missing
  if (!is.null(metric) && !is.function(metric) && !(is.character(metric) && length(metric) == 1 && !is.na(metric))) {
    medoids_error("metric must be one name, see available_metrics(), or a function of two observations")
  }
  input <- if (isTRUE(diss) || inherits(x, "dist") || identical(metric, "precomputed")) {
    dissimilarities(x)
  } else if (is.function(metric)) {
    observations(x, metric, params)
  } else if (is.data.frame(x)) {
    frame(x, metric, params, coding)
  } else if (inherits(x, "sparseMatrix")) {
    sparse_rows(x, metric)
  } else if (is.matrix(x) && (is.numeric(x) || is.logical(x))) {
    if (identical(metric, "gower")) table_rows(as.data.frame(x), params, coding) else vectors(x, metric)
  } else if (is.factor(x) || is.character(x) && is.null(dim(x))) {
    texts(as.character(x), names(x), metric, params, new)
  } else if (is.list(x)) {
    things(x, metric)
  } else if (is.array(x) && length(dim(x)) == 3 && is.numeric(x)) {
    things(lapply(seq_len(dim(x)[1]), function(i) array(x[i, , ], dim(x)[-1])), if (is.null(metric)) "dtw" else metric)
  } else {
    medoids_error(unsuitable(x))
  }
  input$params <- params
  if (input$kind == "matrix" || !is.null(input$distance)) {
    if (stand) medoids_error("stand = TRUE is for columns of numbers, and x has none; leave it out")
    return(input)
  }
  if (input$kind == "stored") params$columns <- NULL # which were not for the metric
  if (is.null(input$metric_params)) input$metric_params <- metric_parameters(params)
  if (input$kind == "stored" && input$metric %in% c("seuclidean", "mahalanobis") && is.null(params$V) && is.null(params$VI)) {
    medoids_error("metric = \"", input$metric, "\" needs variances of all rows, and these stay on disk; pass ",
                  "metric_params = list(V = ...)")
  }
  if (input$kind == "vectors") {
    input <- standardized(input, stand, coding)
    input <- without_gaps(input, gaps, new)
    input <- with_variances(input, coding)
  } else if (stand) {
    medoids_error("stand = TRUE is for columns of numbers; gower scales the columns of a table by itself")
  }
  input
}

unsuitable <- function(x) {
  if (is.numeric(x) && is.null(dim(x))) {
    return(paste0("x is a vector of ", length(x), " numbers; pass matrix(x) for one column, or as.dist(x) and ",
                  "diss = TRUE for dissimilarities"))
  }
  if (is.matrix(x)) {
    return(sprintf("x is a matrix of type %s; pass a data frame for columns of different types, or numbers", typeof(x)))
  }
  paste0("x is of class ", class(x)[1], "; pass a numeric matrix, data frame, dist, sparse matrix of the package ",
         "Matrix, character vector, list, or the path of Parquet files")
}

# --- dissimilarities ------------------------------------------------------------------------------------------------

dissimilarities <- function(x) {
  if (is.data.frame(x)) x <- data.matrix(x)
  if (is.numeric(x) && is.null(dim(x)) && !inherits(x, "dist")) {
    n <- (1 + sqrt(1 + 8 * length(x))) / 2
    if (n != round(n)) {
      medoids_error("x has ", length(x), " dissimilarities, which is not n (n - 1) / 2 for any number of rows n")
    }
    x <- structure(x, Size = n, class = "dist")
  }
  labels <- if (inherits(x, "dist")) attr(x, "Labels") else rownames(x)
  if (is.matrix(x) && nrow(x) != ncol(x)) {
    medoids_error(sprintf("diss = TRUE takes a square matrix; x has %d rows and %d columns", nrow(x), ncol(x)))
  }
  values <- as.matrix(x)
  if (!is.numeric(values)) medoids_error("diss = TRUE takes numbers; x is of type ", typeof(values))
  bad <- which(!is.finite(values))[1]
  if (!is.na(bad)) {
    at <- arrayInd(bad, dim(values))
    medoids_error(sprintf("the dissimilarity between rows %d and %d is %s; dissimilarities must be finite numbers",
                          at[2], at[1], format(values[bad])))
  }
  storage.mode(values) <- "double"
  list(kind = "matrix", values = unname(values), n = nrow(values), labels = labels, columns = NULL,
       metric = "precomputed", metric_params = NULL, data = NULL, coding = NULL,
       metric_name = if (is.null(attr(x, "Metric"))) "unspecified" else attr(x, "Metric"))
}

# --- numbers --------------------------------------------------------------------------------------------------------

vectors <- function(x, metric) {
  if (!nrow(x) || !ncol(x)) medoids_error(sprintf("x has %d rows and %d columns; it is empty", nrow(x), ncol(x)))
  if (is.logical(x)) storage.mode(x) <- "integer"
  list(kind = "vectors", values = x, n = nrow(x), labels = rownames(x), columns = colnames(x),
       metric = if (is.null(metric)) "euclidean" else metric, data = x, coding = list(p = ncol(x)))
}

# Subtracts means and divides by mean absolute deviations, as pam() does.
standardized <- function(input, stand, coding) {
  if (!is.null(coding$center)) {
    input$values <- scale(input$values, center = coding$center, scale = coding$scale)
    input$coding[c("center", "scale")] <- coding[c("center", "scale")]
  } else if (stand) {
    center <- colMeans(input$values, na.rm = TRUE)
    deviations <- colMeans(abs(sweep(input$values, 2, center)), na.rm = TRUE)
    if (any(deviations == 0)) {
      at <- which(deviations == 0)[1]
      medoids_error(sprintf("%s is constant, so that stand = TRUE cannot divide by its deviation; leave it out",
                            column_name(at, input$columns)))
    }
    input$values <- scale(input$values, center = center, scale = deviations)
    input$coding$center <- center
    input$coding$scale <- deviations
  } else {
    return(input)
  }
  input$original <- input$data
  input$data <- input$values
  input
}

# Refuses missing values or, with gaps = TRUE, compares rows by the columns that both have, as pam() and daisy() do.
without_gaps <- function(input, gaps, new) {
  x <- input$values
  bad <- if (is.integer(x)) which(is.na(x))[1] else which(!is.finite(x))[1]
  if (is.na(bad)) return(input)
  at <- arrayInd(bad, dim(x))
  where <- sprintf("%s[%d, %d]%s is %s", if (new) "newdata" else "x", at[1], at[2], place(at[1], at[2], input),
                   format(x[bad]))
  if (is.infinite(x[bad])) medoids_error(where, "; replace it by a number, or leave the row out")
  if (!gaps && new) medoids_error(where, "; leave such rows out (na.omit), or fill them")
  if (!gaps) {
    others <- if (input$metric %in% c("euclidean", "manhattan")) "pam(), which compares rows by what both have, or "
    medoids_error(where, "; leave such rows out (na.omit), fill them, or use ", others,
                  "metric = \"gower\", which leaves missing values out")
  }
  if (!input$metric %in% c("euclidean", "manhattan")) {
    medoids_error(where, ", which metric = \"euclidean\", \"manhattan\" or \"gower\" can leave out")
  }
  blank <- which(rowSums(!is.na(x)) == 0)[1]
  if (!is.na(blank)) medoids_error(sprintf("row %d of x has no value at all; remove it", blank))
  input$coding$gaps <- TRUE
  if (input$n > exact_rows) return(input)
  values <- as.matrix(suppressWarnings(daisy(unname(x), metric = input$metric)))
  missing <- which(is.na(values))[1]
  if (!is.na(missing)) {
    at <- arrayInd(missing, dim(values))
    medoids_error(sprintf(
      "rows %d and %d of x have no column in which both have a value, so that they have no distance; remove one",
      at[2], at[1]
    ))
  }
  input$all_pairs <- unname(values)
  input
}

# Variances, or the inverse of the covariances, are those of the fit, also for new data.
with_variances <- function(input, coding) {
  wanted <- c(seuclidean = "V", mahalanobis = "VI")[input$metric]
  if (is.na(wanted)) return(input)
  if (is.null(input$metric_params$V) && is.null(input$metric_params$VI)) {
    fitted <- coding$fitted
    if (is.null(fitted)) {
      V <- stats::cov(input$values)
      fitted <- if (wanted == "V") list(V = ifelse(diag(V) > 0, diag(V), 1)) else list(VI = tryCatch(
        unname(solve(V)),
        error = function(e) medoids_error("metric = \"mahalanobis\": the covariances of the columns cannot be inverted, ",
                                          "because one is constant or follows from others; leave such columns out")
      ))
    }
    input$coding$fitted <- fitted
    as_python <- function(value) if (is.matrix(value)) value else array(value)
    input$metric_params <- c(input$metric_params, lapply(fitted, as_python))
  }
  input
}

column_name <- function(at, columns) {
  if (is.null(columns)) sprintf("column %d of x", at) else sprintf("column %d of x (\"%s\")", at, columns[at])
}

place <- function(row, column, input) {
  known <- c(
    if (!is.null(input$labels)) sprintf("row \"%s\"", input$labels[row]),
    if (!is.null(input$columns)) sprintf("column \"%s\"", input$columns[column])
  )
  if (is.null(known)) "" else sprintf(" (%s)", paste(known, collapse = ", "))
}

sparse_rows <- function(x, metric) {
  if (!requireNamespace("Matrix", quietly = TRUE)) medoids_error("a sparse matrix needs the R package Matrix")
  compact <- methods::as(methods::as(methods::as(x, "dMatrix"), "generalMatrix"), "CsparseMatrix")
  bad <- which(!is.finite(compact@x))[1]
  if (!is.na(bad)) {
    column <- findInterval(bad - 1, compact@p)
    medoids_error(sprintf("x[%d, %d] is %s; distances need finite numbers", compact@i[bad] + 1L, column,
                          format(compact@x[bad])))
  }
  list(kind = "sparse", values = compact, n = nrow(x), labels = rownames(x), columns = colnames(x),
       metric = if (is.null(metric)) "euclidean" else metric, data = x, coding = list(p = ncol(x)))
}

# --- data frames ----------------------------------------------------------------------------------------------------

frame <- function(x, metric, params, coding) {
  if (!nrow(x) || !ncol(x)) medoids_error(sprintf("x has %d rows and %d columns; it is empty", nrow(x), ncol(x)))
  labels <- if (is.integer(attr(x, "row.names"))) NULL else row.names(x)
  plain <- vapply(x, function(column) (is.numeric(column) || is.logical(column)) && is.null(attr(column, "class")), NA)
  numeric <- vapply(x, is.numeric, NA) & plain
  text <- ncol(x) == 1 && is.character(x[[1]])
  if (identical(metric, "gower") || is.null(metric) && !text && !all(numeric)) {
    input <- table_rows(x, params, coding)
    input["labels"] <- list(labels)
    return(input)
  }
  if (text) return(texts(x[[1]], labels, metric, params, new = TRUE))
  if (!all(plain)) {
    at <- which(!plain)[1]
    medoids_error(sprintf(
      "%s is of class %s, but metric = \"%s\" takes numbers; leave it out (x[, -%d]), or use metric = \"gower\"",
      column_name(at, names(x)), class(x[[at]])[1], if (is.null(metric)) "euclidean" else metric, at
    ))
  }
  values <- data.matrix(x)
  if (is.null(labels)) rownames(values) <- NULL
  vectors(values, metric)
}

# Columns of any kind as numbers: categories are numbered, and Python is told which columns these are.
table_rows <- function(x, params, coding) {
  columns <- names(x)
  if (is.null(coding$columns)) {
    forced <- params$categorical
    if (is.character(forced)) forced <- match(forced, columns)
    if (anyNA(forced)) medoids_error("categorical names a column that x does not have")
    types <- column_types(params$type, columns)
    coding <- list(columns = lapply(seq_along(x), function(at) {
      column_code(x[[at]], at, columns, at %in% forced, types[at])
    }))
    names(coding$columns) <- columns
  } else {
    lacking <- setdiff(names(coding$columns), columns)
    if (length(lacking)) medoids_error(sprintf("newdata has no column \"%s\"", lacking[1]))
    columns <- names(coding$columns)
    x <- x[columns]
  }
  values <- vapply(seq_along(x), function(at) coded(x[[at]], coding$columns[[at]], columns[at]), numeric(nrow(x)))
  values <- matrix(values, nrow(x), length(x), dimnames = list(NULL, columns))
  blank <- which(rowSums(!is.na(values)) == 0)[1]
  if (!is.na(blank)) {
    medoids_error(sprintf("row %d of x has no value at all, so it has no distance to others; remove it", blank))
  }
  if (is.null(coding$ranges)) coding$ranges <- rbind(lowest(values, min), lowest(values, max))
  types <- vapply(coding$columns, function(code) if (is.null(code$type)) "" else code$type, "")
  of_type <- function(type) as.list(unname(which(types == type)) - 1L)
  params$categorical <- of_type("factor")
  params$weights <- column_weights(params$weights, columns)
  typed <- list(asymm = of_type("asymm"), logratio = of_type("logratio"))
  params$type <- if (any(lengths(typed))) typed[lengths(typed) > 0]
  list(kind = "table", values = values, n = nrow(x), labels = NULL, columns = columns, metric = "gower",
       metric_params = metric_parameters(params), data = x, coding = coding)
}

# Lowest or highest value of each column; 0 where a column has none.
lowest <- function(values, what) {
  apply(values, 2, function(column) if (all(is.na(column))) 0 else what(column, na.rm = TRUE))
}

column_code <- function(column, at, columns, forced, type = "") {
  if (type == "asymm") return(presence_code(column, at, columns))
  forced <- forced || type == "factor"
  if (is.ordered(column) && !forced) return(list(ranks = levels(column)))
  if (is.factor(column) || is.character(column) || is.logical(column) || forced) {
    if (!type %in% c("", "factor")) {
      medoids_error(sprintf("type says that %s is \"%s\", but it holds categories; make it numbers, or an ordered factor",
                            column_name(at, columns), type))
    }
    return(list(levels = if (is.factor(column)) levels(column) else sort(unique(as.character(column))), type = "factor"))
  }
  time <- inherits(column, c("Date", "POSIXt", "difftime"))
  if (time || is.numeric(column) && is.null(dim(column))) {
    known <- if (type %in% c("ordered", "ordratio")) sort(unique(as.numeric(column)))
    return(list(time = time, known = known, type = if (type == "logratio") type))
  }
  medoids_error(sprintf("%s is of class %s, which is neither numbers, dates nor categories; leave it out",
                        column_name(at, columns), class(column)[1]))
}

# Two values, of which the second says that something is there: rows that both lack it are not compared.
presence_code <- function(column, at, columns) {
  values <- if (is.factor(column)) levels(column) else sort(unique(as.character(column)))
  if (is.logical(column)) values <- c("FALSE", "TRUE")
  if (all(values %in% c("0", "1"))) values <- c("0", "1")
  if (length(values) != 2) {
    medoids_error(sprintf("type says that %s is \"asymm\", but it has %d values and not two", column_name(at, columns),
                          length(values)))
  }
  list(levels = values, type = "asymm")
}

coded <- function(column, code, name) {
  if (!is.null(code$ranks)) return(as.numeric(match(as.character(column), code$ranks)))
  if (!is.null(code$levels)) {
    text <- as.character(column)
    values <- match(text, code$levels)
    new <- is.na(values) & !is.na(text) # categories that the fit did not have are unlike all that it had
    values[new] <- length(code$levels) + match(text[new], unique(text[new]))
    return(as.numeric(values) - (code$type == "asymm")) # 0 is what is not there
  }
  if (inherits(column, "POSIXlt")) column <- as.POSIXct(column)
  if (!is.numeric(column) && !isTRUE(code$time)) {
    medoids_error(sprintf("column \"%s\" holds numbers in the fit, but is of class %s now", name, class(column)[1]))
  }
  values <- as.numeric(column)
  infinite <- which(is.infinite(values))[1]
  if (!is.na(infinite)) {
    medoids_error(sprintf("row %d of column \"%s\" is %s; replace it by NA or by a number", infinite, name,
                          format(values[infinite])))
  }
  if (length(code$known) < 2) return(values)
  stats::approx(code$known, seq_along(code$known), values, rule = 2)$y # ranks; new numbers are between those around them
}

# The type of each column, "" for its own, by the list of daisy(), such as list(asymm = "ill", ordratio = 3).
column_types <- function(type, columns) {
  found <- rep("", length(columns))
  if (is.null(type)) return(found)
  if (!is.list(type) || is.null(names(type))) {
    medoids_error("type must be a list of types and columns as daisy() takes it, such as list(asymm = \"ill\")")
  }
  for (name in names(type)) {
    choice("each name of type", name, c("asymm", "factor", "logratio", "nominal", "numeric", "ordered", "ordratio", "symm"))
    given <- type[[name]]
    at <- if (is.character(given)) match(given, columns) else given
    wrong <- which(is.na(at) | !at %in% seq_along(columns))[1]
    if (!is.na(wrong)) medoids_error(sprintf("type names column %s, which x does not have", format(given[wrong])))
    found[at] <- if (name %in% c("nominal", "symm")) "factor" else name
  }
  found
}

column_weights <- function(weights, columns) {
  if (is.null(weights)) return(NULL)
  if (is.null(names(weights))) {
    if (length(weights) != length(columns)) {
      medoids_error(sprintf("metric_params: %d weights for %d columns; pass one for each, or name them",
                            length(weights), length(columns)))
    }
    return(as.list(as.numeric(weights)))
  }
  unknown <- setdiff(names(weights), columns)
  if (length(unknown)) {
    medoids_error(sprintf("metric_params: weights names column \"%s\", which x does not have", unknown[1]))
  }
  all <- stats::setNames(rep(1, length(columns)), columns)
  all[names(weights)] <- unlist(weights)
  as.list(unname(all))
}

# --- texts, lists and functions -------------------------------------------------------------------------------------

texts <- function(x, labels, metric, params, new) {
  if (length(x) == 1 && !is.na(x) && !new) return(stored(x, metric, params$columns))
  missing <- which(is.na(x))[1]
  if (!is.na(missing)) medoids_error(sprintf("x[%d] is NA; leave it out", missing))
  list(kind = "texts", values = unname(x), n = length(x), labels = labels, columns = NULL,
       metric = if (is.null(metric)) "levenshtein" else metric, data = x, coding = NULL)
}

# Rows that stay on disk.
stored <- function(path, metric, columns) {
  path <- path.expand(path)
  if (!file.exists(path)) {
    medoids_error("x is one text, \"", path, "\", and no file or folder has that name; pass several texts, or the path ",
                  "of a Parquet file or of a folder of them")
  }
  found <- run(engine()$stored, path = path, columns = if (!is.null(columns)) as.list(columns))
  shape <- as.integer(unlist(from_python(found["shape"])))
  names <- unlist(from_python(found["names"]))
  list(kind = "stored", values = path, python = found["rows"], n = shape[1], labels = NULL, columns = names,
       metric = if (is.null(metric)) "euclidean" else metric, data = NULL, coding = list(p = shape[2]))
}

things <- function(x, metric) {
  if (!length(x)) medoids_error("x is an empty list")
  missing <- which(vapply(x, function(one) is.null(one) || length(one) == 1 && is.atomic(one) && is.na(one), NA))[1]
  if (!is.na(missing)) medoids_error(sprintf("x[[%d]] is missing; leave it out", missing))
  if (is.null(metric)) {
    metric <- if (all(vapply(x, is.numeric, NA))) {
      "dtw"
    } else if (all(vapply(x, is.character, NA))) {
      "levenshtein"
    } else {
      medoids_error("x is a list of things that no metric is known for; pass metric = function(a, b) ...")
    }
  }
  list(kind = "things", values = unname(x), n = length(x), labels = names(x), columns = NULL, metric = metric, data = x,
       coding = NULL)
}

# Observations under a function of the user's; `distance` takes two row numbers.
observations <- function(x, metric, params) {
  data <- x
  labels <- if (is.data.frame(x)) {
    if (!is.integer(attr(x, "row.names"))) row.names(x)
  } else if (is.null(dim(x))) {
    names(x)
  } else {
    rownames(x)
  }
  if (is.data.frame(x) && all(vapply(x, is.numeric, NA))) x <- data.matrix(x)
  get <- if (is.data.frame(x)) {
    function(x, i) x[i, , drop = FALSE]
  } else if (length(dim(x)) == 2) {
    function(x, i) x[i, ]
  } else if (is.list(x) || is.atomic(x) && is.null(dim(x))) {
    function(x, i) x[[i]]
  } else {
    medoids_error(unsuitable(x))
  }
  n <- if (is.null(dim(x))) length(x) else nrow(x)
  if (n == 0) medoids_error("x is empty")
  symmetric <- isTRUE(params$symmetric)
  params$symmetric <- NULL
  call <- if (length(params)) function(a, b) do.call(metric, c(list(a, b), params), quote = TRUE) else metric
  distance <- function(i, j) {
    named_pair(checked_distance(call(get(x, i), get(x, j))), sprintf("rows %d and %d of x", i, j))
  }
  list(kind = "objects", values = x, n = n, labels = labels, columns = colnames(x), metric = metric,
       metric_params = list(symmetric = symmetric), distance = distance, call = call, get = get, symmetric = symmetric,
       data = data, coding = NULL)
}

checked_distance <- function(value) {
  if (is.numeric(value) && length(value) == 1L && is.finite(value)) return(as.numeric(value))
  shown <- if (length(value) == 1) format(value) else sprintf("%d values", length(value))
  medoids_error("metric returned ", shown, "; it must return one finite number")
}

# Evaluates an expression in which the metric is called; an error says for which observations.
named_pair <- function(expression, which) {
  tryCatch(expression, error = function(e) medoids_error("for ", which, ": ", conditionMessage(e)))
}

# All pairs under a function of the user's, d(i, j) at [i, j].
function_matrix <- function(input) {
  n <- input$n
  rows <- lapply(seq_len(n), function(i) input$get(input$values, i))
  out <- matrix(0, n, n)
  i <- j <- 0L
  named_pair({
    for (i in seq_len(n)) {
      for (j in if (input$symmetric) i:n else seq_len(n)) {
        out[i, j] <- checked_distance(input$call(rows[[i]], rows[[j]]))
      }
    }
  }, sprintf("rows %d and %d of x", i, j))
  if (input$symmetric) out[lower.tri(out)] <- t(out)[lower.tri(out)]
  out
}

# Parameters of a metric as Python takes them: whole numbers as integers.
metric_parameters <- function(params) {
  if (!length(params)) return(NULL)
  for (name in names(params)) {
    value <- params[[name]]
    share <- name == "window" && length(value) == 1 && value <= 1
    if (is.double(value) && !share && all(is.finite(value)) && all(value == round(value))) {
      params[[name]] <- if (length(value) == 1) as.integer(value) else as.list(as.integer(value))
    } else if (is.atomic(value) && length(value) > 1 && is.null(names(value))) {
      params[[name]] <- as.list(value)
    }
  }
  params[!vapply(params, is.null, NA)]
}
