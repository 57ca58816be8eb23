"""azure-kusto-go: the rows that it gets are those that were sent. Needs Go and its module proxy; skipped with a reason without them."""
import datetime
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import shop_telemetry
from server import Server
from test_kusto import sent_rows

GO = shutil.which(os.environ.get("HINDSIGHT_GO", "go"))
SOURCES = pathlib.Path(__file__).resolve().parent / "go"
QUERY = "requests | project id, name, resultCode, ok = success == 'True', duration, timestamp | sort by id asc"


@unittest.skipIf(GO is None, "Go is not installed: put `go` on the PATH or name it in HINDSIGHT_GO")
class KustoOfGo(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        work = pathlib.Path(folder) / "kusto"
        shutil.copytree(SOURCES, work)
        # Without the modules the test is skipped; sources that do not compile fail it.
        fetched = subprocess.run([GO, "mod", "tidy"], cwd=work, capture_output=True, text=True)
        if fetched.returncode:
            raise unittest.SkipTest(f"the modules of azure-kusto-go cannot be had: {fetched.stderr.strip()[-300:]}")
        cls.program = work / "client"
        subprocess.check_call([GO, "build", "-o", cls.program, "."], cwd=work)

    def test_rows(self):
        with Server() as server:
            app, key = server.new_app("shop")
            items = shop_telemetry.envelopes(app["instrumentationKey"])
            server.track(items)
            printed = subprocess.check_output([self.program, server.url, "shop", key, QUERY], text=True)
        rows = [json.loads(line) for line in printed.splitlines()]
        got = [[row["id"], row["name"], row["resultCode"], row["ok"], row["duration"],
                datetime.datetime.fromisoformat(row["timestamp"])] for row in rows]
        expected = [[*row[:3], row[3], *row[4:6]] for row in sent_rows(items)]
        self.assertEqual(got, expected)


if __name__ == "__main__":
    unittest.main()
