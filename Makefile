# make book     build the site into _build/html
# make test     run every test: unit, property, doctest, nbval, the book's own
# make run PAGE=partition     execute one page afresh and compare every output with the stored one
# make execute PAGE=partition execute one page with your own numbers and print what they give
# make baseline               the laws and the notebooks again, without NumPy's faster kernels
# make notebooks / serve / bench / mutants / mutation / soak / lint / lock / clean
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

# Same bytes on every run: no hash randomisation, no thread-dependent sums.
export PYTHONHASHSEED := 0
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export MKL_NUM_THREADS := 1
export PYDEVD_DISABLE_FILE_VALIDATION := 1

# A process for each processor; each takes whole files, in the order of tests/conftest.py.
PARALLEL := -n auto --dist loadfile --no-loadscope-reorder

.PHONY: book test baseline run execute notebooks serve bench mutants mutation soak lint lock clean

book: $(READY)
	$(BIN)/python -m papers.site.build

test: book lint
	$(BIN)/python -m tests.book.browser
	$(BIN)/python -m pytest $(PARALLEL)

# The laws and the notebooks again, as on a processor without what NumPy found on this one.
baseline: $(READY)
	features="$$($(BIN)/python tests/dispatch.py)" && echo "NumPy without $$features" && \
	export NPY_DISABLE_CPU_FEATURES="$$features" && test -z "$$($(BIN)/python tests/dispatch.py)" && \
	$(BIN)/python -m pytest $(PARALLEL) --ignore=tests/book

run: $(READY)
	@test -f notebooks/$(PAGE).ipynb || { echo "PAGE must be one of: $(basename $(notdir $(wildcard notebooks/*.ipynb)))"; exit 2; }
	@echo "Executing notebooks/$(PAGE).ipynb afresh and comparing every output with the one stored in it."
	@$(BIN)/python -m pytest notebooks/$(PAGE).ipynb; code=$$?; \
	echo "To see what your own numbers give, change them in book/$(PAGE).md and run"; \
	echo "    make execute PAGE=$(PAGE)"; \
	echo "or name a notebook in which you changed them: make execute PAGE=path/to/notebook.ipynb"; \
	exit $$code

execute: $(READY)
	@$(BIN)/python -m papers.site.own_numbers "$(PAGE)"

notebooks: $(READY)
	$(BIN)/python -m papers.site.notebooks
	$(BIN)/python -m papers.site.lists

serve: book
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory _build/html 8000

soak: $(READY)
	$(BIN)/python -m pytest tests/soak.py tests/*/soak_*.py
	HYPOTHESIS_PROFILE=soak $(BIN)/python -m pytest -n auto tests/*/test_properties.py

mutants: $(READY)
	$(BIN)/python -m tests.mutants

# mutmut stays out of the lock: no reader of the book needs it, nor what it brings along.
MUTATION := _mutation/.venv/bin/python
mutation: _mutation/.ready
	$(MUTATION) tests/mutation.py "$(MODULE)"

_mutation/.ready: requirements.txt
	$(PYTHON) -m venv _mutation/.venv
	$(MUTATION) -m pip install --quiet --disable-pip-version-check -r requirements.txt
	$(MUTATION) -m pip install --quiet --disable-pip-version-check mutmut==3.8.1
	touch $@

bench: $(READY)
	for file in $(filter-out benchmarks/timing.py, $(wildcard benchmarks/*.py)); do $(BIN)/python $$file || exit 1; done

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# One pin per package that installs on every Python the book supports, with the hashes of all
# its files; the resolver then has to accept the pins on each of them.
UV_COMPILE := $(BIN)/uv pip compile --quiet --no-header
SUPPORTED  := 3.11 3.12 3.13 3.14
lock: $(READY)
	$(UV_COMPILE) pyproject.toml --all-extras --universal --python-version 3.11 \
	    --fork-strategy fewest --no-annotate --upgrade --generate-hashes --output-file requirements.txt
	for version in $(SUPPORTED); do \
	    $(UV_COMPILE) requirements.txt --python-version $$version --only-binary :all: > /dev/null \
	    && echo "requirements.txt resolves for Python $$version" || exit 1; \
	done
	$(MAKE) $(READY)
	$(BIN)/python -m papers.site.licences

$(READY): requirements.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	mkdir -p $(VENV)/etc/ipython
	echo 'c.IPKernelApp.log_level = "ERROR"  # no advice on ports' > $(VENV)/etc/ipython/ipython_kernel_config.py
	touch $@

clean:
	rm -rf _build .build.lock build src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis $(VENV)
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
