# make demo, make test: the two commands to start with. Both fill .venv first if it is not there.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt
LOCKED := $(PIP) --require-hashes --no-deps --requirement
CORE := $(shell find core -name '*.cc' -o -name '*.h')
CPP := $(CORE) $(wildcard tests/core/*/*.cc)

.PHONY: demo test test-fast docs lint format wheel wheel-check bench data results signature fuzz sbom stubs clean
.DELETE_ON_ERROR:

demo: $(VENV)/.hstar  ## solve a generated task with several heuristics
	$(BIN)/hstar demo

# Each of the two workers has a core; more threads of PyTorch than that spend their time waiting.
test test-fast: export OMP_NUM_THREADS = 1

test: $(VENV)/.hstar  ## everything
	$(BIN)/python -m pytest -n 2 --dist loadgroup

test-fast: $(VENV)/.hstar  ## what takes seconds
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m "not slow"

docs: $(VENV)/.hstar $(VENV)/.docs  ## build/docs: the documentation as a site; warnings are errors
	$(BIN)/python -m sphinx -W --keep-going -q -d build/doctrees docs build/docs
	@echo "build/docs/index.html"

lint: $(VENV)/.hstar
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(CPP)
	$(BIN)/mypy

format: $(VENV)/.hstar
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CPP)

wheel:  ## dist/: the source distribution, and a wheel for PYTHON
	sh tools/system_packages.sh $(PYTHON)
	sh tools/wheel.sh $(PYTHON)

wheel-check:  ## dist/ in an empty environment of PYTHON, without a compiler and PyTorch
	sh tools/check_wheel.sh $(PYTHON)

bench: $(VENV)/.hstar  ## side by side with Fast Downward; resumes where it was stopped
	$(BIN)/python benchmarks/fast_downward.py --out runs/fast_downward.jsonl
	$(BIN)/python benchmarks/fast_downward.py --coverage --out runs/coverage.jsonl

data: $(VENV)/.hstar  ## the labelled states that hstar ships, anew
	$(BIN)/python tools/shipped_data.py

results: $(VENV)/.hstar  ## the tables of RESULTS.md and docs/results, anew, from the rows in results/ and runs/
	$(BIN)/python tools/results.py

signature: $(VENV)/.hstar  ## expansions over a fixed set of searches
	$(BIN)/python benchmarks/signature.py --check

fuzz: $(VENV)/.tools  ## the .sas reader and the PDDL front end under address and undefined-behaviour sanitizers
	$(BIN)/cmake -S . -B build/fuzz -G Ninja -DHSTAR_FUZZ=ON -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) >/dev/null
	$(BIN)/cmake --build build/fuzz
	build/fuzz/fuzz_sas $(FUZZ_SECONDS)
	build/fuzz/fuzz_pddl $(FUZZ_SECONDS)

sbom: $(VENV)/.hstar  ## sbom.json: what is installed, in the format of CycloneDX
	$(BIN)/python tools/sbom.py sbom.json

stubs: $(VENV)/.hstar  ## src/hstar/_core.pyi, the surface of the core, from the built module
	$(BIN)/python -m nanobind.stubgen -m hstar._core -o src/hstar/_core.pyi

clean:
	rm -rf build $(VENV)

$(BIN)/python:
	sh tools/system_packages.sh $(PYTHON)
	$(PYTHON) -m venv $(VENV)

# What is locked comes by its hashes; torch is the CPU build where pip is told of a folder that has it (find-links).
# The last line adds what the lock cannot know: libraries of the CUDA build.
$(VENV)/.tools: constraints.txt requirements.lock torch.lock pyproject.toml | $(BIN)/python
	$(LOCKED) requirements.lock
	$(LOCKED) torch.lock --no-index 2>/dev/null || $(LOCKED) torch.lock
	$(BIN)/python tools/requirements.py train bench cluster serve mcp test lint | xargs -d '\n' $(PIP)
	touch $@

# The documentation alone needs these.
$(VENV)/.docs: docs.lock | $(VENV)/.tools
	$(LOCKED) docs.lock
	touch $@

$(VENV)/.hstar: $(VENV)/.tools CMakeLists.txt $(CORE)
	PATH="$(abspath $(BIN)):$$PATH" $(PIP) --no-build-isolation --no-deps --editable .
	touch $@
