"""Segments in an object store, with the real program: S3 by `moto_server` behind a proxy that fails, and a shared folder.

HINDSIGHT_TEST_KILLS says how many rounds the test under load has (default 6).
"""
import json
import os
import random
import shutil
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request

from object_server import BUCKET, Moto, is_installed
from postgres import Postgres, programs
from server import PROGRAM, Server
from test_crash import SENDERS, Sender

ROUNDS = int(os.environ.get("HINDSIGHT_TEST_KILLS", 6))
QUERY = "requests | project id | sort by id asc"


class InObjects(Server):
    """A server whose segments are in an object store."""

    def __init__(self, objects, environment=None, **settings):
        super().__init__(store_objects=objects, **settings)
        self.environment.update(environment or {})

    def command(self, *arguments):
        text = subprocess.check_output([PROGRAM, *arguments, "--data", self.data, "--json"], stdin=subprocess.DEVNULL, env=self.environment)
        return json.loads(text)

    def fails(self, *arguments):
        """The message of a command that fails."""
        done = subprocess.run([PROGRAM, *arguments], env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
        assert done.returncode != 0, done.stdout
        return done.stderr + done.stdout

    @property
    def cache(self):
        return os.path.join(self.data, "segment-cache")

    @property
    def log(self):
        with open(self.data + ".log") as file:
            return file.read()

    def lose_cache(self):
        shutil.rmtree(self.cache)

    def ready(self):
        with urllib.request.urlopen(self.url + "/ready", timeout=60) as reply:
            return json.load(reply)

    def figure(self, name):
        with urllib.request.urlopen(self.url + "/metrics", timeout=60) as reply:
            lines = reply.read().decode().splitlines()
        return next(float(line.split()[1]) for line in lines if line.startswith(name + " "))

    def ids(self, app, key):
        return [row["id"] for row in self.query(app, key, QUERY)]

    def send(self, app, *ids):
        """Sends a request for each id; answers the status."""
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        items = [{"name": "r", "time": moment, "iKey": app["instrumentationKey"], "data": {"baseType": "RequestData", "baseData": {
            "ver": 2, "id": id_, "name": "n", "duration": "00:00:00.001", "success": True, "responseCode": "200"}}} for id_ in ids]
        return self.track(items)[0]

    def seal(self, app, *ids):
        """Sends requests, and stops and starts the server: they are in a segment then."""
        assert self.send(app, *ids) == 200
        self.stop()
        self.start()


def wait_for(what, seconds=60):
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.1)


class InAFolder(unittest.TestCase):
    def test_a_shared_folder(self):
        with tempfile.TemporaryDirectory() as shared, InObjects(f"file://{shared}") as server:
            app, key = server.new_app("shop")
            server.seal(app, "a", "b")
            server.seal(app, "c")
            self.assertEqual(server.ids(app, key), ["a", "b", "c"])
            self.assertEqual(server.figure("hindsight_objects_downloads"), 0)
            server.kill()
            server.lose_cache()
            server.start()
            self.assertEqual(server.ids(app, key), ["a", "b", "c"])
            self.assertEqual(server.figure("hindsight_objects_downloads"), 2)
            report = server.command("store", "check")
            self.assertEqual((report["damage"], report["segments"]), ([], 2))
            # Without the setting the folder is refused, and so is the folder of another store.
            server.stop()
            alone = {name: value for name, value in server.environment.items() if name != "HINDSIGHT_STORE_OBJECTS"}
            refused = subprocess.run([PROGRAM, "serve", "--data", server.data, "--listen", "127.0.0.1:0"], env=alone,
                                     stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn("store.objects", refused.stderr)
            with tempfile.TemporaryDirectory() as other:
                self.assertIn("of store", server.fails("serve", "--data", other, "--listen", "127.0.0.1:0"))
            server.start()
            self.assertEqual(server.ids(app, key), ["a", "b", "c"])

    def test_moving_there_and_back(self):
        with tempfile.TemporaryDirectory() as shared, Server() as server:
            app, key = server.new_app("shop")
            self.assertEqual(InObjects.send(server, app, "a", "b"), 200)
            server.stop()
            server.run("store", "migrate", "--to", f"file://{shared}")
            moved = InObjects(f"file://{shared}")
            moved.folder.cleanup()
            moved.data = server.data
            moved.start()
            moved.seal(app, "c")
            self.assertEqual(moved.ids(app, key), ["a", "b", "c"])
            moved.stop()
            server.run("store", "migrate", "--from", f"file://{shared}")
            server.start()
            self.assertEqual(server.query(app, key, QUERY), [{"id": id_} for id_ in ("a", "b", "c")])
            server.stop()
            self.assertIn("not supported yet", moved.fails("store", "migrate", "--to", "az://container", "--data", server.data))
            server.start()


@unittest.skipUnless(is_installed(), "moto[server] is not installed")
class InS3(unittest.TestCase):
    def server(self, moto, **settings):
        return InObjects(f"s3://{BUCKET}/hindsight/test", moto.environment, **settings)

    def test_failures_of_the_object_store(self):
        with Moto() as moto, self.server(moto, store_memory="16MiB") as server:
            app, key = server.new_app("shop")
            server.seal(app, "a")
            self.assertEqual(len(moto.segments()), 1)
            self.assertTrue(moto.segments()[0].startswith("hindsight/test/"), moto.segments())
            puts = [headers for method, path, headers in moto.requests if method == "PUT"]
            self.assertTrue(all(headers.get("if-none-match") == "*" for headers in puts), puts)
            server.kill()
            server.lose_cache()
            server.start()
            # A query of a segment that cannot be downloaded is an error that names it.
            for fault in ("error", "cut"):
                moto.fault, moto.methods = fault, {"GET"}
                with self.assertRaises(urllib.error.HTTPError) as failed:
                    server.ids(app, key)
                self.assertEqual(failed.exception.code, 503, fault)
                self.assertIn("Retry-After", failed.exception.headers)
                text = failed.exception.read().decode()
                self.assertIn(f"s3://{BUCKET}/{moto.segments()[0]}", text)
                self.assertEqual(server.ready(), {"status": "degraded", "objectStore": "failing"})
                self.assertEqual(server.figure("hindsight_objects_failing"), 1)
            moto.fault = None
            wait_for(lambda: self.answers(server, app, key) == ["a"], 10)
            self.assertEqual(server.ready(), {"status": "ready"})
            # Ingestion goes on while nothing can be uploaded, until memory is full.
            moto.fault, moto.methods = "error", {"PUT"}
            taken = ["a"]
            for number in range(100_000):
                ids = [f"{number:05}-{one:03}" for one in range(200)]
                status = server.send(app, *ids)
                if status != 200:
                    break
                taken += ids
            self.assertEqual(status, 503)
            self.assertGreater(len(taken), 1000)
            self.assertEqual(server.query(app, key, "requests | count")[0]["Count"], len(taken))
            moto.fault = None
            wait_for(lambda: server.send(app, "z") == 200)
            self.assertEqual(server.query(app, key, "requests | summarize n = count(), d = dcount(id)")[0]["n"], len(taken) + 1)
            for secret in ("the-secret-key", "the-key-id", "X-Amz-"):
                self.assertNotIn(secret, server.log)

    @staticmethod
    def answers(server, app, key):
        try:
            return server.ids(app, key)
        except urllib.error.HTTPError:
            return None

    def test_a_slow_and_a_silent_object_store(self):
        with Moto() as moto, self.server(moto) as server:
            app, key = server.new_app("shop")
            server.seal(app, "a")
            server.kill()
            server.lose_cache()
            server.start()
            moto.fault, moto.methods, moto.delay = "slow", {"GET", "PUT"}, 0.5
            self.assertEqual(server.ids(app, key), ["a"])
            server.kill()
            server.lose_cache()
            moto.fault = None
            server.start()
            moto.fault = "silent"
            started = time.monotonic()
            self.assertIsNone(self.answers(server, app, key))
            self.assertLess(time.monotonic() - started, 40)
            self.assertEqual(server.send(app, "b"), 200)
            moto.fault = None
            wait_for(lambda: self.answers(server, app, key) == ["a", "b"])

    def test_kills_and_failures_under_load(self):
        chance = random.Random(27)
        acknowledged = {}
        with Moto() as moto, self.server(moto, store_memory="8MiB", store_compaction_interval="1s", query_rate=1_000_000) as server:
            app, key = server.new_app("crash")
            for round_ in range(ROUNDS):
                senders = [Sender(server.url, app["instrumentationKey"], round_, number) for number in range(SENDERS)]
                for sender in senders:
                    sender.start()
                moto.methods = {"GET", "PUT", "DELETE"}
                for _ in range(4):
                    moto.fault = chance.choice([None, None, "error", "slow", "cut"])
                    time.sleep(chance.uniform(0.1, 0.5))
                server.kill()
                for sender in senders:
                    sender.join()
                acknowledged[round_] = [id_ for sender in senders for id_ in sender.acknowledged]
                if round_ % 2:
                    server.lose_cache()
                moto.fault = None
                server.start()
            for round_, ids in acknowledged.items():
                rows = server.query(app, key, f"requests | where name == 'round {round_}' | summarize n = count() by id")
                stored = {row["id"]: row["n"] for row in rows}
                self.assertEqual([id_ for id_ in ids if id_ not in stored], [], f"round {round_}: acknowledged items were lost")
                self.assertEqual({id_: n for id_, n in stored.items() if n != 1}, {}, f"round {round_}: items are stored twice")
            self.assertGreater(len(moto.segments()), 0)
            items = sum(len(ids) for ids in acknowledged.values())
            print(f"{ROUNDS} kills with failures of the object store: {items} items acknowledged, none lost or doubled")

    def test_damaged_and_unlisted_objects(self):
        with Moto() as moto, self.server(moto) as server:
            app, key = server.new_app("shop")
            server.seal(app, "a")
            name = moto.segments()[0]
            content = moto.read(name)
            moto.write(name + "-unlisted", b"x")
            report = server.command("store", "check")
            self.assertEqual((report["damage"], report["segments"]), ([], 1))
            self.assertEqual([note["path"] for note in report["notes"]], [f"s3://{BUCKET}/{name}-unlisted"])
            moto.write(name, content[:100] + bytes([content[100] ^ 1]) + content[101:])
            server.kill()
            server.lose_cache()
            server.start()
            # It is left out, and the reply says so.
            reply = server.get(f"/v1/apps/{app['appId']}/query", key, query=QUERY)
            self.assertEqual(reply["tables"][0]["rows"], [])
            self.assertIn("error", reply)
            self.assertEqual(server.ready()["damagedSegments"], 1)
            moto.write(name, content)
            server.stop()
            server.start()
            self.assertEqual(server.ids(app, key), ["a"])

    @unittest.skipUnless(programs(), "PostgreSQL is not installed")
    def test_with_the_catalogue_in_postgresql(self):
        with Moto() as moto, Postgres() as postgres, self.server(moto, store_catalogue=postgres.url) as server:
            app, key = server.new_app("shop")
            server.seal(app, "a", "b")
            server.seal(app, "c")
            self.assertEqual(server.ids(app, key), ["a", "b", "c"])
            server.kill()
            server.lose_cache()
            server.start()
            self.assertEqual(server.ids(app, key), ["a", "b", "c"])
            report = server.command("store", "check")
            self.assertEqual((report["damage"], report["notes"], report["segments"]), ([], [], 2))
            # A second folder without segments has the same answers: the log of the first one was sealed.
            server.stop()
            with self.server(moto, store_catalogue=postgres.url).folder as second:
                for name in ("format", "log"):
                    path = os.path.join(server.data, name)
                    (shutil.copytree if os.path.isdir(path) else shutil.copy)(path, os.path.join(second, name))
                first, server.data = server.data, second
                server.start()
                self.assertEqual(server.ids(app, key), ["a", "b", "c"])
                server.stop()
                server.data = first
            server.start()


if __name__ == "__main__":
    unittest.main()
