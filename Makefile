# make install | run | test | check | rules | soak | bench | bench-web | pictures | lock
#
# Every target first brings .venv up to what pyproject.toml and requirements.lock say: with uv where it is on the
# PATH, else with venv and pip. Nothing is installed outside .venv.

PORT ?= 8100
HANDON_DATABASE ?=
PYTHON ?= python3
JOBS ?= 2
APP ?= examples.bindery:bindery

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
UV := $(shell command -v uv 2>/dev/null)

.DEFAULT_GOAL := help
.PHONY: help install run test check rules soak bench bench-web pictures lock

help:
	@echo "make run       the demo on http://127.0.0.1:$(PORT) (PORT=..., HANDON_DATABASE=...)"
	@echo "make test      the tests"
	@echo "make check     ruff, mypy, import-linter, and whether a test holds each rule"
	@echo "make rules     each rule, and the tests that hold it"
	@echo "make soak      two minutes of work whose processes are killed again and again (ARGS=--help)"
	@echo "make bench     the benchmarks of the engine"
	@echo "make bench-web those of the pages, in Chromium (ARGS=--help)"
	@echo "make pictures  the screenshots of the docs, from the running demo"
	@echo "make install   only the virtual environment"
	@echo "make lock      pin anew what pyproject.toml allows (needs uv)"

install: $(STAMP)

$(STAMP): pyproject.toml requirements.lock
ifneq ($(UV),)
	$(UV) venv --quiet --allow-existing --python '>=3.11' $(VENV)
	$(UV) pip install --quiet --python $(BIN)/python -r requirements.lock
	$(UV) pip install --quiet --python $(BIN)/python --no-deps -e .
else
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Handon needs Python 3.11 or newer: make $(MAKECMDGOALS) PYTHON=python3.11"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
	  { echo "python -m venv failed. On Debian and Ubuntu: apt-get install python3-venv"; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
endif
	@touch $(STAMP)

run: $(STAMP)
	$(BIN)/handon serve $(APP) --demo --port $(PORT) $(if $(HANDON_DATABASE),--database '$(HANDON_DATABASE)')

test: $(STAMP)
	$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup $(ARGS)

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	@$(BIN)/python -m tests.rules >/dev/null

rules: $(STAMP)
	@$(BIN)/python -m tests.rules

soak: $(STAMP)
	@$(BIN)/python -u -m tests.soak $(ARGS)

bench: $(STAMP)
	$(BIN)/python -u -m bench $(ARGS)

bench-web: $(STAMP)
	$(BIN)/python -u -m bench.web $(ARGS)

pictures: $(STAMP)
	$(BIN)/python -m docs.pictures.make $(ARGS)

# Plain name==version lines: no index, no host, so that the file says the same whichever mirror was asked.
lock:
	uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 --upgrade --quiet \
	  --no-emit-index-url --no-emit-find-links --no-header --no-annotate -o requirements.lock
