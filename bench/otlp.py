#!/usr/bin/env python3
"""Sends spans by OTLP and the same as envelopes, each to a server of its own, from socket to fsync, and prints items per second and the
server's memory.

usage: otlp.py [--spans N] [--connections N] [--seconds S]
With --seconds, spans are sent again and again for so long instead, and the memory of the second and the last quarter of the time are compared.
The payloads are made before the clock starts. The sender takes processor time too, of the same machine.
"""
import argparse
import gzip
import http.client
import json
import os
import pathlib
import sys
import threading
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "sdk"))
from process import Checks, choose_program, status

BATCH = 8192
# Spans per second on 2 cores.
GOAL = 100_000


def varint(number):
    out = bytearray()
    while number > 0x7f:
        out.append(number & 0x7f | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number, kind, value):
    return varint(number << 3 | kind) + value


def message(number, value):
    return field(number, 2, varint(len(value)) + value)


def text(number, value):
    return message(number, value.encode())


def attribute(number, key, value):
    value = text(1, value) if isinstance(value, str) else field(3, 0, varint(value))
    return message(number, text(1, key) + message(2, value))


ATTRIBUTES = {"http.request.method": "GET", "url.scheme": "https", "url.path": "/orders/17", "server.address": "shop.test",
              "http.response.status_code": 200, "http.route": "/orders/{id}", "network.protocol.version": "2", "tenant": "blue",
              "plan": "pro"}


def spans(first, count, now):
    """A request of spans: one server span and three client spans in each trace."""
    out = []
    for number in range(first, first + count):
        trace, kind = number // 4, 2 if number % 4 == 0 else 3
        parts = [message(1, (trace + 1).to_bytes(16)), message(2, (number + 1).to_bytes(8)), text(5, "GET /orders/{id}"),
                 field(6, 0, varint(kind)), field(7, 1, now.to_bytes(8, "little")),
                 field(8, 1, (now + 5_000_000).to_bytes(8, "little"))]
        if kind == 3:
            parts.append(message(4, (trace * 4 + 1).to_bytes(8)))
        parts += [attribute(9, key, value) for key, value in ATTRIBUTES.items()]
        out.append(message(2, b"".join(parts)))
    resource = attribute(1, "service.name", "shop") + attribute(1, "service.instance.id", "shop-7")
    return message(1, message(1, resource) + message(2, b"".join(out)))


def envelopes(first, count, key, moment):
    """The same as a body of envelopes."""
    items = []
    for number in range(first, first + count):
        trace = number // 4
        tags = {"ai.cloud.role": "shop", "ai.cloud.roleInstance": "shop-7", "ai.operation.id": f"{trace + 1:032x}",
                "ai.operation.name": "GET /orders/{id}"}
        data = {"id": f"{number + 1:016x}", "name": "GET /orders/{id}", "duration": "00:00:00.005", "success": True,
                "properties": {"tenant": "blue", "plan": "pro"}}
        if number % 4 == 0:
            kind, more = "RequestData", {"responseCode": "200", "url": "https://shop.test/orders/17"}
        else:
            tags["ai.operation.parentId"] = f"{trace * 4 + 1:016x}"
            kind, more = "RemoteDependencyData", {"resultCode": "200", "type": "HTTP", "target": "shop.test"}
        items.append({"time": moment, "iKey": key, "tags": tags, "data": {"baseType": kind, "baseData": {**data, **more}}})
    return "\n".join(map(json.dumps, items)).encode()


def measure(name, path, headers, bodies, connections):
    from server import Server
    with Server(query_rate=1_000_000) as server:
        app, key = server.new_app("bench")
        headers = {**headers, "x-instrumentation-key": app["instrumentationKey"]}
        bodies = bodies(app["instrumentationKey"])
        place = urllib.parse.urlsplit(server.url)
        left, failures, lock = list(bodies), [], threading.Lock()

        def send():
            connection = http.client.HTTPConnection(place.hostname, place.port)
            while True:
                with lock:
                    if not left:
                        return
                    body = left.pop()
                while True:
                    connection.request("POST", path, body, headers)
                    reply = connection.getresponse()
                    said = reply.read()
                    if reply.status != 503:
                        break
                    time.sleep(0.1)
                if reply.status != 200 or b"rejected" in said:
                    failures.append((reply.status, said[:200]))

        count = len(bodies) * BATCH
        threads = [threading.Thread(target=send) for _ in range(connections)]
        started = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        taken = time.monotonic() - started
        assert not failures, failures[:3]
        found = server.query(app, key, "union requests, dependencies | count")[0]["Count"]
        assert found == count, (found, count)
        print(f"{name:28} {count / taken:10,.0f} items/s   memory {status(server.process.pid, 'VmHWM'):6.0f} MiB at most", flush=True)
        return count / taken


def send_for(seconds, bodies, connections):
    """Sends the bodies again and again, and compares the memory of the second quarter of the time with that of the last one."""
    from server import Server
    checks = Checks()
    with Server(query_rate=1_000_000) as server:
        app, _ = server.new_app("bench")
        headers = {"Content-Type": "application/x-protobuf", "x-instrumentation-key": app["instrumentationKey"]}
        place = urllib.parse.urlsplit(server.url)
        started = time.monotonic()
        sent, refused = [0] * connections, [0] * connections

        def send(number):
            connection = http.client.HTTPConnection(place.hostname, place.port)
            while time.monotonic() < started + seconds:
                connection.request("POST", "/v1/traces", bodies[(sent[number] + number) % len(bodies)], headers)
                reply = connection.getresponse()
                reply.read()
                if reply.status == 200:
                    sent[number] += 1
                elif reply.status == 503:
                    refused[number] += 1
                    time.sleep(0.1)
                else:
                    raise SystemExit(f"status {reply.status}")

        threads = [threading.Thread(target=send, args=[number]) for number in range(connections)]
        for thread in threads:
            thread.start()
        samples = []
        while any(thread.is_alive() for thread in threads):
            samples.append((time.monotonic() - started, status(server.process.pid, "VmRSS")))
            time.sleep(0.25)
        quarter = lambda number: [rss for at, rss in samples if number <= 4 * at / seconds < number + 1]
        second, last = quarter(1), quarter(3)
        mean = lambda values: sum(values) / len(values)
        print(f"{sum(sent) * BATCH / seconds:,.0f} spans/s for {seconds} s, {sum(refused)} requests refused with 503")
        for number in range(4):
            print(f"quarter {number + 1}: mean {mean(quarter(number)):.0f} MiB, at most {max(quarter(number)):.0f} MiB")
        checks.check("mean memory of the last quarter", f"{mean(last):.0f} MiB", mean(last) < 1.1 * mean(second), "at most 10% above the second")
        checks.check("most memory of the last quarter", f"{max(last):.0f} MiB", max(last) < 1.1 * max(second), "at most 10% above the second")
    checks.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spans", type=int, default=1_000_000)
    parser.add_argument("--connections", type=int, default=4)
    parser.add_argument("--seconds", type=int)
    args = parser.parse_args()
    choose_program("release")
    starts = range(0, args.spans, BATCH)
    now = time.time_ns()
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now / 1e9))
    protobuf = {"Content-Type": "application/x-protobuf"}
    plain = [spans(first, BATCH, now) for first in starts]
    if args.seconds:
        return send_for(args.seconds, plain, args.connections)
    reached = measure("OTLP protobuf", "/v1/traces", protobuf, lambda _: plain, args.connections)
    packed = [gzip.compress(body, 1) for body in plain]
    measure("OTLP protobuf, gzip", "/v1/traces", {**protobuf, "Content-Encoding": "gzip"}, lambda _: packed, args.connections)
    del plain, packed
    measure("envelopes", "/v2.1/track", {"Content-Type": "application/x-json-stream"},
            lambda key: [envelopes(first, BATCH, key, moment) for first in starts], args.connections)
    print(f"goal: {GOAL:,} spans/s on 2 cores; reached {reached:,.0f} on {os.cpu_count()}")


if __name__ == "__main__":
    main()
