"""`hindsight ingest` and `hindsight query` against a running server, over http and over its local authority's TLS."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from server import PROGRAM, Server


class CommandLine(unittest.TestCase):
    def ask(self, server, url, app, key):
        output = subprocess.check_output(
            [PROGRAM, "query", "--url", url, "--app", app["appId"], "--key", key, "--output", "csv",
             "traces | project message"],
            env={**os.environ, "SSL_CERT_FILE": server.authority}, text=True)
        return output.split()

    def test_a_servers_address(self):
        with Server("--dev-tls") as server, tempfile.TemporaryDirectory() as folder:
            app, key = server.new_app("command-line")
            item = {"name": "Microsoft.ApplicationInsights.Message", "time": "2026-11-01T00:00:00Z",
                    "data": {"baseType": "MessageData", "baseData": {"message": "sent"}}}
            file = pathlib.Path(folder, "items.json")
            file.write_text(json.dumps(item))
            subprocess.check_call([PROGRAM, "ingest", "--url", server.url, "--app", app["instrumentationKey"], file],
                                  stdout=subprocess.DEVNULL)
            self.assertEqual(self.ask(server, server.url, app, key), ["message", "sent"])
            self.assertEqual(self.ask(server, server.tls_url, app, key), ["message", "sent"])


if __name__ == "__main__":
    unittest.main()
