# make demo | test | test-oldest | fuzz | coverage | lint | docs | release-check | bench | clean
# Needs Python >= 3.11 and make; everything else goes into .venv. Another Python: make PYTHON=python3.12 test
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# The stamps say "this environment was built from this pyproject.toml"; a newer pyproject.toml rebuilds it.
CLI_READY := $(VENV)/.ready-cli
DEV_READY := $(VENV)/.ready-dev

# The site, in an environment of its own; warnings are errors.
DOCS       := .venv-docs
DOCS_READY := $(DOCS)/.ready

RELEASE    := .venv-release

# The oldest versions that pyproject.toml allows, in an environment of their own.
OLDEST       := .venv-oldest
OLDEST_READY := $(OLDEST)/.ready

SECONDS ?= 600
SEED    ?= 0

.PHONY: demo test test-oldest fuzz browser coverage lint docs release-check bench clean

demo: $(CLI_READY)
	@mkdir -p demo
	$(BIN)/rowsparse select breast_cancer -k 10 --out demo/selected.csv --force
	$(BIN)/rowsparse compare breast_cancer --methods l2p,topk,f,relieff -k 2,5,10 --jobs 2 --store demo/comparison
	$(BIN)/rowsparse stability breast_cancer -k 10 --pairs 20 --jobs 2 --store demo/stability --force
	$(BIN)/rowsparse report demo/comparison demo/stability --data breast_cancer --out demo/report.html --force

test: $(DEV_READY) browser
	$(BIN)/python -m pytest -n 2 --dist loadgroup

# Tests of the page open it in Chromium and are skipped without one. Only root may install it.
browser:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || \
	command -v google-chrome >/dev/null || [ "$$(id -u)" != 0 ] || \
	timeout 180 apt-get install -y -qq chromium >/dev/null 2>&1 || \
	echo "No chromium, and it cannot be installed: the tests that need it are skipped."

test-oldest: $(OLDEST_READY)
	$(OLDEST)/bin/python -m pytest -n 2 --dist loadgroup

# Random fits for so many seconds, failures as JSON lines: make fuzz SECONDS=3600 SEED=7
fuzz: $(DEV_READY)
	$(BIN)/python -m tests.fuzz attack --seconds $(SECONDS) --seed $(SEED) --out fuzz-failures.jsonl

# Branches of src; lines that numba compiles do not run as Python and count as missed.
coverage: $(DEV_READY)
	$(BIN)/python -m pytest -n 2 --dist loadgroup --cov=rowsparse --cov-branch --cov-report=term:skip-covered

lint: $(DEV_READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q tests/test_docstrings.py -k complete

docs: $(DOCS_READY)
	MPLBACKEND=Agg $(DOCS)/bin/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "Wrote docs/_build/html/index.html"

# sdist and wheel, and the wheel alone in an empty environment, away from the source tree.
release-check:
	rm -rf dist $(RELEASE) $(RELEASE)-tools
	$(PYTHON) -m venv $(RELEASE)-tools
	$(RELEASE)-tools/bin/python -m pip install --quiet --disable-pip-version-check build twine
	$(RELEASE)-tools/bin/python -m build --outdir dist .
	$(RELEASE)-tools/bin/python -m twine check --strict dist/*
	$(PYTHON) -m venv $(RELEASE)
	$(RELEASE)/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	$(RELEASE)/bin/python -I benchmarks/release_check.py dist/*.whl

bench: $(DEV_READY)
	$(BIN)/python benchmarks/run.py

clean:
	rm -rf docs/_build docs/auto_gallery docs/generated docs/project docs/sg_execution_times.rst
	rm -rf demo build dist $(RELEASE) $(RELEASE)-tools .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests docs -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "rowsparse needs Python >= 3.11, and $(PYTHON) is older or missing: make PYTHON=/path/to/python3.11 …" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(CLI_READY): pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[cli,report]'
	@touch $@

$(DEV_READY): pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@ $(CLI_READY)

$(OLDEST_READY): pyproject.toml constraints/oldest.txt
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints/oldest.txt -e '.[dev]'
	@touch $@

$(DOCS_READY): pyproject.toml
	$(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	@touch $@
