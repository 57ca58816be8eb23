#!/usr/bin/env python3
"""Tests whether response times distinguish a wrong application from a wrong key: 10,000 requests of each, in random order, and
Welch's t-test.

usage: timing.py [samples]      runs the program in target/debug, or HINDSIGHT_PROGRAM

Both must be refused with 403 and the same bytes. Times above the 95th percentile of all requests are discarded, because they
come from other load on the machine. |t| under 3.3 means no difference at p = 0.001. As a control, a third kind of request
(without a credential, 401) shows that the test detects a difference.
"""
import http.client
import math
import os
import pathlib
import random
import statistics
import sys
import time
import urllib.parse
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "sdk"))
from server import Server  # noqa: E402


def welch(one, other):
    difference = statistics.fmean(one) - statistics.fmean(other)
    spread = math.sqrt(statistics.variance(one) / len(one) + statistics.variance(other) / len(other))
    return difference / spread


def main():
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    os.environ.update(HINDSIGHT_AUTH_FAILURES_PER_MINUTE="4000000000", HINDSIGHT_LOG_FILTER="warn")
    with Server() as server:
        app, key = server.new_app("shop")
        foreign, other = server.new_app("other")
        cases = {
            "wrong application": (foreign["appId"], key),
            "unknown application": (str(uuid.uuid4()), key),
            "wrong key": (app["appId"], other),
            "deleted key": (app["appId"], None),
            "no credential": (app["appId"], ""),
        }
        made = server.command("key", "create", "--app", "shop")
        server.run("key", "delete", made["id"])
        cases["deleted key"] = (app["appId"], made["key"])
        time.sleep(1)
        place = urllib.parse.urlsplit(server.url)
        connection = http.client.HTTPConnection(place.hostname, place.port)
        times = {name: [] for name in cases}
        seen = {name: set() for name in cases}

        def ask(name):
            target, credential = cases[name]
            headers = {"X-Api-Key": credential} if credential else {}
            begun = time.perf_counter_ns()
            connection.request("GET", f"/v1/apps/{target}/query?query=print+1", headers=headers)
            reply = connection.getresponse()
            body = reply.read()
            took = time.perf_counter_ns() - begun
            body = body.replace(reply.headers["x-ms-request-id"].encode(), b"ID")
            return took, (reply.status, body)

        order = [name for name in cases for _ in range(samples)]
        random.Random(1).shuffle(order)
        for name in order[:500]:
            ask(name)
        for name in order:
            took, answer = ask(name)
            times[name].append(took / 1000)
            seen[name].add(answer)
    cut = statistics.quantiles([value for name in times if name != "no credential" for value in times[name]], n=20)[-1]
    kept = {name: [value for value in values if value <= cut] for name, values in times.items()}
    base = "wrong key"
    failed = False
    print(f"{samples} requests of each kind, times in microseconds up to {cut:.0f}")
    print(f"{'':22}{'mean':>9}{'median':>9}{'t':>9}")
    for name, values in kept.items():
        t = 0.0 if name == base else welch(values, kept[base])
        print(f"{name:22}{statistics.fmean(values):9.1f}{statistics.median(values):9.1f}{t:9.2f}")
        if name != "no credential":
            same = seen[name] == seen[base] and len(seen[name]) == 1
            failed |= abs(t) > 3.3 or not same
            if not same:
                print(f"  {name} is answered otherwise than {base}")
    print("a difference can be measured" if failed else "no difference")
    sys.exit(failed)


if __name__ == "__main__":
    main()
