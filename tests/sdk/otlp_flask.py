"""A Flask application that the official instrumentations watch. It serves one request, which calls itself, and sends the spans of
both: otlp_flask.py <http|grpc> <endpoint> <instrumentation key>"""
import logging
import sys
import threading
import wsgiref.simple_server

from flask import Flask
from opentelemetry import metrics, trace
from opentelemetry.instrumentation.flask import FlaskInstrumentor
from opentelemetry.instrumentation.requests import RequestsInstrumentor
from opentelemetry.sdk._logs import LoggerProvider, LoggingHandler
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

form, endpoint, key = sys.argv[1:]
headers = {"x-instrumentation-key": key}
if form == "http":
    from opentelemetry.exporter.otlp.proto.http import Compression
    from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    def options(signal):
        return {"endpoint": f"{endpoint}/v1/{signal}", "headers": headers, "compression": Compression.Gzip}
else:
    from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter
    from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter
    from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter

    def options(_):
        return {"endpoint": endpoint, "headers": headers, "insecure": True}

resource = Resource.create({"service.name": f"bakery-{form}", "service.instance.id": "oven-1"})
tracing = TracerProvider(resource=resource)
tracing.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(**options("traces"))))
trace.set_tracer_provider(tracing)
reader = PeriodicExportingMetricReader(OTLPMetricExporter(**options("metrics")), export_interval_millis=3_600_000)
metering = MeterProvider(metric_readers=[reader], resource=resource)
metrics.set_meter_provider(metering)
logs = LoggerProvider(resource=resource)
logs.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter(**options("logs"))))
logger = logging.getLogger("oven")
logger.addHandler(LoggingHandler(logger_provider=logs))

app = Flask("bakery")
FlaskInstrumentor().instrument_app(app)
RequestsInstrumentor().instrument()
loaves = metering.get_meter("test").create_counter("loaves")


@app.get("/bread/<kind>")
def bread(kind):
    import requests
    requests.get(f"http://127.0.0.1:{server.server_port}/flour", timeout=10)
    loaves.add(2, {"kind": kind})
    logger.warning("the oven is %s", "cold")
    return kind


@app.get("/flour")
def flour():
    raise ValueError("out of flour")


class Quiet(wsgiref.simple_server.WSGIRequestHandler):
    def log_message(self, *_):
        pass


class Threading(wsgiref.simple_server.WSGIServer):
    def process_request(self, request, address):
        threading.Thread(target=super().process_request, args=(request, address), daemon=True).start()


app.logger.disabled = True
server = wsgiref.simple_server.make_server("127.0.0.1", 0, app, Threading, Quiet)
threading.Thread(target=server.serve_forever, daemon=True).start()
import http.client  # noqa: E402, the one client that nothing instruments

connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
connection.request("GET", "/bread/rye")
connection.getresponse().read()
tracing.shutdown()
logs.shutdown()
metering.shutdown()
