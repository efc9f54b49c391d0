# Everything below creates its own .venv; only Python >= 3.11 and make are needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test test-fast fuzz lint bench bench-full reproduce clean

demo: $(VENV)/.core
	$(BIN)/medoids demo

# Takes 6 to 10 minutes on 2 idle cores, and longer on a busy machine. TESTS=tests/cli runs a part.
TESTS ?=
test: $(VENV)/.dev
	@echo "The tests take about 6 to 10 minutes on 2 cores$(if $(TESTS),; this is a part of them)."
	$(BIN)/python -m pytest -n 2 --dist worksteal $(TESTS)

# Without Dask, Chromium, processes of the command, large data and whatever else takes seconds.
test-fast: $(VENV)/.dev
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not (slow or command or dask or browser)"

# Random problems, damaged files and signals; ends by itself, with code 1 if anything failed.
MINUTES ?= 60
PROCESSES ?= 1
fuzz: $(VENV)/.dev
	cd tests && $(abspath $(BIN))/python -m fuzz --minutes $(MINUTES) --processes $(PROCESSES) $(if $(SUMMARY),--summary $(abspath $(SUMMARY)))

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks

bench-full: $(VENV)/.dev
	$(BIN)/python -m benchmarks exact startup first calls peers bandit cifar covertype growth large_k delta coverage

# The paper's experiments, hours: goes on where it was stopped. SCALE=quick takes minutes.
SCALE ?= paper
reproduce: $(VENV)/.dev
	MEDOIDS_DATA="$${MEDOIDS_DATA:-$(wildcard ../shared/data)}" $(BIN)/medoids reproduce --scale $(SCALE) --out $(if $(filter paper,$(SCALE)),results,reproduced-$(SCALE))

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.core: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet -e ".[cli,report]"
	touch $@

$(VENV)/.dev: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet -e ".[all,dev,bench]"
	touch $@ $(VENV)/.core

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
