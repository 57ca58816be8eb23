#!/usr/bin/env python3
"""Measures the latency of one principal's queries while another principal floods the server with slow queries.

usage: fairness.py [seconds]      runs the program in target/debug, or HINDSIGHT_PROGRAM

The flooding principal keeps 30 connections busy, of whose queries five run at once (`query.concurrency`). The other principal
sends one query after the other. Times are measured at its client; replies are not cached.
"""
import http.client
import json
import os
import pathlib
import statistics
import sys
import threading
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "sdk"))
from server import Server  # noqa: E402

SMALL = "range x from 1 to 2000000 step 1 | summarize s = sum(x % 1009), n = count() by x % 7"
FLOODS = {
    "many groups": "range x from 1 to 40000000 step 1 | summarize n = count(), s = sum(x) by k = x % 2000003 | count",
    "a join of many rows": "range x from 1 to 4000 step 1 | extend k = 1 | join kind=inner (range y from 1 to 40000 step 1 | extend k = 1) on k | count",
    "one value that takes long": "print s = series_fir(range(1, 20000), range(1, 20000)) | project n = array_length(s)",
}


class Client:
    def __init__(self, url, app, key):
        place = urllib.parse.urlsplit(url)
        self.connection = http.client.HTTPConnection(place.hostname, place.port, timeout=300)
        self.path = f"/v1/apps/{app}/query"
        self.headers = {"X-Api-Key": key, "Content-Type": "application/json", "Cache-Control": "no-cache"}

    def ask(self, query):
        self.connection.request("POST", self.path, json.dumps({"query": query}), self.headers)
        reply = self.connection.getresponse()
        return reply.status, reply.read()


def times(make_client, seconds, mark):
    client = make_client()
    taken, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end:
        begun = time.perf_counter()
        status, body = client.ask(f"{SMALL} | where n != {mark + len(taken)}")
        assert status == 200, body
        taken.append(1000 * (time.perf_counter() - begun))
    taken.sort()
    return statistics.median(taken), taken[int(len(taken) * 0.99)], len(taken)


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 15
    os.environ.update(HINDSIGHT_QUERY_RATE="10000000", HINDSIGHT_LOG_FILTER="warn")
    with Server() as server:
        app, key = server.new_app("quiet")
        noisy, noise = server.new_app("noisy")

        def client():
            return Client(server.url, app["appId"], key)

        times(client, 1, 0)
        alone = times(client, seconds, 1_000_000)
        print(f"{'alone':28} median {alone[0]:7.1f} ms   p99 {alone[1]:7.1f} ms   {alone[2]} queries")
        for mark, (name, flood) in enumerate(FLOODS.items(), 2):
            stopped = threading.Event()

            def work(number):
                noisy_client = Client(server.url, noisy["appId"], noise)
                while not stopped.is_set():
                    number += 1000
                    noisy_client.ask(f"{flood} | extend z = {number}")

            flooders = [threading.Thread(target=work, args=(n,), daemon=True) for n in range(30)]
            for flooder in flooders:
                flooder.start()
            time.sleep(2)
            median, worst, count = times(client, seconds, mark * 1_000_000)
            stopped.set()
            print(
                f"{name:28} median {median:7.1f} ms   p99 {worst:7.1f} ms   {count} queries"
                f"   {median / alone[0]:.2f} and {worst / alone[1]:.2f} times as long"
            )
            # The rest of the flood must not fall into the next measurement.
            for flooder in flooders:
                flooder.join()


if __name__ == "__main__":
    main()
