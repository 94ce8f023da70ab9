# Everything a newcomer needs is Python 3.11 to 3.13 and make.
PYTHON ?= python3
PORT ?= 8321
DATA ?= .countersign

# Half of what tests do is to wait, for processes and deadlines; each tester has a Postgres of its own.
TESTERS ?= 4

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
SOURCES := app migrations openapi sdk tests

.DEFAULT_GOAL := help

.PHONY: help
help: ## Say what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: install
install: $(STAMP) ## Make .venv with the service, the SDK and the tools

$(STAMP): pyproject.toml sdk/pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if (3, 11) <= v < (3, 14) else "Countersign runs on Python 3.11 to 3.13, and this is %d.%d: make PYTHON=python3.13" % v)'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing into $(VENV) (a minute, the first time) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]' --editable './sdk[verify,cli]'
	@touch $@

.PHONY: serve
serve: $(STAMP) ## Run the service on a laptop (PORT=8321 DATA=.countersign)
	@$(BIN)/countersignd dev --port '$(PORT)' --data '$(DATA)' --policy docs/examples/policy.yaml

.PHONY: test
test: $(STAMP) ## Lint, types, import contracts, all tests
	$(BIN)/ruff check --quiet $(SOURCES)
	$(BIN)/ruff format --check --quiet $(SOURCES)
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/countersignd policy test docs/examples/*.yaml
	$(BIN)/pytest --numprocesses $(TESTERS) --dist loadfile

.PHONY: demo
demo: $(STAMP) ## Play a day of two service desks and verify the record
	@PYTHONPATH=sdk/examples $(BIN)/python -m desks

.PHONY: fmt
fmt: $(STAMP) ## Format, and mend what the linter can
	$(BIN)/ruff format $(SOURCES)
	$(BIN)/ruff check --fix $(SOURCES)

.PHONY: openapi
openapi: $(STAMP) ## Write openapi/openapi.json from the app
	$(BIN)/python -m openapi > openapi/openapi.json

.PHONY: bench
bench: $(STAMP) ## Measure admissions against a route that does nothing (QUICK=1)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]' || true
	@$(BIN)/python -m tests.bench $(if $(QUICK),--quick)
