# The two commands that matter: `make demo` and `make test`.

CARGO ?= cargo
PYTHON ?= python3
DEMO_DATA ?= hindsight-demo-data
LISTEN ?= 127.0.0.1:2020

.PHONY: demo test language-test lint fmt bench sdk-test api-fuzz

## Builds, serves a realistic web shop's telemetry and prints what to try. The development profile builds in half the time of
## a release and is quick enough to look around; `cargo build --release` makes the program to keep.
demo:
	$(CARGO) run --bin hindsight -- serve --demo --data $(DEMO_DATA) --listen $(LISTEN)

## Everything that must pass.
test:
	@if $(CARGO) nextest --version >/dev/null 2>&1; then $(CARGO) nextest run --workspace; else $(CARGO) test --workspace; fi
	$(CARGO) test --workspace --doc
	$(PYTHON) tests/language_service/run.py
	$(PYTHON) tests/sdk/run.py

## Only the tests with real SDKs, installed from their registries into a folder of their own. They run the program that
## the integration tests were built with: building it apart would compile the query engine a second time.
sdk-test:
	$(CARGO) test --workspace --no-run
	$(PYTHON) tests/sdk/run.py

## Every conformance query against the official parser of the language; needs npm and the planning material beside the checkout.
language-test:
	$(PYTHON) tests/language_service/run.py

lint:
	$(CARGO) fmt --all -- --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings

fmt:
	$(CARGO) fmt --all

## Asks the program, for ten minutes, whatever its own /openapi.json permits and much that it does not (Schemathesis).
api-fuzz:
	$(CARGO) test --workspace --no-run
	$(PYTHON) tests/fuzz/run.py

## Fills one million requests through HTTP, seals, and times ingestion, 14 queries, cached replies, a small metric and a large
## reply with its memory. PEERS=--peers compares the queries with peers.
bench:
	$(CARGO) build --release --bin hindsight
	$(PYTHON) bench/run.py $(PEERS)
