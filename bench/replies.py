"""Measures replies over raw sockets, so that the client adds little time: cached replies, a small metric, and a large reply with the
memory that the server uses while it sends it."""
import concurrent.futures
import datetime
import os
import socket
import statistics
import threading
import time
import urllib.parse

LARGE_ROWS = 500_000
LARGE_COLUMNS = 40


class Connection:
    """One HTTP/1.1 connection that reads replies and forgets them."""

    def __init__(self, address):
        self.socket = socket.create_connection(address)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = bytearray(1 << 20)

    def ask(self, request):
        """Sends the bytes; answers the reply's head, the body's first bytes and its length."""
        self.socket.sendall(request)
        head = b""
        while b"\r\n\r\n" not in head:
            got = self.socket.recv(1 << 16)
            if not got:
                raise RuntimeError(f"the server ended the connection: {head[:300]!r}")
            head += got
        head, _, first = head.partition(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(f"{head.decode()}\n{first[:500]!r}")
        lower = head.lower()
        if b"content-length: " in lower:
            length = int(lower.split(b"content-length: ")[1].split(b"\r\n")[0])
            left = length - len(first)
            while left > 0:
                left -= self.socket.recv_into(self.buffer, min(left, len(self.buffer)))
            return head, first, length
        size, tail = len(first), first[-5:]
        while tail != b"0\r\n\r\n":
            got = self.socket.recv_into(self.buffer)
            if got == 0:
                raise RuntimeError("the reply has no end")
            size += got
            tail = (tail + bytes(self.buffer[max(0, got - 5):got]))[-5:]
        return head, first, size


def request(app, key, path, control=None, **parameters):
    query = urllib.parse.urlencode(parameters, quote_via=urllib.parse.quote)
    lines = [f"GET /v1/apps/{app}/{path}?{query} HTTP/1.1", "Host: bench", f"X-Api-Key: {key}"]
    if control:
        lines.append(f"Cache-Control: {control}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def loop(address, asked, seconds):
    """Asks for so long; answers how often."""
    connection, count, end = Connection(address), 0, time.perf_counter() + seconds
    while time.perf_counter() < end:
        connection.ask(asked)
        count += 1
    return count


def threads(address, asked, seconds, connections):
    with concurrent.futures.ThreadPoolExecutor(connections) as pool:
        return sum(pool.map(lambda _: loop(address, asked, seconds), range(connections)))


def cached(address, app, key, seconds=5.0):
    asked = request(app, key, "query", query="requests | summarize count() by name | top 5 by count_")
    connection = Connection(address)
    connection.ask(asked)
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end:
        started = time.perf_counter()
        head, _, _ = connection.ask(asked)
        times.append((time.perf_counter() - started) * 1000)
        assert b"\r\nage: " in head.lower(), "the reply is not from the cache"
    print(f"cached reply: median {statistics.median(times):.3f} ms, {len(times) / seconds:,.0f} requests/s on one connection")
    # Several processes: one alone could not ask fast enough.
    with concurrent.futures.ProcessPoolExecutor(4) as pool:
        counts = [pool.submit(threads, address, asked, seconds, 8) for _ in range(4)]
        total = sum(count.result() for count in counts)
    print(f"cached reply: {total / seconds:,.0f} requests/s on 32 connections", flush=True)


def median(connection, asked, runs=25):
    """The median milliseconds of a request until the last byte of its reply, after one that is not counted."""
    times = []
    for _ in range(runs + 1):
        started = time.perf_counter()
        connection.ask(asked)
        times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times[1:])


def small(address, app, key, end, queries):
    """The smallest requests, uncached: metrics of an hour, and the look-up and the latest items of `queries`."""
    hour = f"{end - datetime.timedelta(hours=1):%Y-%m-%dT%H:%M:%SZ}/{end:%Y-%m-%dT%H:%M:%SZ}"
    connection = Connection(address)
    for metric, more in [("requests/count", {}), ("requests/duration", {"interval": "PT5M"})]:
        asked = request(app, key, "metrics/" + metric, "no-store", timespan=hour, **more)
        print(f"uncached metric {metric} of an hour: median {median(connection, asked):.1f} ms", flush=True)
    for name, what in [("Q10", "look-up by id"), ("Q9", "latest 100 requests")]:
        asked = request(app, key, "query", "no-store", query=queries[name])
        print(f"uncached {what}: median {median(connection, asked):.1f} ms", flush=True)


def resident(pid):
    """Megabytes that the process holds in memory; none where the system does not say."""
    try:
        with open(f"/proc/{pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    except OSError:
        return None


def large(address, app, key, pid, rows=LARGE_ROWS):
    """One cold run, then a warm one, whose memory is watched."""
    own = "timestamp, id, name, url, duration, resultCode, success, performanceBucket, operation_Name, operation_Id, " \
        "session_Id, user_Id, cloud_RoleName, cloud_RoleInstance, itemCount, customDimensions, customMeasurements, client_City"
    more = [f"extra{n} = strcat(name, ' {n}')" for n in range(LARGE_COLUMNS - len(own.split(",")))]
    query = f"requests | take {rows} | project {own}, {', '.join(more)}"
    asked = request(app, key, "query", "no-store", query=query)
    connection = Connection(address)
    connection.ask(asked)
    idle, peak, done = resident(pid), 0.0, threading.Event()

    def watch():
        nonlocal peak
        while not done.wait(0.01):
            peak = max(peak, resident(pid) or 0.0)

    watcher = threading.Thread(target=watch)
    watcher.start()
    started = time.perf_counter()
    _, first, size = connection.ask(asked)
    took = time.perf_counter() - started
    done.set()
    watcher.join()
    assert b"\"tables\"" in first
    memory = f", memory {peak - idle:.0f} MB above idle ({idle:.0f} MB)" if idle else ""
    print(f"reply of {rows:,} rows x {LARGE_COLUMNS} columns: {took:.2f} s, {size / 1e6:,.0f} MB, {size / took / 1e6:,.0f} MB/s{memory}", flush=True)
