# Seconds after which R looks up from waiting, and those that a job has to stop.
look_up <- 0.1
stopping <- 0.7

# Runs a function of Python in a thread and watches it: prints steps, answers for an R function as metric, and stops
# it when the user interrupts or an error comes up. `names` are those of columns, for messages. Returns the value as a
# Python object.
#
# While code of Python runs in the main thread, R must not act on an interrupt: it would leave by a jump that Python, with
# reticulate before 1.37, does not survive (https://github.com/rstudio/reticulate/issues/1601). So interrupts are
# suspended there, and Python itself says that there was one.
run <- function(what, ..., steps = FALSE, distance = NULL, names = NULL) {
  suspendInterrupts({
    job <- engine()$Job(what, reticulate::r_to_py(list(...)), steps = steps, asks = !is.null(distance))
    running <- TRUE
    on.exit(if (running) suspendInterrupts(job$cancel(stopping)))
    watch(job, distance)
    running <- FALSE
    outcome(job, names)
  })
}

watch <- function(job, distance) {
  event <- from_python(job$wait(look_up))
  while (event$event != "done") {
    event <- switch(event$event,
      interrupt = interrupt(),
      pair = {
        value <- allowInterrupts(distance(event$i + 1L, event$j + 1L))
        from_python(job$answer(value, look_up))
      },
      step = {
        allowInterrupts(message(described_step(event)))
        from_python(job$wait(look_up))
      },
      none = {
        allowInterrupts(Sys.sleep(0.001)) # where R looks for them
        from_python(job$wait(look_up))
      }
    )
  }
}

outcome <- function(job, names) {
  for (text in from_python(job$warnings)) medoids_warning(in_r_terms(text, names))
  error <- from_python(job$error)
  if (is.null(error)) return(job$value)
  if (error$type == "KeyboardInterrupt") interrupt()
  medoids_error(in_r_terms(error$message, names), type = error$type)
}

# What Ctrl-C does in R code.
interrupt <- function() {
  signalCondition(structure(class = c("interrupt", "condition"), list(message = "", call = NULL)))
  invokeRestart("abort")
}

described_step <- function(step) {
  rows <- if (step$medoid_in < 0) {
    ""
  } else if (step$medoid_out < 0) {
    sprintf(" row %d", step$medoid_in + 1)
  } else {
    sprintf(" row %d for row %d", step$medoid_in + 1, step$medoid_out + 1)
  }
  sprintf("%s%s: loss %.6g, %s distances, %.1f s", step$phase, rows, step$loss,
          format(step$n_evaluations, big.mark = ",", scientific = FALSE), step$seconds)
}
