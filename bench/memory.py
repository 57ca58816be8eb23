#!/usr/bin/env python3
"""Hostile queries and bodies against a program with 512 MiB of memory: each ends with an error that names a limit.

usage: memory.py [--build debug|release]

The program runs with the settings of docs/limits.md for 512 MiB. Where a control group can be made, the system ends the program if it
uses more; elsewhere its peak is measured (`VmHWM`, with the pages of the program's own file). The requests of each kind run eight at a time.
HINDSIGHT_PROGRAM may name the program.
"""
import argparse
import concurrent.futures
import gzip
import json
import os
import urllib.error
import urllib.request

import control_group
import process

LIMIT = 512
# The settings of docs/limits.md for 512 MiB.
SETTINGS = {"query_memory": "96MiB", "query_concurrency": 2, "query_timeout": "20s", "cache_bytes": "8MiB",
            "cache_max_reply_bytes": "1MiB", "http_body_memory": "64MiB", "ingest_max_decompressed_bytes": "8MiB",
            "store_memory": "64MiB", "store_footer_cache": "8MiB", "store_column_cache": "8MiB", "http_max_connections": 512, "log_filter": "error"}
QUERIES = {
    "a cross join": "range x from 1 to 1000000 step 1 | extend k = 1 | join kind=inner (range y from 1 to 1000000 step 1 | extend k = 1) on k | summarize count() by x, y",
    "many groups": "range x from 1 to 100000000 step 1 | summarize count() by x | count",
    "a large list": "range x from 1 to 100000000 step 1 | summarize l = make_list(x, 100000000) | project array_length(l)",
    "a large set": "range x from 1 to 100000000 step 1 | summarize l = make_set(x, 100000000) | project array_length(l)",
    "a large bag": "range x from 1 to 10000000 step 1 | summarize b = make_bag(bag_pack(tostring(x), x)) | project array_length(bag_keys(b))",
    "a long text": "print s = strrep('x', 1000000000)",
    "texts that double": "print a = 'x' | " + " | ".join("extend a = strcat(a, a)" for _ in range(40)) + " | project strlen(a)",
    "arrays that double": "print a = dynamic([1]) | " + " | ".join("extend a = array_concat(a, a)" for _ in range(40)) + " | project array_length(a)",
    "a large sort": "range x from 1 to 100000000 step 1 | extend s = strcat('text ', tostring(x)) | sort by s desc | take 1",
    "expanded lists": "print a = range(1, 100000), b = range(1, 100000) | mv-expand a | mv-expand b | summarize count() by tostring(a), tostring(b)",
    "many columns": "range x from 1 to 1000000 step 1 | evaluate pivot(x)",
    "deep parentheses": "print " + "(" * 500_000,
    "rows without end": "range x from 1 to 100000000000 step 1",
}


def bodies():
    return {
        "packed blanks": gzip.compress(b" " * (512 << 20), 1),
        "packed items": gzip.compress(b"{}" * 64_000),
        "packed small items": gzip.compress(b"1\n" * (4 << 20)),
        "an item of megabytes": gzip.compress(b'{"a":"' + b"x" * (7 << 20) + b'"}'),
        "a large plain body": b"[" * (16 << 20),
    }


def send(server, path, body, **headers):
    """Status and message of a request."""
    request = urllib.request.Request(server.url + path, body, {name.replace("_", "-"): value for name, value in headers.items()})
    try:
        with urllib.request.urlopen(request, timeout=120) as reply:
            size, last = 0, b""
            while part := reply.read(1 << 16):
                size, last = size + len(part), (last + part)[-2000:]
            # A reply that was begun says at its end what is missing.
            return reply.status, last.decode(errors="replace") if b"PartialError" in last else f"{size} bytes"
    except urllib.error.HTTPError as error:
        return error.code, error.read(4000).decode(errors="replace")


def names_a_limit(status, message):
    """Whether an answer is a result, or an error that says which limit was reached."""
    words = ("`", "limit", "memory", "timeout", "seconds", "maximum", "most", "max_")
    return status == 200 or any(word in message for word in words)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="release", choices=["debug", "release"])
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    process.choose_program(arguments.build)
    group = control_group.make(os.environ["HINDSIGHT_PROGRAM"], LIMIT)
    if group:
        os.environ["HINDSIGHT_PROGRAM"] = group.program
    print(f"{LIMIT} MiB, {'in a control group' if group else 'without a control group: the peak is measured'}")
    import hostile
    from server import Server
    checks = process.Checks()
    with Server(**SETTINGS) as server, concurrent.futures.ThreadPoolExecutor(8) as pool:
        app, key = server.new_app("shop")
        place = f"/v1/apps/{app['appId']}/query"
        headers = {"X_Api_Key": key, "Content_Type": "application/json", "Cache_Control": "no-cache"}
        kinds = {name: lambda text=text: send(server, place, json.dumps({"query": text}).encode(), **headers)
                 for name, text in QUERIES.items()}
        for name, body in bodies().items():
            encoding = {} if name.endswith("plain body") else {"Content_Encoding": "gzip"}
            kinds[name] = lambda body=body, encoding=encoding: send(server, "/v2.1/track", body, **encoding)
        for name, ask in kinds.items():
            if arguments.only not in name:
                continue
            answers = [reply.result() for reply in [pool.submit(ask) for _ in range(8)]]
            good = server.process.poll() is None and all(names_a_limit(*answer) for answer in answers)
            statuses = sorted({status for status, _ in answers})
            peak = process.status(server.process.pid, "VmHWM") if server.process.poll() is None else 0
            checks.check(name, ", ".join(map(str, statuses)), good, f"a limit, peak {peak:.0f} MiB")
            if not good:
                print("    " + answers[0][1][:400])
        status, _ = hostile.track(server, app)
        checks.check("telemetry is taken afterwards", status, status == 200, "200")
        peak = process.status(server.process.pid, "VmHWM")
        if group is None:
            checks.check("peak", f"{peak:.0f} MiB", peak < LIMIT, f"< {LIMIT} MiB")
    if group:
        print(f"the group's peak: {group.peak() or peak:.0f} MiB, files in memory included; the program's: {peak:.0f} MiB")
        checks.check("processes that the system ended", group.killed(), not group.killed(), "none")
        group.close()
    checks.end()


if __name__ == "__main__":
    main()
