"""Both data-plane SDKs ask for every metric, event type and query reply; each is what was sent."""
import datetime
import json
import os
import pathlib
import re
import subprocess
import unittest

import shop_telemetry
from server import Server

MODULES = os.environ.get("HINDSIGHT_NODE_MODULES")
READ = pathlib.Path(__file__).resolve().parent / "node" / "read.js"

QUERY = ("requests | where id == 'r2' | project timestamp > ago(1h), id, duration, itemCount, customDimensions, "
         "span = 90s, guid_ = guid(74be27de-1e4e-49d9-b579-fe0b331d3642), none = int(null), "
         "at = datetime(2024-02-03T04:05:06.789Z), big = 9007199254740993")
ANSWER = {"columns": [("Column1", "bool"), ("id", "string"), ("duration", "real"), ("itemCount", "int"),
                      ("customDimensions", "dynamic"), ("span", "timespan"), ("guid_", "guid"), ("none", "int"),
                      ("at", "datetime"), ("big", "long")],
          "row": [True, "r2", 400, 2, None, "00:01:30", "74be27de-1e4e-49d9-b579-fe0b331d3642", None,
                  "2024-02-03T04:05:06.789Z", 9007199254740993]}


def snake(name):
    return re.sub(r"([A-Z])", lambda m: "_" + m[1].lower(), name)


class ByValue(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        from azure.applicationinsights import ApplicationInsightsDataClient
        from msrest.authentication import ApiKeyCredentials

        cls.server = Server(query_rate=10_000)
        cls.server.start()
        cls.app, cls.key = cls.server.new_app("shop")
        cls.id = cls.app["appId"]
        items = shop_telemetry.envelopes(cls.app["instrumentationKey"])
        status, verdict = cls.server.track(items)
        assert (status, verdict["itemsAccepted"]) == (200, len(items)), verdict
        credentials = ApiKeyCredentials(in_headers={"x-api-key": cls.key})
        cls.client = ApplicationInsightsDataClient(credentials, base_url=cls.server.url + "/v1")
        cls.sent = len(items)

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def matches(self, expected, found, at=""):
        """Every value that is expected is there; of a model as of a dictionary."""
        for name, value in expected.items():
            place = f"{at}/{name}"
            if isinstance(found, dict):
                actual = found.get(name)
            else:
                attribute = snake(name)
                model = vars(found)
                known = {**model, **(model.get("additional_properties") or {})}
                actual = known[attribute] if attribute in known else known.get(name, known.get(attribute + "_property"))
            if isinstance(value, dict):
                self.matches(value, actual, place)
            elif isinstance(found, dict):
                self.assertEqual(actual, value, place)
            else:
                # The models declare some numbers as text.
                self.assertIn(actual, (value, str(value)), place)

    def node(self, questions):
        """The answers of the Node.js SDK."""
        environment = {**os.environ, "NODE_PATH": MODULES, "AI_BASE": self.server.url, "AI_APP": self.id, "AI_KEY": self.key}
        run = subprocess.run(["node", READ], input=json.dumps(questions), env=environment, check=True, timeout=120,
                             capture_output=True, text=True)
        return json.loads(run.stdout)

    def test_every_standard_metric_is_expected(self):
        described = self.client.metrics.get_metadata(self.id)
        own = ("customMetrics/", "customEvents/custom/")
        standard = {name for name in described["metrics"] if not name.startswith(own)}
        billing = {"billingMeters/telemetryCount", "billingMeters/telemetrySize"}
        self.assertEqual(standard - set(shop_telemetry.METRICS), billing)
        for name in standard - billing:
            supported = described["metrics"][name]["supportedAggregations"]
            self.assertEqual(set(shop_telemetry.METRICS[name]), set(supported), name)
        self.assertIn("customMetrics/queue a", described["metrics"])
        self.assertIn("customDimensions/plan", described["metrics"]["requests/count"]["supportedGroupBy"]["all"])

    def test_metrics_with_python(self):
        for name, expected in shop_telemetry.METRICS.items():
            value = self.client.metrics.get(self.id, name, timespan="PT3H", aggregation=list(expected)).value
            self.assertEqual(value.additional_properties, {name: expected}, name)

    def test_metrics_in_one_batch_with_python(self):
        from azure.applicationinsights.models import MetricsPostBodySchema, MetricsPostBodySchemaParameters
        names = list(shop_telemetry.METRICS)
        body = [MetricsPostBodySchema(id=name, parameters=MetricsPostBodySchemaParameters(
            metric_id=name, timespan="PT3H", aggregation=list(shop_telemetry.METRICS[name]))) for name in names]
        reply = self.client.metrics.get_multiple(self.id, body)
        self.assertEqual([(one.id, one.status) for one in reply], [(name, 200) for name in names])
        for one in reply:
            self.assertEqual(one.body.value.additional_properties, {one.id: shop_telemetry.METRICS[one.id]})

    @unittest.skipUnless(MODULES, "npm is not installed")
    def test_metrics_with_node(self):
        questions = [{"kind": "metric", "metric": name, "options": {"timespan": "PT3H", "aggregation": list(expected)}}
                     for name, expected in shop_telemetry.METRICS.items()]
        for question, answer in zip(questions, self.node(questions)):
            name = question["metric"]
            self.assertEqual(answer["value"][name], shop_telemetry.METRICS[name], name)

    def test_what_is_billed_adds_up(self):
        def billed(metric, **options):
            return self.client.metrics.get(self.id, metric, timespan="PT3H", **options).value
        # Seven items stand for more than one.
        total = billed("billingMeters/telemetryCount").additional_properties["billingMeters/telemetryCount"]["sum"]
        self.assertEqual(total, self.sent + 1 + 3 + 1)
        size = billed("billing/telemetrySize").additional_properties["billing/telemetrySize"]["sum"]
        self.assertGreater(size, self.sent * 200)
        parts = billed("billing/telemetrySize", segment=["billing/telemetryItemType"]).segments
        self.assertEqual(sum(part.additional_properties["sum"] for part in parts), size)
        self.assertEqual(len(parts), 10)

    def test_segments_and_intervals_with_python(self):
        value = self.client.metrics.get(self.id, "requests/duration", timespan="PT3H", aggregation=["avg", "count"],
                                        segment=["request/name", "request/resultCode"], orderby="count desc").value
        found = [(outer.additional_properties["request/name"],
                  [(leaf.additional_properties["request/resultCode"], leaf.additional_properties["avg"],
                    leaf.additional_properties["count"]) for leaf in outer.segments]) for outer in value.segments]
        self.assertEqual(found, [("GET /a", [("200", 200, 2)]), ("GET /b", [("500", 400, 2)])])
        value = self.client.metrics.get(self.id, "requests/count", timespan="PT3H", interval=datetime.timedelta(minutes=30)).value
        self.assertEqual(value.interval, datetime.timedelta(minutes=30))
        sums = [segment.additional_properties["requests/count"]["sum"] for segment in value.segments]
        self.assertEqual(sum(count or 0 for count in sums), 4)
        value = self.client.metrics.get(self.id, "requests/count", timespan="PT3H", segment=["continent"],
                                        filter="customDimensions/plan eq 'gold'").value
        self.assertEqual([s.additional_properties for s in value.segments], [{"requests/count": None, "sum": 1, "continent": ""}])

    def test_events_with_python(self):
        for kind, (filter_, expected) in shop_telemetry.EVENTS.items():
            reply = self.client.events.get_by_type(self.id, kind, timespan="PT3H", filter=filter_, count=True)
            self.assertEqual(len(reply.value), 1, kind)
            event = reply.value[0]
            self.assertNotEqual(type(event).__name__, "EventsResultData", kind)
            # This SDK does not read bags: their values are compared in the JSON.
            bags = {name: value for name, value in expected.items() if name.startswith("custom") and name.endswith("s")}
            self.matches({name: value for name, value in expected.items() if name not in bags}, event, kind)
            plain = self.server.events(self.app, self.key, f"{kind}/{event.id}")[0]
            self.assertEqual({name: plain[name] for name in bags}, bags, kind)
            self.assertEqual((event.ai.app_id, event.cloud.role_name, event.application.version), (self.id, "web", "1.2"))
            again = self.client.events.get(self.id, kind, event.id).value
            self.assertEqual([one.as_dict() for one in again], [event.as_dict()], kind)
        reply = self.client.events.get_by_type(self.id, "$all", timespan="PT3H", top=100)
        self.assertEqual(len(reply.value), self.sent)

    @unittest.skipUnless(MODULES, "npm is not installed")
    def test_events_with_node(self):
        questions = [{"kind": "events", "type": kind, "options": {"timespan": "PT3H", "filter": filter_}}
                     for kind, (filter_, _) in shop_telemetry.EVENTS.items()]
        for question, answer in zip(questions, self.node(questions)):
            kind = question["type"]
            self.assertEqual(len(answer["value"]), 1, kind)
            self.matches(shop_telemetry.EVENTS[kind][1], answer["value"][0], kind)

    def test_apply_over_http(self):
        reply = self.server.get(f"/v1/apps/{self.id}/events/requests", self.key, **{
            "timespan": "PT3H", "$orderby": "n desc",
            "$apply": "groupby((request/name),aggregate($count as n,request/duration with max as slowest))"})
        self.assertEqual(reply["value"], [{"request": {"name": "GET /a"}, "n": 2, "slowest": 300},
                                          {"request": {"name": "GET /b"}, "n": 1, "slowest": 400}])
        self.assertTrue(reply["@odata.context"].endswith("$metadata#requests(request/name,n,slowest)"))

    def test_query_with_python(self):
        from azure.applicationinsights.models import QueryBody
        table = self.client.query.execute(self.id, QueryBody(query=QUERY, timespan="PT3H")).tables[0]
        self.assertEqual([(column.name, column.type) for column in table.columns], ANSWER["columns"])
        self.assertEqual(table.rows, [ANSWER["row"]])

    @unittest.skipUnless(MODULES, "npm is not installed")
    def test_query_with_node(self):
        [answer] = self.node([{"kind": "query", "body": {"query": QUERY, "timespan": "PT3H"}}])
        table = answer["tables"][0]
        self.assertEqual([(column["name"], column["type"]) for column in table["columns"]], ANSWER["columns"])
        # JavaScript has no whole number this large.
        self.assertEqual(table["rows"][0][:-1], ANSWER["row"][:-1])


if __name__ == "__main__":
    unittest.main()
