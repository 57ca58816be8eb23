#!/usr/bin/env python3
"""Everything at once for a long time: ingestion, queries, hostile clients, sign-ins. Memory and open files must not grow.

usage: soak.py [--build debug|release] [--seconds S] [--warm-up S]

After the warm-up, a line is fitted to the program's memory: its slope must be under 1 MB in an hour, which a run of less than
an hour can only estimate (it is then printed and not checked). Open files must be as many at the end as after the warm-up, give
or take the connections of the load. No reply may be 500 or none. HINDSIGHT_PROGRAM may name the program.
"""
import argparse
import collections
import json
import random
import threading
import time

import process

SETTINGS = {"http_body_memory": "128MiB", "store_memory": "128MiB", "query_memory": "256MiB", "cache_bytes": "16MiB",
            "store_footer_cache": "16MiB", "store_column_cache": "16MiB", "http_body_timeout": "5s", "query_rate": "100000", "log_filter": "error"}
# The memory of a query with many distinct values grows with what it reads: a fixed window keeps the work the same for the whole run.
QUERIES = ["customEvents | summarize count() by name | top 5 by count_",
           "customEvents | where timestamp > ago(5m) | count",
           "range x from 1 to 100000 step 1 | summarize sum(x) by x % 7",
           "customEvents | where timestamp > ago(1m) | project s = strcat(name, tostring(timestamp)) | distinct s | count",
           "customEvents | where nothing == 1", "print (("]
CHECKED_FROM = 3600


class Load:
    """Threads that each repeat one kind of request until they are stopped, and count what they are answered."""

    def __init__(self):
        self.stopped = threading.Event()
        self.replies = collections.Counter()
        self.threads = []

    def add(self, name, work, pause=0.0):
        def repeat():
            while not self.stopped.is_set():
                try:
                    self.replies[name, work()] += 1
                except OSError as error:
                    self.replies[name, type(error).__name__] += 1
                self.stopped.wait(pause)

        self.threads.append(threading.Thread(target=repeat, daemon=True))
        self.threads[-1].start()

    def stop(self):
        self.stopped.set()
        for thread in self.threads:
            thread.join(30)


def slope(samples):
    """Megabytes in an hour, by least squares."""
    count = len(samples)
    mean_x = sum(x for x, _ in samples) / count
    mean_y = sum(y for _, y in samples) / count
    above = sum((x - mean_x) * (y - mean_y) for x, y in samples)
    below = sum((x - mean_x) ** 2 for x, _ in samples)
    return above / below * 3600 * 1.048576


def minutes(samples):
    """The mean memory of each minute."""
    found = collections.defaultdict(list)
    for seconds, rss, _ in samples:
        found[int(seconds // 60)].append(rss)
    return [sum(values) / len(values) for _, values in sorted(found.items())]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="release", choices=["debug", "release"])
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--warm-up", type=float, default=600)
    arguments = parser.parse_args()
    process.choose_program(arguments.build)
    import hostile
    from server import Server
    checks = process.Checks()
    with Server(**SETTINGS) as server:
        app, key = server.new_app("soak")
        other, _ = server.new_app("other")
        place = f"/v1/apps/{app['appId']}/query"

        def query():
            body = json.dumps({"query": random.choice(QUERIES)}).encode()
            return hostile.post(server, place, body, X_Api_Key=key, Content_Type="application/json", Cache_Control="no-cache")[0]

        def abandon():
            connection = hostile.unfinished(server, body=b"[" * random.randrange(9_000))
            time.sleep(random.random())
            connection.close()
            return "closed"

        def streams():
            connection = hostile.unfinished_streams(server, 16)
            time.sleep(random.random())
            connection.close()
            return "closed"

        def sign_in():
            form = f"grant_type=client_credentials&client_id=nobody&client_secret={random.random()}".encode()
            return hostile.post(server, "/common/oauth2/token", form, Content_Type="application/x-www-form-urlencoded")[0]

        bodies = [hostile.packed(app, 200), hostile.packed(other, 50), hostile.packed({"instrumentationKey": "unknown"}, 500)]
        load = Load()
        for body in bodies:
            load.add("track", lambda body=body: hostile.post(server, "/v2.1/track", body, Content_Encoding="gzip")[0], 0.05)
        load.add("query", query, 0.1)
        load.add("wrong key", lambda: hostile.post(server, place, b"{}", X_Api_Key="hs_wrong")[0], 0.2)
        load.add("sign-in", sign_in, 0.2)
        load.add("unfinished body", abandon, 0.05)
        load.add("unfinished streams", streams, 0.2)
        time.sleep(arguments.warm_up)
        files = process.files(server.process.pid)
        probe = process.Probe(server)
        time.sleep(arguments.seconds)
        times, failures, samples = probe.stop()
        load.stop()
        for (name, answer), count in sorted(load.replies.items(), key=str):
            print(f"{name:20} {answer!s:20} {count}")
        print("memory by minute, MiB: " + " ".join(f"{mean:.0f}" for mean in minutes(samples)))
        growth = slope([(seconds, rss) for seconds, rss, _ in samples])
        most = max(rss for _, rss, _ in samples)
        limit = process.memory_limit(SETTINGS)
        last = process.percentile([count for _, _, count in samples[-len(samples) // 10:]], 0.5)
        wrong = sum(count for (_, answer), count in load.replies.items() if answer == 500)
        long = arguments.seconds >= CHECKED_FROM
        bound = "< 1 MB/h" if long else "not checked: too short"
        checks.check("memory, slope", f"{growth:.1f} MB/h", not long or growth < 1, bound)
        checks.check("memory", f"{most:.0f} MiB", most < limit, f"< {limit:.0f} MiB")
        checks.check("open files, after the warm-up and at the end", f"{files} and {last}", abs(last - files) <= 64, "the same")
        checks.check("/health, 99th percentile", f"{process.percentile(times, 0.99):.1f} ms", True, "")
        checks.check("/health without an answer", failures, failures == 0, "none")
        checks.check("replies with 500", wrong, wrong == 0, "none")
    checks.end()


if __name__ == "__main__":
    main()
