"""One client floods the server: some of its requests run, some wait, the rest is refused. Another client is answered all the while.

Nothing that is asserted depends on the speed of the machine: waiting has no end that a test reaches, and shares are measured over the
same time.
"""
import collections
import http.client
import json
import threading
import unittest
import urllib.error
import urllib.parse
import urllib.request

import hostile
from server import Server

CONCURRENT, QUEUED, SENT = 5, 200, 300
# Of the application that floods the server with telemetry: requests that are stored at once, that wait, and that are sent at once.
STORED, WAITING, FLOODERS = 4, 12, 48
POSTS = 90
# Hours of work on whole batches.
SLOW = "range x from 1 to 1000000000 step 1 | summarize n = count(), s = sum(x) by k = x % 1009 | where n != {}"


def track(server, app):
    """The status of a post of one event, and what the reply says if it is refused."""
    request = urllib.request.Request(server.url + "/v2.1/track", json.dumps(hostile.event(app)).encode())
    try:
        with urllib.request.urlopen(request, timeout=600) as reply:
            return reply.status, ""
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


class Flood:
    """Connections that ask one slow query each."""

    def __init__(self, server, app, key):
        self.place = urllib.parse.urlsplit(server.url)
        self.path = f"/v1/apps/{app}/query"
        self.key = key
        self.connections, self.refused, self.lost = [], [], []
        self.lock = threading.Lock()
        self.enough = threading.Event()

    def start(self):
        for number in range(SENT):
            threading.Thread(target=self.ask, args=(number,), daemon=True).start()

    def ask(self, number):
        connection = http.client.HTTPConnection(self.place.hostname, self.place.port)
        with self.lock:
            self.connections.append(connection)
        headers = {"X-Api-Key": self.key, "Content-Type": "application/json"}
        try:
            connection.request("POST", self.path, json.dumps({"query": SLOW.format(number)}), headers)
            reply = connection.getresponse()
            body = json.loads(reply.read())
        except (OSError, http.client.HTTPException, ValueError, AttributeError) as error:
            # Also at the end of the test, which closes the connections.
            return self.lost.append(repr(error))
        with self.lock:
            self.refused.append((reply.status, reply.headers.get("Retry-After"), body))
            if len(self.refused) >= SENT - CONCURRENT - QUEUED:
                self.enough.set()

    def stop(self):
        for connection in self.connections:
            connection.close()


class Fair(unittest.TestCase):
    def test_a_flood_from_one_key_disturbs_no_other(self):
        with Server(query_rate=100_000, query_queue_time="1h", query_timeout="1h") as server:
            noisy, noise = server.new_app("noisy")
            quiet, key = server.new_app("quiet")
            flood = Flood(server, noisy["appId"], noise)
            flood.start()
            self.addCleanup(flood.stop)
            self.assertTrue(flood.enough.wait(600), f"{len(flood.refused)} were refused; {flood.lost}")
            for number in range(20):
                rows = server.query(quiet, key, f"range x from 1 to 100000 step 1 | summarize s = sum(x) | extend {number}")
                self.assertEqual(rows[0]["s"], 5_000_050_000)
            # Five run and two hundred wait still: no more was answered than what was turned away.
            self.assertEqual(len(flood.refused), SENT - CONCURRENT - QUEUED)
            for status, retry, body in flood.refused:
                self.assertEqual(status, 429, body)
                self.assertGreaterEqual(int(retry), 1)
                self.assertEqual(body["error"]["code"], "ThrottledError")

    def test_a_flood_of_telemetry_disturbs_no_other_application(self):
        with Server(store_memory="48MiB", ingest_concurrency=STORED, ingest_queue=WAITING, ingest_queue_time="1h",
                    log_filter="warn") as server:
            noisy, _ = server.new_app("noisy")
            quiet, key = server.new_app("quiet")
            # A server learns of a new application within a fraction of a second, or from its first request; until then its requests wait with those whose
            # key is unknown.
            for app in (noisy, quiet):
                self.assertEqual(track(server, app), (200, ""))
            body = hostile.packed(noisy, 2_000)
            stopped, flooded = threading.Event(), threading.Event()
            lock = threading.Lock()
            counts = collections.Counter()

            def work():
                while not stopped.is_set():
                    status, _ = hostile.post(server, "/v2.1/track", body, 600, Content_Encoding="gzip")
                    with lock:
                        counts[status] += 1
                    if status == 503:
                        flooded.set()

            flooders = [threading.Thread(target=work) for _ in range(FLOODERS)]
            for flooder in flooders:
                flooder.start()
            try:
                self.assertTrue(flooded.wait(600), "the flood is more than the application may send")
                with lock:
                    before = counts.copy()
                answers = [track(server, quiet) for _ in range(POSTS)]
                with lock:
                    meanwhile = counts - before
            finally:
                stopped.set()
            for flooder in flooders:
                flooder.join()
            self.assertEqual(answers, [(200, "")] * POSTS)
            self.assertLessEqual(set(counts), {200, 503})
            # A post waits for requests of the flood that are being stored at most, and not for those that wait.
            self.assertLessEqual(meanwhile[200], POSTS * STORED)
            self.assertEqual(server.query(quiet, key, "customEvents | count"), [{"Count": POSTS + 1}])


if __name__ == "__main__":
    unittest.main()
