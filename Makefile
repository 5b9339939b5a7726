# Each target does its own set-up: a virtual environment in .venv with the versions of constraints.txt.
# A Python 3.10 to 3.12 is all a machine must have; another one than the one found is named with PYTHON=...

VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
TORCH := torch==2.13.0
# Where PyTorch's own builds without CUDA are, for machines whose package index has only the one with CUDA
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu
DEMO ?= demo
# What runs torch or mindspore gets few threads; the oneDNN inside MindSpore 2.9 and 2.10 falls back to its slow
# reference convolution on AVX-512 machines unless it is told to stay with AVX2
RUN := OMP_NUM_THREADS=$${OMP_NUM_THREADS:-2} ONEDNN_MAX_CPU_ISA=$${ONEDNN_MAX_CPU_ISA:-AVX2}
PYTEST_ARGS ?=
# Two processes share the tests file by file, in the order of the files, which begins with slow ones
WORKERS ?= --numprocesses 2 --dist loadfile --no-loadscope-reorder
CORPUS_ARGS ?= --first
SCRIPTS_ARGS ?=
PROVE_ARGS ?=
FUZZ_ARGS ?=
# Checkouts of the programs that `make parity` trains (benchmarks/parity.toml), as owner+name: pytorch+examples, ...
SOURCES ?= sources

.PHONY: help demo demo-full test test-whole lint prove fuzz hostile parity bench scripts docs site dist corpus install clean
.DELETE_ON_ERROR:

help:
	@echo "make demo    the ResNet-50 example, a few minutes: translate, weights, first figure, verify, train, resume"
	@echo "make demo-full  the same as the whole proof: larger images, more steps; about ten minutes"
	@echo "make test    all tests (PYTEST_ARGS='-m \"not slow\"' for the quick ones)"
	@echo "make test-whole  the same, with every case of the grids of which make test and CI take a sample"
	@echo "make lint    ruff, mypy --strict, sizes, import contracts, figures of the design, mapping tables"
	@echo "make prove   run every mapping's example in PyTorch and in MindSpore and compare"
	@echo "make fuzz    other arguments of 300 random mappings, writes through aliases, renamed programs (FUZZ_SEED=7)"
	@echo "make hostile mutated programs and files of weights, taken names, kills at random moments (HOSTILE_SEED=7)"
	@echo "make parity  train real programs and their translations side by side (SOURCES=folder of owner+name checkouts)"
	@echo "make bench   speed and memory of the translator"
	@echo "make corpus  translate torchvision and timm, compare each of their models (CORPUS_ARGS='timm --only swin')"
	@echo "make scripts translate training scripts of public repositories and run them unedited"
	@echo "make docs    generate the reference pages from the data"
	@echo "make site    build the documentation as a site, into site/; warnings are errors"
	@echo "make dist    build sdist and wheel into dist/, and try the wheel in an environment of its own"
	@echo "make clean   remove what the targets made, the virtual environment included"

demo: $(VENV)/.installed
	$(RUN) $(BIN)/torch2ms demo $(DEMO)

demo-full: $(VENV)/.installed
	$(RUN) $(BIN)/torch2ms demo --full $(DEMO)

test: $(VENV)/.installed $(VENV)/.corpus $(VENV)/.axe
	$(RUN) OMP_WAIT_POLICY=PASSIVE $(BIN)/python -m pytest $(WORKERS) $(PYTEST_ARGS)

# Every case of the grids of which `make test` takes a sample (tests/sampling.py)
test-whole: export TORCH2MS_WHOLE := 1
test-whole: test

# All checks run, whichever fails, two at a time, those that take longest first
lint: $(VENV)/.installed
	@printf '%s\n' "python scripts/generate_docs.py --check" "mypy" "torch2ms tables lint" "python scripts/check_design.py" \
	    "lint-imports --no-cache" "ruff check --quiet --output-format concise ." "ruff format --check --quiet ." \
	    "python scripts/check_sizes.py" \
	  | xargs -P 2 -I CHECK sh -c 'said=$$($(BIN)/CHECK 2>&1); status=$$?; \
	    printf "%s\n" "CHECK" $${said:+"$$said"}; exit $$status'

prove: $(VENV)/.installed
	$(RUN) $(BIN)/python -m torch2ms.mapping_tables.prove --graph $(PROVE_ARGS)

# FUZZ_ARGS are for the arguments of mappings alone: FUZZ_ARGS="--only 'torch.nn.*'"
FUZZ_SEED ?= 1
fuzz: $(VENV)/.installed $(VENV)/.corpus
	$(RUN) $(BIN)/python benchmarks/fuzz.py --seed $(FUZZ_SEED) $(FUZZ_ARGS)
	$(RUN) $(BIN)/python benchmarks/alias_writes.py --count 300 --seed $(FUZZ_SEED)
	$(RUN) $(BIN)/python benchmarks/renaming.py --files 20 --seed $(FUZZ_SEED)

HOSTILE_SEED ?= 0
hostile: $(VENV)/.installed
	$(RUN) $(BIN)/python -m tests.properties.weight_mutations --files 2000 --seed $(HOSTILE_SEED)
	$(RUN) $(BIN)/python -m tests.properties.broken_programs --programs 2000 --seed $(HOSTILE_SEED)
	$(RUN) $(BIN)/python -m tests.properties.taken_names --projects 200 --seed $(HOSTILE_SEED)
	$(RUN) $(BIN)/python -m tests.properties.kills --kills 100 --seed $(HOSTILE_SEED)

# What the scripts import besides; kept apart, so that the project's own environment stays as it is. The repositories
# are taken from TORCH2MS_REPOS (owner+name), or cloned; where there is no network, their scripts are skipped.
SCRIPTS_NEED := tqdm matplotlib scikit-learn pandas requests tiktoken wandb gym
scripts: $(VENV)/.installed
	@test -d $(VENV)/scripts-site || $(PIP) install --quiet --constraint constraints.txt --target $(VENV)/scripts-site \
	  $(SCRIPTS_NEED) || echo "not all of $(SCRIPTS_NEED) could be installed: scripts that need them will fail"
	$(RUN) TORCH2MS_SITE=$(CURDIR)/$(VENV)/scripts-site $(BIN)/python benchmarks/scripts.py --fetch --json scripts.json $(SCRIPTS_ARGS)

bench: $(VENV)/.installed $(VENV)/.corpus
	$(RUN) $(BIN)/python benchmarks/translate_speed.py examples/resnet50_cifar10 $(wildcard $(VENV)/corpus/timm)

parity: $(VENV)/.installed
	$(RUN) $(BIN)/python benchmarks/parity.py --repos $(SOURCES)

docs: $(VENV)/.installed
	$(BIN)/python scripts/generate_docs.py

# What builds the site and the archives needs nothing of the project's own environment, and stays out of it
TOOLS := $(VENV)-tools
site: $(TOOLS)/.installed
	NO_MKDOCS_2_WARNING=1 $(TOOLS)/bin/mkdocs build --strict --quiet
	@echo "site/index.html"

dist: $(TOOLS)/.installed
	$(TOOLS)/bin/python scripts/check_distribution.py

$(TOOLS)/.installed:
	python=$${PYTHON:-$$(sh scripts/find_python.sh)} && $$python -m venv $(TOOLS)
	$(TOOLS)/bin/python -m pip --disable-pip-version-check install --quiet "mkdocs-material>=9.5" "build>=1.2" "twine>=6"
	touch $@

# One model of each family takes half an hour; CORPUS_ARGS='torchvision timm' takes all of them, which takes hours
corpus: $(VENV)/.installed $(VENV)/.corpus
	$(RUN) $(BIN)/python benchmarks/models.py $(CORPUS_ARGS)

install: $(VENV)/.installed

clean:
	rm -rf $(VENV) $(TOOLS) .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist site

$(BIN)/python:
	python=$${PYTHON:-$$(sh scripts/find_python.sh)} && $$python -m venv $(VENV)

# The build without CUDA carries "+cpu" on Linux; elsewhere the ordinary one has no CUDA anyway
$(VENV)/.installed: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing PyTorch, MindSpore and the tools of development into $(VENV): once, 4 GB, some minutes"
	$(PIP) install --quiet --constraint constraints.txt $(TORCH)+cpu 2>/dev/null \
	  || $(PIP) install --quiet --constraint constraints.txt --extra-index-url $(TORCH_INDEX) $(TORCH)+cpu 2>/dev/null \
	  || $(PIP) install --quiet --constraint constraints.txt $(TORCH)
	$(PIP) install --quiet --constraint constraints.txt --editable ".[mindspore,torch,dev]"
	touch $@

# What looks for faults of accessibility in the report: a download of the tests alone (MPL-2.0), never part of a package
$(VENV)/.axe: | $(BIN)/python
	npm install --silent --no-audit --no-fund --prefix $(VENV)/axe axe-core@4.14.1 \
	  || echo "no axe-core: the test of the report's accessibility will be skipped"
	touch $@

# Sources that tests and benchmarks translate; they are unpacked, never imported. Tests that need them skip without.
$(VENV)/.corpus: constraints-corpus.txt | $(BIN)/python
	$(PIP) install --quiet --no-deps --no-compile --upgrade --target $(VENV)/corpus --requirement constraints-corpus.txt \
	  || echo "no corpus: the tests that translate torchvision and timm will be skipped"
	touch $@
