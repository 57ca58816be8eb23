#!/usr/bin/env python3
"""Queries of one node and of several: the same telemetry in two clusters, one of a single node and one of N nodes, each process on a
processor of its own. A query runs at both in turn.

usage: cluster.py [--nodes N …] [--requests N] [--runs N] [--kept FILE]
       cluster.py --keep FILE [--requests N]

The telemetry is sent to a node once, which takes most of the time: for 40 million requests, the default, 20 minutes to an hour. `--keep` does
that alone, describes the telemetry in a file and keeps it until its input ends; `--kept` measures with it, as often as wanted. Each cluster has a
copy of the catalogue that it left, and all read the same folder of segments. The cache of columns is small (`COLUMN_CACHE`), so columns are
decoded from segments each time and the queries of `SCANS` are bound by their scans. A query takes until the last byte of its reply. `speedup` is
the time of one node by that of N, of the medians; N is linear. `busy` is the processor time of one node, of the node of the query among N, and of
the busiest other one: what the others do not take over, and what a node waits for, is in it. Small queries stay at one node: their ratio is what
a cluster costs them.

Where there are fewer processors than nodes, each process of both clusters has an equal part of the processors in place of one processor (`processors.Quota`,
for which this script must be root). A tenth of the processors is left for PostgreSQL and this script. HINDSIGHT_PROGRAM may name the program.
"""
import argparse
import contextlib
import datetime
import json
import math
import os
import pathlib
import statistics
import sys
import tempfile
import time

import process
import queries
from processors import Quota, on_processors
from service import Service, last_full_hour, make_telemetry

# Queries that decode some columns of all rows, and return little. `RUN` is the number of the run: nodes remember which rows meet a search.
SCANS = {
    "counts by bins": "requests | summarize count() by bin(timestamp, 5m)",
    "percentiles by name": "requests | summarize percentiles(duration, 50, 95, 99) by name, bin(timestamp, 1h)",
    "averages by role": "requests | summarize count(), avg(duration) by cloud_RoleName, bin(timestamp, 5m)",
    "distinct users": "requests | summarize dcount(user_Id) by bin(timestamp, 1d)",
    "contains": "traces | where message contains 'timed out after RUN' | count",
    "a regular expression": "traces | where message matches regex @'after \\d+7RUN? ms' | count",
    "a computed key": "requests | summarize count() by tostring(split(url, '/')[3])",
    "latest of a group": "requests | summarize arg_max(timestamp, url, resultCode) by operation_Name",
    "top by a computation": "requests | extend rest = duration % 97 | sort by rest desc, timestamp asc | take 50 | project timestamp, rest",
}
# Of this one statistics exclude most pages: what it takes is spent on the rows that each node finds.
PRUNED = {"top by duration": "requests | sort by duration desc, id asc | take 50 | project id, duration"}
SMALL = ("Q9", "Q10", "Q14")
COLUMN_CACHE = "1MiB"
# Less than a query of `SCANS` reads, and more than one of `SMALL`.
DISTRIBUTE = "1MiB"
# What the processes share of the processors where these are fewer than nodes.
SHARED = 0.9


class Database:
    """A database of a server of PostgreSQL."""

    def __init__(self, postgres, name):
        self.url = postgres.url.replace("/hindsight?", f"/{name}?")


class Filled:
    """Telemetry in a folder of segments and a catalogue."""

    def __init__(self, postgres, objects, app, key, requests, end):
        self.postgres, self.objects, self.app, self.key, self.requests, self.end = postgres, objects, app, key, requests, end

    @classmethod
    def new(cls, stack, requests):
        # These import the program's path, which has to be chosen before.
        from postgres import Postgres
        from test_nodes import Node
        end = last_full_hour()
        postgres = stack.enter_context(Postgres())
        objects = stack.enter_context(tempfile.TemporaryDirectory(prefix="hindsight-bench-"))
        with Node(postgres, objects, "filler", log_filter="warn") as node:
            app, key = node.new_app("bench")
            service = Service(None, None, node.port)
            service.process = node.process
            service.fill(make_telemetry(app["instrumentationKey"], requests, end), connections=2)
            # Everything is in segments then.
            node.stop()
        return cls(postgres, objects, app["appId"], key, requests, end)

    @classmethod
    def kept(cls, path):
        """What a process that runs with `--keep` has described."""
        from postgres import Running
        found = json.loads(pathlib.Path(path).read_text())
        end = datetime.datetime.fromisoformat(found.pop("end"))
        return cls(Running(found.pop("postgres")), end=end, **found)

    def description(self):
        return json.dumps({"postgres": self.postgres.folder, "objects": self.objects, "app": self.app, "key": self.key,
                           "requests": self.requests, "end": self.end.isoformat()})

    def copy(self, name):
        """A copy of the catalogue. Several processes may measure with the same telemetry, one after the other."""
        name = f"{name}_{os.getpid()}"
        self.postgres.sql(f"CREATE DATABASE {name} TEMPLATE hindsight", "postgres")
        return Database(self.postgres, name)


class Cluster:
    """Nodes over a copy of a catalogue. `places` has what each of them is started in."""

    def __init__(self, stack, filled, name, places):
        from test_nodes import Node
        self.app, self.key, self.requests = filled.app, filled.key, filled.requests
        catalogue = filled.copy(name)
        # Segments that are merged meanwhile would be others in each cluster.
        self.nodes = [Node(catalogue, filled.objects, f"node-{number}", log_filter="warn", query_distribute_bytes=DISTRIBUTE,
                           store_column_cache=COLUMN_CACHE, store_compaction_interval="10h")
                      for number in range(len(places))]
        for node, place in zip(self.nodes, places):
            with place():
                stack.enter_context(node)
        self.services = [Service(None, None, node.port) for node in self.nodes]
        for service, node in zip(self.services, self.nodes):
            service.process = node.process
        while not all(self.is_ready(service) for service in self.services):
            time.sleep(0.2)

    def is_ready(self, service):
        try:
            return service.ask(self.app, self.key, "requests | count")["tables"][0]["rows"][0][0] == self.requests
        except OSError:
            return False

    def time(self, query):
        """The milliseconds of a query, its rows, and the milliseconds of processor time of each node."""
        before = [service.processor_time() for service in self.services]
        took, rows = self.services[0].time_reply(self.app, self.key, query)
        busy = [service.processor_time() - since for service, since in zip(self.services, before)]
        return took, rows, busy


class Compared:
    """The medians of a query in both clusters, run in turn: milliseconds, and milliseconds of processor time of each node."""

    def __init__(self, one, many, query, runs):
        times, busy = ([], []), ([], [])
        for run in range(runs + 2):
            rows = []
            for place, cluster in enumerate((one, many)):
                took, found, used = cluster.time(query.replace("RUN", str(run)))
                rows.append(len(found))
                if run > 1:
                    times[place].append(took)
                    busy[place].append(used)
            if rows[0] != rows[1]:
                sys.exit(f"the answers differ: {query}")
        self.alone, self.together = map(statistics.median, times)
        self.busy_alone, self.busy_together = ([statistics.median(node) for node in zip(*used)] for used in busy)


def places_of(stack, name, count, nodes):
    """What the processes of a cluster of `count` nodes are started in, where the largest one has `nodes`."""
    processors = sorted(os.sched_getaffinity(0))
    if nodes <= len(processors):
        return [lambda number=number: on_processors({number}) for number in processors[:count]]
    share = SHARED * len(processors) / nodes
    quotas = [Quota(f"hindsight-bench-{name}-{number}", share) for number in range(count)]
    for quota in quotas:
        stack.callback(quota.remove)
    return [quota.entered for quota in quotas]


def measure_scan(one, many, name, query, runs):
    """The part of a linear speedup that a query has."""
    found = Compared(one, many, query, runs)
    speedup = found.alone / found.together
    share = speedup / len(many.nodes)
    own, *others = found.busy_together
    print(f"{name:24}{found.alone:12.1f}{found.together:14.1f}{speedup:9.2f}{share:8.2f}   {found.busy_alone[0]:.0f}; {own:.0f}, {max(others):.0f}", flush=True)
    return share


def measure_scans(one, many, runs):
    count = len(many.nodes)
    print(f"{'scan-bound queries':24}{'1 node, ms':>12}{f'{count} nodes, ms':>14}{'speedup':>9}{'linear':>8}   busy: one node; node of the query, busiest other")
    shares = [measure_scan(one, many, name, query, runs) for name, query in SCANS.items()]
    mean = math.exp(statistics.fmean(map(math.log, shares)))
    print(f"{len([share for share in shares if share >= 0.8])} of {len(shares)} scan-bound queries reach 0.8 of linear; the least has {min(shares):.2f}, "
          f"their geometric mean is {mean:.2f}. Not scan-bound:", flush=True)
    for name, query in PRUNED.items():
        measure_scan(one, many, name, query, runs)


def measure_small(one, many, end, runs):
    small = {**queries.kql(end), **queries.everyday(end)}
    print(f"{'small queries':24}{'1 node, ms':>12}{f'{len(many.nodes)} nodes, ms':>14}{'cost':>9}")
    for name in SMALL:
        found = Compared(one, many, small[name], runs)
        print(f"{name:24}{found.alone:12.1f}{found.together:14.1f}{found.together / found.alone:9.2f}", flush=True)


def measure(filled, count, runs):
    with contextlib.ExitStack() as stack:
        one, many = (Cluster(stack, filled, f"{name}_{count}", places_of(stack, f"{name}-{count}", nodes, count))
                     for name, nodes in (("one", 1), ("many", count)))
        measure_scans(one, many, runs)
        sent = many.nodes[0].figure("hindsight_fragments_sent_total")
        measure_small(one, many, filled.end, runs * 15)
        print(f"{sent:.0f} fragments were sent for scans, {many.nodes[0].figure('hindsight_fragments_sent_total') - sent:.0f} for small queries; "
              f"{many.nodes[0].figure('hindsight_fragments_failed_total'):.0f} failed", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, nargs="+", default=[2])
    parser.add_argument("--requests", type=int, default=40_000_000)
    parser.add_argument("--runs", type=int, default=7)
    telemetry = parser.add_mutually_exclusive_group()
    telemetry.add_argument("--keep", metavar="FILE")
    telemetry.add_argument("--kept", metavar="FILE")
    arguments = parser.parse_args()
    process.choose_program("release")
    with contextlib.ExitStack() as stack:
        filled = Filled.kept(arguments.kept) if arguments.kept else Filled.new(stack, arguments.requests)
        if arguments.keep:
            pathlib.Path(arguments.keep).write_text(filled.description())
            sys.stdin.read()
            return
        for count in arguments.nodes:
            measure(filled, count, arguments.runs)


if __name__ == "__main__":
    main()
