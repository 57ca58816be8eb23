"""azure-monitor-query and @azure/monitor-query-logs ask for what was sent: by workspace, by resource and in a batch."""
import datetime
import json
import os
import pathlib
import subprocess
import time
import unittest

import shop_telemetry
from server import Server

MODULES = os.environ.get("HINDSIGHT_NODE_MODULES")
NODE_SCRIPT = pathlib.Path(__file__).resolve().parent / "node" / "monitor_query.mjs"
GROUP = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/shops/providers"
QUERY = ("AppRequests | project Id, Name, ResultCode, Success, DurationMs, ItemCount, AppRoleName, plan = tostring(Properties.plan) "
         "| sort by Id asc")
CLASSIC = ("requests | project id, name, resultCode, success = success == 'True', duration, itemCount, cloud_RoleName, "
           "plan = tostring(customDimensions.plan) | sort by id asc")


def sent_rows(items):
    """What the query returns for the requests among the items, as they were sent."""
    rows = []
    for item in items:
        data = item["data"]["baseData"]
        if item["data"]["baseType"] == "RequestData":
            hours, minutes, seconds = data["duration"].split(":")
            milliseconds = (int(hours) * 3600 + int(minutes) * 60 + float(seconds)) * 1000
            rows.append([data["id"], data["name"], data["responseCode"], data["success"], round(milliseconds, 4),
                         round(100 / item.get("sampleRate", 100)), item["tags"]["ai.cloud.role"],
                         data.get("properties", {}).get("plan", "")])
    return sorted(rows)


class Token:
    """A credential that has a token already: an API key."""

    def __init__(self, key):
        self.key = key

    def get_token(self, *_, **__):
        from azure.core.credentials import AccessToken
        return AccessToken(self.key, int(time.time()) + 3600)


class MonitorQuery(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--dev-tls", query_rate=10_000)
        cls.server.start()
        cls.addClassCleanup(cls.server.__exit__)
        cls.app, cls.key = cls.server.new_app("shop")
        items = shop_telemetry.envelopes(cls.app["instrumentationKey"])
        status, verdict = cls.server.track(items)
        assert (status, verdict["itemsAccepted"]) == (200, len(items)), verdict
        cls.expected = sent_rows(items)
        assert len(cls.expected) >= 3, cls.expected

    @property
    def resources(self):
        """The ids by which the application is addressed."""
        return {f"{GROUP}/microsoft.insights/components/shop": CLASSIC,
                f"{GROUP}/Microsoft.Insights/components/{self.app['appId']}": CLASSIC,
                f"{GROUP}/microsoft.operationalinsights/workspaces/shop": QUERY,
                "/hindsight/apps/shop": QUERY}

    def client(self, key=None):
        from azure.monitor.query import LogsQueryClient
        return LogsQueryClient(Token(key or self.key), endpoint=self.server.tls_url, connection_verify=self.server.authority)

    def check(self, result):
        from azure.monitor.query import LogsQueryStatus
        self.assertEqual(result.status, LogsQueryStatus.SUCCESS)
        self.assertEqual([list(row) for row in result.tables[0].rows], self.expected)

    def test_a_workspace_with_python(self):
        span = datetime.timedelta(hours=3)
        for workspace in (self.app["appId"], "shop"):
            self.check(self.client().query_workspace(workspace, QUERY, timespan=span))
        result = self.client().query_workspace("shop", QUERY, timespan=span, include_statistics=True, server_timeout=30,
                                               additional_workspaces=[f"{GROUP}/microsoft.operationalinsights/workspaces/shop"])
        self.check(result)
        self.assertIn("query", result.statistics)

    def test_types_with_python(self):
        query = ("print at = datetime(2024-02-03T04:05:06.789Z), span = 90s, big = 9007199254740993, real_ = 0.5, yes = true, "
                 "bag = dynamic({'a': [1, null]}), none = int(null), text = 'ä'")
        table = self.client().query_workspace("shop", query, timespan=None).tables[0]
        self.assertEqual(table.columns, ["at", "span", "big", "real_", "yes", "bag", "none", "text"])
        at = datetime.datetime(2024, 2, 3, 4, 5, 6, 789000, tzinfo=datetime.timezone.utc)
        self.assertEqual(list(table.rows[0])[:5], [at, "00:01:30", 9007199254740993, 0.5, True])
        self.assertEqual((json.loads(table.rows[0]["bag"]), table.rows[0]["none"], table.rows[0]["text"]),
                         ({"a": [1, None]}, None, "ä"))

    def test_resources_with_python(self):
        for resource, query in self.resources.items():
            with self.subTest(resource):
                self.check(self.client().query_resource(resource, query, timespan=datetime.timedelta(hours=3)))
        # What a row says of itself is its address too.
        row = self.client().query_workspace("shop", "AppRequests | project _ResourceId | take 1", timespan=None).tables[0].rows[0]
        self.check(self.client().query_resource(row[0], QUERY, timespan=None))

    def test_a_batch_with_python(self):
        from azure.monitor.query import LogsBatchQuery, LogsQueryStatus
        span = datetime.timedelta(hours=3)
        ago = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=9)
        good, wrong, elsewhere, old = self.client().query_batch([
            LogsBatchQuery(self.app["appId"], QUERY, timespan=span, include_statistics=True),
            LogsBatchQuery(self.app["appId"], "AppRequests | foobar", timespan=span),
            LogsBatchQuery("other", QUERY, timespan=span),
            LogsBatchQuery("shop", "AppRequests | count", timespan=(ago, span)),
        ])
        self.check(good)
        self.assertIn("query", good.statistics)
        self.assertEqual((wrong.status, wrong.code), (LogsQueryStatus.FAILURE, "BadArgumentError"))
        self.assertEqual((elsewhere.status, elsewhere.code), (LogsQueryStatus.FAILURE, "InsufficientAccessError"))
        self.assertEqual([list(row) for row in old.tables[0].rows], [[0]])

    def test_errors_with_python(self):
        from azure.core.exceptions import HttpResponseError
        with self.assertRaises(HttpResponseError) as caught:
            self.client().query_resource("/hindsight/apps/shop", "requests | foobar", timespan=None)
        self.assertEqual(caught.exception.status_code, 400)
        self.assertIn("foobar", str(caught.exception))
        with self.assertRaises(HttpResponseError) as caught:
            self.client().query_workspace("other", "print 1", timespan=None)
        self.assertEqual(caught.exception.status_code, 403)

    @unittest.skipUnless(MODULES, "npm is not installed")
    def test_node(self):
        questions = {"workspace": {"id": self.app["appId"], "query": QUERY},
                     "resources": [{"id": resource, "query": query} for resource, query in self.resources.items()],
                     "batch": [{"workspaceId": self.app["appId"], "query": QUERY, "timespan": {"duration": "PT3H"}},
                               {"workspaceId": self.app["appId"], "query": "AppRequests | foobar", "timespan": {"duration": "PT3H"}}]}
        # The program is copied beside the modules: imports do not follow NODE_PATH.
        for endpoint in (self.server.tls_url, self.server.tls_url + "/v1"):
            environment = {**os.environ, "NODE_EXTRA_CA_CERTS": self.server.authority, "AI_ENDPOINT": endpoint, "AI_KEY": self.key}
            copy = pathlib.Path(MODULES).parent / NODE_SCRIPT.name
            copy.write_bytes(NODE_SCRIPT.read_bytes())
            run = subprocess.run(["node", copy], input=json.dumps(questions), env=environment, timeout=120, capture_output=True,
                                 text=True)
            self.assertEqual(run.returncode, 0, run.stderr)
            answers = json.loads(run.stdout)
            self.assertEqual(answers["workspace"], self.expected)
            self.assertEqual(answers["resources"], [self.expected] * len(self.resources))
            self.assertEqual(answers["batch"], [{"status": "Success", "rows": self.expected},
                                                {"status": "PartialFailure", "code": "BadArgumentError"}])


if __name__ == "__main__":
    unittest.main()
