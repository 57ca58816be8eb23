"""kill -9 at any moment, again and again under load: nothing acknowledged is lost, nothing is stored twice.

HINDSIGHT_TEST_KILLS says how often (default 50; docs/reliability.md has the figure of 1,000). Memory is scarce and segments are merged each second, so that
the kills meet seals and merges too.
"""
import collections
import datetime
import http.client
import json
import os
import random
import threading
import time
import unittest
import urllib.parse
import urllib.request

from server import Server

KILLS = int(os.environ.get("HINDSIGHT_TEST_KILLS", 50))
SENDERS = 4
BATCH = 20
# Items of closed hours, which are merged.
HOURS_AGO = range(2, 6)


class Sender(threading.Thread):
    """Posts batches until the server goes away; remembers which items were acknowledged."""

    def __init__(self, url, key, round_, number):
        super().__init__(daemon=True)
        self.address = urllib.parse.urlsplit(url).netloc
        self.key, self.round, self.prefix, self.acknowledged = key, round_, f"{round_}-{number}", []

    def batch(self, first):
        time_ = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(hours=random.choice(HOURS_AGO))
        ids = [f"{self.prefix}-{first + i}" for i in range(BATCH)]
        items = [{"name": "r", "time": time_.strftime("%Y-%m-%dT%H:%M:%S.%fZ"), "iKey": self.key, "data": {
            "baseType": "RequestData", "baseData": {"ver": 2, "id": id_, "name": f"round {self.round}", "duration": "00:00:00.001",
                                                    "success": True, "responseCode": "200"}}}
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
                answer = reply.read()
                if reply.status == 200 and json.loads(answer)["itemsAccepted"] == BATCH:
                    self.acknowledged += ids
                first += BATCH
        except (OSError, http.client.HTTPException, ValueError):
            pass
        finally:
            connection.close()


def segments(server):
    """The names of the files of segments."""
    return {name for _, _, names in os.walk(os.path.join(server.data, "segments")) for name in names}


class Crash(unittest.TestCase):
    def compare(self, server, app, key, round_, acknowledged):
        """The items of a round, each exactly once; answers how many there are."""
        rows = server.query(app, key, f"requests | where name == 'round {round_}' | summarize n = count() by id")
        stored = {row["id"]: row["n"] for row in rows}
        self.assertEqual([id_ for id_ in acknowledged if id_ not in stored], [], f"round {round_}: acknowledged items were lost")
        self.assertEqual({id_: n for id_, n in stored.items() if n != 1}, {}, f"round {round_}: items were stored more than once")
        return len(stored)

    def test_kill_under_load(self):
        chance = random.Random(20)
        acknowledged, stored, files = {}, {}, collections.Counter()
        with Server(store_memory="2MiB", store_compaction_interval="1s", query_rate=1_000_000) as server:
            app, key = server.new_app("crash")
            for round_ in range(KILLS):
                senders = [Sender(server.url, app["instrumentationKey"], round_, n) for n in range(SENDERS)]
                before = segments(server)
                for sender in senders:
                    sender.start()
                # Compaction looks for work after a second, which one kill in four is to meet.
                time.sleep(chance.choice([chance.uniform(0.05, 0.4)] * 3 + [chance.uniform(0.9, 1.5)]))
                server.kill()
                after = segments(server)
                files.update(new=len(after - before), replaced=len(before - after))
                for sender in senders:
                    sender.join(timeout=20)
                acknowledged[round_] = [id_ for sender in senders for id_ in sender.acknowledged]
                server.start()
                stored[round_] = self.compare(server, app, key, round_, acknowledged[round_])
            # What later kills, seals and merges made of the earlier rounds.
            for round_ in range(KILLS):
                self.assertEqual(self.compare(server, app, key, round_, acknowledged[round_]), stored[round_])
        total = sum(map(len, acknowledged.values()))
        self.assertGreater(total, KILLS * BATCH)
        self.assertGreater(files["new"], 0, "no segment was sealed")
        if KILLS >= 50:
            self.assertGreater(files["replaced"], 0, "no segments were merged")
        print(f"{KILLS} kills, {total:,} items acknowledged, {sum(stored.values()):,} stored; while clients sent, {files['new']:,} files of segments"
              f" were made and {files['replaced']:,} replaced")


if __name__ == "__main__":
    unittest.main()
