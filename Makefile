# The two commands that matter: `make demo` and `make test`.

CARGO ?= cargo
PYTHON ?= python3
DEMO_DATA ?= hindsight-demo-data
LISTEN ?= 127.0.0.1:2020
# Where Cargo builds.
BUILT := $(or $(CARGO_TARGET_DIR),target)

.PHONY: demo test small-tests language-test documentation-test portal-test portal-pictures lint fmt bench bench-compare bench-stages bench-growth bench-cluster upgrade-test ui-vendor ui-vendor-check ui-types ui-test sdk-test packages packaged-program packages-test random-queries fuzz api-fuzz deny prove mutants

## Builds, serves a realistic web shop's telemetry and prints what to try. The development profile builds in half the time of
## a release and is quick enough to look around; `cargo build --release` makes the program to keep.
demo:
	$(CARGO) run --bin hindsight -- serve --demo --data $(DEMO_DATA) --listen $(LISTEN)

## The recordings and lists of the real service, where they are at hand: a folder beside the checkout, or HINDSIGHT_SHARED. Tests that
## compare with them are ignored, with that reason, where they are not.
HINDSIGHT_SHARED ?= $(wildcard $(abspath ../shared))
export HINDSIGHT_SHARED
# These are no tests of their own: they print what tests/language_service and tests/documentation compare.
PRINTS := the_verdicts_of_all_cases the_errors_of_given_queries the_answers_of_the_documentation_examples
ifneq ($(HINDSIGHT_SHARED),)
WITH_SHARED_NEXTEST := --run-ignored all -E 'not ($(foreach test,$(PRINTS),test($(test)) +) none())'
WITH_SHARED_TEST := -- --include-ignored $(foreach test,$(PRINTS),--skip $(test))
else
unexport HINDSIGHT_SHARED
endif

## Everything that must pass.
test:
	$(if $(HINDSIGHT_SHARED),,@echo "ignored: the tests that compare with the real service's recordings and lists; HINDSIGHT_SHARED names their folder")
	@if $(CARGO) nextest --version >/dev/null 2>&1; \
		then $(CARGO) nextest run --workspace $(WITH_SHARED_NEXTEST); \
		else $(CARGO) test --workspace $(WITH_SHARED_TEST); fi
	$(CARGO) test --workspace --doc
	$(MAKE) --jobs=2 --output-sync=line --no-print-directory language-test small-tests
	$(PYTHON) tests/sdk/run.py
	$(PYTHON) tests/portal/run.py || [ $$? = 77 ]
	$(PYTHON) tests/packages/run.py

## What needs one processor, as `language-test` does beside it: one after the other, the last of which installs the SDKs.
small-tests:
	$(MAKE) documentation-test
	$(MAKE) ui-test
	@if command -v npm >/dev/null; then $(MAKE) ui-vendor-check && $(MAKE) ui-types; \
		else echo "SKIPPED: npm is not installed: the portal's bundles and types are NOT checked"; fi
	$(PYTHON) tests/sdk/run.py --install

## Only the tests with real SDKs, installed from their registries into a folder of their own. They run the program that
## the integration tests were built with: building it apart would compile the query engine a second time.
sdk-test:
	$(CARGO) test --workspace --no-run
	$(PYTHON) tests/sdk/run.py

## Three nodes of the program OTHER, which has another version, become nodes of this one, each in turn, under telemetry and queries.
upgrade-test:
	$(CARGO) test --workspace --no-run
	HINDSIGHT_TEST_OTHER_PROGRAM=$(OTHER) $(PYTHON) tests/sdk/run.py test_upgrade

## Only the portal's journeys in a real Chromium. Exit code 77 of the program means that they were skipped.
portal-test:
	$(CARGO) test --workspace --no-run
	$(PYTHON) tests/portal/run.py || [ $$? = 77 ]

## The packages, in target/packages: a wheel, npm packages, a Debian package, a Helm chart, and the context of a
## container image (packaging/README.md). Then each is installed on a clean root, from its file, and started.
packages: packaged-program
	$(PYTHON) packaging/build.py --at-most 60 $(BUILT)/dist/hindsight target/packages
	HINDSIGHT_PROGRAM=$(abspath $(BUILT)/dist/hindsight) $(PYTHON) tests/packages/run.py

## The program of packages, in target/dist (packaging/README.md, "Size"): without paths of this machine, with identical code folding (ICF), packed
## relative relocations (RELR, glibc 2.36), AES-GCM without AVX-512, and SQLite without full-text search and R-trees. A linker with ICF is needed: LLD, which Rust has for this platform, or mold.
REMAPPED := $(CURDIR) $(wildcard $(or $(CARGO_HOME),$(HOME)/.cargo)/registry/src/*)
packaged-program: export RUSTFLAGS := $(REMAPPED:%=--remap-path-prefix=%=)
packaged-program: export AWS_LC_SYS_CFLAGS := -DMY_ASSEMBLER_IS_TOO_OLD_FOR_512AVX
packaged-program: export LIBSQLITE3_FLAGS := -USQLITE_ENABLE_FTS3 -USQLITE_ENABLE_FTS3_PARENTHESIS -USQLITE_ENABLE_FTS5 -USQLITE_ENABLE_RTREE
# The time that mimalloc says it was compiled at.
packaged-program: export SOURCE_DATE_EPOCH ?= 315532800
packaged-program:
	$(CARGO) rustc --profile dist --package hindsight-server --bin hindsight -- -C link-arg=-Wl,--icf=all -C link-arg=-Wl,-z,pack-relative-relocs

## Only the tests of packages, of the program that the integration tests were built with.
packages-test:
	$(CARGO) test --workspace --no-run
	$(PYTHON) tests/packages/run.py

## Pictures of every screen, for looking at: target/portal/pictures. ARGUMENTS=--documentation makes those of docs/pictures again.
portal-pictures:
	$(PYTHON) tests/portal/run.py pictures $(ARGUMENTS)

## Makes the portal's bundles of other people's programs (ui/vendor) from ui/package-lock.json; needs npm. The second command makes them
## elsewhere and fails where they differ from those in the repository.
ui-vendor:
	node ui/vendor.mjs

ui-vendor-check:
	node ui/vendor.mjs --check

## Checks the types of the portal's sources, which are in their comments; needs npm.
ui-types:
	node ui/vendor.mjs --types

## The tests of the portal's functions that need no page. Without node they are skipped.
ui-test:
	@if command -v node >/dev/null; then node --test $$(find ui -name '*.test.js'); \
		else echo "SKIPPED: node is not installed: the portal's functions are NOT tested"; fi

## Compares every conformance query, the type matrix and the errors of broken queries with the official parser of the language. Needs npm and the folder HINDSIGHT_SHARED. Exit code 77
## means that it was skipped.
language-test:
	$(PYTHON) tests/language_service/run.py || [ $$? = 77 ]
	$(PYTHON) tests/language_service/matrix.py || [ $$? = 77 ]
	$(PYTHON) tests/language_service/broken.py || [ $$? = 77 ]

## Compares the results of the documentation's examples with the outputs that its pages show. Needs the folder HINDSIGHT_SHARED. Exit code 77
## means that it was skipped.
documentation-test:
	$(PYTHON) tests/documentation/run.py || [ $$? = 77 ]

lint:
	$(CARGO) fmt --all -- --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings

## Licences and sources of all dependencies, and known vulnerabilities; needs `cargo install cargo-deny --locked` and the network.
deny:
	$(CARGO) deny check

fmt:
	$(CARGO) fmt --all

## Asks the program, for ten minutes, whatever its own /openapi.json permits and much that it does not (Schemathesis).
api-fuzz:
	$(CARGO) test --workspace --no-run
	$(PYTHON) tests/fuzz/run.py

## Fills REQUESTS requests through HTTP, seals, and times ingestion, 14 queries and eight everyday ones, cached replies, a small metric
## and a large reply with its memory; then how long the portal takes in Chromium. PEERS=--peers compares the queries with DuckDB, chDB
## and MergeTree.
REQUESTS ?= 1000000
bench:
	$(CARGO) build --release --bin hindsight
	$(PYTHON) bench/run.py --requests $(REQUESTS) $(PEERS)
	HINDSIGHT_PROGRAM=$(abspath $(BUILT)/release/hindsight) $(PYTHON) tests/portal/run.py times || [ $$? = 77 ]
	$(PYTHON) bench/otlp.py

## Times 35 queries on two builds in turn, and fails if one became more than a quarter slower: `make bench-compare OLD=path`.
NEW ?= $(BUILT)/release/hindsight
bench-compare:
	$(PYTHON) bench/compare.py $(OLD) $(NEW)

## Where the time of each of the 22 queries goes: planning, scan, aggregation, join, sort, reply.
bench-stages:
	$(CARGO) build --release --bin hindsight
	$(PYTHON) bench/stages.py --requests $(REQUESTS)

## What a row costs in the 14 queries at 1, 4 and 20 million requests, and what planning costs up to a billion rows.
bench-growth:
	$(CARGO) build --release --bin hindsight
	$(PYTHON) bench/growth.py

## Queries of one node and of each number of NODES over the same telemetry, each node with a processor, or with a quota of one where there are fewer
## (docs/cluster.md). It sends 40 million requests first, for 20 minutes to an hour.
NODES ?= 2 3
bench-cluster:
	$(CARGO) build --release --bin hindsight
	$(PYTHON) bench/cluster.py --nodes $(NODES)

## Random valid queries, checked without knowing their answers (crates/engine/src/random_tests): COUNT of each sort from SEED on.
COUNT ?= 10000
SEED ?= 0
random-queries:
	HINDSIGHT_RANDOM_QUERIES=$(COUNT) HINDSIGHT_RANDOM_SEED=$(SEED) $(CARGO) test --workspace --lib random_queries -- --nocapture

## Proves that the store loses nothing, in full (docs/reliability.md): CUTS power cuts on a simulated disk, every call of a workload
## failed in every way, every byte of a small store flipped. `make test` runs a part. A failure prints its seed; SEED sets the first one.
CUTS ?= 100000
prove:
	HINDSIGHT_PROVE=1 HINDSIGHT_POWER_CUTS=$(CUTS) HINDSIGHT_SEED=$(SEED) $(CARGO) test --workspace --lib simulation -- --nocapture --test-threads=1

## Changes the store and the identity in small ways, drawn at random, and fails where the tests find less than 85% of them or where one
## that they do not find is not in tests/mutants/missed.txt. Needs `cargo install cargo-mutants --locked`.
STORE_MUTANTS ?= 100
IDENTITY_MUTANTS ?= 250
MUTANTS_SEED ?= 1
mutants:
	$(PYTHON) tests/mutants/run.py store --sample $(STORE_MUTANTS) --seed $(MUTANTS_SEED)
	$(PYTHON) tests/mutants/run.py identity --sample $(IDENTITY_MUTANTS) --seed $(MUTANTS_SEED)

## Fuzzes TARGET (parse, bind, odata, track, otlp, jwt, log, segment) for SECONDS. Needs a nightly compiler and `cargo install cargo-fuzz --locked`;
## the first build of bind and odata compiles the query engine with instrumentation and takes long. No sanitizer: the code is safe Rust.
TARGET ?= parse
SECONDS ?= 600
fuzz:
	$(PYTHON) fuzz/seeds.py
	cd fuzz && $(CARGO) +nightly fuzz run --sanitizer none $(if $(filter parse,$(TARGET)),,--features engine) $(TARGET) -- \
		-max_total_time=$(SECONDS) -timeout=10 -rss_limit_mb=4000 -max_len=4000 -dict=corpus/kql.dict
