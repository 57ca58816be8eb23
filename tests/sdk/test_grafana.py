"""What Grafana's Azure Monitor data source sends for logs, application metrics' logs and traces, replayed.

The paths and bodies are those of its source (`pkg/tsdb/azuremonitor/loganalytics` and `azure_log_analytics_datasource.ts`): a
resource by its id, a workspace by its id, several resources, the time range of the dashboard, and the tables for the editor.
"""
import datetime
import json
import unittest
import urllib.error
import urllib.request

import shop_telemetry
from server import Server

GROUP = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/shops/providers"
COMPONENT = f"{GROUP}/microsoft.insights/components/shop"
WORKSPACE = f"{GROUP}/Microsoft.OperationalInsights/workspaces/shop"
AGENT = {"Content-Type": "application/json", "User-Agent": "Grafana/12.3.0", "Accept-Encoding": "gzip"}


class Grafana(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server(query_rate=10_000)
        cls.server.start()
        cls.addClassCleanup(cls.server.__exit__)
        cls.app, cls.key = cls.server.new_app("shop")
        cls.now = datetime.datetime.now(datetime.timezone.utc)
        cls.items = shop_telemetry.envelopes(cls.app["instrumentationKey"], cls.now)
        status, verdict = cls.server.track(cls.items)
        assert (status, verdict["itemsAccepted"]) == (200, len(cls.items)), verdict
        cls.requests = sorted([item["data"]["baseData"]["id"], item["data"]["baseData"]["name"]]
                              for item in cls.items if item["data"]["baseType"] == "RequestData")

    def send(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        headers = {**AGENT, "Authorization": f"Bearer {self.key}", "Accept-Encoding": "identity"}
        request = urllib.request.Request(self.server.url + path, data, headers)
        with urllib.request.urlopen(request, timeout=60) as reply:
            self.assertTrue(reply.headers["Content-Type"].startswith("application/json"))
            return json.load(reply)

    def primary(self, path, body):
        """The rows of the table that the data source looks for."""
        [table] = [table for table in self.send(path, body)["tables"] if table["name"] == "PrimaryResult"]
        return table["rows"]

    def dashboard(self, query, column, hours=3, **more):
        end = (self.now + datetime.timedelta(minutes=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
        start = (self.now - datetime.timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%SZ")
        return {"query": query, "timespan": f"{start}/{end}", "query_datetimescope_from": start, "query_datetimescope_to": end,
                "query_datetimescope_column": column, **more}

    def test_logs_of_a_resource(self):
        query = "requests | project id, name | sort by id asc"
        self.assertEqual(self.primary(f"/v1{COMPONENT}/query", {"query": query}), self.requests)
        self.assertEqual(self.primary(f"/v1{COMPONENT}/query", self.dashboard(query, "timestamp")), self.requests)
        names = "AppRequests | project Id, Name | sort by Id asc"
        self.assertEqual(self.primary(f"/v1{WORKSPACE}/query", self.dashboard(names, "TimeGenerated")), self.requests)
        recent = self.dashboard("requests | count", "timestamp", hours=1)
        self.assertEqual(self.primary(f"/v1{COMPONENT}/query", recent), [[2]])

    def test_logs_of_a_workspace_by_its_id(self):
        for workspace in (self.app["appId"], "shop"):
            rows = self.primary(f"/v1/workspaces/{workspace}/query", self.dashboard("AppRequests | count", "TimeGenerated"))
            self.assertEqual(rows, [[len(self.requests)]])

    def test_several_resources(self):
        resources = [COMPONENT, COMPONENT.replace("resourceGroups", "RESOURCEGROUPS")]
        count = self.dashboard("requests | count", "timestamp", resources=resources)
        self.assertEqual(self.primary(f"/v1{COMPONENT}/query", count), [[len(self.requests)]])
        count = self.dashboard("AppRequests | count", "TimeGenerated", workspaces=[WORKSPACE])
        self.assertEqual(self.primary(f"/v1{WORKSPACE}/query", count), [[len(self.requests)]])

    def test_a_time_series(self):
        query = ("AppRequests | where TimeGenerated >= datetime('{0}') and TimeGenerated <= datetime('{1}') "
                 "| summarize count() by bin(TimeGenerated, 1h), Name | order by TimeGenerated asc")
        query = query.format((self.now - datetime.timedelta(hours=3)).isoformat(), (self.now + datetime.timedelta(minutes=1)).isoformat())
        rows = self.primary(f"/v1{WORKSPACE}/query", {"query": query})
        self.assertEqual(sum(row[2] for row in rows), len(self.requests))

    def test_traces(self):
        """The data source asks a component by its name, and names the resource in `applications`."""
        query = ("set truncationmaxrecords=10000; set truncationmaxsize=67108864; union isfuzzy=true "
                 "availabilityResults,customEvents,dependencies,exceptions,pageViews,requests,traces "
                 "| where (operation_Id != '') "
                 "| extend duration = iff(isnull(column_ifexists(\"duration\", real(null))), toreal(0), column_ifexists(\"duration\", real(null))) "
                 "| extend spanID = iff(itemType == \"pageView\" or isempty(column_ifexists(\"id\", \"\")), tostring(new_guid()), "
                 "column_ifexists(\"id\", \"\")) "
                 "| project-rename traceID = operation_Id, startTime = timestamp | project traceID, spanID, duration, itemType, startTime "
                 "| where itemType == 'request' | order by startTime asc")
        body = self.dashboard(query, "timestamp", applications=[COMPONENT])
        rows = self.primary("/v1/apps/shop/query", body)
        sent = sorted((item["tags"]["ai.operation.id"], item["data"]["baseData"]["id"]) for item in self.items
                      if item["data"]["baseType"] == "RequestData" and item["tags"].get("ai.operation.id"))
        self.assertEqual(sorted((row[0], row[1]) for row in rows), sent)

    def test_tables_for_the_editor(self):
        for path, table, column in ((f"/v1{COMPONENT}/metadata", "requests", "timestamp"),
                                    (f"/v1{WORKSPACE}/metadata", "AppRequests", "TimeGenerated"),
                                    (f"/v1/workspaces/{self.app['appId']}/metadata", "AppRequests", "TimeGenerated")):
            reply = self.send(path)
            [found] = [known for known in reply["tables"] if known["name"] == table]
            self.assertIn({"name": column, "type": "datetime"}, found["columns"])
            self.assertEqual(found["timespanColumn"], column)

    def test_the_data_source_reads_errors(self):
        with self.assertRaises(urllib.error.HTTPError) as caught:
            self.send(f"/v1{COMPONENT}/query", {"query": "requests | foobar"})
        error = json.load(caught.exception)["error"]
        self.assertEqual((caught.exception.code, error["code"]), (400, "BadArgumentError"))


if __name__ == "__main__":
    unittest.main()
