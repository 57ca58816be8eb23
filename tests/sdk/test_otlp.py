"""Real senders of OpenTelemetry: SDKs of Python and Node.js over HTTP and gRPC, instrumented applications, a browser, and what a
collector sends."""
import http.server
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import threading
import time
import unittest
import urllib.error
import urllib.request

from server import Server

HERE = pathlib.Path(__file__).resolve().parent
MODULES = os.environ.get("HINDSIGHT_OTLP_MODULES")
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Senders(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.http_port, cls.grpc_port = free_port(), free_port()
        cls.server = Server(otlp_http_listen=f"127.0.0.1:{cls.http_port}", otlp_grpc_listen=f"127.0.0.1:{cls.grpc_port}")
        cls.server.start()
        cls.addClassCleanup(cls.server.__exit__)

    def setUp(self):
        self.app, self.key = self.server.new_app(self.id().rsplit(".", 1)[1])
        self.ikey = self.app["instrumentationKey"]

    def query(self, text):
        return self.server.query(self.app, self.key, text)

    def tree(self):
        """Each request and dependency with its parent's name."""
        return self.query("union requests, dependencies | join kind=leftouter "
                          "(union requests, dependencies | project parent = name, id) on $left.operation_ParentId == $right.id "
                          "| project itemType, name, success, parent, operation_Name, operation_Id | order by itemType desc, name desc")

    def run_flask(self, form, endpoint):
        subprocess.run([sys.executable, HERE / "otlp_flask.py", form, endpoint, self.ikey], check=True, timeout=120)
        rows = self.tree()
        self.assertEqual(len({row["operation_Id"] for row in rows}), 1, rows)
        found = [(row["itemType"], row["success"], row["parent"], row["operation_Name"]) for row in rows]
        bread, flour = "GET /bread/<kind>", "GET /flour"
        self.assertEqual(found, [("request", "False", flour, flour), ("request", "True", "", bread), ("dependency", "False", bread, bread)])
        self.assertEqual(self.query("exceptions | project type, outerMessage, operation_Name, cloud_RoleName"),
                         [{"type": "ValueError", "outerMessage": "out of flour", "operation_Name": flour,
                           "cloud_RoleName": f"bakery-{form}"}])
        self.assertEqual(self.query("traces | join kind=inner (requests | project id, name) on $left.operation_ParentId == $right.id "
                                    "| project message, severityLevel, name, logger = tostring(customDimensions.logger_name)"),
                         [{"message": "the oven is cold", "severityLevel": 2, "name": bread, "logger": "oven"}])
        self.assertEqual(self.query("customMetrics | where name == 'loaves' | project valueSum, valueCount, kind = tostring(customDimensions.kind)"),
                         [{"valueSum": 2.0, "valueCount": 1, "kind": "rye"}])

    def test_python_over_http(self):
        self.run_flask("http", self.server.url)

    def test_python_over_grpc(self):
        self.run_flask("grpc", f"http://127.0.0.1:{self.grpc_port}")

    def test_python_over_grpc_on_the_main_port(self):
        self.run_flask("grpc", self.server.url)

    def run_express(self, form, endpoint):
        subprocess.run(["node", HERE / "node_otlp" / "express.cjs", form, endpoint, self.ikey],
                       env={**os.environ, "NODE_PATH": MODULES}, check=True, timeout=120)
        rows = self.tree()
        self.assertEqual(len({row["operation_Id"] for row in rows}), 1, rows)
        requests = {row["name"]: row for row in rows if row["itemType"] == "request"}
        self.assertEqual(set(requests), {"GET /papers/:title", "GET /stock"})
        self.assertEqual((requests["GET /papers/:title"]["success"], requests["GET /stock"]["success"]), ("True", "False"))
        self.assertEqual(requests["GET /stock"]["parent"], "GET /stock", "the call that the first request makes")
        call = [row for row in rows if row["itemType"] == "dependency" and row["name"] == "GET /stock"]
        self.assertEqual([row["operation_Name"] for row in call], ["GET /papers/:title"])
        self.assertEqual(self.query("requests | distinct cloud_RoleName"), [{"cloud_RoleName": f"kiosk-{form}"}])

    @unittest.skipUnless(MODULES, "npm is not installed")
    def test_node_with_protobuf(self):
        self.run_express("protobuf", f"http://127.0.0.1:{self.http_port}")

    @unittest.skipUnless(MODULES, "npm is not installed")
    def test_node_with_json(self):
        self.run_express("json", self.server.url)

    @unittest.skipUnless(MODULES, "npm is not installed")
    def test_node_over_grpc(self):
        self.run_express("grpc", f"http://127.0.0.1:{self.grpc_port}")

    @unittest.skipUnless(MODULES and CHROMIUM and DRIVER, "npm, chromium or chromedriver is not installed: the browser's SDK is NOT tested")
    def test_a_browser(self):
        from selenium import webdriver
        bundler = pathlib.Path(MODULES) / ".bin" / "esbuild"
        script = subprocess.run([bundler, HERE / "node_otlp" / "browser.mjs", "--bundle", "--format=iife"], check=True, capture_output=True,
                                env={**os.environ, "NODE_PATH": MODULES}).stdout
        page = (f"<!doctype html><title>page</title><script>window.ENDPOINT='{self.server.url}';window.KEY='{self.ikey}'</script>"
                "<script>").encode() + script.replace(b"</script", b"<\\/script") + b"</script>"

        class Page(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(page)

            def log_message(self, *_):
                pass

        shown = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
        threading.Thread(target=shown.serve_forever, daemon=True).start()
        self.addCleanup(shown.server_close)
        self.addCleanup(shown.shutdown)
        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        for flag in ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]:
            options.add_argument(flag)
        browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
        self.addCleanup(browser.quit)
        browser.get(f"http://127.0.0.1:{shown.server_port}/")
        deadline = time.monotonic() + 30
        while browser.title == "page" and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertEqual(browser.title, "sent")
        row = self.query("dependencies | project name, type, client_Type, client_IP, chrome = client_Browser startswith 'Chrome', "
                         "items = tostring(customDimensions.items)")
        self.assertEqual(row, [{"name": "render cart", "type": "InProc", "client_Type": "Browser", "client_IP": "127.0.0.0",
                                "chrome": True, "items": "3"}])

    def test_what_a_collector_sends(self):
        """Large batches of several services, compressed by zstd, without a length, and repeated where the server says so."""
        import zstandard
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest, ExportTraceServiceResponse
        other, other_key = self.server.new_app("collector-other")
        batch = ExportTraceServiceRequest()
        now = time.time_ns()
        for name, key in [("cart", self.ikey), ("mail", other["instrumentationKey"])]:
            of = batch.resource_spans.add()
            for attribute, value in [("service.name", name), ("microsoft.instrumentation_key", key)]:
                pair = of.resource.attributes.add(key=attribute)
                pair.value.string_value = value
            scope = of.scope_spans.add()
            for number in range(8192):
                span = scope.spans.add(trace_id=os.urandom(16), span_id=os.urandom(8), name=f"step {number % 7}", kind=5,
                                       start_time_unix_nano=now, end_time_unix_nano=now + 1_000_000)
                pair = span.attributes.add(key="batch")
                pair.value.int_value = number
        packed = zstandard.compress(batch.SerializeToString())

        def parts():
            for start in range(0, len(packed), 65_536):
                yield packed[start:start + 65_536]

        request = urllib.request.Request(f"http://127.0.0.1:{self.http_port}/v1/traces", parts(), {
            "Content-Type": "application/x-protobuf", "Content-Encoding": "zstd", "User-Agent": "OpenTelemetry Collector"})
        for _ in range(5):
            try:
                with urllib.request.urlopen(request, timeout=60) as reply:
                    self.assertEqual(ExportTraceServiceResponse.FromString(reply.read()), ExportTraceServiceResponse())
                break
            except urllib.error.HTTPError as error:
                self.assertEqual(error.code, 503)
                time.sleep(int(error.headers["Retry-After"]))
                request.data = parts()
        counted = "requests | summarize count(), dcount(name) by cloud_RoleName"
        self.assertEqual(self.query(counted), [{"cloud_RoleName": "cart", "count_": 8192, "dcount_name": 7}])
        self.assertEqual(self.server.query(other, other_key, counted), [{"cloud_RoleName": "mail", "count_": 8192, "dcount_name": 7}])

    def test_a_taken_port_does_not_stop_the_server(self):
        with Server(otlp_http_listen=f"127.0.0.1:{self.http_port}") as second:
            app, key = second.new_app("second")
            self.assertEqual(second.query(app, key, "requests | count"), [{"Count": 0}])


if __name__ == "__main__":
    unittest.main()
