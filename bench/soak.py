#!/usr/bin/env python3
"""Everything at once for a long time: ingestion, queries, hostile clients, sign-ins. Memory and open files must not grow.

usage: soak.py [--build debug|release] [--seconds S] [--warm-up S]

After the warm-up, a line is fitted to the program's memory: its slope must be under 1 MB in an hour, which a run of less than
an hour can only estimate (it is then printed and not checked). It is the median of the slopes between any two minutes (the estimator
of Theil and Sen): a merge takes memory for a minute, and says nothing about the others. One application sends telemetry of now, another
telemetry of the days before twelve times as fast, so that an hour is complete and merged every five minutes. Of each application so
many bytes are kept that as much expires as arrives before the warm-up is over: memory that follows the number of segments does
not count as growth. Open files must be as many at the end as
after the warm-up, give or take the connections of the load. No reply may be 500 or none. HINDSIGHT_PROGRAM may name the program.
"""
import argparse
import collections
import itertools
import json
import random
import statistics
import threading
import time

import process

# The caches are small, so that they are full after the warm-up, and so is what is kept of telemetry.
SETTINGS = {"http_body_memory": "128MiB", "store_memory": "128MiB", "query_memory": "256MiB", "cache_bytes": "2MiB",
            "store_footer_cache": "2MiB", "store_column_cache": "2MiB", "http_body_timeout": "5s", "query_rate": "100000", "log_filter": "error",
            "retention_bytes": "1MiB", "retention_interval": "10s", "retention_grace": "10s"}
# The memory of a query with many distinct values grows with what it reads: a fixed window keeps the work the same for the whole run.
QUERIES = ["customEvents | summarize count() by name | top 5 by count_",
           "customEvents | where timestamp > ago(5m) | count",
           "range x from 1 to 100000 step 1 | summarize sum(x) by x % 7",
           "customEvents | where timestamp > ago(1m) | project s = strcat(name, tostring(timestamp)) | distinct s | count",
           "customEvents | where nothing == 1", "print (("]
CHECKED_FROM = 3600
# How much faster than the clock the telemetry of the past goes on, and how long before now it begins.
PACE = 12
PAST = 5 * 86_400


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


def slope(means):
    """Megabytes in an hour, from the mean memory of each minute: the median of the slopes between any two."""
    pairs = itertools.combinations(enumerate(means), 2)
    slopes = [(later - sooner) / (end - begin) for (begin, sooner), (end, later) in pairs]
    return statistics.median(slopes) * 60 * 1.048576 if slopes else 0.0


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

        begun = time.time()

        def track(app, items, at=lambda: None):
            return hostile.post(server, "/v2.1/track", hostile.packed(app, items, at=at()), Content_Encoding="gzip")[0]

        def past():
            return begun - PAST + PACE * (time.time() - begun)

        load = Load()
        load.add("track", lambda: track(app, 50), 0.05)
        load.add("track of the past", lambda: track(other, 200, past), 0.05)
        load.add("track without key", lambda: track({"instrumentationKey": "unknown"}, 500), 0.2)
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
        means = minutes(samples)
        print("memory by minute, MiB: " + " ".join(f"{mean:.0f}" for mean in means))
        growth = slope(means)
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
