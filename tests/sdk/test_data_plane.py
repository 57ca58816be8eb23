"""The data-plane SDK for Python reads what was sent: metrics, events, query and errors, by value."""
import datetime
import unittest

from server import Server


def request(at, key, number):
    return {"name": "Microsoft.ApplicationInsights.Request", "time": at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"), "iKey": key,
            "tags": {"ai.cloud.role": "web", "ai.location.city": "Oslo"},
            "data": {"baseType": "RequestData", "baseData": {
                "ver": 2, "id": f"r{number}", "name": "GET /even" if number % 2 == 0 else "GET /odd",
                "duration": f"00:00:00.{number * 100:03d}", "success": number != 3,
                "responseCode": "200" if number != 3 else "500", "url": "http://web/x"}}}


class DataPlane(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        from azure.applicationinsights import ApplicationInsightsDataClient
        from msrest.authentication import ApiKeyCredentials

        cls.server = Server()
        cls.server.start()
        cls.app, cls.key = cls.server.new_app("web")
        now = datetime.datetime.now(datetime.timezone.utc)
        items = [request(now - datetime.timedelta(minutes=5 * n), cls.app["instrumentationKey"], n) for n in range(1, 5)]
        status, verdict = cls.server.track(items)
        assert (status, verdict["itemsAccepted"]) == (200, 4), verdict
        credentials = ApiKeyCredentials(in_headers={"x-api-key": cls.key})
        cls.client = ApplicationInsightsDataClient(credentials, base_url=cls.server.url + "/v1")
        cls.id = cls.app["appId"]

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def test_metric_values(self):
        value = self.client.metrics.get(self.id, "requests/duration", timespan="PT1H",
                                        aggregation=["avg", "min", "max", "sum", "count"]).value
        self.assertEqual(value.additional_properties["requests/duration"],
                         {"avg": 250, "min": 100, "max": 400, "sum": 1000, "count": 4})
        self.assertEqual(value.end - value.start, datetime.timedelta(hours=1))

    def test_metric_segments(self):
        value = self.client.metrics.get(self.id, "requests/count", segment=["request/name"], orderby="sum desc").value
        found = {s.additional_properties["request/name"]: s.additional_properties["sum"] for s in value.segments}
        self.assertEqual(found, {"GET /even": 2, "GET /odd": 2})

    def test_metric_intervals_add_up(self):
        value = self.client.metrics.get(self.id, "requests/count", timespan="PT1H",
                                        interval=datetime.timedelta(minutes=5)).value
        sums = [s.additional_properties["requests/count"]["sum"] for s in value.segments]
        self.assertEqual(sum(n for n in sums if n), 4)
        self.assertEqual(value.segments[0].start, value.start)
        self.assertEqual(value.segments[-1].end, value.end)

    def test_metric_filter(self):
        value = self.client.metrics.get(self.id, "requests/count", filter="request/success eq 'False'").value
        self.assertEqual(value.additional_properties["requests/count"], {"sum": 1})

    def test_events(self):
        reply = self.client.events.get_by_type(self.id, "requests", timespan="P1D", orderby="request/duration desc", top=2,
                                               filter="client/city eq 'Oslo'", count=True)
        self.assertEqual([event.request.duration for event in reply.value], [400, 300])
        event = self.client.events.get(self.id, "requests", reply.value[1].id, timespan="P1D").value[0]
        self.assertEqual((event.request.success, event.request.result_code, event.cloud.role_name), ("False", "500", "web"))

    def test_query_and_its_errors(self):
        from azure.applicationinsights.models import ErrorResponseException, QueryBody
        table = self.client.query.execute(self.id, QueryBody(query="requests | sort by duration | project id")).tables[0]
        self.assertEqual((table.name, table.rows), ("PrimaryResult", [["r4"], ["r3"], ["r2"], ["r1"]]))
        with self.assertRaises(ErrorResponseException) as caught:
            self.client.query.execute(self.id, QueryBody(query="requests | foobar"))
        error = caught.exception.error.error
        self.assertEqual((error.code, error.innererror.code), ("BadArgumentError", "SyntaxError"))
        self.assertIn("'foobar' on line [1,11]", error.innererror.innererror.message)

    def test_the_key_goes_in_three_ways(self):
        from azure.applicationinsights import ApplicationInsightsDataClient
        from msrest.authentication import ApiKeyCredentials, BasicAuthentication
        for credentials in (BasicAuthentication(self.key, ""), BasicAuthentication("", self.key),
                            ApiKeyCredentials(in_query={"api_key": self.key})):
            client = ApplicationInsightsDataClient(credentials, base_url=self.server.url + "/v1")
            value = client.metrics.get(self.id, "requests/count").value
            self.assertEqual(value.additional_properties["requests/count"], {"sum": 4})


if __name__ == "__main__":
    unittest.main()
