# Everything runs in virtual environments of its own; none has to be activated. Works with a plain sh.
#   make run     the app, on http://localhost:8501       (PORT=..., ADDRESS=0.0.0.0 to serve the network)
#   make test    every check and every test, browser tests included
#   make check   the same without the slow tests, in under two minutes on one core: the inner loop
# A GPU build of torch is what pip takes on Linux by default; PIP_FLAGS="--extra-index-url ..." can name a place with the
# smaller CPU build.

PYTHON ?= python3
PORT ?= 8501
ADDRESS ?= localhost
PIP_FLAGS ?=
ARGS ?=

VENV := .venv
BENCH_VENV := .bench-venv
PY := $(VENV)/bin/python
BENCH_PY := $(BENCH_VENV)/bin/python
# One thread a request: two on busy cores are slower than one. Training takes all cores and sets its own number.
ONE_THREAD := OMP_NUM_THREADS=1

# Tests that take most of the time: in a browser, of whole pages, of whole processes, of long searches, and trainings.
SLOW := tests/browser tests/app tests/cli/test_process.py tests/parity/test_drafted_translations.py \
  $(addprefix tests/training/test_,$(addsuffix .py,distributed loop run copy_task state classroom live translation_task))

.PHONY: help run test check lint format chromium bench bench-ui soak pictures clean distclean

help:
	@echo "make run | test | check | lint | format | bench | bench-ui | soak | pictures | clean | distclean"

run: $(VENV)/.installed
	$(ONE_THREAD) $(PY) -m model_core app --port $(PORT) --address $(ADDRESS) -- $(ARGS)

test: lint chromium
	$(ONE_THREAD) $(PY) -m pytest -q $(ARGS)

check: lint
	$(ONE_THREAD) $(PY) -m pytest -q $(SLOW:%=--ignore=%) $(ARGS)

lint: $(VENV)/.installed-dev
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m pyright

format: $(VENV)/.installed-dev
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

chromium: $(VENV)/.installed-dev
	@sh scripts/chromium.sh $(PY)

bench: $(BENCH_VENV)/.installed
	$(ONE_THREAD) $(BENCH_PY) -m benchmarks.translate $(ARGS)

bench-ui: $(VENV)/.installed-dev chromium
	$(ONE_THREAD) $(PY) -m benchmarks.ui $(ARGS)

soak: $(VENV)/.installed-dev chromium
	$(ONE_THREAD) $(PY) -m benchmarks.soak $(ARGS)

pictures: $(VENV)/.installed-dev chromium
	$(ONE_THREAD) $(PY) -m docs.take_pictures $(ARGS)

# A stamp is younger than the requirements that it stands for, so pip runs only when they change.
$(VENV)/.installed: requirements.txt | $(PY)
	$(PY) -m pip install --disable-pip-version-check $(PIP_FLAGS) -r requirements.txt
	@touch $@

$(VENV)/.installed-dev: requirements-dev.txt requirements.txt | $(PY)
	$(PY) -m pip install --disable-pip-version-check $(PIP_FLAGS) -r requirements-dev.txt
	@touch $@ $(VENV)/.installed

$(BENCH_VENV)/.installed: benchmarks/requirements.txt requirements.txt | $(BENCH_PY)
	$(BENCH_PY) -m pip install --disable-pip-version-check $(PIP_FLAGS) -r requirements.txt -r benchmarks/requirements.txt
	@touch $@

$(PY) $(BENCH_PY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Regard needs Python 3.11 or newer; '$(PYTHON)' is not. Name another one: make PYTHON=python3.12 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(@D:/bin=)

clean:
	rm -rf .pytest_cache .ruff_cache .hypothesis static build *.egg-info
	find . -name __pycache__ -not -path './.*venv/*' -prune -exec rm -rf {} +

distclean: clean
	rm -rf $(VENV) $(BENCH_VENV)
