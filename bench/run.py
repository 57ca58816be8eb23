#!/usr/bin/env python3
"""Fills Hindsight over HTTP, writes all rows to segments, and measures ingestion, 14 queries, eight everyday ones and replies (cached,
small, large). `--peers` measures the queries in DuckDB and chDB on the same files, and in ClickHouse's own MergeTree on the same rows.

usage: run.py [--requests N] [--runs N] [--peers] [--merged] [--keep DIR] [--only-queries]
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
import time

import process
import queries
import replies
from service import Service, last_full_hour, make_telemetry

HERE = pathlib.Path(__file__).resolve().parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", HERE.parent / "target"))
PROGRAM = pathlib.Path(os.environ.get("HINDSIGHT_PROGRAM", TARGET / "release" / "hindsight"))
# How often the service looks for merges while it only merges, and the seconds without one after which there are none left.
MERGE_INTERVAL = "2s"
MERGE_PAUSE = 90
PORT = int(os.environ.get("HINDSIGHT_BENCH_PORT", "21020"))


def filled(service, requests):
    """Fills the data folder of the service, which is not running, with telemetry in segments, unless an earlier run did. Returns the
    application, a key that reads it, and the end of the telemetry's time."""
    mark = pathlib.Path(service.data) / "bench.json"
    if mark.exists():
        app, key, end = json.loads(mark.read_text())
        return app, key, datetime.datetime.fromisoformat(end)
    end = last_full_hour()
    service.start()
    app, key = service.create_application()
    service.fill(make_telemetry(app["instrumentationKey"], requests, end))
    if sys.platform == "linux":
        print(f"memory: {process.status(service.process.pid, 'VmHWM'):.0f} MiB at most", flush=True)
    print(f"sealing: {service.stop():.1f} s", flush=True)
    mark.write_text(json.dumps([app, key, end.isoformat()]))
    return app, key, end


def merge(service):
    """Runs the service, which is not running, until it has merged all segments that it merges."""
    listed = lambda: set(glob.glob(os.path.join(service.data, "segments", "**", "*.parquet"), recursive=True))
    os.environ["HINDSIGHT_STORE_COMPACTION_INTERVAL"] = MERGE_INTERVAL
    service.start()
    del os.environ["HINDSIGHT_STORE_COMPACTION_INTERVAL"]
    files, since = listed(), time.perf_counter()
    before = len(files)
    while time.perf_counter() - since < MERGE_PAUSE:
        time.sleep(2)
        now = listed()
        if now != files:
            files, since = now, time.perf_counter()
    service.stop()
    print(f"merges: {before} segments became {len(files)}", flush=True)


def time_queries(service, app, key, end, runs, peer=None):
    """For each query the median milliseconds, the mean milliseconds of processor time, and the rows. A peer runs each query in turn with
    the service, so that a machine whose speed drifts slows both; its figures come second."""
    ours, theirs = {}, {}
    for name, query in {**queries.kql(end), **queries.everyday(end)}.items():
        rows, times, cpu = 0, ([], []), [0.0, 0.0]
        for warm in range(runs + 1):
            before = service.processor_time()
            took, found = service.time_query(app, key, query)
            used = service.processor_time() - before
            rows = len(found)
            begun, spent = time.perf_counter(), time.process_time()
            if peer:
                run, texts = peer
                run(texts[name])
            if warm:
                times[0].append(took)
                times[1].append((time.perf_counter() - begun) * 1000)
                cpu[0] += used / runs
                # The peer runs in this process.
                cpu[1] += (time.process_time() - spent) * 1000 / runs
        ours[name] = (statistics.median(times[0]), cpu[0], rows)
        theirs[name] = (statistics.median(times[1]), cpu[1])
    return ours, theirs


def peers(data, app, end, runs):
    """The figures of the engines that read the segment files, and what runs queries in MergeTree. The service must not run: it merges
    segments, and files that a peer has listed would go away."""
    subprocess.check_call([sys.executable, "-m", "pip", "install", "-q", "duckdb", "chdb"])
    import peers as engines
    from chdb.session import Session
    folder = os.path.join(data, "segments", app)
    found = glob.glob(f"{folder}/**/*.parquet", recursive=True)
    print(f"peers read {len(found)} files, {sum(map(os.path.getsize, found)) / 1e6:.0f} MB", flush=True)
    session = Session(os.path.join(data, "chdb"))
    figures = {"DuckDB": engines.duckdb(folder, end, runs), "chDB": engines.chdb(session, folder, end, runs)}
    return figures, engines.mergetree(session, folder, end)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--merged", action="store_true", help="merge the segments before the queries")
    parser.add_argument("--only-queries", action="store_true", help="leave out the replies")
    parser.add_argument("--keep", help="use and keep this data folder; a later run measures its telemetry again")
    args = parser.parse_args()
    data = args.keep or tempfile.mkdtemp(prefix="hindsight-bench-")
    service = Service(PROGRAM, data, PORT)
    try:
        app, key, end = filled(service, args.requests)
        if args.merged:
            merge(service)
        others, mergetree = peers(data, app["appId"], end, args.runs) if args.peers else ({}, None)
        service.start()
        ours, theirs = time_queries(service, app["appId"], key, end, args.runs, mergetree)
        if not args.only_queries:
            replies.cached(service.address, app["appId"], key)
            replies.small(service.address, app["appId"], key, end, queries.kql(end))
            replies.large(service.address, app["appId"], key, service.process.pid, min(args.requests, replies.LARGE_ROWS))
        service.stop()
        report(ours, others, theirs if args.peers else {})
    finally:
        if service.is_running():
            service.stop()
        shutil.rmtree(os.path.join(data, "chdb"), ignore_errors=True)
        if not args.keep:
            shutil.rmtree(data, ignore_errors=True)


def report(ours, others, mergetree):
    others = {**others, **({"MergeTree": {name: took for name, (took, _) in mergetree.items()}} if mergetree else {})}
    print("query    rows  hindsight ms      cpu" + "".join(f"  {name:>10} ms   ratio" for name in others)
          + ("      cpu" if mergetree else ""))
    for name, (figure, cpu, rows) in ours.items():
        line = f"{name:5} {rows:7}  {figure:12.1f}  {cpu:7.1f}"
        for engine in others.values():
            line += f"  {engine[name]:13.1f}  {figure / engine[name]:6.2f}"
        print(line + (f"  {mergetree[name][1]:7.1f}" if mergetree else ""))
    for name, engine in others.items():
        for kind in "QE":
            ratios = [figure / engine[query] for query, (figure, _, _) in ours.items() if query.startswith(kind)]
            behind = sum(ratio > 1 for ratio in ratios)
            print(f"{name}, {kind}1–{kind}{len(ratios)}: geometric mean {statistics.geometric_mean(ratios):.2f}, "
                  f"behind on {behind} of {len(ratios)}")


if __name__ == "__main__":
    main()
