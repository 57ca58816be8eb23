"""Queries that run at three nodes of the real program, while nodes are killed and paused: each answer is right, or an error."""
import datetime
import json
import os
import pathlib
import random
import signal
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

from postgres import Postgres, programs
from test_nodes import Node
from test_same_answers import same
from waiting import eventually

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import telemetry  # noqa: E402

REQUESTS = int(os.environ.get("HINDSIGHT_TEST_REQUESTS", 6000))
QUERIES = [
    "requests | summarize n = count(), s = sum(duration) by name | sort by name asc",
    "requests | summarize u = dcount(user_Id), p = percentile(duration, 95) by bin(timestamp, 1h) | sort by timestamp asc",
    "traces | where message contains 'timed out after' | summarize n = count() by severityLevel | sort by severityLevel asc",
    "requests | sort by duration desc, id asc | take 20 | project id, duration",
    "requests | where success == false | join kind=inner (dependencies | project operation_Id, target) on operation_Id "
    "| summarize n = count() by target | sort by target asc",
    "requests | where url contains '1' | summarize n = count(), ids = dcount(id)",
]


def filled(test, nodes):
    """An application with telemetry from all nodes that is in segments, and a key that reads it."""
    app, key = nodes[0].new_app("shop")
    end = datetime.datetime.now(datetime.timezone.utc).replace(minute=0, second=0, microsecond=0)
    for number, (_, body) in enumerate(telemetry.batches(app["instrumentationKey"], REQUESTS, 2, end, size=500)):
        test.eventually(lambda: is_stored(nodes[number % len(nodes)], body))
    for node in nodes:
        node.stop()
        node.start()

    def is_complete():
        test.assertEqual(nodes[0].query(app, key, "requests | count"), [{"Count": REQUESTS}])
        return True

    test.eventually(is_complete)
    return app, key


def is_stored(node, body):
    request = urllib.request.Request(node.url + "/v2.1/track", body, {"Content-Type": "application/x-json-stream"})
    with urllib.request.urlopen(request, timeout=60) as reply:
        verdict = json.load(reply)
    if verdict["itemsAccepted"] != verdict["itemsReceived"]:
        # Sent again, what was accepted would be there twice.
        raise ValueError(f"a part of the items was accepted: {verdict}")
    return True


@unittest.skipUnless(programs(), "PostgreSQL is not installed")
class Distributed(unittest.TestCase):
    def test_nodes_that_fail(self):
        with Postgres() as postgres, tempfile.TemporaryDirectory(prefix="hindsight-objects-") as objects, \
                Node(postgres, objects, "one", store_replicas="auto") as one, Node(postgres, objects, "two", store_replicas="auto") as two, \
                Node(postgres, objects, "three", store_replicas="auto") as three:
            app, key = filled(self, (one, two, three))
            expected = [one.query(app, key, query) for query in QUERIES]
            self.assertTrue(all(expected), "no query is empty")
            self.assertGreater(one.figure("hindsight_fragments_sent_total"), len(QUERIES))
            self.assertEqual(one.figure("hindsight_fragments_failed_total"), 0)
            answers, refused, wrong, stop = [], [], [], threading.Event()

            def querying(number):
                chance = random.Random(number)
                while not stop.is_set():
                    index = chance.randrange(len(QUERIES))
                    begun = time.monotonic()
                    try:
                        found = one.query(app, key, QUERIES[index])
                    except urllib.error.HTTPError as error:
                        refused.append(error.code)
                        continue
                    answers.append(time.monotonic() - begun)
                    if not same(found, expected[index], in_order=True):
                        wrong.append((QUERIES[index], found, expected[index]))

            threads = [threading.Thread(target=querying, args=(number,)) for number in range(2)]
            for thread in threads:
                thread.start()
            chance, rounds = random.Random(7), 0
            least = int(os.environ.get("HINDSIGHT_TEST_KILLS", 3))
            # A node that fails while it runs no part of a query fails no part, so some rounds may be in vain.
            while rounds < least or (rounds < least + 30 and one.figure("hindsight_fragments_failed_total") == 0):
                time.sleep(chance.uniform(0.5, 2))
                self.disturb(rounds, chance.choice((two, three)), chance)
                rounds += 1
            stop.set()
            for thread in threads:
                thread.join()
            self.assertEqual(wrong[:1], [])
            self.assertEqual(set(refused) - {503}, set())
            failed = one.figure("hindsight_fragments_failed_total")
            self.assertGreater(failed, 0, "no part failed")
            print(f"{rounds} failures: {len(answers)} right answers, none wrong, {len(refused)} refused with 503; {failed:.0f} parts of other nodes failed; "
                  f"the slowest answer took {max(answers):.1f} s")

    @staticmethod
    def disturb(round_, node, chance):
        if round_ % 2 == 0:
            node.kill()
            time.sleep(chance.uniform(0, 2))
            node.start()
        else:
            node.process.send_signal(signal.SIGSTOP)
            time.sleep(chance.uniform(0.5, 6))
            node.process.send_signal(signal.SIGCONT)

    def eventually(self, holds, seconds=30):
        eventually(self, holds, seconds)
