"""Three nodes of one version of the program become nodes of another one, each in turn, under telemetry and queries.

HINDSIGHT_TEST_OTHER_PROGRAM names the program that they begin with (`make upgrade-test OTHER=PROGRAM`).
"""
import contextlib
import os
import random
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.error

from postgres import Postgres, programs
from server import PROGRAM
from test_distributed import QUERIES, filled
from test_nodes import Node
from test_postgres import send
from test_same_answers import same
from waiting import eventually

OTHER = os.environ.get("HINDSIGHT_TEST_OTHER_PROGRAM", "")
SENT = "hindsight_fragments_sent_total"
# How long nodes of two versions run beside each other after each step, seconds.
MIXED = 5


def version(program):
    return subprocess.check_output([program, "--version"], text=True).strip()


class Load:
    """Telemetry to all nodes and queries at all nodes."""

    def __init__(self, nodes, app, key, expected):
        self.nodes, self.app, self.key, self.expected = nodes, app, key, expected
        self.sent_to, self.send_key = nodes[0].new_app("upgrade")
        self.acknowledged, self.answers, self.wrong = set(), 0, []
        self.stop = threading.Event()
        self.threads = [threading.Thread(target=self.repeat, args=(work, number), daemon=True)
                        for work in (self.sending, self.querying) for number in range(2)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        for thread in self.threads:
            thread.join()

    def repeat(self, work, number):
        chance, count = random.Random(number), 0
        while not self.stop.is_set():
            try:
                work(chance.choice(self.nodes), chance, f"{number}-{count}")
            except (OSError, AssertionError):
                # A node that is being replaced answers nothing, or 503, or that it takes no item.
                time.sleep(0.05)
            count += 1

    def sending(self, node, _, id_):
        send(node, self.sent_to, id_)
        self.acknowledged.add(id_)
        time.sleep(0.01)

    def querying(self, node, chance, _):
        index = chance.randrange(len(QUERIES))
        found = node.query(self.app, self.key, QUERIES[index])
        self.answers += 1
        if not same(found, self.expected[index], in_order=True):
            self.wrong.append((node.name, QUERIES[index], found, self.expected[index]))


@unittest.skipUnless(programs(), "PostgreSQL is not installed")
@unittest.skipUnless(OTHER, "HINDSIGHT_TEST_OTHER_PROGRAM names no program of another version")
class Upgrade(unittest.TestCase):
    def test_one_node_after_the_other(self):
        self.assertNotEqual(version(OTHER), version(PROGRAM))
        with Postgres() as postgres, tempfile.TemporaryDirectory(prefix="hindsight-objects-") as objects, contextlib.ExitStack() as stack:
            nodes = [Node(postgres, objects, name, store_replicas="auto") for name in ("one", "two", "three")]
            for node in nodes:
                node.program = OTHER
                stack.enter_context(node)
            app, key = filled(self, nodes)
            expected = [nodes[0].query(app, key, query) for query in QUERIES]
            self.assertTrue(all(expected), "no query is empty")
            self.assertGreater(nodes[0].figure(SENT), 0, "nodes of one version share queries")
            with Load(nodes, app, key, expected) as load:
                for replaced, node in enumerate(nodes, 1):
                    answers = load.answers
                    node.stop()
                    node.program = PROGRAM
                    node.start()
                    time.sleep(MIXED)
                    self.assertGreater(load.answers, answers)
                    if replaced == 1:
                        self.assertEqual(node.figure(SENT), 0, "the first node of a version runs its queries alone")
            self.assertEqual(load.wrong[:2], [])
            self.assertGreater(len(load.acknowledged), 100)
            before = [node.figure(SENT) for node in nodes]
            for node, sent in zip(nodes, before):
                self.eventually(lambda: self.shares(node, app, key, expected, sent))
                rows = node.query(load.sent_to, load.send_key, "requests | summarize n = count() by id")
                counts = {row["id"]: row["n"] for row in rows}
                self.assertLessEqual(load.acknowledged, set(counts), f"node {node.name} lost items")
                self.assertEqual({id_: n for id_, n in counts.items() if n != 1}, {}, f"node {node.name} doubled items")
            print(f"{version(OTHER)} became {version(PROGRAM)}: {len(load.acknowledged)} items acknowledged, none lost or doubled; {load.answers} answers, none wrong")

    def shares(self, node, app, key, expected, sent):
        """Whether the node has sent parts of queries to others, with the right answers."""
        for query, answer in zip(QUERIES, expected):
            self.assertTrue(same(node.query(app, key, query), answer, in_order=True), query)
        return node.figure(SENT) > sent

    def eventually(self, holds, seconds=30):
        eventually(self, holds, seconds)


if __name__ == "__main__":
    unittest.main()
