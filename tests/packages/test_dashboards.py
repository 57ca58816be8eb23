"""Grafana's dashboards: each query runs against the demo as the data source sends it, over the Kusto protocol."""
import datetime
import json
import re
import time
import unittest
import urllib.request

from packages import PACKAGING
from server import Server

try:
    import yaml
except ImportError:
    yaml = None

DASHBOARDS = sorted((PACKAGING / "grafana" / "dashboards").glob("*.json"))


class Dashboards(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--demo", query_rate=100_000)
        cls.server.start()
        cls.addClassCleanup(cls.server.__exit__)
        app = next(app for app in cls.server.command("app", "list") if app["name"] == "demo")
        cls.key = cls.server.command("key", "create", "--app", "demo")["key"]
        while cls.server.query(app, cls.key, "requests | where timestamp > ago(15m) | count")[0]["Count"] == 0:
            time.sleep(0.5)

    def expanded(self, text):
        """The query as the data source sends it: with the dashboard's time range and the width of a bin."""
        now = datetime.datetime.now(datetime.timezone.utc)
        start = now - datetime.timedelta(days=1)
        between = rf"\1 >= datetime({start:%Y-%m-%dT%H:%M:%SZ}) and \1 <= datetime({now:%Y-%m-%dT%H:%M:%SZ})"
        text = re.sub(r"\$__timeFilter\((\w+)\)", between, text)
        return text.replace("$__timeInterval", "1800000ms")

    def test_every_panel_has_rows_of_the_demo(self):
        self.assertEqual([path.stem for path in DASHBOARDS], ["application", "usage"])
        for path in DASHBOARDS:
            dashboard = json.loads(path.read_text())
            self.assertEqual(len({panel["id"] for panel in dashboard["panels"]}), len(dashboard["panels"]))
            for panel in dashboard["panels"]:
                with self.subTest(f"{dashboard['title']}, {panel['title']}"):
                    [target] = panel["targets"]
                    self.assertEqual(target["datasource"]["uid"], "hindsight")
                    text = self.expanded(target["query"])
                    self.assertNotIn("$", text)
                    columns, rows = self.asked(text)
                    self.assertGreater(len(rows), 0)
                    if target["resultFormat"] == "time_series":
                        self.assertIn("datetime", [column["ColumnType"] for column in columns])

    def asked(self, text):
        body = json.dumps({"db": "demo", "csl": text}).encode()
        request = urllib.request.Request(self.server.url + "/v2/rest/query", body, {"Content-Type": "application/json", "Authorization": f"Bearer {self.key}"})
        with urllib.request.urlopen(request, timeout=60) as reply:
            [table] = [frame for frame in json.load(reply) if frame["FrameType"] == "DataTable" and frame["TableKind"] == "PrimaryResult"]
        return table["Columns"], table["Rows"]

    @unittest.skipIf(yaml is None, "PyYAML is not installed")
    def test_the_data_source_is_the_one_that_panels_name(self):
        [source] = yaml.safe_load((PACKAGING / "grafana" / "datasources" / "hindsight.yaml").read_text())["datasources"]
        self.assertEqual((source["uid"], source["type"]), ("hindsight", "grafana-azure-data-explorer-datasource"))


if __name__ == "__main__":
    unittest.main()
