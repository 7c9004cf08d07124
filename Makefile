# Two commands do everything on a fresh machine with Python 3.11+: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
READY := $(VENV)/.ready

.PHONY: demo test check docs mutants bench clean

demo: $(READY)
	$(VENV)/bin/deniable demo --out demo --force $(ARGS)

test: $(READY)
	scripts/check
	scripts/test

check: $(READY)
	scripts/check

docs: $(READY)
	scripts/docs $(ARGS)

mutants: $(READY)
	scripts/mutants $(ARGS)

bench: $(READY)
	scripts/bench

# pip reads dependency groups from version 25.1 on, so it is brought up to date inside the environment.
$(READY): pyproject.toml papers/pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --editable ".[all]" --editable papers --group dev --group docs
	touch $(READY)

clean:
	rm -rf $(VENV) demo site
