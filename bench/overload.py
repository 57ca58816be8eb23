#!/usr/bin/env python3
"""Offers a multiple of the capacity of ingestion for a time, and measures what is stored all the same.

usage: overload.py [--build debug|release] [--factor N] [--seconds S] [--connections N] [--items N]

Four connections send as fast as they are answered: the peak. Then, for a minute, requests are sent at `factor` times that rate,
whatever the answers are, over as many connections as are given; each connection has one request at a time. Both are measured in turn until the
overload has lasted `seconds`: the speed of a virtual machine changes by a third within minutes, and merges take a part of the processors at
times. The goodput (items that were acknowledged in a second) must be at least 90% of the mean of the peaks, every other reply 429 or 503 with
`Retry-After`, the program's memory under its documented limit, and the 99th percentile of /health, while overloaded, under 50 ms.
HINDSIGHT_PROGRAM may name the program. The client runs on the last processor and the program on the others, during both measurements: the client needs a
processor to itself when it offers a hundred times the capacity, and the program would lose it to the client. The client polls without
a pause in both: two processors share a clock or a core on many machines, and the program's would be faster beside an idle one.
"""
import argparse
import collections
import os
import selectors
import socket
import time
import urllib.parse

import process

SETTINGS = {"http_body_memory": "256MiB", "store_memory": "512MiB", "query_memory": "256MiB", "log_filter": "error"}
# Seconds before each measurement, of each measurement of the peak, and of overload between two of them.
SETTLE, PEAK, ROUND = 5, 15, 60


class Connection:
    """A connection with at most one request on its way."""

    def __init__(self, load):
        self.load = load
        self.socket = None
        self.open()

    def open(self):
        if self.socket is not None:
            self.load.selector.unregister(self.socket)
            self.socket.close()
        self.socket = socket.create_connection(self.load.place)
        self.socket.setblocking(False)
        self.load.selector.register(self.socket, selectors.EVENT_READ, self)
        self.rest, self.received, self.busy = b"", b"", False

    def send(self):
        self.busy, self.rest, self.received = True, memoryview(self.load.request), b""
        self.load.offered += 1
        self.write()

    def write(self):
        try:
            while self.rest:
                self.rest = self.rest[self.socket.send(self.rest):]
        except BlockingIOError:
            pass
        except OSError:
            return self.lost()
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if self.rest else 0)
        self.load.selector.modify(self.socket, events, self)

    def read(self):
        try:
            part = self.socket.recv(1 << 16)
        except BlockingIOError:
            return
        except OSError:
            return self.lost()
        if not part:
            return self.lost()
        self.received += part
        head, found, body = self.received.partition(b"\r\n\r\n")
        if not found:
            return
        lines = head.lower().split(b"\r\n")
        length = next(int(line[16:]) for line in lines if line.startswith(b"content-length: "))
        if len(body) < length:
            return
        code = int(lines[0].split()[1])
        self.load.replies[code] += 1
        if code != 200 and not any(line.startswith(b"retry-after: ") for line in lines):
            self.load.silent += 1
        unfinished = bool(self.rest)
        self.busy = False
        if unfinished or b"connection: close" in lines:
            self.open()
        self.load.idle.append(self)

    def lost(self):
        if self.busy:
            self.load.lost += 1
        self.open()
        self.load.idle.append(self)


class Load:
    """Posts of one body."""

    def __init__(self, server, body, connections):
        place = urllib.parse.urlsplit(server.url)
        self.place = (place.hostname, place.port)
        head = f"POST /v2.1/track HTTP/1.1\r\nHost: x\r\nContent-Encoding: gzip\r\nContent-Length: {len(body)}\r\n\r\n"
        self.request = head.encode() + body
        self.selector = selectors.DefaultSelector()
        self.reset()
        self.idle = collections.deque(Connection(self) for _ in range(connections))

    def reset(self):
        self.offered = self.lost = self.silent = 0
        self.replies = collections.Counter()

    def run(self, seconds, rate):
        """Sends for so long, `rate` requests in a second or (None) as many as are answered; the seconds that it took."""
        begun = time.monotonic()
        end, sent = begun + seconds, 0
        while (now := time.monotonic()) < end:
            due = len(self.idle) if rate is None else int((now - begun) * rate) - sent
            for _ in range(min(due, len(self.idle))):
                self.idle.popleft().send()
            # What no connection was free for is not sent later.
            sent += max(due, 0)
            for key, events in self.selector.select(0):
                if events & selectors.EVENT_WRITE:
                    key.data.write()
                if events & selectors.EVENT_READ:
                    key.data.read()
        return time.monotonic() - begun

    def close(self):
        self.selector.close()


def peak_of(server, body):
    """Requests in a second that four connections are answered."""
    load = Load(server, body, 4)
    load.run(SETTLE, None)
    load.reset()
    seconds = load.run(PEAK, None)
    load.close()
    return load.replies[200] / seconds


class Overload:
    """The replies to more requests than the program can store."""

    def __init__(self):
        self.offered = self.lost = self.silent = self.seconds = 0
        self.replies = collections.Counter()
        self.times, self.failures, self.memory = [], 0, 0

    def add(self, server, body, connections, rate):
        """Sends `rate` requests in a second for the time of a round."""
        load = Load(server, body, connections)
        # Until the queue is full, requests begin that do not end.
        load.run(SETTLE, rate)
        probe = process.Probe(server)
        load.reset()
        self.seconds += load.run(ROUND, rate)
        times, failures, samples = probe.stop()
        load.close()
        self.offered += load.offered
        self.lost += load.lost
        self.silent += load.silent
        self.replies += load.replies
        self.times += times
        self.failures += failures
        self.memory = max(self.memory, *(rss for _, rss, _ in samples))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="release", choices=["debug", "release"])
    parser.add_argument("--factor", type=float, default=100)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--connections", type=int, default=512)
    parser.add_argument("--items", type=int, default=20_000)
    arguments = parser.parse_args()
    process.choose_program(arguments.build)
    import hostile
    from server import Server
    checks = process.Checks()
    processors = sorted(os.sched_getaffinity(0))
    # The program inherits the first set, the client and the health checks have the second.
    os.sched_setaffinity(0, processors[:-1] or processors)
    with Server(**SETTINGS) as server:
        os.sched_setaffinity(0, processors[-1:])
        app, _ = server.new_app("load")
        body = hostile.packed(app, arguments.items)
        overload, peaks = Overload(), [peak_of(server, body)]
        print(f"requests of {len(body):,} bytes", flush=True)
        while overload.seconds < arguments.seconds:
            before = overload.replies[200]
            overload.add(server, body, arguments.connections, arguments.factor * peaks[-1])
            goodput = (overload.replies[200] - before) / ROUND
            peaks.append(peak_of(server, body))
            rates = [rate * arguments.items for rate in (peaks[-2], goodput, peaks[-1])]
            print("peak {:,.0f}, goodput {:,.0f}, peak {:,.0f} items/s".format(*rates), flush=True)
        peak, goodput = sum(peaks) / len(peaks), overload.replies[200] / overload.seconds
        refused = sum(count for code, count in overload.replies.items() if code in (429, 503))
        others = sum(overload.replies.values()) - refused - overload.replies[200]
        print(f"peak {peak * arguments.items:,.0f}, goodput {goodput * arguments.items:,.0f} items/s; offered: {overload.offered / overload.seconds:.1f}"
              f" requests/s, {overload.offered / overload.seconds / peak:.0f} times the peak, for {overload.seconds:.0f} s;"
              f" replies {dict(overload.replies)}, {overload.lost} lost")
        share, limit = goodput / peak, process.memory_limit(SETTINGS)
        slowest = process.percentile(overload.times, 0.99)
        checks.check("goodput, share of the peak", f"{share:.1%}", share >= 0.9, ">= 90%")
        checks.check("replies other than 200, 429 and 503", others + overload.lost, others + overload.lost == 0, "none")
        checks.check("refusals without Retry-After", overload.silent, overload.silent == 0, "none")
        checks.check("memory", f"{overload.memory:.0f} MiB", overload.memory < limit, f"< {limit:.0f} MiB")
        checks.check("/health, 99th percentile", f"{slowest:.1f} ms", slowest < 50, "< 50 ms")
        checks.check("/health without an answer", overload.failures, overload.failures == 0, "none")
    checks.end()


if __name__ == "__main__":
    os.environ.pop("HINDSIGHT_KEY", None)
    main()
