"""Each command that README.md and docs/ print runs as it stands, in the order of its document; each command that their text names exists."""
import gzip
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

import object_server
import postgres
import shop_telemetry
from server import PROGRAM, ROOT

DOCUMENTS = ["README.md", *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))]
# What these documents show is run by the tests below; the files of docs/testing.md (`file=…`) by test_packages.py.
RUN = {"README.md", "docs/cluster.md", "docs/identity.md", "docs/kusto.md", "docs/limits.md", "docs/operations.md", "docs/otlp.md",
       "docs/terminal.md", "docs/testing.md"}
AZURE_CLI = "test_azure_cli.py"


def read(document):
    return (ROOT / document).read_text()


def blocks(document, language):
    """The blocks of code in a language; those that are files of their own (`file=…`) are not among them."""
    return re.findall(rf"^```{language}\n(.*?)^```$", read(document), re.M | re.S)


def commands(block):
    """The commands of a block, continued lines joined, without empty lines."""
    return [line for line in block.replace("\\\n", " ").splitlines() if line.strip() and not line.startswith("#")]


class Session:
    """A person with a shell, an empty folder and the program on the PATH. One server at a time: another `serve` ends the one before."""

    def __init__(self, test):
        folder = tempfile.TemporaryDirectory(prefix="hindsight-documents-")
        test.addCleanup(folder.cleanup)
        test.addCleanup(self.stop)
        self.test, self.folder, self.server, self.exports = test, pathlib.Path(folder.name), None, []
        (self.folder / "bin").mkdir()
        (self.folder / "bin" / "hindsight").symlink_to(PROGRAM)
        self.url = self.tls_url = None
        # A free port in place of 2020, which another server may have.
        self.environment = {"PATH": f"{self.folder / 'bin'}:/usr/bin:/bin", "HOME": str(self.folder), "HINDSIGHT_LISTEN": "127.0.0.1:0"}

    def set(self, **variables):
        self.environment.update(variables)

    def run(self, command):
        """Runs a line as it is printed, but for the port; answers what it wrote to standard output."""
        if command.startswith("export "):
            self.exports.append(command)
        command = command.replace("target/debug/hindsight", "hindsight")
        for printed, real in [("http://127.0.0.1:2020", self.url), ("https://localhost:2020", self.tls_url)]:
            command = command.replace(printed, (real or printed).rstrip("/"))
        script = "\n".join(["set -e", *self.exports, command])
        run = subprocess.run(["bash", "-c", script], cwd=self.folder, env=self.environment, text=True, timeout=120,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.test.assertEqual(run.returncode, 0, f"{command}\n{run.stdout}{run.stderr}")
        return run.stdout

    def serve(self, command):
        """Starts a server as a line says; answers what it says of itself once it is ready."""
        self.stop()
        log = self.folder / "serve.log"
        with open(log, "w") as errors:
            self.server = subprocess.Popen(["bash", "-c", f"exec {command}"], cwd=self.folder, env=self.environment, text=True,
                                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE if "--test" in command else errors, stderr=errors)
        if "--test" in command:
            about = json.loads(self.server.stdout.readline())
            self.url = about["url"]
            return about
        data = re.search(r"--data (\S+)", command)
        path = self.folder / (data[1] if data else "hindsight-data") / "server.json"
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            self.test.assertIsNone(self.server.poll(), log.read_text())
            try:
                about = json.loads(path.read_text())
            except (OSError, ValueError):
                about = {}
            if about.get("pid") == self.server.pid:
                self.url, self.tls_url = about["url"], about["tls_url"]
                return about
            time.sleep(0.05)
        self.test.fail(f"{command} is not ready: {log.read_text()}")

    def stop(self):
        if self.server is None:
            return
        self.server.send_signal(signal.SIGTERM)
        code = self.server.wait(60)
        if self.server.stdout:
            self.server.stdout.close()
        self.server = None
        self.test.assertEqual(code, 0)

    def all(self, block):
        """Runs the commands of a block; answers what each wrote."""
        return [str(self.serve(command)) if command.startswith("hindsight serve") else self.run(command) for command in commands(block)]

    def python(self, code, **variables):
        """Runs Python with the client libraries of these tests and these variables; answers what it printed."""
        code = code.replace("http://127.0.0.1:2020", self.url.rstrip("/")).replace("https://localhost:2020", (self.tls_url or "").rstrip("/"))
        head = "".join(f"{name} = {value!r}\n" for name, value in variables.items())
        run = subprocess.run([sys.executable, "-c", head + code], cwd=self.folder, env=self.environment, text=True, timeout=120,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.test.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout


@unittest.skipUnless(shutil.which("curl") and shutil.which("bash"), "bash and curl are not installed")
class Documents(unittest.TestCase):
    def test_every_document_with_commands_is_run(self):
        shown = {document for document in DOCUMENTS
                 if any(blocks(document, language) for language in ("sh", "bash", "console", "python", "js", "toml"))}
        self.assertEqual(shown, RUN)

    def test_readme(self):
        make, query, otlp, sdk, server, sign_in = blocks("README.md", "sh")
        for command in commands(make):
            subprocess.check_output(["make", "--dry-run", *command.split("#")[0].split()[1:]], cwd=ROOT)
        session = Session(self)
        session.serve("hindsight serve --demo --data hindsight-demo-data")
        app = json.loads(session.run("hindsight app show demo --data hindsight-demo-data --json"))
        key = json.loads(session.run("hindsight key create --app demo --data hindsight-demo-data --json"))
        session.set(APP=app["appId"], KEY=key["key"])
        for _ in range(2):
            self.telemetry(session, app["instrumentationKey"])
        metric, events, rows = map(json.loads, session.all(query))
        self.assertTrue(metric["value"]["segments"])
        self.assertEqual(len(events["value"]), 3)
        self.assertGreaterEqual(len(rows["tables"][0]["rows"]), 2)
        self.assertIn("timestamp", session.run(re.search(r"`(target/debug/hindsight query [^`]*)`", read("README.md"))[1]))
        self.assertIn(app["instrumentationKey"], session.run(re.search(r"`(hindsight app show [^`]*)`", read("README.md"))[1]))
        session.all(otlp + sdk)

        items = shop_telemetry.envelopes("")
        with gzip.open(session.folder / "envelopes.ndjson.gz", "wt") as file:
            file.writelines(json.dumps(item) + "\n" for item in items)
        _, created, key, rows, _ = session.all(server)
        self.assertIn("InstrumentationKey=", created)
        self.assertIn("hs_", key)
        self.assertIsInstance(json.loads(rows), dict)
        count = json.loads(session.run("hindsight query 'union * | summarize n = sum(itemCount), items = count()' --app shop --output json"))
        self.assertEqual(count["tables"][0]["rows"][0][1], len(items))

        about, *_ = session.all(sign_in)
        self.assertIn("https://localhost", about)

    def telemetry(self, session, instrumentation_key):
        """Items of every type, for what the demo sends seldom."""
        body = json.dumps(shop_telemetry.envelopes(instrumentation_key))
        (session.folder / "items.json").write_text(body)
        reply = json.loads(session.run(f"curl -s {session.url.rstrip('/')}/v2.1/track --data @items.json"))
        self.assertEqual(reply["itemsReceived"], reply["itemsAccepted"])

    def test_terminal(self):
        query, shell, config, generated = blocks("docs/terminal.md", "sh")
        session = Session(self)
        session.serve("hindsight serve --demo --data hindsight-demo-data")
        for _ in range(100):
            narrow, wide, chart, _ = session.all(query)
            if "GET" in narrow:
                break
            time.sleep(0.2)
        self.assertIn("timestamp", narrow)
        self.assertIn("_ResourceId", wide)
        self.assertIn(" UTC\n", chart)
        self.assertIn("name,count_\n", (session.folder / "requests.csv").read_text())
        session.all(shell)
        checked, shown = session.all(config)
        self.assertEqual(checked, "the settings are valid\n")
        self.assertIn("query.timeout", shown)
        session.all(generated)
        self.assertTrue((session.folder / "man1" / "hindsight-query.1").exists())

    def test_identity(self):
        keys, clients, *azure = blocks("docs/identity.md", "sh")
        for block in azure:
            self.assertRegex(block, r"(?m)^az ", f"{AZURE_CLI} runs the blocks with the Azure CLI")
        session = Session(self)
        session.serve("hindsight serve --dev-tls")
        session.run("hindsight app create shop")
        outputs = {}
        for command in commands(keys):
            if "KEY_ID" in command:
                command = command.replace("KEY_ID", json.loads(session.run("hindsight key list --app shop --json"))[0]["id"])
            outputs[command.split("#")[0].strip()] = session.run(command)
        self.assertEqual(sum("hs_" in output for output in outputs.values()), 2)
        session.all(clients)
        client = json.loads(session.run("hindsight client create other --app shop --json"))
        [code] = blocks("docs/identity.md", "python")
        session.set(REQUESTS_CA_BUNDLE=str(session.folder / "hindsight-data" / "tls" / "ca.pem"))
        with_output = code + "\nprint(token)\n"
        discovery = session.run("curl -s http://127.0.0.1:2020/common/.well-known/openid-configuration")
        tenant = json.loads(discovery)["issuer"].rstrip("/").split("/")[-1]
        token = session.python(with_output, tenant=tenant, client_id=client["clientId"], secret=client["secret"])
        self.assertEqual(token.count("."), 2)

    @unittest.skipUnless(postgres.programs(), "PostgreSQL is not installed")
    def test_nodes(self):
        nodes, *_ = blocks("docs/cluster.md", "sh")
        lines = commands(nodes)
        exports, serves, status = lines[:3], lines[3:-1], lines[-1]
        self.assertEqual(status, "hindsight cluster status")
        with postgres.Postgres() as database, tempfile.TemporaryDirectory() as shared:
            secret = pathlib.Path(shared, "node-secret")
            secret.write_text("a-secret-of-the-nodes-of-a-test")
            segments = pathlib.Path(shared, "segments")
            segments.mkdir()
            of_this_machine = {"postgres://hindsight:password@db.example:5432/hindsight": f"'{database.url}'", "s3://bucket/prefix": f"file://{segments}",
                               "/etc/hindsight/node-secret": str(secret), "/var/lib/hindsight": "data"}

            def here(text):
                for printed, real in of_this_machine.items():
                    text = text.replace(printed, real)
                return text

            variables = dict(line.removeprefix("export ").replace("'", "").split("=", 1) for line in (here(line.split("#")[0].strip()) for line in exports))
            sessions = []
            for line in serves:
                session = Session(self)
                sessions.append(session)
                session.set(**variables)
                if "HINDSIGHT_NODE_ADDRESS" in line:
                    with socket.socket() as probe:
                        probe.bind(("127.0.0.1", 0))
                        port = probe.getsockname()[1]
                    session.set(HINDSIGHT_NODE_ADDRESS=f"http://127.0.0.1:{port}")
                    line = line.replace("10.0.0.5:2020", f"127.0.0.1:{port}")
                session.serve(re.sub(r"10\.0\.0\.\d:2020", "127.0.0.1:0", here(line).split("#")[0]))
            shown = session.run(status)
            for role in ("ingest", "query", "maintain"):
                self.assertIn(role, shown)
            for session in sessions:
                session.stop()

    def test_cluster(self):
        _, run, migrate, *_ = blocks("docs/cluster.md", "sh")
        with postgres.Postgres() as database:
            address = re.compile(r"postgres://hindsight:password@db\.example(:5432)?/hindsight")

            def here(text):
                return address.sub(f"'{database.url}'", text).replace("/var/lib/hindsight", "data")

            def create_database():
                database.sql("DROP DATABASE hindsight", "postgres")
                database.run("createdb", "--username=hindsight", f"--host={database.folder}", "hindsight")

            create, export, *rest = commands(here(run))
            self.assertEqual(create, "createdb hindsight")
            create_database()
            session = Session(self)
            session.run(export)
            session.set(HINDSIGHT_STORE_CATALOGUE=database.url)
            session.all("\n".join(rest))
            self.assertEqual(database.sql("SELECT name FROM applications ORDER BY name"), "default\nshop")
            session.stop()

            create_database()
            session = Session(self)
            session.serve("hindsight serve --data data")
            session.run("hindsight app create shop --data data")
            session.stop()
            session.all(here(migrate))
            self.assertEqual(database.sql("SELECT name FROM applications ORDER BY name"), "default\nshop")
            session.serve("hindsight serve --data data")
            self.assertIn("shop", session.run("hindsight app list --data data"))

    def test_objects(self):
        _, _, _, run, migrate = blocks("docs/cluster.md", "sh")
        export, in_s3, in_folder = commands(run)
        self.assertTrue(export.startswith("export AWS_ACCESS_KEY_ID="), export)
        with tempfile.TemporaryDirectory() as shared:
            session = Session(self)
            session.serve(in_folder.replace("/mnt/shared", shared).replace("/var/lib/hindsight", "data"))
            session.stop()
            self.assertEqual(os.listdir(shared), ["store"])
        if not object_server.is_installed():
            self.skipTest("moto[server] is not installed")
        with object_server.Moto() as objects:
            def here(text):
                return text.replace("bucket/prefix", f"{object_server.BUCKET}/prefix").replace("/var/lib/hindsight", "data")

            session = Session(self)
            session.set(**objects.environment)
            session.run(export.replace("eu-west-1", "us-east-1"))
            session.serve(here(in_s3))
            session.stop()
            self.assertEqual(objects.keys(), ["prefix/store"])
            there, back = commands(migrate)
            session.run(here(back))
            session.serve("hindsight serve --data data")
            session.stop()
            self.assertIn("the segments are in s3://", session.run(here(there)))
            session.serve(here(in_s3))

    def test_kusto(self):
        session = Session(self)
        session.serve("hindsight serve")
        app = json.loads(session.run("hindsight app create shop --json"))
        key = json.loads(session.run("hindsight key create --app shop --json"))["key"]
        self.telemetry(session, app["instrumentationKey"])
        [code] = blocks("docs/kusto.md", "python")
        self.assertIn("GET /b", session.python(code + "\nprint(frame)\n", key=key))
        modules = os.environ.get("HINDSIGHT_NODE_MODULES")
        if modules is None:
            self.skipTest("npm is not installed: the example for Node.js is not run")
        [code] = blocks("docs/kusto.md", "js")
        (session.folder / "node_modules").symlink_to(modules)
        code = code.replace("http://127.0.0.1:2020", session.url.rstrip("/"))
        (session.folder / "example.mjs").write_text(f"const key = {json.dumps(key)};\n{code}\nconsole.log(reply.primaryResults[0].toString());\n")
        self.assertIn("3", session.run("node example.mjs"))

    def test_testing(self):
        program, clock, wait = blocks("docs/testing.md", "sh")
        session = Session(self)
        # In test mode the port is free by default.
        del session.environment["HINDSIGHT_LISTEN"]
        for command in commands(program):
            about = session.serve(command)
        session.set(URL=about["url"].rstrip("/"))
        fixed, *_ = map(json.loads, session.all(clock))
        self.assertEqual(fixed, {"now": "2026-03-01T12:00:00.0000000Z", "mode": "fixed"})
        for number in range(3):
            request = {"id": str(number), "name": "GET /", "duration": "00:00:01", "success": True, "responseCode": "200"}
            item = {"name": "Request", "iKey": about["instrumentationKey"], "data": {"baseType": "RequestData", "baseData": request}}
            (session.folder / "item.json").write_text(json.dumps(item))
            session.run("curl -s $URL/v2.1/track --data @item.json")
        for reply in map(json.loads, session.all(wait)):
            self.assertNotIn("error", reply)

    def test_otlp(self):
        """Senders with these variables are in test_otlp.py; `hindsight app show` prints the same names."""
        session = Session(self)
        session.serve("hindsight serve")
        [variables] = blocks("docs/otlp.md", "sh")
        session.all(variables)
        shown = session.run("hindsight app show default")
        for name in re.findall(r"export (\w+)=", variables):
            self.assertIn(name, shown)

    def test_operations(self):
        session = Session(self)
        session.serve("hindsight serve")
        app = json.loads(session.run("hindsight app create shop --json"))
        session.run("hindsight app create shop2")
        self.telemetry(session, app["instrumentationKey"])
        backup, export, imported, retention = blocks("docs/operations.md", "sh")
        created, verified, restored = session.all(backup)
        self.assertIn("up to record", created)
        self.assertIn("nothing is damaged", verified)
        self.assertIn("hindsight serve --data restored-data", restored)
        session.all(export)
        header, *rows = (session.folder / "requests.csv").read_text().splitlines()
        self.assertTrue(header.startswith("timestamp,id,source,name") and rows, header)
        count = sum(len(path.read_text().splitlines()) for path in (session.folder / "shop-export").iterdir())
        [told] = session.all(imported)
        self.assertIn(f"{count} items imported, 0 were there already, 0 refused", told)
        *_, shown = session.all(retention)
        self.assertRegex(shown, r"shop +traces +7 +10737418240")

    def test_limits(self):
        session = Session(self)
        for number, settings in enumerate(blocks("docs/limits.md", "toml")):
            (session.folder / f"{number}.toml").write_text(settings)
            session.serve(f"hindsight serve --config {number}.toml")

    def test_commands_in_the_text_exist(self):
        """`hindsight …`, `make …` and `python3 …` in the text: the command, its flags, the target or the file."""
        session = Session(self)
        makefile = (ROOT / "Makefile").read_text()
        found = 0
        for document in [*DOCUMENTS, "CONTRIBUTING.md", "ARCHITECTURE.md"]:
            for text in re.findall(r"`((?:hindsight|make|python3) [^`\n]+)`", read(document)):
                with self.subTest(document=document, command=text):
                    words = text.split()
                    if words[0] == "make":
                        self.assertRegex(makefile, rf"(?m)^{re.escape(words[1])}:")
                    elif words[0] == "python3":
                        self.assertTrue((ROOT / words[1]).exists())
                    else:
                        command = [word for word in words[1:3] if re.fullmatch(r"[a-z]+", word)]
                        usage = session.run(" ".join(["hindsight", *command, "--help"]))
                        for flag in re.findall(r"--[a-z-]+", text):
                            self.assertIn(flag, usage)
                    found += 1
        self.assertGreater(found, 30)


if __name__ == "__main__":
    unittest.main()
