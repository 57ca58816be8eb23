"""/openapi.json is valid, and clients that are generated from it import and work."""
import datetime
import importlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.request

from openapi_spec_validator import validate

from server import Server

MODULES = os.environ.get("HINDSIGHT_NODE_MODULES")
SCRIPT = pathlib.Path(__file__).resolve().parent / "node" / "generated_client.mts"


class GeneratedClients(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.server.start()
        cls.app, cls.key = cls.server.new_app("shop")
        event = {"time": datetime.datetime.now(datetime.timezone.utc).isoformat(), "iKey": cls.app["instrumentationKey"],
                 "data": {"baseType": "EventData", "baseData": {"name": "Order"}}}
        status, verdict = cls.server.track([event])
        assert (status, verdict["itemsAccepted"]) == (200, 1), verdict
        with urllib.request.urlopen(cls.server.url + "/openapi.json") as reply:
            cls.document = reply.read()
        cls.folder = tempfile.TemporaryDirectory(prefix="hindsight-openapi-")
        cls.file = pathlib.Path(cls.folder.name) / "openapi.json"
        cls.file.write_bytes(cls.document)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()
        cls.server.__exit__()

    def test_the_document_is_valid(self):
        validate(json.loads(self.document))

    def test_python(self):
        """openapi-python-client leaves out what it cannot read: that is XML, protobuf and lines of JSON, and nothing else."""
        run = subprocess.run([pathlib.Path(sys.executable).parent / "openapi-python-client", "generate", "--path", self.file, "--meta",
                              "none", "--output-path", self.file.parent / "hindsight_client"],
                             capture_output=True, text=True, check=True, timeout=120)
        left_out = [line for line in (run.stdout + run.stderr).splitlines() if line.startswith(("WARNING parsing", "Unable to process"))]
        self.assertEqual(left_out, ["WARNING parsing POST /v2/track within telemetry.",
                                    "WARNING parsing POST /v2.1/track within telemetry.",
                                    "WARNING parsing POST /{version}/apps/{appId}/import within telemetry. Endpoint will not be generated.",
                                    "WARNING parsing POST /v1/traces within telemetry.",
                                    "WARNING parsing POST /v1/logs within telemetry.",
                                    "WARNING parsing POST /v1/metrics within telemetry.",
                                    "WARNING parsing GET /{version}/apps/{appId}/events/$metadata within queries.",
                                    "WARNING parsing GET /{version}/apps/{appId}/events/{eventType}/$metadata within queries.",
                                    "WARNING parsing POST /portal/api/apps/{appId}/tail within portal."])
        sys.path.insert(0, str(self.file.parent))
        try:
            generated = importlib.import_module("hindsight_client")
            queries = importlib.import_module("hindsight_client.api.queries.query_post")
            events = importlib.import_module("hindsight_client.api.queries.events_get")
            models = importlib.import_module("hindsight_client.models")
        finally:
            sys.path.pop(0)
        client = generated.Client(base_url=self.server.url, headers={"X-Api-Key": self.key})
        app = self.app["appId"]
        reply = queries.sync("v1", app, client=client, body=models.QueryRequest(query="customEvents | project name"))
        self.assertEqual(reply.tables[0].rows, [["Order"]])
        found = events.sync("v1", app, "customEvents", client=client, top=5, filter_="customEvent/name eq 'Order'")
        self.assertEqual(len(found.value), 1)

    @unittest.skipUnless(MODULES, "npm is not installed")
    def test_typescript(self):
        folder = self.file.parent / "typescript"
        folder.mkdir()
        os.symlink(MODULES, folder / "node_modules")
        shutil.copy(SCRIPT, folder)
        (folder / "package.json").write_text('{"type": "module"}')
        programs = pathlib.Path(MODULES) / ".bin"
        subprocess.run([programs / "openapi-typescript", self.file, "-o", folder / "api.d.ts"],
                       check=True, capture_output=True, timeout=120)
        compiled = subprocess.run([programs / "tsc", "--strict", "--module", "nodenext", "--target", "es2022", "--types", "node", SCRIPT.name],
                                  cwd=folder, capture_output=True, text=True, timeout=120)
        self.assertEqual((compiled.returncode, compiled.stdout), (0, ""))
        out = subprocess.run(["node", folder / "generated_client.mjs", self.server.url, self.app["appId"], self.key],
                             capture_output=True, text=True, check=True, timeout=60)
        found = json.loads(out.stdout)
        self.assertEqual(found["query"]["tables"][0]["rows"], [["Order"]])
        self.assertEqual(len(found["events"]["value"]), 1)


if __name__ == "__main__":
    unittest.main()
