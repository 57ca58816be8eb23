#!/usr/bin/env python3
"""Measures test mode: how long a reset of a million items takes, and how soon /test/wait answers after the item that fulfils it was
acknowledged.

The sender, the waiting client and the server share the processors; the client adds about a millisecond.

usage: test_mode.py [--debug] [items]
"""
import concurrent.futures
import gzip
import json
import statistics
import sys
import threading
import time
import urllib.request

from process import TARGET, choose_program, percentile, status

BATCH = 20_000
RESETS = 5
WAITS = 200


def envelope(key, number):
    return {"time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "iKey": key,
            "data": {"baseType": "RequestData", "baseData": {
                "id": f"{number:016x}", "name": f"GET /{number % 97}", "duration": "00:00:00.0420000", "success": True,
                "responseCode": "200", "url": f"http://shop/{number}", "properties": {"lane": str(number % 7)}}}}


def post(url, body, **headers):
    request = urllib.request.Request(url, body, headers)
    with urllib.request.urlopen(request, timeout=60) as reply:
        return json.load(reply)


def fill(hindsight, items):
    def send(start):
        numbers = range(start, min(start + BATCH, items))
        body = gzip.compress(b"\n".join(json.dumps(envelope(hindsight.instrumentation_key, number)).encode() for number in numbers), 1)
        verdict = post(hindsight.url + "/v2.1/track", body, **{"Content-Encoding": "gzip"})
        assert verdict["itemsAccepted"] == len(numbers), verdict
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(send, range(0, items, BATCH)))


def count(hindsight):
    return hindsight.query("requests | count")[0]["Count"]


def measure_resets(hindsight, items):
    hindsight.reset()
    begun = time.monotonic()
    fill(hindsight, items)
    assert count(hindsight) == items
    memory = status(hindsight.info["pid"], "VmRSS")
    print(f"  filled {items:,} items in {time.monotonic() - begun:.1f} s, {memory:.0f} MiB")
    hindsight.snapshot("full")
    resets, restores = [], []
    for _ in range(RESETS):
        begun = time.monotonic()
        hindsight.reset()
        resets.append(time.monotonic() - begun)
        assert count(hindsight) == 0
        begun = time.monotonic()
        hindsight.restore("full")
        restores.append(time.monotonic() - begun)
        assert count(hindsight) == items
    print(f"  reset of {items:,} items: {1000 * max(resets):.1f} ms at most, {1000 * statistics.median(resets):.1f} ms median")
    print(f"  restore of {items:,} items: {1000 * max(restores):.1f} ms at most")
    # Not with a snapshot that keeps the rows: a reset that frees them.
    hindsight.snapshot("full")
    hindsight.reset()
    hindsight.snapshot("full")
    fill(hindsight, items)
    begun = time.monotonic()
    hindsight.reset()
    print(f"  reset of {items:,} items that nothing else holds, right after the last: {1000 * (time.monotonic() - begun):.1f} ms")


def measure_waits(hindsight):
    """From the acknowledgement, as the sender has it, to the reply, as the waiting client has it."""
    latencies, from_send = [], []
    for number in range(WAITS):
        hindsight.reset()
        answered = []
        waiting = threading.Thread(target=lambda: (hindsight.wait("requests | where name == 'GET /0'", min_count=1),
                                                   answered.append(time.monotonic())))
        waiting.start()
        time.sleep(0.05)
        body = json.dumps(envelope(hindsight.instrumentation_key, 0)).encode()
        sent = time.monotonic()
        post(hindsight.url + "/v2.1/track", body)
        acknowledged = time.monotonic()
        waiting.join()
        latencies.append(max(0.0, answered[0] - acknowledged))
        from_send.append(answered[0] - sent)
    for what, values in [("acknowledgement", latencies), ("sending", from_send)]:
        print(f"  wait answers after {what}: {1000 * statistics.median(values):.1f} ms median, "
              f"{1000 * percentile(values, 0.99):.1f} ms p99, {1000 * max(values):.1f} ms at most")


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--debug"]
    choose_program("debug" if "--debug" in sys.argv else "release")
    items = int(arguments[0]) if arguments else 1_000_000
    sys.path.insert(0, str(TARGET.parent / "packages" / "pytest-hindsight"))
    from pytest_hindsight import Hindsight
    for in_memory in (True, False):
        print("telemetry in memory" if in_memory else "telemetry in a temporary folder")
        with Hindsight(in_memory=in_memory) as hindsight:
            measure_waits(hindsight)
            measure_resets(hindsight, items)


if __name__ == "__main__":
    main()
