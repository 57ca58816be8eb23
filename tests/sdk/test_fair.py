"""One key floods the server with slow queries: some run, some wait, the rest is turned away; another key is answered all the while."""
import http.client
import json
import threading
import time
import unittest
import urllib.parse

import hostile
from server import Server

CONCURRENT, QUEUED, SENT = 5, 200, 300
# Hours of work on whole batches.
SLOW = "range x from 1 to 1000000000 step 1 | summarize n = count(), s = sum(x) by k = x % 1009 | where n != {}"


class Flood:
    """Connections that ask one slow query each."""

    def __init__(self, server, app, key):
        self.place = urllib.parse.urlsplit(server.url)
        self.path = f"/v1/apps/{app}/query"
        self.key = key
        self.connections, self.refused = [], []
        self.lock = threading.Lock()
        self.enough = threading.Event()

    def start(self):
        for number in range(SENT):
            threading.Thread(target=self.ask, args=(number,), daemon=True).start()

    def ask(self, number):
        connection = http.client.HTTPConnection(self.place.hostname, self.place.port, timeout=170)
        with self.lock:
            self.connections.append(connection)
        headers = {"X-Api-Key": self.key, "Content-Type": "application/json"}
        try:
            connection.request("POST", self.path, json.dumps({"query": SLOW.format(number)}), headers)
            reply = connection.getresponse()
            body = json.loads(reply.read())
        except (OSError, http.client.HTTPException, ValueError, AttributeError):
            return  # The test is over.
        with self.lock:
            self.refused.append((reply.status, reply.headers.get("Retry-After"), body))
            if len(self.refused) >= SENT - CONCURRENT - QUEUED:
                self.enough.set()

    def stop(self):
        for connection in self.connections:
            connection.close()


class Fair(unittest.TestCase):
    def test_a_flood_from_one_key_disturbs_no_other(self):
        with Server(query_rate=100_000) as server:
            noisy, noise = server.new_app("noisy")
            quiet, key = server.new_app("quiet")
            flood = Flood(server, noisy["appId"], noise)
            flood.start()
            self.addCleanup(flood.stop)
            self.assertTrue(flood.enough.wait(60), f"{len(flood.refused)} were refused")
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
        with Server(store_memory="48MiB", ingest_queue_time="1s", log_filter="warn") as server:
            noisy, _ = server.new_app("noisy")
            quiet, key = server.new_app("quiet")
            body = hostile.packed(noisy, 2_000)
            stopped = threading.Event()
            statuses = set()

            def work():
                while not stopped.is_set():
                    statuses.add(hostile.post(server, "/v2.1/track", body, 120, Content_Encoding="gzip")[0])

            flooders = [threading.Thread(target=work) for _ in range(48)]
            for flooder in flooders:
                flooder.start()
            try:
                time.sleep(3)
                answers = [hostile.track(server, quiet, 60)[0] for _ in range(90)]
            finally:
                stopped.set()
            for flooder in flooders:
                flooder.join()
            self.assertEqual(answers, [200] * 90)
            self.assertLessEqual(statuses, {200, 503})
            self.assertEqual(server.query(quiet, key, "customEvents | count"), [{"Count": 90}])


if __name__ == "__main__":
    unittest.main()
