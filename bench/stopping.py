#!/usr/bin/env python3
"""Measures how long a query continues after it is cancelled, by a closed connection or by its timeout.

usage: stopping.py [--moments S,S,…] [--only TEXT] [--limit MS]      runs the program in target/release, or HINDSIGHT_PROGRAM

Each query runs long and spends its time in a different part of the program. It is cancelled after each of the moments (in
seconds) by closing the connection, and once more by `Prefer: wait=1`. The server's gauge `hindsight_queries_running` shows
when its work has ended, and the processor time that the server uses in the following 200 ms shows whether it has. Times are
in milliseconds; a time over the limit (100) fails the run. Load on the machine lengthens every time: use an idle machine or
`nice -n -10`.
"""
import argparse
import http.client
import json
import os
import pathlib
import sys
import threading
import time
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[1]
os.environ.setdefault("HINDSIGHT_PROGRAM", str(pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "hindsight"))
sys.path.insert(0, str(ROOT / "tests" / "sdk"))
from server import Server  # noqa: E402
from stopping_queries import QUERIES  # noqa: E402

SETTINGS = {"query_rate": 1_000_000, "query_concurrency": 100, "log_filter": "error"}
TICK = 1000 / os.sysconf("SC_CLK_TCK")


class Watched:
    """A server, what it says of itself, and what the system says of it."""

    def __init__(self, server):
        self.server = server
        self.place = urllib.parse.urlsplit(server.url)
        self.app, self.key = server.new_app("stopping")
        self.figures = self.connect()

    def connect(self):
        return http.client.HTTPConnection(self.place.hostname, self.place.port)

    def ask(self, query, wait):
        """Sends a query and does not read the reply."""
        connection = self.connect()
        headers = {"X-Api-Key": self.key, "Content-Type": "application/json", "Cache-Control": "no-cache", "Prefer": f"wait={wait}"}
        connection.request("POST", f"/v1/apps/{self.app['appId']}/query", json.dumps({"query": query}), headers)
        return connection

    def running(self):
        self.figures.request("GET", "/metrics")
        text = self.figures.getresponse().read().decode()
        return next(float(line.split()[1]) for line in text.splitlines() if line.startswith("hindsight_queries_running "))

    def until_idle(self, since):
        """Milliseconds from `since` to the end of all queries; None after half a minute."""
        while self.running() > 0:
            if time.perf_counter() - since > 30:
                return None
        return (time.perf_counter() - since) * 1000

    def processor(self):
        """Milliseconds of processor time that the server has used."""
        fields = pathlib.Path(f"/proc/{self.server.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) * TICK

    def used_after(self):
        before = self.processor()
        time.sleep(0.2)
        return self.processor() - before


def leave(watched, query, moment):
    """Closes the connection at the moment: milliseconds until the end, and processor time after it."""
    connection = watched.ask(query, 600)
    time.sleep(moment)
    if watched.running() == 0:
        reply = connection.getresponse()
        return f"{reply.status} {reply.read(300).decode(errors='replace')}", 0
    since = time.perf_counter()
    connection.close()
    return watched.until_idle(since), watched.used_after()


def run_out(watched, query):
    """Waits one second for the reply: milliseconds from there to the end, to the reply, and its status."""
    since = time.perf_counter() + 1
    connection = watched.ask(query, 1)
    status = []

    def read():
        reply = connection.getresponse()
        status.append(reply.status)
        while reply.read(1 << 20):
            pass

    # A client that takes nothing of its reply holds its query up; this one takes it.
    reader = threading.Thread(target=read)
    reader.start()
    while time.perf_counter() < since:
        time.sleep(0.001)
    end = watched.until_idle(since)
    reader.join()
    connection.close()
    return end, watched.used_after(), status[0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--moments", default="0.15,0.5,1.2,2.5")
    parser.add_argument("--only", default="")
    parser.add_argument("--limit", type=float, default=100)
    arguments = parser.parse_args()
    moments = [float(moment) for moment in arguments.moments.split(",")]
    late = []
    with Server(**SETTINGS) as server:
        watched = Watched(server)
        print(f"{'':44}" + "".join(f"left {moment:4}s" for moment in moments) + "  out of time   cpu after")
        for name, query in QUERIES:
            if arguments.only not in name:
                continue
            cells, figures, used = [], [], []
            for moment in moments:
                end, after = leave(watched, query, moment)
                used.append(after)
                if isinstance(end, str):
                    cells.append("ended")
                    note = end
                    continue
                cells.append("never" if end is None else f"{end:.0f}")
                figures.append(float("inf") if end is None else end)
            end, after, status = run_out(watched, query)
            used.append(after)
            out = "never" if end is None else f"{end:.0f}"
            figures.append(float("inf") if end is None else end)
            print(f"{name:44}" + "".join(f"{cell:>10}" for cell in cells) + f"{out:>8} ({status}){max(used):10.0f}", flush=True)
            if "ended" in cells:
                print(f"    ended: {note[:200]}")
            if max(figures) > arguments.limit:
                late.append(name)
    print(f"{len(late)} of {len(QUERIES)} queries worked on for longer than {arguments.limit:.0f} ms" + (": " + ", ".join(late) if late else ""))
    sys.exit(bool(late))


if __name__ == "__main__":
    main()
