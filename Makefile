# Two commands matter: `make run` and `make test`. The others are what they are made of.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEV_STAMP := $(VENV)/.installed-dev

# Tests of the whole application, run on SQLite with all others and then on Neo4j.
ON_BOTH := tests/http/test_access.py tests/http/test_changes.py tests/http/test_description_holds.py \
	tests/http/test_door.py tests/http/test_memory.py tests/http/test_packet.py tests/http/test_runs.py \
	tests/service/test_command_line.py tests/service/test_leases.py tests/service/test_maintenance.py \
	tests/service/test_offsets.py tests/service/test_queue.py tests/service/test_settings.py \
	tests/service/test_spaces.py

.PHONY: run test services lint types cases clean serve

run: $(STAMP)  ## Start the service, play the tour through its own HTTP API, keep serving (ONCE=1: stop after the tour)
	@$(BIN)/python -m brain demo $(if $(ONCE),--once,)

serve: $(STAMP)  ## Start the service alone
	@$(BIN)/python -m brain serve

test: $(DEV_STAMP) services lint types  ## Everything: style, types, all tests
	$(BIN)/python -m pytest -q -n 2
	BRAIN_TEST_STORE=neo4j $(BIN)/python -m pytest -q -n 2 $(ON_BOTH)

services: $(DEV_STAMP)  ## What tests need of Redis and Neo4j; the tests start and stop them
	@$(BIN)/python -m deploy.services install

lint: $(DEV_STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(DEV_STAMP)
	$(BIN)/mypy

clean:
	rm -rf $(VENV) dist .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'

$(STAMP): $(BIN)/python pyproject.toml
	@echo "Installing Brain into $(VENV) (once) …"
	$(BIN)/python -m pip install --quiet -e .
	@touch $@

$(DEV_STAMP): $(STAMP)
	$(BIN)/python -m pip install --quiet -e '.[llm,neo4j,workers]' --group dev
	@touch $@
