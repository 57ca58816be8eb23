"""A certified OpenID provider is trusted, and goes on being trusted when its keys change."""
import json
import os
import pathlib
import socket
import subprocess
import tempfile
import time
import unittest
from unittest import mock

import requests

from server import Server

MODULES = os.environ.get("HINDSIGHT_NODE_MODULES")
SCRIPTS = pathlib.Path(__file__).resolve().parent / "node"
AUDIENCE = "https://api.applicationinsights.io"
# A server reads an issuer's keys at most once a minute.
PAUSE = 61


def node(script, *arguments, **options):
    # Modules of the newer kind are looked for beside the script only.
    place = pathlib.Path(MODULES).parent / script
    place.write_text((SCRIPTS / script).read_text())
    return options.pop("run")(["node", place, *arguments], stdin=subprocess.DEVNULL, **options)


def key(name):
    return json.loads(node("keys.mjs", name, run=subprocess.check_output))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Provider:
    """The provider with these keys, the first of which signs."""

    def __init__(self, port, keys):
        self.url = f"http://127.0.0.1:{port}"
        self.file = tempfile.NamedTemporaryFile("w", suffix=".json")
        json.dump(keys, self.file)
        self.file.flush()
        self.process = node("provider.mjs", str(port), self.file.name, AUDIENCE, run=subprocess.Popen,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert self.process.stdout.readline() == b"ready\n"

    def token(self):
        reply = requests.post(self.url + "/token", auth=("reports", "a-secret-of-the-other-provider"), timeout=30,
                              data={"grant_type": "client_credentials", "scope": "Data.Read", "resource": AUDIENCE})
        assert reply.status_code == 200, reply.text
        return reply.json()["access_token"]

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=30)
        self.process.stdout.close()
        self.file.close()


@unittest.skipUnless(MODULES, "npm is not installed")
class TrustedIssuer(unittest.TestCase):
    def test_its_tokens_are_accepted_through_a_change_of_keys_and_an_outage(self):
        port = free_port()
        issuer = f"http://127.0.0.1:{port}"
        first, second = key("first"), key("second")
        provider = Provider(port, [first])
        self.addCleanup(lambda: provider.stop())
        settings = {"HINDSIGHT_AUTH_TRUSTED_ISSUERS": f"{issuer} applications=shop",
                    "HINDSIGHT_AUTH_ALLOW_LOCAL_ISSUERS": "true"}
        with mock.patch.dict(os.environ, settings), Server() as server:
            shop, _ = server.new_app("shop")
            other, _ = server.new_app("other")

            def status(token, app=shop):
                return requests.get(f"{server.url}/v1/apps/{app['appId']}/query", params={"query": "print 1"}, timeout=30,
                                    headers={"Authorization": f"Bearer {token}"}).status_code

            old = provider.token()
            self.assertEqual((status(old), status(old, other)), (200, 403))
            self.assertEqual(status(old[:-4] + "AAAA"), 401)
            read = time.monotonic()
            provider.stop()
            self.assertEqual(status(old), 200, "an outage keeps the last good keys")
            provider = Provider(port, [second, first])
            new = provider.token()
            self.assertNotEqual(old.split(".")[0], new.split(".")[0], "another key signs")
            self.assertEqual(status(new), 401, "the keys were read a moment ago")
            time.sleep(max(0, PAUSE - (time.monotonic() - read)))
            self.assertEqual((status(new), status(old)), (200, 200))


if __name__ == "__main__":
    unittest.main()
