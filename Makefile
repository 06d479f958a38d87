# On a machine with python3 and make:
#   make demo      virtual environment, install both harnesses, run them on bundled tasks, print the intervals
#   make test      virtual environment, install, every check of the code with one Python and one version of each harness
#   make install   virtual environment with the package, both harnesses and every tool of the checks; make test does it first
#   make clean     delete that environment, nox's and what was built
# make test opens HTML pages in a browser; without chromium (apt-get install chromium) it says so in a line and runs the rest.
# .ci/run runs make test, the documentation's checks (nox session docs) and the checks with other versions, and demands
# what make test may skip.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test checks suite install clean

install: $(VENV)/.installed

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.installed: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[dev]"
	touch $@ $(VENV)/.harnesses

$(VENV)/.harnesses: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[lm-eval,inspect]"
	touch $@

demo: $(VENV)/.harnesses
	$(BIN)/python examples/demo.py --output demo-runs

# the checks use one processor, and run beside the tests so that the other is not idle
test: install
	$(MAKE) --jobs 2 --keep-going checks suite

checks: install
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/nox --no-venv --sessions lint types imports wheel

suite: install
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/nox --no-venv --sessions tests

clean:
	rm -rf $(VENV) .nox demo-output demo-runs build dist
