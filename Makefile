# Everything runs in .venv, which is made here with nothing but python3.
# `make demo` and `make test` do all the set-up themselves.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# Two workers a processor: many tests wait for other processes.
WORKERS = $(shell $(PYTHON) -c "import os; print(2 * (os.cpu_count() or 1))")

.DEFAULT_GOAL := help
.PHONY: help demo test lint check quick bench docs dist lowest mutants hosts format language-table clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/' | expand -t 18

# The stamp comes last: a failed install is tried again.
$(VENV)/installed: pyproject.toml
	@echo "Setting up $(VENV) ..."
	@$(PYTHON) -m venv --clear $(VENV) || { echo "python3 needs the venv module (Debian: apt-get install python3-venv)" >&2; exit 1; }
	@$(PIP) install "pip>=25.1"
	@$(PIP) install --editable . --group dev
	@touch $@

demo: $(VENV)/installed ## Recognise two requests and show what was understood
	@PYTHONUTF8=1 $(BIN)/python examples/demo.py

test: $(VENV)/installed ## Run all tests, with branch coverage
	@$(BIN)/python -m pytest --numprocesses $(WORKERS) --dist worksteal --cov

lint: $(VENV)/installed ## Style, types, layers
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/basedpyright
	@$(BIN)/lint-imports

check: $(VENV)/installed ## The quick round: lint, types, layers, fast tests
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target lint quick

# Files of nothing but slow tests are not even collected.
quick: $(VENV)/installed
	@$(BIN)/python -m pytest -q -m "not slow" --numprocesses auto --hypothesis-profile quick \
		--ignore=tests/cli --ignore=tests/executors/api --ignore=tests/test_docs.py \
		--ignore=tests/test_examples.py --ignore-glob='tests/typed/test_[er]*' --ignore-glob='tests/mcp/test_[chns]*' \
		--ignore=tests/vectors/test_pipeline_vectors.py

bench: $(VENV)/installed ## Benchmarks; not part of the tests
	@$(BIN)/python -m pytest benchmarks --benchmark-only --benchmark-columns=min,median,mean,rounds --benchmark-sort=name

docs: $(VENV)/installed ## Build the documentation into docs/_build/html; warnings are errors
	@$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going --builder html docs docs/_build/html
	@echo "docs/_build/html/index.html"

dist: $(VENV)/installed ## Build wheel and sdist, and try them in a clean environment
	@$(BIN)/python scripts/dist.py

lowest: $(VENV)/installed ## The fast tests with the lowest versions that are allowed
	@rm -rf .venv-lowest && $(PYTHON) -m venv .venv-lowest
	@$(BIN)/uv pip install --quiet --python .venv-lowest --resolution lowest-direct --editable . --group test
	@.venv-lowest/bin/python -m pytest -q -m "not slow" --numprocesses auto --hypothesis-profile quick
	@.venv-lowest/bin/python -m pytest -q --numprocesses auto tests/executors/api

mutants: $(VENV)/installed ## Mutation testing of the checks and the bridge; takes most of an hour
	@mkdir -p build
	@$(BIN)/python scripts/mutate.py src/intent_runtime/candidate --tests tests/candidate tests/test_pipeline.py tests/vectors --report build/candidate.jsonl
	@$(BIN)/python scripts/mutate.py src/intent_runtime/bridge --tests tests/bridge tests/vectors/test_bridge_vectors.py tests/test_intent.py --report build/bridge.jsonl

hosts: $(VENV)/installed ## Try the service in Claude Code, Codex and Gemini CLI; needs npm
	@$(BIN)/python scripts/hosts.py

format: $(VENV)/installed ## Format the code
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

language-table: $(VENV)/installed ## Regenerate the language subtag table
	@$(BIN)/python scripts/generate_language_table.py

clean: ## Remove what make made
	@rm -rf $(VENV) .venv-lowest docs/_build dist build .ruff_cache .import_linter_cache .hypothesis
