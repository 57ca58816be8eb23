"""Segments in an object store, with the real program: local servers of S3, Azure Blob Storage and Google Cloud Storage behind a proxy that fails,
and a shared folder.

HINDSIGHT_TEST_KILLS says how many rounds the test under load has (default 6).
"""
import http.server
import json
import os
import random
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

from kills import kills_under_load
from object_server import BUCKET, Azurite, Google, Moto, azurite_is_installed, is_installed
from postgres import Postgres, programs
from server import PROGRAM, ROOT, Server

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
            self.assertIn("`gs://bucket/prefix`", moved.fails("store", "migrate", "--to", "abfss://container@account", "--data", server.data))
            self.assertIn("AZURE_STORAGE_ACCOUNT_NAME", moved.fails("store", "migrate", "--to", "az://container", "--data", server.data))
            server.start()


class InACloud:
    """What holds in each cloud."""
    # The kind of server.
    objects = None

    def server(self, objects, **settings):
        return InObjects(objects.address, objects.environment, **settings)

    def test_failures_of_the_object_store(self):
        with self.objects() as objects, self.server(objects, store_memory="16MiB") as server:
            app, key = server.new_app("shop")
            server.seal(app, "a")
            self.assertEqual(len(objects.segments()), 1)
            self.assertTrue(objects.segments()[0].startswith("hindsight/test/"), objects.segments())
            puts = [headers for method, path, headers in objects.requests if method == "PUT"]
            name, value = objects.condition
            self.assertTrue(puts and all(headers.get(name) == value for headers in puts), puts)
            server.kill()
            server.lose_cache()
            server.start()
            # A query of a segment that cannot be downloaded is an error that names it.
            for fault in ("error", "cut"):
                objects.fault, objects.methods = fault, {"GET"}
                with self.assertRaises(urllib.error.HTTPError) as failed:
                    server.ids(app, key)
                self.assertEqual(failed.exception.code, 503, fault)
                self.assertIn("Retry-After", failed.exception.headers)
                text = failed.exception.read().decode()
                self.assertIn(f"{objects.scheme}://{BUCKET}/{objects.segments()[0]}", text)
                self.assertEqual(server.ready(), {"status": "degraded", "objectStore": "failing"})
                self.assertEqual(server.figure("hindsight_objects_failing"), 1)
            objects.fault = None
            wait_for(lambda: self.answers(server, app, key) == ["a"], 10)
            self.assertEqual(server.ready(), {"status": "ready"})
            # Ingestion goes on while nothing can be uploaded, until memory is full.
            objects.fault, objects.methods = "error", {"PUT"}
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
            objects.fault = None
            wait_for(lambda: server.send(app, "z") == 200)
            self.assertEqual(server.query(app, key, "requests | summarize n = count(), d = dcount(id)")[0]["n"], len(taken) + 1)
            for secret in objects.secrets:
                self.assertNotIn(secret, server.log)

    @unittest.skipUnless(shutil.which("cargo"), "cargo is not installed")
    def test_each_operation(self):
        """Deletion among them, which the program does after a grace only."""
        with self.objects() as objects:
            environment = {**os.environ, **objects.environment, "HINDSIGHT_TEST_OBJECTS": objects.address}
            done = subprocess.run(["cargo", "test", "--workspace", "--test", "cloud", "--", "--ignored"], cwd=ROOT, env=environment,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("1 passed", done.stdout)
            self.assertEqual(objects.keys(), [])

    @staticmethod
    def answers(server, app, key):
        try:
            return server.ids(app, key)
        except urllib.error.HTTPError:
            return None

    def test_a_slow_and_a_silent_object_store(self):
        with self.objects() as objects, self.server(objects) as server:
            app, key = server.new_app("shop")
            server.seal(app, "a")
            server.kill()
            server.lose_cache()
            server.start()
            objects.fault, objects.methods, objects.delay = "slow", {"GET", "PUT"}, 0.5
            self.assertEqual(server.ids(app, key), ["a"])
            server.kill()
            server.lose_cache()
            objects.fault = None
            server.start()
            objects.fault = "silent"
            started = time.monotonic()
            self.assertIsNone(self.answers(server, app, key))
            self.assertLess(time.monotonic() - started, 40)
            self.assertEqual(server.send(app, "b"), 200)
            objects.fault = None
            wait_for(lambda: self.answers(server, app, key) == ["a", "b"])

    def test_kills_and_failures_under_load(self):
        chance = random.Random(27)
        with self.objects() as objects, self.server(objects, store_memory="8MiB", store_compaction_interval="1s", query_rate=1_000_000) as server:
            def disturb(*_):
                objects.methods = {"GET", "PUT", "DELETE", "POST"}
                for _ in range(4):
                    objects.fault = chance.choice([None, None, "error", "slow", "cut"])
                    time.sleep(chance.uniform(0.1, 0.5))

            def before_start(round_):
                if round_ % 2:
                    server.lose_cache()
                objects.fault = None

            items = kills_under_load(self, server, ROUNDS, disturb, before_start)
            self.assertGreater(len(objects.segments()), 0)
            print(f"{ROUNDS} kills with failures of {objects.scheme}://: {items} items acknowledged, none lost or doubled")

    def test_damaged_and_unlisted_objects(self):
        with self.objects() as objects, self.server(objects) as server:
            app, key = server.new_app("shop")
            server.seal(app, "a")
            name = objects.segments()[0]
            content = objects.read(name)
            objects.write(name + "-unlisted", b"x")
            report = server.command("store", "check")
            self.assertEqual((report["damage"], report["segments"]), ([], 1))
            self.assertEqual([note["path"] for note in report["notes"]], [f"{objects.scheme}://{BUCKET}/{name}-unlisted"])
            objects.write(name, content[:100] + bytes([content[100] ^ 1]) + content[101:])
            server.kill()
            server.lose_cache()
            server.start()
            # It is left out, and the reply says so.
            reply = server.get(f"/v1/apps/{app['appId']}/query", key, query=QUERY)
            self.assertEqual(reply["tables"][0]["rows"], [])
            self.assertIn("error", reply)
            self.assertEqual(server.ready()["damagedSegments"], 1)
            objects.write(name, content)
            server.stop()
            server.start()
            self.assertEqual(server.ids(app, key), ["a"])

    @unittest.skipUnless(programs(), "PostgreSQL is not installed")
    def test_with_the_catalogue_in_postgresql(self):
        with self.objects() as objects, Postgres() as postgres, self.server(objects, store_catalogue=postgres.url) as server:
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
            with self.server(objects, store_catalogue=postgres.url).folder as second:
                for name in ("format", "log"):
                    path = os.path.join(server.data, name)
                    (shutil.copytree if os.path.isdir(path) else shutil.copy)(path, os.path.join(second, name))
                first, server.data = server.data, second
                server.start()
                self.assertEqual(server.ids(app, key), ["a", "b", "c"])
                server.stop()
                server.data = first
            server.start()


@unittest.skipUnless(is_installed(), "moto[server] is not installed")
class InS3(InACloud, unittest.TestCase):
    objects = Moto

    def test_the_role_of_the_machine(self):
        """Without credentials in the environment they are those of the machine's metadata service; a message names the variables if it is not there."""
        with Moto() as objects, Metadata() as metadata:
            environment = {name: value for name, value in objects.environment.items() if name not in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")}
            with InObjects(objects.address, {**environment, "AWS_METADATA_ENDPOINT": metadata.url}) as server:
                app, key = server.new_app("shop")
                server.seal(app, "a")
                self.assertEqual(server.ids(app, key), ["a"])
                tokens = {headers.get("x-amz-security-token") for _, _, headers in objects.requests}
                self.assertEqual(tokens, {"the-token"})
                self.assertNotIn("the-token", server.log)
        self.refused(Moto, {"AWS_ACCESS_KEY_ID": "key"}, "AWS_SECRET_ACCESS_KEY")
        with socket.create_server(("127.0.0.1", 0)) as closed:
            nowhere = f"127.0.0.1:{closed.getsockname()[1]}"
        machine = "metadata service of the machine does not reply"
        self.refused(Moto, {"AWS_METADATA_ENDPOINT": f"http://{nowhere}"}, "AWS_ACCESS_KEY_ID", machine)
        account = {"AZURE_STORAGE_ACCOUNT_NAME": "shop"}
        self.refused(Azurite, {}, "AZURE_STORAGE_ACCOUNT_NAME")
        self.refused(Azurite, {**account, "AZURE_MSI_ENDPOINT": f"http://{nowhere}"}, "AZURE_STORAGE_ACCOUNT_KEY", machine)
        self.refused(Google, {"GOOGLE_SERVICE_ACCOUNT": "/nonexistent"}, "GOOGLE_SERVICE_ACCOUNT")
        nowhere = {"GCE_METADATA_HOST": nowhere, "GCE_METADATA_IP": nowhere}
        self.refused(Google, nowhere, "GOOGLE_APPLICATION_CREDENTIALS", machine)

    def refused(self, cloud, environment, *texts):
        """A start fails with a message that has the texts."""
        with tempfile.TemporaryDirectory() as data:
            # No file of the home folder has credentials.
            server = InObjects(f"{cloud.scheme}://{BUCKET}", {"HOME": data, **environment})
            with server.folder:
                message = server.fails("serve", "--data", data, "--listen", "127.0.0.1:0")
        for text in texts:
            self.assertIn(text, message)


@unittest.skipUnless(azurite_is_installed(), "npm or its package azurite is not installed")
class InAzure(InACloud, unittest.TestCase):
    objects = Azurite

    def test_a_shared_access_signature(self):
        with Azurite() as objects:
            environment = {name: value for name, value in objects.environment.items() if name != "AZURE_STORAGE_ACCOUNT_KEY"}
            with InObjects(objects.address, {**environment, "AZURE_STORAGE_SAS_TOKEN": objects.token}) as server:
                app, key = server.new_app("shop")
                server.seal(app, "a")
                server.kill()
                server.lose_cache()
                server.start()
                objects.fault, objects.methods = "error", {"GET"}
                with self.assertRaises(urllib.error.HTTPError) as failed:
                    server.ids(app, key)
                self.assertNotIn("sig=", failed.exception.read().decode())
                self.assertNotIn("sig=", server.log)
                objects.fault = None
                wait_for(lambda: self.answers(server, app, key) == ["a"])


@unittest.skipUnless(is_installed() and shutil.which("openssl"), "moto[server] or openssl is not installed")
class InGoogle(InACloud, unittest.TestCase):
    objects = Google


class Metadata:
    """The metadata service of a machine of EC2 (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instance-metadata-security-credentials.html)."""

    def __enter__(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), MetadataHandler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class MetadataHandler(http.server.BaseHTTPRequestHandler):
    ROLE = "/latest/meta-data/iam/security-credentials/"

    def log_message(self, *_):
        pass

    def answer(self):
        credentials = {"AccessKeyId": "role-key", "SecretAccessKey": "role-secret", "Token": "the-token", "Expiration": "2099-01-01T00:00:00Z"}
        answers = {("PUT", "/latest/api/token"): "session", ("GET", self.ROLE): "role", ("GET", self.ROLE + "role"): json.dumps(credentials)}
        text = answers.get((self.command, self.path))
        self.send_response(200 if text else 404)
        self.send_header("Content-Length", str(len(text or "")))
        self.end_headers()
        self.wfile.write((text or "").encode())

    do_GET = do_PUT = answer


if __name__ == "__main__":
    unittest.main()
