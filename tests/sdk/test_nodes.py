"""Several nodes of the real program on one catalogue in PostgreSQL: each answers for all, through kill -9, restarts and pauses."""
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

from object_server import BUCKET, Moto, is_installed
from postgres import Postgres, programs
from server import PROGRAM, Server
from test_objects import InObjects
from test_postgres import send
from waiting import eventually

SECRET = "a secret of the nodes of a test"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Node(Server):
    """A node with a port of its own, which it keeps over restarts."""

    def __init__(self, postgres, objects, name, role="all", environment=None, **settings):
        """`objects` is a folder that all nodes share, or the address of a bucket, whose service is in `environment`."""
        self.port = free_port()
        self.name = name
        self.program = PROGRAM
        # Also small queries run at all nodes.
        settings.setdefault("query_distribute_bytes", "0")
        # What a failed node costs without a second copy of its log.
        settings.setdefault("store_replicas", "0")
        settings.setdefault("node_address", f"http://127.0.0.1:{self.port}")
        super().__init__(
            "--role", role, store_catalogue=postgres.url, store_objects=objects if ":" in objects else f"file://{objects}", node_name=name,
            node_secret=SECRET.replace(" ", "-"), query_rate=1_000_000, **settings)
        self.environment.update(environment or {})

    def start(self):
        log = open(os.path.join(self.data, "..", os.path.basename(self.data) + ".log"), "ab")
        self.process = subprocess.Popen(
            [self.program, "serve", "--data", self.data, "--listen", f"127.0.0.1:{self.port}", *self.arguments],
            stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=self.environment)
        log.close()
        self.url = f"http://127.0.0.1:{self.port}"
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise AssertionError(f"the node ended with {self.process.returncode}; see {log.name}")
            try:
                if self.answers(self.url):
                    return
            except OSError:
                time.sleep(0.02)
        raise AssertionError(f"the node was not ready within a minute; see {log.name}")

    @property
    def cached(self):
        """How many segments are in the cache of this node."""
        cache = os.path.join(self.data, "segment-cache")
        return sum(len(files) for _, _, files in os.walk(cache))

    def figure(self, name):
        """A figure of /metrics without labels; 0 if there is none yet."""
        with urllib.request.urlopen(self.url + "/metrics", timeout=10) as reply:
            lines = reply.read().decode().splitlines()
        return next((float(line.split()[1]) for line in lines if line.startswith(name + " ")), 0)

    def command(self, *arguments):
        text = subprocess.check_output([PROGRAM, *arguments, "--data", self.data, "--json"], stdin=subprocess.DEVNULL,
                                       env=self.environment)
        return json.loads(text)

    def send(self, app, id_):
        """Sends one request, and repeats it while the node is joining the others."""
        deadline = time.monotonic() + 30
        while True:
            try:
                return send(self, app, id_)
            except urllib.error.HTTPError as error:
                if error.code not in (206, 503) or time.monotonic() > deadline:
                    raise
            except AssertionError:
                if time.monotonic() > deadline:
                    raise
            time.sleep(0.1)


def refused(test, status, ask):
    """The message of a request that gets this status."""
    with test.assertRaises(urllib.error.HTTPError) as caught:
        ask()
    test.assertEqual(caught.exception.code, status)
    return caught.exception.read().decode()


IDS = "requests | where name != 'none' | summarize by id | sort by id asc"


def ids(node, app, key):
    return [row["id"] for row in node.query(app, key, IDS)]


@unittest.skipUnless(programs(), "PostgreSQL is not installed")
class Nodes(unittest.TestCase):
    def test_three_nodes(self):
        with Postgres() as postgres, tempfile.TemporaryDirectory(prefix="hindsight-objects-") as objects, \
                Node(postgres, objects, "one") as one, Node(postgres, objects, "two", "ingest") as two, \
                Node(postgres, objects, "three", "query") as three:
            app, key = one.new_app("shop")
            self.eventually(lambda: three.query(app, key, "print n = 1") == [{"n": 1}])
            # What one node acknowledges the others answer for at once.
            one.send(app, "a")
            self.assertEqual(ids(three, app, key), ["a"])
            two.send(app, "b")
            self.assertEqual((ids(one, app, key), ids(three, app, key)), (["a", "b"], ["a", "b"]))
            # Each node says what it does not do.
            self.assertIn("role 'ingest'", refused(self, 503, lambda: ids(two, app, key)))
            self.assertIn("role 'query'", refused(self, 503, lambda: send(three, app, "c")))
            self.assertIn("Usage", refused(self, 400, lambda: three.query(app, key, "Usage | count")))
            # Another secret opens nothing.
            self.assertEqual(self.call(one, "Bearer another-secret-of-nodes"), "16")
            self.status(one)
            # A node that is killed: queries fail and name it, until it is back.
            two.kill()
            self.assertIn("two", refused(self, 503, lambda: ids(three, app, key)))
            self.assertEqual(self.states(one)["two"]["drained"], False)
            two.start()
            self.assertEqual(ids(three, app, key), ["a", "b"])
            # A node that is stopped has sealed what it had.
            two.stop()
            self.assertEqual((ids(one, app, key), ids(three, app, key)), (["a", "b"], ["a", "b"]))
            stopped = self.states(one)["two"]
            self.assertEqual((stopped["state"], stopped["drained"], stopped["heartbeatAgeSeconds"]), ("stopped", True, None))
            two.start()
            two.send(app, "c")
            self.assertEqual(ids(three, app, key), ["a", "b", "c"])
            # A node that is paused: the query fails in time, and succeeds afterwards.
            two.process.send_signal(signal.SIGSTOP)
            began = time.monotonic()
            self.assertIn("two", refused(self, 503, lambda: ids(three, app, key)))
            self.assertLess(time.monotonic() - began, 40)
            two.process.send_signal(signal.SIGCONT)
            self.assertEqual(ids(three, app, key), ["a", "b", "c"])
            # A node whose disk is lost is forgotten by name.
            two.kill()
            self.assertNotEqual(subprocess.run([PROGRAM, "cluster", "forget", "unknown", "--data", one.data], env=one.environment,
                                               stdin=subprocess.DEVNULL, capture_output=True).returncode, 0)
            self.eventually(lambda: self.states(one)["two"]["state"] == "silent", 40)
            subprocess.check_call([PROGRAM, "cluster", "forget", "two", "--data", one.data], env=one.environment,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            self.eventually(lambda: ids(three, app, key) == ["a", "b"])
            # It comes back with its log, and nothing was lost.
            two.start()
            self.eventually(lambda: ids(three, app, key) == ["a", "b", "c"])

    @unittest.skipUnless(is_installed(), "moto[server] is not installed")
    def test_segments_in_s3(self):
        """Two nodes seal, and one that never wrote a segment answers from the bucket, with a cache of its own."""
        with Postgres() as postgres, Moto() as moto:
            def node(name, role="all"):
                # Each query runs at one node alone: which node reads a segment otherwise depends on its hour.
                return Node(postgres, f"s3://{BUCKET}/hindsight", name, role, environment=moto.environment, query_distribute_bytes=1 << 30)
            with node("one") as one, node("two", "ingest") as two, node("three", "query") as three:
                app, key = one.new_app("shop")
                for sender, id_ in ((one, "a"), (two, "b")):
                    sender.send(app, id_)
                    sender.stop()
                    sender.start()
                self.assertEqual(len([name for name in moto.keys() if "/segments/" in name]), 2)
                self.eventually(lambda: ids(three, app, key) == ["a", "b"])
                self.assertEqual((one.cached, two.cached, three.cached), (1, 1, 2))
                self.assertEqual(ids(one, app, key), ["a", "b"])
                # The service is away: what is in the cache is answered for, and what was acknowledged as well.
                two.send(app, "c")
                moto.fault = "error"
                self.assertEqual(ids(three, app, key), ["a", "b", "c"])
                two.kill()
                moto.fault = None
                two.start()
                self.eventually(lambda: ids(three, app, key) == ["a", "b", "c"])

    def test_a_node_without_an_address(self):
        """It runs alone: a second node is refused while it may have taken telemetry, and it is refused beside others."""
        with Postgres() as postgres, tempfile.TemporaryDirectory(prefix="hindsight-objects-") as objects:
            second = Node(postgres, objects, "two")
            with second.folder, InObjects(f"file://{objects}", store_catalogue=postgres.url) as alone:
                app, key = alone.new_app("shop")
                self.eventually(lambda: alone.query(app, key, "print n = 1") == [{"n": 1}])
                Node.send(alone, app, "a")
                with self.assertRaises(AssertionError):
                    second.start()
                # Queries and ingestion go on without PostgreSQL.
                postgres.stop()
                time.sleep(3)
                send(alone, app, "b")
                self.assertEqual(ids(alone, app, key), ["a", "b"])
                postgres.start()
                alone.stop()
                second.start()
                self.eventually(lambda: ids(second, app, key) == ["a", "b"])
                with self.assertRaises(AssertionError):
                    alone.start()
                second.stop()

    def test_keys_and_applications_follow(self):
        with Postgres() as postgres, tempfile.TemporaryDirectory(prefix="hindsight-objects-") as objects, \
                Node(postgres, objects, "one") as one, Node(postgres, objects, "two") as two:
            app, key = one.new_app("shop")
            self.assertEqual(two.query(app, key, "print n = 1"), [{"n": 1}])
            listed = one.command("key", "list", "--app", "shop")
            subprocess.check_call([PROGRAM, "key", "delete", listed[0]["id"], "--data", one.data], env=one.environment,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            began = time.monotonic()
            self.eventually(lambda: self.is_refused(two, app, key))
            self.assertLess(time.monotonic() - began, 5)

    def test_load_with_failures(self):
        with Postgres() as postgres, tempfile.TemporaryDirectory(prefix="hindsight-objects-") as objects:
            self.load(postgres, objects)

    @unittest.skipUnless(is_installed(), "moto[server] is not installed")
    def test_load_with_failures_and_s3_that_fails(self):
        with Postgres() as postgres, Moto() as moto:
            moto.delay = 0.3
            self.load(postgres, f"s3://{BUCKET}/hindsight", moto)

    def test_a_node_whose_disk_is_lost(self):
        """Two nodes have copies of each other's logs. One is killed under load, and its data folder is removed: all that was acknowledged is there once."""
        with Postgres() as postgres, tempfile.TemporaryDirectory(prefix="hindsight-objects-") as objects, \
                Node(postgres, objects, "one", store_replicas=1) as one, Node(postgres, objects, "two", store_replicas=1) as two:
            app, key = one.new_app("shop")
            one.send(app, "first")
            two.send(app, "second")
            self.eventually(lambda: [known["copyAt"] is not None for known in self.states(one).values()] == [True, True])
            sent, stop, times = ["first", "second"], threading.Event(), []

            def sending(number):
                count = 0
                while not stop.is_set():
                    count += 1
                    id_ = f"{number}-{count:05}"
                    began = time.monotonic()
                    try:
                        send(two, app, id_)
                    except (OSError, AssertionError):
                        continue
                    times.append(time.monotonic() - began)
                    sent.append(id_)

            senders = [threading.Thread(target=sending, args=(number,)) for number in range(4)]
            for sender in senders:
                sender.start()
            time.sleep(5)
            two.kill()
            stop.set()
            for sender in senders:
                sender.join()
            shutil.rmtree(two.data)
            self.assertGreater(len(sent), 50)
            self.assertEqual(set(sent) - set(ids(one, app, key)), set(), "acknowledged items are missing in the copy")
            # The other one has no second node.
            with self.assertRaises((urllib.error.HTTPError, AssertionError)):
                send(one, app, "refused")
            self.eventually(lambda: self.states(one)["two"]["state"] == "silent", 40)
            subprocess.check_call([PROGRAM, "cluster", "forget", "two", "--data", one.data], env=one.environment,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            self.eventually(lambda: ids(one, app, key))
            found = ids(one, app, key)
            self.assertEqual(len(found), len(set(found)), "items are doubled")
            self.assertEqual(set(sent) - set(found), set(), "acknowledged items are missing")
            times.sort()
            print(f"{len(sent)} items acknowledged with a second copy, none lost; median {times[len(times) // 2] * 1000:.1f} ms")

    def test_a_node_that_does_not_reply_is_read_from_its_copy(self):
        """A node is paused and killed under load: within seconds the queries at the others have all that it acknowledged, once."""
        with Postgres() as postgres, tempfile.TemporaryDirectory(prefix="hindsight-objects-") as objects, \
                Node(postgres, objects, "one", store_replicas=1) as one, Node(postgres, objects, "two", store_replicas=1) as two, \
                Node(postgres, objects, "three", store_replicas=1) as three:
            app, key = one.new_app("shop")
            sent, stop, times = [], threading.Event(), []
            for node in (one, two, three):
                node.send(app, node.name)
                sent.append(node.name)

            def sending(node, number):
                count = 0
                while not stop.is_set():
                    count += 1
                    id_ = f"{number}-{count:05}"
                    try:
                        send(node, app, id_)
                        sent.append(id_)
                    except (OSError, AssertionError):
                        time.sleep(0.05)

            def check(node):
                before = list(sent)
                try:
                    found = ids(node, app, key)
                except urllib.error.HTTPError as error:
                    raise AssertionError(f"{node.name}: {error.code} {error.read().decode()}") from error
                self.assertEqual(len(found), len(set(found)), "items are doubled")
                self.assertEqual(set(before) - set(found), set(), "acknowledged items are missing")

            senders = [threading.Thread(target=sending, args=pair) for pair in ((two, 1), (two, 2), (one, 3))]
            for sender in senders:
                sender.start()
            try:
                for round_ in range(int(os.environ.get("HINDSIGHT_TEST_KILLS", 4))):
                    time.sleep(2)
                    if round_ % 2 == 0:
                        two.process.send_signal(signal.SIGSTOP)
                        # Its threads may run on for a moment, and a query that reads its memtable then fails.
                        time.sleep(0.5)
                    else:
                        two.kill()
                    for node in (one, three):
                        began = time.monotonic()
                        check(node)
                        times.append(time.monotonic() - began)
                        began = time.monotonic()
                        check(node)
                        self.assertLess(time.monotonic() - began, 2, "the node counts as away")
                    if round_ % 2 == 0:
                        two.process.send_signal(signal.SIGCONT)
                    else:
                        two.start()
                    for _ in range(5):
                        for node in (one, three):
                            check(node)
            finally:
                stop.set()
                two.process.send_signal(signal.SIGCONT)
                for sender in senders:
                    sender.join()
            for node in (one, two, three):
                check(node)
            self.assertLess(max(times), 8)
            print(f"{len(sent)} items acknowledged; first answers without the node after {', '.join(f'{took:.1f}' for took in times)} s")

    def load(self, postgres, objects, moto=None):
        """Senders at two nodes, queries at a third one, a fourth one merges; a node is killed or paused or PostgreSQL restarted, again and
        again, and an object store fails."""
        environment = moto.environment if moto else None
        chance = random.Random(28)
        with Node(postgres, objects, "one", "ingest", environment, store_memory="4MiB") as one, \
                Node(postgres, objects, "two", "ingest", environment, store_memory="4MiB") as two, \
                Node(postgres, objects, "three", "query", environment) as three, \
                Node(postgres, objects, "four", "maintain", environment, store_compaction_interval="1s"):
            app, key = one.new_app("shop")
            sent, stop = [], threading.Event()

            def sending(node, number):
                count = 0
                while not stop.is_set():
                    count += 1
                    id_ = f"{number}-{count:05}"
                    try:
                        send(node, app, id_)
                        sent.append(id_)
                    except (OSError, AssertionError):
                        time.sleep(0.05)

            senders = [threading.Thread(target=sending, args=(node, number)) for number, node in enumerate((one, two))]
            for sender in senders:
                sender.start()
            answers = 0
            for round_ in range(int(os.environ.get("HINDSIGHT_TEST_KILLS", 3))):
                until = time.monotonic() + 4
                while time.monotonic() < until:
                    if moto:
                        moto.fault = chance.choice([None] * 9 + ["error", "slow", "cut"])
                    before = list(sent)
                    try:
                        found = ids(three, app, key)
                    except urllib.error.HTTPError as error:
                        self.assertEqual(error.code, 503, error.read())
                        continue
                    answers += 1
                    self.assertEqual(len(found), len(set(found)), "items are doubled")
                    self.assertEqual(set(before) - set(found), set(), "acknowledged items are missing")
                if moto:
                    moto.fault = None
                self.disturb(round_, postgres, two)
            stop.set()
            for sender in senders:
                sender.join()
            self.eventually(lambda: ids(three, app, key))
            found = ids(three, app, key)
            self.assertEqual(len(found), len(set(found)))
            self.assertEqual(set(sent) - set(found), set())
            self.assertGreater(answers, 3)
            segments = f", {len(moto.segments())} objects" if moto else ""
            print(f"{len(sent)} items acknowledged by two nodes, {answers} answers{segments}, none lost or doubled")

    @staticmethod
    def disturb(round_, postgres, node):
        if round_ % 3 == 0:
            node.kill()
            time.sleep(0.5)
            node.start()
        elif round_ % 3 == 1:
            postgres.stop()
            time.sleep(0.5)
            postgres.start()
        else:
            node.process.send_signal(signal.SIGSTOP)
            time.sleep(2)
            node.process.send_signal(signal.SIGCONT)

    def status(self, node):
        nodes = self.states(node)
        self.assertEqual({name: known["role"] for name, known in nodes.items()}, {"one": "all", "two": "ingest", "three": "query"})
        self.assertEqual({known["state"] for known in nodes.values()}, {"live"})
        # Nodes report once a second.
        self.eventually(lambda: [self.states(node)[name]["unsealedRequests"] for name in ("one", "two")] == [1, 1])
        table = subprocess.check_output([PROGRAM, "cluster", "status", "--data", node.data], env=node.environment, text=True)
        self.assertIn("ingest", table)
        with urllib.request.urlopen(node.url + "/metrics", timeout=10) as reply:
            figures = reply.read().decode()
        self.assertIn('hindsight_node_up{node="two",role="ingest"', figures)

    @staticmethod
    def states(node):
        return {known["name"]: known for known in node.command("cluster", "status")}

    @staticmethod
    def call(node, authorization):
        """The status of gRPC of a call. urllib speaks HTTP/1.1, which the service understands too."""
        request = urllib.request.Request(node.url + "/hindsight.nodes.v1.Nodes/Open", b"\0\0\0\0\0",
                                         {"Content-Type": "application/grpc", "Authorization": authorization})
        with urllib.request.urlopen(request, timeout=10) as reply:
            return reply.headers["grpc-status"]

    @staticmethod
    def is_refused(node, app, key):
        try:
            node.query(app, key, "print 1")
            return False
        except urllib.error.HTTPError as error:
            return error.code in (401, 403)

    def eventually(self, holds, seconds=15):
        eventually(self, holds, seconds, (urllib.error.HTTPError,), statuses=(401, 403, 503))


if __name__ == "__main__":
    unittest.main()
