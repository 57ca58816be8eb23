"""Real distributions send live metrics while somebody watches, and log nothing, whether somebody does or not."""
import json
import os
import pathlib
import subprocess
import sys
import threading
import time
import unittest
import urllib.request

from server import Server

MODULES = os.environ.get("HINDSIGHT_NODE_MODULES")
NODE_SCRIPT = pathlib.Path(__file__).resolve().parent / "node" / "live.js"
# What would go to hosts of the cloud is turned off; everything else is as a new user has it.
QUIET = {"APPLICATIONINSIGHTS_STATSBEAT_DISABLED_ALL": "true", "APPLICATIONINSIGHTS_STATSBEAT_DISABLED": "true",
         "APPLICATION_INSIGHTS_NO_STATSBEAT": "1", "APPLICATIONINSIGHTS_CONTROLPLANE_DISABLED": "true"}
PYTHON_SCRIPT = """
import logging, sys
logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
from azure.monitor.opentelemetry import configure_azure_monitor
configure_azure_monitor(connection_string=sys.argv[1], enable_live_metrics=True, disable_offline_storage=True)
from opentelemetry import trace
from opentelemetry.trace import SpanKind
tracer = trace.get_tracer("test")
print("ready", flush=True)
import threading
stop = threading.Event()
threading.Thread(target=lambda: (sys.stdin.readline(), stop.set()), daemon=True).start()
while not stop.wait(0.3):
    attributes = {"http.method": "GET", "http.url": "http://bakery.local/rye", "http.status_code": 200}
    with tracer.start_as_current_span("GET /rye", kind=SpanKind.SERVER, attributes=attributes):
        pass
trace.get_tracer_provider().shutdown()
"""


class Watcher(threading.Thread):
    """Reads the stream of live metrics; `samples` are those that came."""

    def __init__(self, server, app, key):
        super().__init__(daemon=True)
        request = urllib.request.Request(f"{server.url}/v1/apps/{app['appId']}/live/metrics",
                                         headers={"X-Api-Key": key, "Accept": "text/event-stream"})
        self.reply = urllib.request.urlopen(request, timeout=60)
        self.samples = []
        self.start()

    def run(self):
        try:
            for line in self.reply:
                if line.startswith(b"data: "):
                    self.samples.append(json.loads(line[6:]))
        except (OSError, ValueError, AttributeError):
            pass  # It was closed.

    def first(self, wanted):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            found = [sample for sample in list(self.samples) if wanted(sample)]
            if found:
                return found[0]
            time.sleep(0.05)
        raise AssertionError(f"no such sample within a minute: {self.samples[-2:]}")


def requests_of(sample):
    """How many requests a sample tells of."""
    return sum(metric["value"] for metric in sample["metrics"] if metric["name"].endswith("Requests/Sec"))


class LiveMetrics(unittest.TestCase):
    def check(self, server, command, environment, role):
        """Runs a sender before, while and after somebody watches; answers a sample with requests."""
        app, key = server.new_app(role)
        log = pathlib.Path(server.data + ".log")
        self.addCleanup(lambda: log.unlink(missing_ok=True))
        sender = subprocess.Popen([*command, app["connectionString"]], env={**os.environ, **QUIET, **environment}, text=True,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(sender.kill)
        self.assertEqual(sender.stdout.readline().strip(), "ready", sender.stderr)
        # It asks each five seconds whether somebody watches.
        self.wait_for(lambda: log.read_text().count("QuickPulseService.svc/ping") >= 2, "two pings")
        watcher = Watcher(server, app, key)
        sample = watcher.first(lambda sample: requests_of(sample) > 0)
        watcher.reply.close()
        _, errors = sender.communicate("stop\n", timeout=60)
        self.assertEqual((sender.returncode, errors), (0, ""))
        self.assertIn(role, sample["role"])
        return sample

    def wait_for(self, check, what):
        deadline = time.monotonic() + 60
        while not check():
            self.assertLess(time.monotonic(), deadline, what)
            time.sleep(0.1)

    def test_python(self):
        with Server(log_filter="debug") as server:
            sample = self.check(server, [sys.executable, "-c", PYTHON_SCRIPT], {"OTEL_SERVICE_NAME": "bakery"}, "bakery")
        names = {metric["name"] for metric in sample["metrics"]}
        self.assertLessEqual({r"\Process\Physical Bytes", r"\ApplicationInsights\Requests/Sec",
                              r"\ApplicationInsights\Request Duration"}, names)
        self.assertIn("otel", sample["version"])

    @unittest.skipUnless(MODULES, "npm is not installed")
    def test_node(self):
        """The Node.js SDK of today speaks TLS alone."""
        with Server("--dev-tls", log_filter="debug") as server:
            environment = {"NODE_PATH": MODULES, "NODE_EXTRA_CA_CERTS": server.authority, "OTEL_SERVICE_NAME": "till"}
            sample = self.check(server, ["node", NODE_SCRIPT], environment, "till")
            self.assertGreater(requests_of(sample), 0)
            app = server.command("app", "show", "till")
            key = server.command("key", "create", "--app", "till")["key"]
            row = server.query(app, key, "requests | project name, url, resultCode, cloud_RoleName | take 1")
            self.assertEqual(row, [{"name": "GET /price", "url": "http://till/price", "resultCode": "200",
                                    "cloud_RoleName": "till"}])

    def test_the_id_of_the_application(self):
        with Server() as server:
            app, _ = server.new_app("shop")
            for slash in ("/", "//"):
                with urllib.request.urlopen(f"{server.url}{slash}api/profiles/{app['instrumentationKey']}/appId") as reply:
                    self.assertEqual(reply.read().decode(), app["appId"])

    def test_the_server_stops_while_somebody_watches(self):
        with Server() as server:
            app, key = server.new_app("shop")
            log = pathlib.Path(server.data + ".log")
            self.addCleanup(log.unlink)
            watcher = Watcher(server, app, key)
            server.stop()
            watcher.join(20)
            self.assertFalse(watcher.is_alive())
            self.assertNotIn("stopping with open connections", log.read_text())


if __name__ == "__main__":
    unittest.main()
