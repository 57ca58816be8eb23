"""azure-kusto-data of Python and Node.js, and the requests of Grafana's Azure Data Explorer data source: the schema is read, and
the rows that they get are those that were sent."""
import datetime
import json
import os
import pathlib
import subprocess
import unittest
import urllib.parse
import urllib.request

import shop_telemetry
from server import Server

MODULES = os.environ.get("HINDSIGHT_NODE_MODULES")
NODE_SCRIPT = pathlib.Path(__file__).resolve().parent / "node" / "kusto.mjs"
QUERY = ("requests | project id, name, resultCode, ok = success == 'True', duration, timestamp, customDimensions, "
         "age = 1d + 2h | sort by id asc")


def sent_rows(items):
    """What the query returns for the requests among the items, as they were sent."""
    rows = []
    for item in items:
        data = item["data"]["baseData"]
        if item["data"]["baseType"] == "RequestData":
            hours, minutes, seconds = data["duration"].split(":")
            duration = round((int(hours) * 3600 + int(minutes) * 60 + float(seconds)) * 1000, 4)
            time = datetime.datetime.fromisoformat(item["time"])
            rows.append([data["id"], data["name"], data["responseCode"], data["success"], duration, time,
                         data.get("properties", {}), datetime.timedelta(days=1, hours=2)])
    return sorted(rows, key=lambda row: row[0])


class Kusto(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        from azure.kusto.data import KustoClient, KustoConnectionStringBuilder
        cls.server = Server(query_rate=10_000)
        cls.server.start()
        cls.addClassCleanup(cls.server.__exit__)
        cls.app, cls.key = cls.server.new_app("shop")
        cls.items = shop_telemetry.envelopes(cls.app["instrumentationKey"])
        status, verdict = cls.server.track(cls.items)
        assert (status, verdict["itemsAccepted"]) == (200, len(cls.items)), verdict
        cls.expected = sent_rows(cls.items)
        assert len(cls.expected) >= 3, cls.expected
        connection = KustoConnectionStringBuilder.with_aad_application_token_authentication(cls.server.url, cls.key)
        cls.client = KustoClient(connection)
        cls.addClassCleanup(cls.client.close)

    def properties(self, **options):
        from azure.kusto.data import ClientRequestProperties
        properties = ClientRequestProperties()
        for name, value in options.items():
            properties.set_option(name, value)
        return properties

    def test_python_rows(self):
        for database in ("shop", self.app["appId"], None):
            [table] = self.client.execute(database, QUERY).primary_results
            rows = [row.to_list() for row in table]
            self.assertEqual([row[:6] for row in rows], [row[:6] for row in self.expected])
            self.assertEqual([row[7] for row in rows], [row[7] for row in self.expected])
            for row, expected in zip(rows, self.expected):
                for name, value in expected[6].items():
                    self.assertEqual(row[6][name], value)

    def test_python_streaming(self):
        data_set = self.client.execute_streaming_query("shop", QUERY)
        [rows] = [[row.to_list()[:6] for row in table] for table in data_set.iter_primary_results()]
        self.assertEqual(rows, [row[:6] for row in self.expected])

    def test_python_data_frame(self):
        import pandas
        from azure.kusto.data.helpers import dataframe_from_result_table
        query = QUERY + " | extend absent = real(nan), nothing = long(null), many = decimal(1.5)"
        frame = dataframe_from_result_table(self.client.execute("shop", query).primary_results[0])
        self.assertEqual(list(frame["id"]), [row[0] for row in self.expected])
        self.assertEqual(list(frame["ok"]), [row[3] for row in self.expected])
        self.assertEqual(list(frame["duration"]), [row[4] for row in self.expected])
        self.assertEqual([time.to_pydatetime() for time in frame["timestamp"]], [row[5] for row in self.expected])
        self.assertEqual([age.to_pytimedelta() for age in frame["age"]], [row[7] for row in self.expected])
        self.assertEqual(list(frame["many"]), [1.5] * len(self.expected))
        self.assertTrue(pandas.isna(frame["nothing"]).all())
        self.assertTrue(pandas.isna(frame["absent"].astype(float)).all())

    def test_python_properties(self):
        properties = self.properties(servertimeout=datetime.timedelta(seconds=30))
        properties.set_parameter("wanted", "r1")
        query = "declare query_parameters(wanted:string); requests | where id == wanted | project id"
        [table] = self.client.execute("shop", query, properties).primary_results
        self.assertEqual([row["id"] for row in table], ["r1"])

    def test_python_errors(self):
        from azure.kusto.data.exceptions import KustoApiError, KustoMultiApiError, KustoServiceError
        with self.assertRaises(KustoApiError) as caught:
            self.client.execute("shop", "requests | project nothing")
        self.assertTrue(caught.exception.is_semantic_error(), caught.exception)
        self.assertEqual(caught.exception.get_api_error().code, "General_BadRequest")
        self.assertTrue(caught.exception.get_api_error().permanent)
        with self.assertRaises(KustoMultiApiError) as caught:
            self.client.execute("shop", "range x from 1 to 9 step 1", self.properties(truncationmaxrecords=5))
        self.assertEqual(caught.exception.get_api_errors()[0].code, "LimitsExceeded")
        deferred = self.properties(truncationmaxrecords=5, deferpartialqueryfailures=True)
        data_set = self.client.execute("shop", "range x from 1 to 9 step 1", deferred)
        self.assertEqual((data_set.primary_results[0].rows_count, data_set.errors_count), (5, 1))
        with self.assertRaises(KustoServiceError):
            self.client.execute("elsewhere", "requests")
        with self.assertRaises(KustoApiError) as caught:
            self.client.execute("shop", ".drop table requests")
        self.assertIn(".drop table requests", str(caught.exception))

    def test_python_schema(self):
        [table] = self.client.execute("shop", ".show databases").primary_results
        self.assertEqual([row["DatabaseName"] for row in table], ["shop"])
        [table] = self.client.execute("shop", ".show tables").primary_results
        self.assertIn("requests", [row["TableName"] for row in table])
        [table] = self.client.execute("shop", ".show database shop schema as json").primary_results
        schema = json.loads(table.rows[0]["DatabaseSchema"])
        columns = schema["Databases"]["shop"]["Tables"]["requests"]["OrderedColumns"]
        self.assertEqual(columns[0]["CslType"], "datetime")

    def grafana(self, path, body):
        headers = {"Content-Type": "application/json", "Accept": "application/json", "x-ms-app": "Grafana-ADX",
                   "Authorization": f"Bearer {self.key}"}
        request = urllib.request.Request(self.server.url + path, json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=60) as reply:
            return json.load(reply)["Tables"]

    def test_grafana(self):
        """The test of the data source, its lists of databases and columns, and a panel's query."""
        options = {"options": {"queryconsistency": "strongconsistency", "servertimeout": "00:00:30"}}
        tables = self.grafana("/v1/rest/query", {"csl": ".show databases schema", "db": "shop", "properties": options})
        self.assertEqual(tables[0]["Rows"][0][0], "shop")
        tables = self.grafana("/v1/rest/mgmt", {"csl": ".show databases schema as json", "querySource": "schema"})
        schema = json.loads(tables[0]["Rows"][0][0])["Databases"]["shop"]
        self.assertIn("OrderedColumns", schema["Tables"]["requests"])
        self.assertEqual((schema["Functions"], schema["ExternalTables"], schema["MaterializedViews"]), ({}, {}, {}))
        tables = self.grafana("/v1/rest/mgmt", {"csl": ".show databases"})
        self.assertEqual(tables[0]["Rows"][0][0], "shop")
        tables = self.grafana("/v1/rest/query", {"csl": QUERY, "db": "shop", "properties": options, "querySource": "raw"})
        [table] = [table for table in tables if table["TableName"] == "Table_0"]
        self.assertEqual([row[:5] for row in table["Rows"]], [row[:5] for row in self.expected])
        types = {column["ColumnName"]: column["ColumnType"] for column in table["Columns"]}
        self.assertEqual((types["ok"], types["timestamp"], types["age"]), ("bool", "datetime", "timespan"))

    def test_a_token_of_the_issuer(self):
        """`/v1/rest/auth/metadata` names the issuer and the resource of its tokens."""
        from azure.kusto.data import KustoClient, KustoConnectionStringBuilder
        with urllib.request.urlopen(self.server.url + "/v1/rest/auth/metadata", timeout=60) as reply:
            cloud = json.load(reply)["AzureAD"]
        client = self.server.command("client", "create", "tool", "--app", "shop")
        form = urllib.parse.urlencode({"grant_type": "client_credentials", "client_id": client["clientId"],
                                       "client_secret": client["secret"], "scope": cloud["KustoServiceResourceId"] + "/.default"})
        url = cloud["FirstPartyAuthorityUrl"] + "/oauth2/v2.0/token"
        with urllib.request.urlopen(urllib.request.Request(url, form.encode()), timeout=60) as reply:
            token = json.load(reply)["access_token"]
        connection = KustoConnectionStringBuilder.with_aad_user_token_authentication(self.server.url, token)
        with KustoClient(connection) as signed_in:
            [table] = signed_in.execute("shop", QUERY).primary_results
        self.assertEqual([row["id"] for row in table], [row[0] for row in self.expected])

    @unittest.skipUnless(MODULES, "needs npm")
    def test_node(self):
        environment = {**os.environ, "KUSTO_URL": self.server.url, "KUSTO_TOKEN": self.key, "KUSTO_QUERY": QUERY}
        script = pathlib.Path(MODULES).parent / "kusto.mjs"
        script.write_bytes(NODE_SCRIPT.read_bytes())
        text = subprocess.check_output(["node", script], env=environment, timeout=120)
        found = json.loads(text)
        self.assertEqual([row[:5] for row in found["rows"]], [row[:5] for row in self.expected])
        times = [datetime.datetime.fromisoformat(row[5]) for row in found["rows"]]
        # JavaScript's dates have milliseconds.
        for time, expected in zip(times, self.expected):
            self.assertLess(abs(time - expected[5]), datetime.timedelta(milliseconds=1))
        self.assertEqual({row[7] for row in found["rows"]}, {26 * 3600 * 1000})
        self.assertEqual(found["first"], found["rows"])
        self.assertEqual(found["databases"], ["shop"])
        self.assertIn("requests", found["tables"])
        self.assertEqual(found["refused"], 400)


if __name__ == "__main__":
    unittest.main()
