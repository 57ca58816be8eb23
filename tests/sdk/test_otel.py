"""The OpenTelemetry exporter for Python sends; all three families find it, field by field."""
import logging
import os
import unittest

from server import Server

os.environ["APPLICATIONINSIGHTS_STATSBEAT_DISABLED_ALL"] = "true"


def send(connection_string):
    from azure.monitor.opentelemetry.exporter import (
        AzureMonitorLogExporter, AzureMonitorMetricExporter, AzureMonitorTraceExporter)
    from opentelemetry.sdk._logs import LoggerProvider, LoggingHandler
    from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.trace import SpanKind, Status, StatusCode, set_tracer_provider

    options = {"connection_string": connection_string, "disable_offline_storage": True}
    resource = Resource.create({"service.name": "bakery", "service.namespace": "town", "service.instance.id": "oven-1"})
    tracing = TracerProvider(resource=resource)
    tracing.add_span_processor(SimpleSpanProcessor(AzureMonitorTraceExporter(**options)))
    set_tracer_provider(tracing)
    tracer = tracing.get_tracer("test")
    attributes = {"http.method": "GET", "http.url": "http://bakery.local/bread/rye?slices=4", "http.route": "/bread/{kind}",
                  "http.status_code": 200, "loaf": "rye"}
    with tracer.start_as_current_span("GET /bread/{kind}", kind=SpanKind.SERVER, attributes=attributes,
                                      end_on_exit=False) as request:
        with tracer.start_as_current_span("SELECT loaves", kind=SpanKind.CLIENT, attributes={
                "db.system": "postgresql", "db.name": "pantry", "db.statement": "select * from loaves",
                "net.peer.name": "pg.local"}) as span:
            span.set_status(Status(StatusCode.ERROR, "out of flour"))
            span.record_exception(ValueError("no rye today"))
    # Its length is said: the span within is sent before it ends, which may take long.
    request.end(end_time=request.start_time + 20_000_000)
    tracing.shutdown()

    logs = LoggerProvider(resource=resource)
    logs.add_log_record_processor(SimpleLogRecordProcessor(AzureMonitorLogExporter(**options)))
    logger = logging.getLogger("bakery")
    logger.propagate = False
    logger.addHandler(LoggingHandler(logger_provider=logs))
    logger.warning("the oven is %s", "cold", extra={"oven": "1"})
    logs.shutdown()

    reader = PeriodicExportingMetricReader(AzureMonitorMetricExporter(**options), export_interval_millis=3_600_000)
    metering = MeterProvider(metric_readers=[reader], resource=resource)
    histogram = metering.get_meter("test").create_histogram("loaf.weight")
    for weight in (500, 750, 1000):
        histogram.record(weight, {"kind": "rye"})
    metering.shutdown()


class OpenTelemetry(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.server.start()
        cls.app, cls.key = cls.server.new_app("bakery")
        send(cls.app["connectionString"])

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def one(self, table):
        rows = self.server.query(self.app, self.key, table)
        self.assertEqual(len(rows), 1, rows)
        return rows[0]

    def test_a_server_span_is_a_request(self):
        row = self.one("requests")
        expected = {"name": "GET /bread/{kind}", "url": "http://bakery.local/bread/rye?slices=4", "resultCode": "200",
                    "success": "True", "cloud_RoleName": "town.bakery", "cloud_RoleInstance": "oven-1",
                    "operation_Name": "GET /bread/{kind}", "itemType": "request", "itemCount": 1,
                    "performanceBucket": "<250ms", "appId": self.app["appId"], "appName": "bakery",
                    "iKey": self.app["instrumentationKey"]}
        self.assertEqual({name: row[name] for name in expected}, expected)
        # The exporter sends no address, so it is the sender's, with its last part masked.
        self.assertEqual(row["client_IP"], "127.0.0.0")
        loaf = self.one("requests | project loaf = tostring(customDimensions.loaf), short = duration < 60000.0")
        self.assertEqual(loaf, {"loaf": "rye", "short": True})

    def test_a_client_span_is_a_dependency_of_that_request(self):
        row = self.one("dependencies | join kind=inner (requests | project id, operation_Id) on operation_Id "
                       "| project type, target, data, success, child = operation_ParentId == id1")
        self.assertEqual(row, {"type": "postgresql", "target": "pg.local|pantry", "data": "select * from loaves",
                               "success": "False", "child": True})

    def test_a_recorded_exception_keeps_its_type_and_message(self):
        row = self.one("exceptions | project type, outerMessage, problem = isnotempty(problemId)")
        self.assertEqual(row, {"type": "ValueError", "outerMessage": "no rye today", "problem": True})

    def test_a_log_record_is_a_trace(self):
        row = self.one("traces | project message, severityLevel, oven = tostring(customDimensions.oven)")
        self.assertEqual(row, {"message": "the oven is cold", "severityLevel": 2, "oven": "1"})

    def test_a_histogram_is_a_custom_metric(self):
        row = self.one("customMetrics | where name == 'loaf.weight' | project value, valueSum, valueCount, valueMin, valueMax")
        self.assertEqual(row, {"value": 750.0, "valueSum": 2250.0, "valueCount": 3, "valueMin": 500.0, "valueMax": 1000.0})
        metric = self.server.metric(self.app, self.key, "customMetrics%2Floaf.weight", aggregation="avg,min,max,sum,count")
        self.assertEqual(metric["customMetrics/loaf.weight"],
                         {"avg": 750, "min": 500, "max": 1000, "sum": 2250, "count": 3})

    def test_metrics_and_events_agree_with_the_query(self):
        self.assertEqual(self.server.metric(self.app, self.key, "requests%2Fcount")["requests/count"], {"sum": 1})
        self.assertEqual(self.server.metric(self.app, self.key, "dependencies%2Ffailed")["dependencies/failed"], {"sum": 1})
        event = self.server.events(self.app, self.key, "requests")[0]
        row = self.one("requests")
        self.assertEqual(event["id"], row["itemId"])
        self.assertEqual(event["type"], "request")
        self.assertEqual(event["request"]["name"], row["name"])
        self.assertEqual(event["request"]["duration"], row["duration"])
        self.assertEqual(event["cloud"]["roleName"], "town.bakery")
        self.assertEqual(event["customDimensions"]["loaf"], "rye")
        by_id = self.server.events(self.app, self.key, f"requests/{row['itemId']}")
        self.assertEqual(by_id[0]["operation"]["id"], row["operation_Id"])


if __name__ == "__main__":
    unittest.main()
