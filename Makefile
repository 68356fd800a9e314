# One door for every chore; `make help` lists them. Everything lives in .venv and .make.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help demo test check format lock docs bench peers clean accuracy drift

PYTHON ?= python3
BIN := .venv/bin
WORKERS ?= 2
# uv installs in seconds; where it cannot, pip does the same from the same hashes.
# $(1) is what to install, $(2) the environment if not .venv.
define install
	@$(BIN)/python -m uv pip install --python $(or $(2),.venv)/bin/python --quiet $(1) \
		|| { echo "uv could not; pip installs instead, more slowly ..."; \
		$(or $(2),.venv)/bin/python -m pip install --disable-pip-version-check --quiet $(1); }
endef

help: ## List what can be done here
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /\1\t/' | expand -t 10

demo: .make/run ## Make a synthetic search log, find what is popular in it, write demo/report.html
	@$(BIN)/blender-dp demo

test: .make/dev .make/chromium ## Run every test, browser tests included
	@echo "Testing with $(WORKERS) processes ..."
	@$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal

check: .make/dev ## Check format, lint, types, import rule, docs
	@echo "Checking format, lint, types, import rule and docs ..."
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy --no-error-summary src tests benchmarks docs
	@$(BIN)/lint-imports --no-cache --no-logo
	@$(BIN)/python docs/generate.py --check
	@echo "All checks passed."

format: .make/dev ## Format the code and mend what the linter can
	@$(BIN)/ruff check --fix --quiet . ; $(BIN)/ruff format --quiet .

docs: .make/dev ## Write the generated reference pages anew
	@$(BIN)/python docs/generate.py

accuracy: .make/dev ## Measure both presets on the benchmark workloads; writes benchmarks/accuracy.md
	@$(BIN)/python -m benchmarks.accuracy

drift: .make/dev ## Measure size and power of the test of drift; writes benchmarks/drift.md
	@$(BIN)/python -m benchmarks.drift

bench: .make/dev ## Measure speed and memory against peers; writes benchmarks/results.md
	@$(BIN)/python -m benchmarks

peers: .make/peers ## Run other people's methods on the same users; writes benchmarks/peers.md
	@.venv-peers/bin/python -m pytest -q tests/evaluation/peers
	@.venv-peers/bin/python -m benchmarks.peers

lock: .make/uv ## Resolve the dependencies anew and write the lock files
	@$(BIN)/python -m uv pip compile --quiet --universal --generate-hashes --no-emit-index-url \
		--no-header --python-version 3.11 pyproject.toml --group build -o requirements/run.txt
	@$(BIN)/python -m uv pip compile --quiet --universal --generate-hashes --no-emit-index-url \
		--no-header --python-version 3.11 pyproject.toml --group build --group dev \
		-c requirements/run.txt -o requirements/dev.txt
	@$(BIN)/python -m uv pip compile --quiet --universal --generate-hashes --no-emit-index-url \
		--no-header --python-version 3.11 pyproject.toml --extra peers --group build --group dev \
		-c requirements/dev.txt -o requirements/peers.txt

clean: ## Remove the environment and everything made here
	rm -rf .venv .venv-peers .make demo benchmarks/logs .pytest_cache .mypy_cache .ruff_cache .hypothesis

.make/uv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is needed; try: make PYTHON=python3.12 ..."; exit 2; }
	@echo "Making a Python environment in .venv ..."
	@$(PYTHON) -m venv .venv \
		|| { echo "Python's venv module is missing; on Debian: apt-get install python3-venv"; exit 2; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv \
		|| echo "uv cannot be had here; pip will install instead, more slowly."
	@mkdir -p .make && touch $@

.make/run: .make/uv requirements/run.txt pyproject.toml
	@echo "Installing the packages of requirements/run.txt into .venv ..."
	$(call install,--require-hashes -r requirements/run.txt)
	$(call install,--no-deps --no-build-isolation --editable .)
	@touch $@

.make/dev: .make/run requirements/dev.txt
	@echo "Installing the packages of requirements/dev.txt into .venv ..."
	$(call install,--require-hashes -r requirements/dev.txt)
	@touch $@

# The peers bring pandas and numba, which would slow every start of what is developed here.
.make/peers: .make/dev requirements/peers.txt
	@echo "Installing the packages of requirements/peers.txt into .venv-peers ..."
	@$(PYTHON) -m venv .venv-peers
	$(call install,--require-hashes -r requirements/peers.txt,.venv-peers)
	$(call install,--no-deps --no-build-isolation --editable .,.venv-peers)
	@touch $@

.make/chromium: .make/dev
	@if ! command -v chromium >/dev/null; then \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			echo "Installing Debian's chromium for the browser tests ..."; \
			apt-get -qq update && DEBIAN_FRONTEND=noninteractive \
				apt-get -qq install -y --no-install-recommends chromium >/dev/null; \
		else \
			echo "The browser tests need chromium on the path; please install it."; exit 2; fi; fi
	@touch $@
