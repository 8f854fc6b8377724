# `make help` lists the targets. Needed: Python (requires-python in pyproject.toml says which), pip, make.

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help lab teach test test-all quick test-browser build grade report site bench nbval run proofs lint style types unit lock clean

VENV ?= .venv
# The set-up is as new as what these files say, not as their times, which git sets anew in each checkout.
VERSIONS ?= pyproject.toml requirements.lock
SUM := $(shell cat $(VERSIONS) | cksum | cut -d ' ' -f 1)
# Three sets of packages, each within the next: what students need, teachers, and developers.
STUDENT := $(VENV)/.student-$(SUM)
TEACHER := $(VENV)/.teacher-$(SUM)
READY := $(VENV)/.made-$(SUM)
# A larger set that is there will do.
LEARN := $(firstword $(wildcard $(READY) $(TEACHER)) $(STUDENT))
TEACH := $(firstword $(wildcard $(READY)) $(TEACHER))
CHAPTERS := $(basename $(notdir $(sort $(wildcard course/chapters/*.py))))
SEED ?= 1
JOBS ?= 1
SOLVED ?= solutions
NOTEBOOKS ?= notebooks solutions
TORCH = $(shell sed -n 's/^torch==//p' requirements.lock)

# nbgrader looks for its helpers on PATH.
export PATH := $(abspath $(VENV))/bin:$(PATH)
# IPython warns if another environment is the active one, and the tests are red at any warning.
export VIRTUAL_ENV := $(abspath $(VENV))

# The versions of Python that pyproject.toml names; the first that is there is taken. Another: `make ... PYTHON=/path/to/python`.
MINORS := $(shell sed -n 's/^requires-python = ">=3[.]\([0-9]*\),<3[.]\([0-9]*\)"$$/seq \1 $$((\2 - 1))/p' pyproject.toml | sh)
VERSIONS_FIT := 3.$(firstword $(MINORS)) to 3.$(lastword $(MINORS))
VERSION := import sys; print(*sys.version_info[:2], sep=".")
FITS := grep -qxF $(MINORS:%=-e 3.%)
PYTHON ?= $(shell for python in $(MINORS:%=python3.%) python3 python; do \
	$$python -c '$(VERSION)' 2>/dev/null | $(FITS) && { echo $$python; break; }; done)
SAYS = $(if $(PYTHON), (PYTHON=$(PYTHON) says: $$($(PYTHON) --version 2>&1 | head -n 1)))
CHECK_PYTHON = test -n "$(PYTHON)" && $(PYTHON) -c '$(VERSION)' 2>/dev/null | $(FITS) || { \
	echo "Python $(VERSIONS_FIT) is needed and was not found$(SAYS): install one," \
		"or name it with make PYTHON=/path/to/python" >&2; exit 1; }

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile

PORT ?= 8888
LAB = python -m autograder lab --port $(PORT) $(if $(filter no,$(BROWSER)),--no-browser)

lab: $(LEARN) ## set up, and open JupyterLab on notebooks of your own in work/: make lab PORT=9000 BROWSER=no
	@$(LAB)

teach: $(TEACH) ## open JupyterLab in course/, with nbgrader's tools: make teach PORT=9000 BROWSER=no
	@$(LAB) --teach

test: $(READY) ## set up, and run the tests of the day: lint, types, unit tests, notebooks
	@python -m tests.suite $(if $(SAMPLE),--sample $(SAMPLE))

test-all: $(READY) ## set up, and run every test, as each night: all proofs, classes, attacks, other processors
	@python -m tests.suite --all

quick: $(READY) ## check style and types, and run the tests of what has changed since the last push, in a minute
	@python -m tests.quick

test-browser: $(READY) ## drive the notebooks in a real browser (needs Chromium), with NIGHT=1 all; see build/screenshots/
	python -m tests.browser.chromium
	pytest tests/browser -n logical --maxprocesses 4 --dist loadgroup$(if $(NIGHT), -m "")

build: $(READY) ## write notebooks/, solutions/ and the shipped observations from course/chapters/
	python -m autograder build

grade: $(TEACH) ## grade an example class through nbgrader: make grade CHAPTER=ch02a_gradients
	python -m autograder grade --example $(CHAPTER)

report: $(TEACH) ## write what your class misunderstood, from its grades: make report CHAPTER=ch02a_gradients
	python -m autograder report $(CHAPTER)

site: $(READY) ## build the course as a site for reading, in build/site/html/
	python -m autograder site

bench: $(READY) ## measure what grading costs beside nbgrader alone (a few minutes): make bench BENCH='--stock 20'
	python -m tests.bench $(BENCH)
	python -m tests.bench.own_assignments_ratio asserts partial by-hand reads-a-file draws

# Where `make test` counts the tests of a part.
REPORTING = $(if $(REPORT),--junitxml=$(REPORT))

# These runs are nobody's progress.
nbval run: export PYTORCH_BASICS_PROGRESS := off
# Two run side by side.
nbval proofs: export OMP_NUM_THREADS := 1

nbval: $(READY) ## run every notebook in notebooks/ and solutions/ from top to bottom
	python -m pytest -p tests.spared -p nbval -n 2 --dist loadfile --nbval-lax -W default $(NOTEBOOKS) $(REPORTING)

# A file that is written anew before and after each cell costs more than the cells do; it is written where a run ends.
SAVING := --no-request-save-on-cell-execute --autosave-cell-every 0

run: $(READY) ## run the solved chapters with other parameters: make run CHAPTER=ch05a_devices SEED=1 DEVICE=cuda SHORT=1
	@mkdir -p build/runs
	printf '%s\n' $(or $(CHAPTER),$(CHAPTERS)) | xargs -P $(JOBS) -I {} python -m tests.spared --no-progress-bar $(SAVING) -p seed $(SEED) \
		$(if $(DEVICE),-p device $(DEVICE)) $(if $(SHORT),-p short True) \
		$(SOLVED)/{}.ipynb build/runs/{}-$(SEED).ipynb

proofs: $(READY) ## run the solved chapters with what their lessons claim out of readers' sight
	python -m autograder build --proofs build/proofs
	$(MAKE) --no-print-directory run SOLVED=build/proofs JOBS=2

lint: style types ## check style and types

style: $(READY) ## check style, and which room imports which
	ruff check .
	ruff format --check .
	lint-imports --no-logo

types: $(READY) ## check types only
	mypy

# One more was no faster on two cores: 731 s against 692.
export NIGHT
unit: $(READY) ## run the unit tests only; with NIGHT=1 those of the night too
	pytest -n 2 --dist loadgroup $(if $(NIGHT),-m "$(if $(SAMPLE),night)") $(if $(SAMPLE),--sample $(SAMPLE) --no-loadscope-reorder --cpu-seconds 500) $(REPORTING)

lock: ## write requirements.lock again from pyproject.toml, torch kept at its version
	@$(CHECK_PYTHON)
	rm -rf build/lock
	$(PYTHON) -m venv build/lock
	build/lock/bin/python -m pip install --quiet torch==$(TORCH) '.[dev]'
	{ sed -n '/^#/p' requirements.lock; echo torch==$(TORCH); build/lock/bin/python -m pip freeze --all \
		--exclude pytorch-basics --exclude pip --exclude torch; } > build/requirements.lock
	mv build/requirements.lock requirements.lock

clean: ## remove what tests and runs left behind; keeps .venv, submissions, grades, and build/aside
	rm -rf .pytest_cache .mypy_cache .ruff_cache .import_linter_cache *.egg-info
	[ ! -d build ] || find build -mindepth 1 -maxdepth 1 ! -name aside -exec rm -rf {} +
	find autograder course explorers tests -name __pycache__ -prune -exec rm -rf {} +

# Made once, and made again when the versions change; a larger set comes on top of a smaller one. Stopped half-way a set has
# no stamp, and is made again too.
PIP = $(VENV)/bin/python -m pip install
SHOWN := awk '/^Collecting/ && ++n % 20 == 0 { print "  " n " packages" } \
	/^ *Downloading torch-/ { print "  torch, the largest of them: " $$NF } \
	/^Installing/ { print "  all are there; they are being installed" } { fflush() }'
CHECK_WRITING = mkdir -p $(VENV) 2>/dev/null && test -w $(VENV) || { \
	echo "$(abspath $(VENV)) cannot be written: clone into a folder of your own, or name another with make VENV=FOLDER" >&2; exit 1; }
SET_UP = @$(CHECK_PYTHON); $(CHECK_WRITING); echo "Setting up $(VENV) with $$($(PYTHON) --version), for $(FOR); this takes minutes."
EMPTY = $(if $(wildcard $(STUDENT) $(TEACHER)),rm -f $(VENV)/.failed,$(PYTHON) -m venv --clear $(VENV))
$(STUDENT): FOR := students
$(STUDENT): SET := --constraint requirements.lock --editable '.[torch,lab]'
$(TEACHER): FOR := teachers
$(TEACHER): SET := --constraint requirements.lock --editable '.[torch,teach]'
$(READY): FOR := developers
$(READY): SET := --requirement requirements.lock --editable .
$(STUDENT) $(TEACHER) $(READY):
	$(SET_UP)
	$(EMPTY)
	@{ $(PIP) --progress-bar off $(SET) || touch $(VENV)/.failed; } | $(SHOWN); test ! -e $(VENV)/.failed
	@touch $@
