"""The Node.js SDK sends; what it sent is found, field by field."""
import os
import pathlib
import subprocess
import unittest

from server import Server

MODULES = os.environ.get("HINDSIGHT_NODE_MODULES")
SCRIPT = pathlib.Path(__file__).resolve().parent / "node" / "send.js"


@unittest.skipUnless(MODULES, "npm is not installed")
class NodeJs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.server.start()
        cls.app, cls.key = cls.server.new_app("till")
        subprocess.run(["node", SCRIPT, cls.app["connectionString"]], env={**os.environ, "NODE_PATH": MODULES},
                       check=True, timeout=60, stdout=subprocess.DEVNULL)

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def check(self, query, expected):
        self.assertEqual(self.server.query(self.app, self.key, query), [expected])

    def test_event(self):
        self.check("customEvents | project name, lane = tostring(customDimensions.lane), "
                   "coins = todouble(customMeasurements.coins), user_Id, cloud_RoleName",
                   {"name": "DrawerOpened", "lane": "4", "coins": 12.5, "user_Id": "cashier-7", "cloud_RoleName": "till"})

    def test_metric(self):
        self.check("customMetrics | where name == 'queueLength' "
                   "| project value, valueSum, valueCount, valueMin, valueMax, valueStdDev",
                   {"value": 2.0, "valueSum": 6.0, "valueCount": 3, "valueMin": 1.0, "valueMax": 4.0, "valueStdDev": 0.5})

    def test_trace(self):
        self.check("traces | project message, severityLevel", {"message": "paper is low", "severityLevel": 2})

    def test_exception(self):
        self.check("exceptions | project type, outerMessage, frames = array_length(details) > 0",
                   {"type": "RangeError", "outerMessage": "no such product", "frames": True})

    def test_dependency(self):
        self.check("dependencies | project name, target, type, data, duration, success",
                   {"name": "find product", "target": "db.till", "type": "SQL", "data": "select 1", "duration": 12.0,
                    "success": "True"})

    def test_request(self):
        self.check("requests | project name, url, resultCode, success, duration, performanceBucket",
                   {"name": "GET /price", "url": "http://till/price", "resultCode": "404", "success": "False",
                    "duration": 50.0, "performanceBucket": "<250ms"})

    def test_page_view(self):
        self.check("pageViews | project name, url, duration", {"name": "Receipt", "url": "http://till/receipt", "duration": 9.0})

    def test_availability(self):
        self.check("availabilityResults | project name, success, location, message, duration",
                   {"name": "till answers", "success": "1", "location": "Lobby", "message": "fine", "duration": 100.0})

    def test_all_types_come_as_events(self):
        kinds = {event["type"] for event in self.server.events(self.app, self.key, "$all")}
        self.assertLessEqual({"customEvent", "customMetric", "trace", "exception", "dependency", "request", "pageView",
                              "availabilityResult"}, kinds)


if __name__ == "__main__":
    unittest.main()
