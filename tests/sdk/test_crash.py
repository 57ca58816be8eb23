"""kill -9 at any moment, again and again under load: nothing acknowledged is lost, nothing is stored twice."""
import datetime
import http.client
import json
import os
import random
import threading
import time
import unittest
import urllib.parse

from server import Server

KILLS = int(os.environ.get("HINDSIGHT_TEST_KILLS", 50))
SENDERS = 4
BATCH = 20


class Sender(threading.Thread):
    """Posts batches until the server goes away; remembers which items were acknowledged."""

    def __init__(self, url, key, prefix):
        super().__init__(daemon=True)
        self.address = urllib.parse.urlsplit(url).netloc
        self.key, self.prefix, self.acknowledged = key, prefix, []

    def batch(self, first):
        time_ = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        ids = [f"{self.prefix}-{first + i}" for i in range(BATCH)]
        items = [{"name": "r", "time": time_, "iKey": self.key, "data": {"baseType": "RequestData", "baseData": {
            "ver": 2, "id": id_, "name": "crash", "duration": "00:00:00.001", "success": True, "responseCode": "200"}}}
            for id_ in ids]
        return ids, json.dumps(items)

    def run(self):
        connection = http.client.HTTPConnection(self.address, timeout=10)
        first = 0
        try:
            while True:
                ids, body = self.batch(first)
                connection.request("POST", "/v2.1/track", body, {"Content-Type": "application/json"})
                reply = connection.getresponse()
                if reply.status == 200 and json.loads(reply.read())["itemsAccepted"] == BATCH:
                    self.acknowledged += ids
                first += BATCH
        except (OSError, http.client.HTTPException, ValueError):
            pass


class Crash(unittest.TestCase):
    def test_kill_under_load(self):
        chance = random.Random(20)
        acknowledged = []
        with Server() as server:
            app, key = server.new_app("crash")
            for round_ in range(KILLS):
                senders = [Sender(server.url, app["instrumentationKey"], f"{round_}-{n}") for n in range(SENDERS)]
                for sender in senders:
                    sender.start()
                time.sleep(chance.uniform(0.05, 0.4))
                server.kill()
                for sender in senders:
                    sender.join(timeout=20)
                    acknowledged += sender.acknowledged
                server.start()
            rows = server.query(app, key, "requests | summarize n = count() by id")
        stored = {row["id"]: row["n"] for row in rows}
        self.assertGreater(len(acknowledged), KILLS * BATCH)
        self.assertEqual([id_ for id_ in acknowledged if id_ not in stored], [], "acknowledged items were lost")
        self.assertEqual({id_: n for id_, n in stored.items() if n != 1}, {}, "items were stored more than once")
        print(f"{KILLS} kills, {len(acknowledged):,} items acknowledged, {len(stored):,} stored")


if __name__ == "__main__":
    unittest.main()
