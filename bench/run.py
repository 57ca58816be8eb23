#!/usr/bin/env python3
"""Fills Hindsight over HTTP, writes all rows to segments, and measures ingestion, 14 queries, eight everyday ones and replies (cached,
small, large). `--peers` measures the queries in DuckDB and chDB on the same files, and in ClickHouse's own MergeTree on the same rows.

usage: run.py [--requests N] [--runs N] [--peers] [--keep DIR] [--only-queries]
Figures are medians of warm runs, in milliseconds unless stated otherwise. `cpu` is the mean processor time of the server for a
query. Except where stated, replies are not cached.
"""
import argparse
import datetime
import glob
import json
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


def filled(service, requests):
    """Starts the service over its data folder with telemetry in segments: that of an earlier run, or new telemetry. Returns the
    application, a key that reads it, and the end of the telemetry's time."""
    mark = pathlib.Path(service.data) / "bench.json"
    if mark.exists():
        app, key, end = json.loads(mark.read_text())
        end = datetime.datetime.fromisoformat(end)
    else:
        end = last_full_hour()
        service.start()
        app, key = service.create_application()
        service.fill(make_telemetry(app["instrumentationKey"], requests, end))
        print(f"sealing: {service.stop():.1f} s", flush=True)
        mark.write_text(json.dumps([app, key, end.isoformat()]))
    service.start()
    return app, key, end


def time_queries(service, app, key, end, runs):
    """For each query the median milliseconds, the mean milliseconds of processor time, and the rows."""
    figures = {}
    for name, query in {**queries.kql(end), **queries.everyday(end)}.items():
        _, rows = service.time_query(app, key, query)
        before = service.processor_time()
        taken = [service.time_query(app, key, query)[0] for _ in range(runs)]
        cpu = (service.processor_time() - before) / runs
        figures[name] = (statistics.median(taken), cpu, len(rows))
    return figures


def peers(data, app, end, runs):
    subprocess.check_call([sys.executable, "-m", "pip", "install", "-q", "duckdb", "chdb"])
    import peers as engines
    folder = os.path.join(data, "segments", app)
    found = glob.glob(f"{folder}/**/*.parquet", recursive=True)
    print(f"peers read {len(found)} files, {sum(map(os.path.getsize, found)) / 1e6:.0f} MB", flush=True)
    from chdb.session import Session
    with tempfile.TemporaryDirectory(prefix="hindsight-chdb-", dir=data) as scratch:
        session = Session(scratch)
        figures = {"DuckDB": engines.duckdb(folder, end, runs), "chDB": engines.chdb(session, folder, end, runs),
                   "MergeTree": engines.mergetree(session, folder, end, runs)}
        session.close()
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--only-queries", action="store_true", help="leave out the replies")
    parser.add_argument("--keep", help="use and keep this data folder; a later run measures its telemetry again")
    args = parser.parse_args()
    data = args.keep or tempfile.mkdtemp(prefix="hindsight-bench-")
    service = Service(PROGRAM, data, PORT)
    try:
        app, key, end = filled(service, args.requests)
        ours = time_queries(service, app["appId"], key, end, args.runs)
        if not args.only_queries:
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
    print("query    rows  hindsight ms      cpu" + "".join(f"  {name:>10} ms   ratio" for name in others))
    for name, (figure, cpu, rows) in ours.items():
        line = f"{name:5} {rows:7}  {figure:12.1f}  {cpu:7.1f}"
        for engine in others.values():
            line += f"  {engine[name]:13.1f}  {figure / engine[name]:6.2f}"
        print(line)
    for name, engine in others.items():
        for kind in "QE":
            ratios = [figure / engine[query] for query, (figure, _, _) in ours.items() if query.startswith(kind)]
            behind = sum(ratio > 1 for ratio in ratios)
            print(f"{name}, {kind}1–{kind}{len(ratios)}: geometric mean {statistics.geometric_mean(ratios):.2f}, "
                  f"behind on {behind} of {len(ratios)}")


if __name__ == "__main__":
    main()
