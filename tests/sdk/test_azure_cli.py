"""The Azure CLI signs in, as docs/identity.md says, and asks with what it got.

The CLI is large (about 1 GB and minutes to install), so `make test` does not install it and `.ci/run` does: `HINDSIGHT_AZ` names one, or it is
found on the PATH.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.request

from person import Person
from server import Server

AZ = shutil.which(os.environ.get("HINDSIGHT_AZ", "az"))
RESOURCE = "https://api.applicationinsights.io"
# The client id that every Azure CLI signs people in with.
CLI_CLIENT = "04b07795-8ddb-461a-bbee-02f9e1bf7b46"


@unittest.skipIf(AZ is None, "the Azure CLI is not installed: put `az` on the PATH or name it in HINDSIGHT_AZ")
class AzureCli(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--dev-tls", "--tls-listen", "127.0.0.1:0")
        cls.server.start()
        cls.addClassCleanup(cls.server.__exit__)
        cls.app, _ = cls.server.new_app("shop")
        cls.other, _ = cls.server.new_app("other")
        cls.client = cls.server.command("client", "create", "reports", "--app", "shop")
        cls.user = cls.server.command("user", "create", "ada", "--app", "shop")
        cls.server.command("client", "create", "azure-cli", "--id", CLI_CLIENT, "--public", "--no-secret",
                           "--redirect", "http://localhost")
        cls.url = cls.server.tls_url
        with urllib.request.urlopen(f"{cls.server.url}/common/.well-known/openid-configuration", timeout=30) as reply:
            cls.tenant = json.load(reply)["issuer"].split("/")[-2]

    def setUp(self):
        # Each test is a person at a new machine.
        folder = tempfile.TemporaryDirectory(prefix="hindsight-az-")
        self.addCleanup(folder.cleanup)
        self.environment = {**os.environ, "AZURE_CONFIG_DIR": folder.name, "REQUESTS_CA_BUNDLE": self.server.authority,
                            "AZURE_CORE_INSTANCE_DISCOVERY": "false", "AZURE_CORE_COLLECT_TELEMETRY": "false",
                            "AZURE_CORE_LOGIN_EXPERIENCE_V2": "false"}
        self.az("cloud", "register", "-n", "hindsight", "--endpoint-resource-manager", self.url)
        self.az("cloud", "set", "-n", "hindsight")

    def start(self, *arguments):
        return subprocess.Popen([AZ, *arguments], env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def end(self, process):
        """Waits; what the CLI printed."""
        try:
            return process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            self.fail(f"{process.args} did not end: {process.communicate()}")

    def finish(self, process):
        """What the CLI printed, as JSON."""
        output, errors = self.end(process)
        self.assertEqual(process.returncode, 0, errors)
        return json.loads(output) if output.strip() else None

    def az(self, *arguments):
        return self.finish(self.start(*arguments))

    def query(self, app, text):
        """A query with `az rest`, which finds a token by itself."""
        return self.start("rest", "--method", "post", "--url", f"{self.url}/v1/apps/{app['appId']}/query",
                          "--body", json.dumps({"query": text}))

    def check_tokens(self):
        """`az rest` may read the one application and not the other, and a token that is printed does as well."""
        self.assertEqual(self.finish(self.query(self.app, "print x = 1"))["tables"][0]["rows"], [[1]])
        refused = self.query(self.other, "print x = 1")
        _, errors = self.end(refused)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("InsufficientAccessError", errors)
        for named in (["--resource", RESOURCE], ["--scope", RESOURCE + "/.default"]):
            token = self.az("account", "get-access-token", *named)
            self.assertEqual((token["tokenType"], token["tenant"]), ("Bearer", self.tenant))
            request = urllib.request.Request(f"{self.server.url}/v1/apps/{self.app['appId']}/query?query=print%20x%3D2",
                                             headers={"Authorization": f"Bearer {token['accessToken']}"})
            with urllib.request.urlopen(request, timeout=30) as reply:
                self.assertEqual(json.load(reply)["tables"][0]["rows"], [[2]])

    def test_a_program(self):
        [account] = self.az("login", "--service-principal", "-u", self.client["clientId"], "-p", self.client["secret"],
                            "--tenant", self.tenant, "--allow-no-subscriptions")
        self.assertEqual((account["tenantId"], account["user"]["type"]), (self.tenant, "servicePrincipal"))
        self.check_tokens()
        self.assertEqual(self.az("rest", "--url", "/subscriptions?api-version=2022-12-01")["value"], [])

    def test_a_program_with_a_wrong_secret(self):
        process = self.start("login", "--service-principal", "-u", self.client["clientId"], "-p", "wrong",
                             "--tenant", self.tenant, "--allow-no-subscriptions")
        _, errors = self.end(process)
        self.assertNotEqual(process.returncode, 0)
        self.assertIn("AADSTS7000215", errors)

    def test_a_person_with_a_device_code(self):
        for tenant in ([], ["--tenant", self.tenant]):
            with self.subTest(tenant):
                process = self.start("login", "--use-device-code", "--allow-no-subscriptions", *tenant)
                prompt = next(line for line in process.stderr if "devicelogin" in line)
                code = re.search(r"enter the code (\S+)", prompt).group(1)
                Person(self.url, self.server.authority, "ada", self.user["password"]).approve_device(code)
                [account] = self.finish(process)
                self.assertEqual((account["tenantId"], account["user"]), (self.tenant, {"name": "ada", "type": "user"}))
                self.check_tokens()
                self.az("logout")

    def test_a_person_with_a_browser(self):
        # The browser is a program that signs ada in and presses "Continue", which posts the answer to where the CLI listens.
        folder = tempfile.TemporaryDirectory(prefix="hindsight-az-browser-")
        self.addCleanup(folder.cleanup)
        browser = os.path.join(folder.name, "www-browser")
        with open(browser, "w") as file:
            file.write(f"#!{sys.executable}\n"
                       f"import sys\nsys.path.insert(0, {os.path.dirname(__file__)!r})\n"
                       "from person import Person\n"
                       f"ada = Person({self.url!r}, {self.server.authority!r}, 'ada', {self.user['password']!r})\n"
                       "answer = ada.submit(ada.get(sys.argv[1]), username=ada.name, password=ada.password)\n"
                       "ada.submit(answer).raise_for_status()\n")
        os.chmod(browser, 0o755)
        self.environment["BROWSER"] = f"{browser} %s &"
        [account] = self.az("login", "--allow-no-subscriptions")
        self.assertEqual(account["user"]["name"], "ada")
        self.check_tokens()


if __name__ == "__main__":
    unittest.main()
