"""Client scripts that are kept outside of this repository run to their end against a server with telemetry.

They are read from `../shared/clients` or from `$HINDSIGHT_SHARED/clients`, and skipped where there are none.
"""
import datetime
import os
import pathlib
import subprocess
import sys
import unittest

import shop_telemetry
from server import ROOT, Server

CLIENTS = pathlib.Path(os.environ.get("HINDSIGHT_SHARED", ROOT.parent / "shared")) / "clients"
MODULES = os.environ.get("HINDSIGHT_NODE_MODULES")


@unittest.skipUnless(CLIENTS.is_dir(), f"there are no client scripts in {CLIENTS}")
class Clients(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server(query_rate=10_000)
        cls.server.start()
        cls.app, cls.key = cls.server.new_app("shop")
        key = cls.app["instrumentationKey"]
        now = datetime.datetime.now(datetime.timezone.utc)
        items = shop_telemetry.envelopes(key, now)
        # The scripts search for the word `a`, filter by the city `x` and look into the first of the last twelve hours.
        first = [item for item in items if item["data"]["baseData"].get("id") == "r1"]
        for seconds in range(1, 181):
            time = now - datetime.timedelta(hours=12) + datetime.timedelta(seconds=seconds)
            items += [{**item, "time": time.strftime("%Y-%m-%dT%H:%M:%S.%fZ")} for item in first]
        for item in items:
            item["tags"]["ai.location.city"] = "x"
        status, verdict = cls.server.track(items)
        assert (status, verdict["itemsAccepted"]) == (200, len(items)), verdict

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def run_to_its_end(self, *command, **environment):
        environment = {**os.environ, "AI_BASE": self.server.url, "AI_APP": self.app["appId"], "AI_KEY": self.key,
                       **environment}
        run = subprocess.run(command, env=environment, timeout=120, capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertEqual(run.stdout.strip().splitlines()[-1], "OK", run.stdout + run.stderr)

    def test_python(self):
        self.run_to_its_end(sys.executable, CLIENTS / "dp_python_sdk.py")

    @unittest.skipUnless(MODULES, "npm is not installed")
    def test_node(self):
        self.run_to_its_end("node", CLIENTS / "dp_node_sdk.js", NODE_PATH=MODULES)


if __name__ == "__main__":
    unittest.main()
