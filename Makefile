# On a machine with python3 and make:
#   make demo      virtual environment, install, run both harnesses on bundled tasks, print the intervals
#   make test      virtual environment, install, every check that CI runs
#   make install   virtual environment with the package, both harnesses and every tool of the checks; the others do it first
#   make clean     delete that environment, nox's and what was built
# make test opens HTML pages in a browser and needs chromium (the Debian package: apt-get install chromium), as .ci/run installs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test install clean

install: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[dev]"
	touch $@

demo: install
	$(BIN)/python examples/demo.py --output demo-output

test: install
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/nox --no-venv --sessions lint types imports tests lm_eval_0_4_11 inspect_0_3_260 wheel

clean:
	rm -rf $(VENV) .nox demo-output build dist
