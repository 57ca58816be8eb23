"""The catalogue in PostgreSQL, with the real program: commands beside the server, kill -9 and restarts of PostgreSQL under load.

HINDSIGHT_TEST_KILLS says how many rounds there are (default 10).
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

from kills import kills_under_load
from postgres import Postgres, programs
from server import PROGRAM, Server

ROUNDS = int(os.environ.get("HINDSIGHT_TEST_KILLS", 10))


class Clustered(Server):
    """A server whose catalogue is in PostgreSQL. Commands get it from the environment, as the server does."""

    def __init__(self, postgres, **settings):
        super().__init__(store_catalogue=postgres.url, **settings)

    def command(self, *arguments):
        text = subprocess.check_output([PROGRAM, *arguments, "--data", self.data, "--json"], stdin=subprocess.DEVNULL,
                                       env=self.environment)
        return json.loads(text)


@unittest.skipUnless(programs(), "PostgreSQL is not installed")
class InPostgres(unittest.TestCase):
    def test_kills_and_restarts_under_load(self):
        chance = random.Random(20)
        with Postgres() as postgres, Clustered(postgres, store_memory="32MiB", store_compaction_interval="1s",
                                               query_rate=1_000_000) as server:
            def disturb(round_, senders):
                time.sleep(chance.uniform(0.3, 1.5))
                if round_ % 2:
                    # Ingestion goes on while PostgreSQL is away.
                    before = sum(len(sender.acknowledged) for sender in senders)
                    postgres.stop()
                    time.sleep(chance.uniform(0.1, 0.6))
                    self.assertGreater(sum(len(sender.acknowledged) for sender in senders), before, "ingestion stopped")
                    postgres.start()
                    time.sleep(chance.uniform(0.1, 1.0))
                self.assertTrue(any(sender.acknowledged for sender in senders))

            items = kills_under_load(self, server, ROUNDS, disturb)
            self.assertGreater(int(postgres.sql("SELECT count(*) FROM segments")), 0)
            self.assertFalse(os.path.exists(os.path.join(server.data, "catalogue.db")))
            print(f"{ROUNDS} kills and {ROUNDS // 2} restarts of PostgreSQL: {items} items acknowledged, none lost or doubled")

    def test_administration(self):
        with Postgres() as postgres, Clustered(postgres) as server:
            app, key = server.new_app("shop")
            self.assertEqual([known["name"] for known in server.command("app", "list")], ["default", "shop"])
            self.assertEqual(server.query(app, key, "print n = 1"), [{"n": 1}])
            # A second server with a copy of the folder is refused while the first one runs, and the message names it.
            with tempfile.TemporaryDirectory() as copy:
                shutil.copy(os.path.join(server.data, "format"), copy)
                os.mkdir(os.path.join(copy, "log"))
                second = subprocess.run([PROGRAM, "serve", "--data", copy, "--listen", "127.0.0.1:0"], env=server.environment,
                                        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
            self.assertNotEqual(second.returncode, 0)
            self.assertIn(f"process {server.process.pid} ", second.stderr + second.stdout)
            # Without the database the folder is refused.
            server.stop()
            alone = subprocess.run([PROGRAM, "app", "list", "--data", server.data], stdin=subprocess.DEVNULL, capture_output=True, text=True)
            self.assertNotEqual(alone.returncode, 0)
            self.assertIn("--catalogue", alone.stderr)
            flag = subprocess.check_output([PROGRAM, "app", "list", "--data", server.data, "--catalogue", postgres.url], text=True)
            self.assertIn("shop", flag)
            server.start()

    def test_requests_while_postgresql_is_away(self):
        with Postgres() as postgres, Clustered(postgres) as server:
            app, key = server.new_app("shop")
            query = "requests | project id | sort by id asc"
            send(server, app, "a")
            self.assertEqual(server.query(app, key, query), [{"id": "a"}])
            postgres.stop()
            send(server, app, "b")
            self.assertEqual(server.query(app, key, query), [{"id": "a"}, {"id": "b"}])
            with self.assertRaises(subprocess.CalledProcessError):
                server.command("app", "list")
            # A key that the server does not know is refused, not taken for a failure of the server.
            with self.assertRaises(urllib.error.HTTPError) as refused:
                server.query(app, "unknown-key", query)
            self.assertIn(refused.exception.code, (401, 403))
            server.kill()
            postgres.start()
            server.start()
            self.assertEqual(server.query(app, key, query), [{"id": "a"}, {"id": "b"}])


def send(server, app, id_):
    """Sends one request."""
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    items = [{"name": "r", "time": moment, "iKey": app["instrumentationKey"], "data": {"baseType": "RequestData", "baseData": {
        "ver": 2, "id": id_, "name": "n", "duration": "00:00:00.001", "success": True, "responseCode": "200"}}}]
    request = urllib.request.Request(server.url + "/v2.1/track", json.dumps(items).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as reply:
        assert json.load(reply)["itemsAccepted"] == 1


if __name__ == "__main__":
    unittest.main()
