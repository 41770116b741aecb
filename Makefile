# Each target creates what it needs: a virtual environment with the pinned requirements, a browser for the tests.
PYTHON ?= python3
HOST ?= 127.0.0.1
PORT ?= 8501
VENV := .venv
BIN := $(VENV)/bin
PYTEST_WORKERS ?= 2

.PHONY: run test check format bench chromium clean

run: $(VENV)/.runtime
	@HOST=$(HOST) PORT=$(PORT) exec $(BIN)/streamlit run app.py --server.address $(HOST) --server.port $(PORT)

test: $(VENV)/.dev chromium
	$(BIN)/python -m pytest -n $(PYTEST_WORKERS) --dist loadfile -m "not slow" -q -rs

check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q tests/test_architecture.py
	$(BIN)/python .ci/audit.py

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.dev
	$(BIN)/python -m bench

# Chromium for the browser tests: the system's, else through apt when root. Where none can be had the tests that
# need one report themselves as not run.
chromium:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || \
	{ [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -q && \
	  DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends chromium fonts-dejavu-core; } || \
	echo "No Chromium here and none could be installed: browser tests will be reported as not run."

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.runtime: requirements.txt | $(VENV)/bin/python
	@echo "Installing the pinned requirements (once) ..."
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@

$(VENV)/.dev: requirements-dev.txt requirements.txt | $(VENV)/bin/python
	@echo "Installing the pinned requirements for tests (once) ..."
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $@ $(VENV)/.runtime

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .hypothesis
