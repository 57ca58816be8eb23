#!/usr/bin/env python3
"""Where the time of each of the 22 benchmark queries goes, by the server's own measurements.

usage: stages.py [--requests N] [--runs N] [--merged] [--keep DIR]
All figures are medians of warm runs, in milliseconds. `bind`, `optimise` and `plan` are the stages before a query runs: from its text to the
logical plan, the logical optimiser, the physical plan. `run` is the time until its last row, and `reply` what is left of the time that the
client waits: HTTP, JSON and the network. `scan` to `others` are the processor times of the operators, of all threads together, so their sum may
exceed `run`.
"""
import argparse
import http.client
import json
import pathlib
import re
import shutil
import statistics
import tempfile
import time

import queries
from run import PORT, PROGRAM, filled, merge
from service import SETTINGS, Service

LINE = re.compile(r"binding_us=(\d+) optimising_us=(\d+) physical_us=(\d+) operators=\"([^\"]*)\"")
# The kinds of operators, by what their names contain.
KINDS = {"scan": ("DataSource", "Filter"), "aggregate": ("Aggregate", "GroupByCodes"), "join": ("Join",), "sort": ("Sort",)}
COLUMNS = ["bind", "optimise", "plan", "run", "reply", *KINDS, "others"]


def kind_of(operator):
    return next((kind for kind, parts in KINDS.items() if any(part in operator for part in parts)), "others")


def ask(service, app, key, query):
    """The milliseconds that the client waits for a query, and those that the server spent on it."""
    connection = http.client.HTTPConnection(*service.address)
    headers = {"Content-Type": "application/json", "X-Api-Key": key, "Cache-Control": "no-store", "Prefer": "include-statistics=true"}
    started = time.perf_counter()
    connection.request("POST", f"/v1/apps/{app}/query", json.dumps({"query": query}), headers)
    body = connection.getresponse().read()
    took = (time.perf_counter() - started) * 1000
    connection.close()
    return took, json.loads(body)["statistics"]["query"]["executionTime"] * 1000


def measured(log, since):
    """The profile of the query that was logged behind this offset."""
    for _ in range(200):
        if lines := LINE.findall(log.read_bytes()[since:].decode()):
            return lines[-1]
        # The log is written by a thread of its own.
        time.sleep(0.01)
    raise RuntimeError(f"the server logged no profile; see {log}")


def stages(service, app, key, query, runs):
    log = pathlib.Path(tempfile.gettempdir()) / f"hindsight-bench-{service.address[1]}.log"
    figures = {column: [] for column in COLUMNS}
    for run in range(runs + 1):
        since = log.stat().st_size
        took, spent = ask(service, app, key, query)
        binding, optimising, physical, operators = measured(log, since)
        if not run:
            continue
        planning = [int(stage) / 1000 for stage in (binding, optimising, physical)]
        row = dict(zip(COLUMNS, [*planning, spent - sum(planning), took - spent]), others=0.0, **dict.fromkeys(KINDS, 0.0))
        for operator in operators.split():
            name, microseconds, _ = operator.split(":")
            row[kind_of(name)] += int(microseconds) / 1000
        for column, figure in row.items():
            figures[column].append(figure)
    return {column: statistics.median(values) for column, values in figures.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--merged", action="store_true", help="merge the segments before the queries")
    parser.add_argument("--keep", help="use and keep this data folder; a later run measures its telemetry again")
    args = parser.parse_args()
    data = args.keep or tempfile.mkdtemp(prefix="hindsight-bench-")
    SETTINGS["HINDSIGHT_LOG_FILTER"] = "info,hindsight_engine::profile=debug"
    service = Service(PROGRAM, data, PORT)
    try:
        app, key, end = filled(service, args.requests)
        if args.merged:
            merge(service)
        service.start()
        print("query" + "".join(f"{column:>10}" for column in COLUMNS))
        for name, query in {**queries.kql(end), **queries.everyday(end)}.items():
            figures = stages(service, app["appId"], key, query, args.runs)
            print(f"{name:5}" + "".join(f"{figures[column]:10.2f}" for column in COLUMNS), flush=True)
    finally:
        if service.is_running():
            service.stop()
        if not args.keep:
            shutil.rmtree(data, ignore_errors=True)


if __name__ == "__main__":
    main()
