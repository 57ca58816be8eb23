"""Every example that `--help` prints runs as it stands."""
import gzip
import json
import re
import shlex
import shutil
import signal
import subprocess
import unittest

import shop_telemetry
from postgres import Postgres, programs
from server import PROGRAM
from terminal import wait_until_caught
from test_documents import Session


def usage(*command):
    return subprocess.run([PROGRAM, *command, "--help"], text=True, capture_output=True, check=True, env={"COLUMNS": "80"}).stdout


def leaves(*command):
    """The commands that do something themselves, each with the text of its help."""
    text = usage(*command)
    below = re.search(r"^Commands:\n(.*?)(?:\n\n|\Z)", text, re.M | re.S)
    if not below:
        yield command, text
        return
    for name in re.findall(r"^  ([a-z-]+) ", below[1], re.M):
        if name != "help":
            yield from leaves(*command, name)


def examples(text):
    found = re.search(r"^Examples?:\n((?:  .*\n?)+)", text, re.M)
    return [line.strip() for line in found[1].splitlines()] if found else []


@unittest.skipUnless(shutil.which("bash"), "bash is not installed")
class Help(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.examples = {command: examples(text) for command, text in leaves()}

    def test_every_command_has_an_example(self):
        self.assertGreater(len(self.examples), 30)
        for command, lines in self.examples.items():
            self.assertTrue(lines, command)

    def test_every_example_works(self):
        session = Session(self)
        self.prepare(session)
        for command, lines in self.order():
            for line in lines:
                with self.subTest(line):
                    self.example(session, command, line)

    def prepare(self, session):
        items = [json.dumps(item) for item in shop_telemetry.envelopes("")]
        (session.folder / "envelopes.ndjson").write_text("\n".join(items))
        with gzip.open(session.folder / "envelopes.ndjson.gz", "wt") as file:
            file.write("\n".join(items))
        (session.folder / "query.kql").write_text("requests\n| count\n")
        (session.folder / "chart.kql").write_text("requests\n| summarize count() by bin(timestamp, 1h)\n| render timechart\n")
        (session.folder / "hindsight.toml").write_text("[query]\ntimeout = \"60s\"\n")
        session.serve("hindsight serve --data damaged-data")
        session.stop()
        for file in (session.folder / "damaged-data").glob("catalogue.db*"):
            file.unlink()
        session.serve("hindsight serve")
        for line in ("app create shop", "app create old-shop", "user create ada --app shop", "client create reports --app shop"):
            session.run(f"hindsight {line}")
        session.run("hindsight ingest envelopes.ndjson --app shop")

    def order(self):
        """Servers first, then what others need, and what deletes last."""
        def rank(item):
            command = item[0]
            return (command != ("serve",), command[-1] == "delete", command[-1].startswith(("delete", "revoke")))
        return sorted(self.examples.items(), key=rank)

    def example(self, session, command, line):
        if command == ("serve",):
            # A free port in place of 2020, which another server may have; the last server is the one of the prepared folder.
            session.serve(line.replace("127.0.0.1:2020", "127.0.0.1:0"))
            session.serve("hindsight serve")
        elif command == ("tail",) or "--http" in line:
            self.interrupted(session, line.replace("127.0.0.1:2021", "127.0.0.1:0"))
        else:
            if "KEY_ID" in line:
                keys = json.loads(session.run("hindsight key list --app shop --json"))
                line = line.replace("KEY_ID", keys[0]["id"])
            if "SECRET_ID" in line:
                clients = json.loads(session.run("hindsight client list --json"))
                line = line.replace("SECRET_ID", self.secret(clients))
            if command == ("store", "migrate"):
                self.moved(session, line)
            elif command == ("cluster", "forget"):
                # A catalogue in a data folder has no node that could be forgotten; test_nodes.py does it.
                return
            elif command == ("retention", "restore"):
                session.stop()
                session.run(line)
                session.serve("hindsight serve")
            else:
                session.run(line)

    def moved(self, session, line):
        """The catalogue moves to a server of the test, in place of the one of the example, and back."""
        if not programs():
            self.skipTest("PostgreSQL is not installed")
        session.stop()
        with Postgres() as postgres:
            session.run(line.replace("postgres://hindsight@localhost/hindsight", shlex.quote(postgres.url)))
            session.run(f"hindsight store migrate --from {shlex.quote(postgres.url)}")
        session.serve("hindsight serve")

    @staticmethod
    def secret(clients):
        [reports] = [client for client in clients if client["name"] == "reports"]
        return reports["secrets"][0]["id"]

    def interrupted(self, session, line):
        process = subprocess.Popen([PROGRAM, *shlex.split(line)[1:]], cwd=session.folder, env=session.environment, text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        wait_until_caught(process.pid, signal.SIGINT)
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=30)
        self.assertEqual((process.returncode, error), (0, ""), out)


if __name__ == "__main__":
    unittest.main()
