#!/usr/bin/env python3
"""Fills Hindsight over HTTP, writes all rows to segments, and measures ingestion, 14 queries and replies (cached, small, large).
`--peers` measures the queries in DuckDB and chDB on the same files.

usage: run.py [--requests N] [--runs N] [--peers] [--keep DIR]
Figures are medians of warm runs, in milliseconds unless stated otherwise. Except where stated, replies are not cached.
"""
import argparse
import glob
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

import queries
import replies
from service import Service, last_full_hour, make_telemetry

HERE = pathlib.Path(__file__).resolve().parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", HERE.parent / "target"))
PROGRAM = pathlib.Path(os.environ.get("HINDSIGHT_PROGRAM", TARGET / "release" / "hindsight"))
PORT = int(os.environ.get("HINDSIGHT_BENCH_PORT", "21020"))


def time_queries(service, app, key, end, runs):
    figures = {}
    for name, query in queries.kql(end).items():
        taken = [service.time_query(app, key, query) for _ in range(runs + 1)]
        figures[name] = (statistics.median(took for took, _ in taken[1:]), len(taken[0][1]))
    return figures


def peers(data, app, end, runs):
    subprocess.check_call([sys.executable, "-m", "pip", "install", "-q", "duckdb", "chdb"])
    import peers as engines
    folder = os.path.join(data, "segments", app)
    found = glob.glob(f"{folder}/**/*.parquet", recursive=True)
    print(f"peers read {len(found)} files, {sum(map(os.path.getsize, found)) / 1e6:.0f} MB", flush=True)
    return {"DuckDB": engines.duckdb(folder, end, runs), "chDB": engines.chdb(folder, end, runs)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--keep", help="use and keep this data folder")
    args = parser.parse_args()
    data = args.keep or tempfile.mkdtemp(prefix="hindsight-bench-")
    end = last_full_hour()
    service = Service(PROGRAM, data, PORT)
    service.start()
    try:
        app, key = service.create_application()
        service.fill(make_telemetry(app["instrumentationKey"], args.requests, end))
        print(f"sealing: {service.stop():.1f} s", flush=True)
        service.start()
        ours = time_queries(service, app["appId"], key, end, args.runs)
        replies.cached(service.address, app["appId"], key)
        replies.small_metric(service.address, app["appId"], key, end)
        replies.large(service.address, app["appId"], key, service.process.pid, min(args.requests, replies.LARGE_ROWS))
        # A running server merges segments: files that a peer has listed would go away.
        service.stop()
        others = peers(data, app["appId"], end, args.runs) if args.peers else {}
        report(ours, others)
    finally:
        if service.is_running():
            service.stop()
        if not args.keep:
            shutil.rmtree(data, ignore_errors=True)


def report(ours, others):
    print("query  rows      hindsight ms" + "".join(f"  {name:>10} ms   ratio" for name in others))
    for name, (figure, rows) in ours.items():
        line = f"{name:5} {rows:6}  {figure:14.1f}"
        for engine in others.values():
            line += f"  {engine[name]:13.1f}  {figure / engine[name]:6.2f}"
        print(line)


if __name__ == "__main__":
    main()
