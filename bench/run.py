#!/usr/bin/env python3
"""Fills Hindsight over HTTP, writes all rows to segments, and measures ingestion, 14 queries and replies (cached, small, large).
`--peers` measures the queries in DuckDB and chDB on the same files.

usage: run.py [--requests N] [--runs N] [--peers] [--keep DIR]
Figures are medians of warm runs, in milliseconds unless stated otherwise. Except where stated, replies are not cached.
"""
import argparse
import concurrent.futures
import datetime
import glob
import http.client
import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

import queries
import replies
import telemetry

HERE = pathlib.Path(__file__).resolve().parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", HERE.parent / "target"))
PROGRAM = pathlib.Path(os.environ.get("HINDSIGHT_PROGRAM", TARGET / "release" / "hindsight"))
ADDRESS = ("127.0.0.1", int(os.environ.get("HINDSIGHT_BENCH_PORT", "21020")))
DAYS = 7
# The limits of the service would end the measuring: a reply of all columns is larger than it permits.
SETTINGS = {"HINDSIGHT_QUERY_RATE": "1000000", "HINDSIGHT_QUERY_MAX_BYTES": "4GiB"}


def start(data):
    # A log that nobody reads would fill its pipe and stop the server, so it goes to a file.
    log = open(os.path.join(tempfile.gettempdir(), "hindsight-bench.log"), "wb")
    process = subprocess.Popen([PROGRAM, "serve", "--data", data, "--listen", "%s:%d" % ADDRESS], stdout=log, stderr=log,
                               env={**os.environ, **SETTINGS})
    log.close()
    for _ in range(600):
        try:
            with urllib.request.urlopen("http://%s:%d/ready" % ADDRESS, timeout=1) as reply:
                if reply.status == 200:
                    return process
        except OSError:
            time.sleep(0.05)
    sys.exit(f"the server did not become ready; see {log.name}")


def stop(process):
    process.send_signal(signal.SIGTERM)
    if process.wait(timeout=600) != 0:
        sys.exit(f"the server stopped with {process.returncode}")


def command(data, *arguments):
    return json.loads(subprocess.check_output([PROGRAM, *arguments, "--data", data, "--json"]))


def send(bodies):
    """Posts the bodies over one connection and returns how many items were accepted."""
    connection = http.client.HTTPConnection(*ADDRESS)
    accepted = 0
    for count, body in bodies:
        while True:
            connection.request("POST", "/v2.1/track", body, {"Content-Type": "application/x-json-stream"})
            reply = connection.getresponse()
            answer = reply.read()
            if reply.status != 503:
                break
            # As SDKs do: an overloaded server is asked again. The waiting counts.
            time.sleep(0.05)
        if reply.status != 200 or json.loads(answer)["itemsAccepted"] != count:
            raise RuntimeError(f"ingestion answered {reply.status}: {answer[:300]!r}")
        accepted += count
    return accepted


def fill(key, requests, end, connections=4):
    print(f"making telemetry of {requests:,} requests …", flush=True)
    bodies = list(telemetry.batches(key, requests, DAYS, end))
    items = sum(count for count, _ in bodies)
    shares = [bodies[i::connections] for i in range(connections)]
    with concurrent.futures.ProcessPoolExecutor(connections) as pool:
        started = time.perf_counter()
        accepted = sum(pool.map(send, shares))
        took = time.perf_counter() - started
    assert accepted == items
    size = sum(len(body) for _, body in bodies)
    print(f"ingestion: {items:,} items in {took:.1f} s = {items / took:,.0f} items/s "
          f"({size / took / 1e6:.0f} MB/s of JSON), socket to fsync", flush=True)
    return items


def ask(app, key, query):
    request = urllib.request.Request(
        "http://%s:%d/v1/apps/%s/query" % (*ADDRESS, app), json.dumps({"query": query}).encode(),
        {"Content-Type": "application/json", "X-Api-Key": key, "Cache-Control": "no-store"})
    with urllib.request.urlopen(request, timeout=600) as reply:
        return json.load(reply)


def time_queries(app, key, end, runs):
    figures = {}
    for name, query in queries.kql(end).items():
        times = []
        for _ in range(runs + 1):
            started = time.perf_counter()
            reply = ask(app, key, query)
            times.append((time.perf_counter() - started) * 1000)
        figures[name] = (statistics.median(times[1:]), len(reply["tables"][0]["rows"]))
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
    end = datetime.datetime.now(datetime.timezone.utc).replace(minute=0, second=0, microsecond=0)
    server = start(data)
    try:
        app = command(data, "app", "create", f"bench-{int(time.time())}")
        key = command(data, "key", "create", "--app", app["appId"])["key"]
        fill(app["instrumentationKey"], args.requests, end)
        started = time.perf_counter()
        stop(server)
        print(f"sealing: {time.perf_counter() - started:.1f} s", flush=True)
        server = start(data)
        ours = time_queries(app["appId"], key, end, args.runs)
        replies.cached(ADDRESS, app["appId"], key)
        replies.small_metric(ADDRESS, app["appId"], key, end)
        replies.large(ADDRESS, app["appId"], key, server.pid, min(args.requests, replies.LARGE_ROWS))
        # A running server merges segments: files that a peer has listed would go away.
        stop(server)
        others = peers(data, app["appId"], end, args.runs) if args.peers else {}
        report(ours, others)
    finally:
        if server.poll() is None:
            stop(server)
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
