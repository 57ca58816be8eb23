#!/usr/bin/env python3
"""What queries cost as the store grows: each of the 14 queries at several sizes, and planning up to a billion rows.

usage: growth.py [--requests N …] [--runs N] [--no-planning]
For each size the store is filled with that many requests, and half as many dependencies and traces; the queries run right after filling and again after
merges. A figure is nanoseconds of processor time of the server for each row of the table that the query reads: it stays the same
or falls where the cost is linear or better. Planning is measured over simulated segments, by a test of the store.
The command fails if a row of the largest store costs more than twice what one of the smallest costs.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import queries
from service import Service, last_full_hour, make_telemetry

HERE = pathlib.Path(__file__).resolve().parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", HERE.parent / "target"))
PROGRAM = pathlib.Path(os.environ.get("HINDSIGHT_PROGRAM", TARGET / "release" / "hindsight"))
PORT = int(os.environ.get("HINDSIGHT_BENCH_PORT", "21020"))
MOST = 2.0
# Tables that have half as many rows as there are requests.
HALF = {"Q5", "Q6"}
# Ticks of the figures of /proc are coarse: short queries are repeated for this number of seconds.
LEAST = 0.5


def cost(service, app, key, query, runs):
    """Processor seconds of one run."""
    service.time_query(app, key, query)
    begun, before, done = time.perf_counter(), service.processor_seconds(), 0
    while done < runs or time.perf_counter() - begun < LEAST:
        service.time_query(app, key, query)
        done += 1
    return (service.processor_seconds() - before) / done


def settled(service):
    """Waits until no segment has been merged for three looks."""
    files = lambda: sorted(pathlib.Path(service.data).glob("segments/**/*.parquet"))
    last, same = files(), 0
    while same < 3:
        time.sleep(5)
        now = files()
        same = same + 1 if now == last else 0
        last = now
    return len(last)


def measure(requests, runs):
    """Nanoseconds for each row, by query: right after filling, and after merges."""
    data = tempfile.mkdtemp(prefix="hindsight-growth-")
    # Nothing is merged while the fresh segments are measured.
    os.environ["HINDSIGHT_STORE_COMPACTION_INTERVAL"] = "10h"
    service = Service(PROGRAM, data, PORT)
    try:
        end = last_full_hour()
        service.start()
        app, key = service.create_application()
        service.fill(make_telemetry(app["instrumentationKey"], requests, end))
        service.stop()
        states = []
        for interval in ("10h", "2s"):
            os.environ["HINDSIGHT_STORE_COMPACTION_INTERVAL"] = interval
            service.start()
            files = settled(service) if interval == "2s" else len(list(pathlib.Path(data).glob("segments/**/*.parquet")))
            print(f"{requests:,} requests: {files} segments", flush=True)
            figures = {}
            for name, query in queries.kql(end).items():
                rows = requests // 2 if name in HALF else requests
                figures[name] = cost(service, app["appId"], key, query, runs) / rows * 1e9
            states.append(figures)
            service.stop()
        return states
    finally:
        if service.is_running():
            service.stop()
        shutil.rmtree(data, ignore_errors=True)


def planning():
    command = ["cargo", "nextest", "run", "--workspace", "--lib", "--no-capture", "-E", "test(planning_grows_with_the_segments)"]
    subprocess.check_call(command, cwd=HERE.parent, env={**os.environ, "HINDSIGHT_PROVE": "1"})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, nargs="+", default=[1_000_000, 4_000_000, 20_000_000])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--no-planning", action="store_true")
    args = parser.parse_args()
    by_size = {size: measure(size, args.runs) for size in sorted(args.requests)}
    smallest, largest = min(by_size), max(by_size)
    grown = []
    for state, title in enumerate(("right after filling", "after merges")):
        print(f"\n{title}: ns for each row\nquery" + "".join(f"{size:>14,}" for size in by_size) + "   largest/smallest")
        for name in by_size[smallest][state]:
            figures = [by_size[size][state][name] for size in by_size]
            # A query of constant cost may take less than a tick.
            ratio = figures[-1] / figures[0] if figures[0] else 0.0
            print(f"{name:5}" + "".join(f"{figure:14.2f}" for figure in figures) + f"{ratio:19.2f}")
            if ratio > MOST:
                grown.append(f"{name} {title}")
    if not args.no_planning:
        print(flush=True)
        planning()
    if grown:
        sys.exit(f"a row of {largest:,} requests costs more than twice one of {smallest:,}: {', '.join(grown)}")


if __name__ == "__main__":
    main()
