#!/usr/bin/env python3
"""Compares two builds of Hindsight: fills each with the same telemetry, and times the 14 queries of the benchmark, the everyday ones and those
for other operators in turn.

usage: compare.py OLD NEW [--requests N] [--runs N]
OLD and NEW are programs. Each query is run by OLD, then by NEW, then by OLD again, so that a machine whose speed drifts slows both.
Figures are medians in milliseconds; a ratio below 1 means that NEW is faster. The command fails if the builds return different numbers of rows, or
if NEW takes more than a quarter longer than OLD for a query, in both of two measurements.
"""
import argparse
import pathlib
import shutil
import statistics
import sys
import tempfile

import queries
from service import Service, last_full_hour, make_telemetry

SLOWER = 1.25


def fill(program, port, requests, end):
    data = tempfile.mkdtemp(prefix="hindsight-bench-")
    service = Service(program, data, port)
    service.start()
    app, key = service.create_application()
    service.fill(make_telemetry(app["instrumentationKey"], requests, end))
    service.stop()
    service.start()
    return service, app["appId"], key


def in_turn(sides, query, runs):
    """The median milliseconds of each side, which must return equally many rows."""
    times = [[], []]
    rows = [None, None]
    for run in range(runs + 1):
        for side, (service, app, key) in enumerate(sides):
            took, rows[side] = service.time_query(app, key, query)
            if run:
                times[side].append(took)
    if len(rows[0]) != len(rows[1]):
        sys.exit(f"the builds return {len(rows[0])} and {len(rows[1])} rows for: {query}")
    return [statistics.median(each) for each in times]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=pathlib.Path)
    parser.add_argument("new", type=pathlib.Path)
    parser.add_argument("--requests", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=9)
    args = parser.parse_args()
    end = last_full_hour()
    sides = []
    slower = []
    try:
        for program, port in ((args.old, 21020), (args.new, 21021)):
            sides.append(fill(program.resolve(), port, args.requests, end))
        print(f"query {'old ms':>10} {'new ms':>10} {'ratio':>7}")
        ratios = []
        for name, query in {**queries.kql(end), **queries.everyday(end), **queries.operators()}.items():
            old, new = in_turn(sides, query, args.runs)
            if new / old > SLOWER:
                # One disturbance of the machine is no regression.
                old, new = in_turn(sides, query, args.runs)
            ratios.append(new / old)
            if new / old > SLOWER:
                slower.append(name)
            print(f"{name:5} {old:10.1f} {new:10.1f} {new / old:7.2f}", flush=True)
        print(f"geometric mean of the ratios: {statistics.geometric_mean(ratios):.2f}")
    finally:
        for service, _, _ in sides:
            if service.is_running():
                service.stop()
            shutil.rmtree(service.data, ignore_errors=True)
    if slower:
        sys.exit(f"more than a quarter slower: {', '.join(slower)}")


if __name__ == "__main__":
    main()
