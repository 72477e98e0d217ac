# What people do here. `make demo` and `make test` set themselves up: they need Python 3.11 or newer and a package
# registry the first time, and nothing from the network after that.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# pip runs again only when the packaging files change, not when a checkout gives them a new date.
PACKAGING := $(shell cat setup.cfg pyproject.toml | sha256sum | cut -c1-16)
DEMO_READY := $(VENV)/.ready-demo-$(PACKAGING)
TEST_READY := $(VENV)/.ready-test-$(PACKAGING)
OUT ?= runs/demo

.PHONY: help setup demo test lint format bench clean
.DEFAULT_GOAL := help

help:  ## list these targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/'

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Expected Python 3.11 or newer, got " + sys.version.split()[0] + ". Name another one: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv $(VENV)

$(DEMO_READY): | $(BIN)/python
	$(BIN)/pip install --quiet --editable .
	@rm -f $(VENV)/.ready-demo-*
	@touch $@

$(TEST_READY): | $(BIN)/python
	$(BIN)/pip install --quiet --editable '.[test,export]'
	@rm -f $(VENV)/.ready-*
	@touch $@ $(DEMO_READY)  # what the tests need includes what the demo needs

setup: $(TEST_READY)  ## create .venv and install everything that the demo and the tests need

demo: $(DEMO_READY)  ## run the whole main job on real photographs (PHOTOS=folder for your own, OUT=folder)
	$(BIN)/forensegm demo --out $(OUT) $(if $(PHOTOS),--photos $(PHOTOS))

test: $(TEST_READY)  ## run the whole test suite
	$(BIN)/python -m pytest

lint: $(TEST_READY)  ## style, types and import directions
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python tools/check_style.py

format: $(TEST_READY)  ## format the code
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

bench: $(TEST_READY)  ## run every benchmark; results go to experiments/results
	@for script in tools/bench_*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

clean:  ## remove caches (not .venv, not runs)
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis build *.egg-info
	find forensegm tests tools -name __pycache__ -type d -exec rm -rf {} +
