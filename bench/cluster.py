#!/usr/bin/env python3
"""Queries of one node and of several: the same telemetry in two clusters, one of a single node and one of N nodes, each process on a
processor of its own. A query runs at both in turn.

usage: cluster.py [--nodes N] [--requests N] [--runs N]

Each cluster has its own PostgreSQL and its own folder of segments. `speedup` is the time of one node by that of N, of the medians; N is
linear. Small queries stay at one node: their ratio is what a cluster costs them. HINDSIGHT_PROGRAM may name the program.
"""
import argparse
import contextlib
import math
import os
import pathlib
import statistics
import sys
import tempfile
import time

import process
import queries
from service import Service, last_full_hour, make_telemetry

# Queries that read much of a column, and return little.
SCANS = {
    "counts by bins": "requests | summarize count() by bin(timestamp, 5m)",
    "percentiles by name": "requests | summarize percentiles(duration, 50, 95, 99) by name, bin(timestamp, 1h)",
    "averages by role": "requests | summarize count(), avg(duration) by cloud_RoleName, bin(timestamp, 5m)",
    "distinct users": "requests | summarize dcount(user_Id) by bin(timestamp, 1d)",
    "contains": "traces | where message contains 'timed out after' | count",
    "a regular expression": "traces | where message matches regex @'after \\d+7 ms' | count",
    "a computed key": "requests | summarize count() by tostring(split(url, '/')[3])",
    "top by duration": "requests | sort by duration desc, id asc | take 50 | project id, duration",
    "latest of a group": "requests | summarize arg_max(timestamp, url, resultCode) by operation_Name",
}
SMALL = ("Q9", "Q10", "Q14")


@contextlib.contextmanager
def on_processors(numbers):
    """What is started inside runs on these processors alone."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, numbers)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


class Cluster:
    """Nodes over one catalogue and one folder of segments, each on one processor."""

    def __init__(self, stack, processors):
        # They import the program's path, which has to be chosen before.
        from postgres import Postgres
        from test_nodes import Node
        postgres = stack.enter_context(Postgres())
        objects = stack.enter_context(tempfile.TemporaryDirectory(prefix="hindsight-bench-"))
        self.nodes = [Node(postgres, objects, f"node-{number}", log_filter="warn", query_distribute_bytes="256KiB") for number in range(len(processors))]
        self.processors = processors
        for node, processor in zip(self.nodes, processors):
            with on_processors({processor}):
                stack.enter_context(node)
        self.first = Service(None, None, self.nodes[0].port)
        self.first.process = self.nodes[0].process

    def fill(self, requests, end):
        app, self.key = self.nodes[0].new_app("bench")
        self.app = app["appId"]
        self.first.fill(make_telemetry(app["instrumentationKey"], requests, end), connections=2)
        # Everything is in segments then.
        for node, processor in zip(self.nodes, self.processors):
            node.stop()
            with on_processors({processor}):
                node.start()
        self.first.process = self.nodes[0].process
        while not self.is_ready():
            time.sleep(0.2)

    def is_ready(self):
        try:
            return self.first.ask(self.app, self.key, "requests | count")["tables"][0]["rows"][0][0] > 0
        except OSError:
            return False

    def time(self, query):
        return self.first.time_query(self.app, self.key, query)


def compare(one, many, query, runs):
    """The median milliseconds of a query in both clusters, run in turn."""
    times = ([], [])
    for run in range(runs + 2):
        rows = []
        for cluster, list_ in zip((one, many), times):
            took, found = cluster.time(query)
            rows.append(sorted(map(str, found)))
            if run > 1:
                list_.append(took)
        if len(rows[0]) != len(rows[1]):
            sys.exit(f"the answers differ: {query}")
    return [statistics.median(list_) for list_ in times]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--requests", type=int, default=500_000)
    parser.add_argument("--runs", type=int, default=7)
    arguments = parser.parse_args()
    processors = sorted(os.sched_getaffinity(0))
    if arguments.nodes > len(processors):
        sys.exit(f"{arguments.nodes} nodes need as many processors, and there are {len(processors)}")
    process.choose_program("release")
    end = last_full_hour()
    with contextlib.ExitStack() as stack:
        one = Cluster(stack, processors[:1])
        many = Cluster(stack, processors[:arguments.nodes])
        for cluster in (one, many):
            cluster.fill(arguments.requests, end)
        print(f"{'':24}{'1 node, ms':>12}{f'{arguments.nodes} nodes, ms':>14}{'speedup':>9}")
        speedups, small = [], {**queries.kql(end), **queries.everyday(end)}
        for name, query in SCANS.items():
            alone, together = compare(one, many, query, arguments.runs)
            speedups.append(alone / together)
            print(f"{name:24}{alone:12.1f}{together:14.1f}{alone / together:9.2f}", flush=True)
        mean = math.exp(statistics.fmean(map(math.log, speedups)))
        print(f"{'geometric mean':24}{'':26}{mean:9.2f}: {mean / arguments.nodes:.2f} of linear")
        sent = many.nodes[0].figure("hindsight_fragments_sent_total")
        for name in SMALL:
            alone, together = compare(one, many, small[name], arguments.runs * 3)
            print(f"small: {name:17}{alone:12.1f}{together:14.1f}  {together / alone:.2f} of one node", flush=True)
        print(f"{sent:.0f} fragments were sent, {many.nodes[0].figure('hindsight_fragments_failed_total'):.0f} failed")


if __name__ == "__main__":
    main()
