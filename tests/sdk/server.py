"""Runs the real program for a test and asks it over HTTP, as a user would."""
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
PROGRAM = pathlib.Path(os.environ.get("HINDSIGHT_PROGRAM", TARGET / "debug" / "hindsight"))


class Server:
    """A server over a data folder of its own. `with Server() as server: …`"""

    def __init__(self, *arguments, stderr=None, **settings):
        """`settings` are environment variables without their prefix, such as `query_rate=1000`; `stderr` is for who reads the
        log differently than from a file."""
        self.folder = tempfile.TemporaryDirectory(prefix="hindsight-test-")
        self.data = self.folder.name
        self.arguments = arguments
        self.stderr = stderr
        self.limits = {}
        self.environment = {**os.environ, **{f"HINDSIGHT_{name.upper()}": str(value) for name, value in settings.items()}}
        self.process = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.stop()
        self.folder.cleanup()

    def start(self):
        log = open(os.path.join(self.data, "..", os.path.basename(self.data) + ".log"), "ab")
        self.process = subprocess.Popen(
            [PROGRAM, "serve", "--data", self.data, "--listen", "127.0.0.1:0", *self.arguments],
            stdout=log, stderr=self.stderr or log, stdin=subprocess.DEVNULL, env=self.environment,
            preexec_fn=self.limit if self.limits else None)
        log.close()
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise AssertionError(f"the server ended with {self.process.returncode}; see {log.name}")
            try:
                with open(os.path.join(self.data, "server.json")) as file:
                    info = json.load(file)
                if info["pid"] == self.process.pid and self.answers(info["url"]):
                    self.url = info["url"].rstrip("/")
                    self.tls_url = info["tls_url"]
                    return
            except (OSError, ValueError, KeyError):
                pass
            time.sleep(0.02)
        raise AssertionError(f"the server was not ready within a minute; see {log.name}")

    def limit(self):
        """In the new process: the limits of the system that a test sets, `{resource.RLIMIT_…: (soft, hard)}`."""
        import resource
        for name, values in self.limits.items():
            resource.setrlimit(name, values)

    @staticmethod
    def answers(url):
        with urllib.request.urlopen(url.rstrip("/") + "/ready", timeout=2) as reply:
            return reply.status == 200

    def stop(self):
        """SIGTERM: finishes, seals, exits 0."""
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=60)
        assert code == 0, f"the server exited with {code} after SIGTERM"

    def kill(self):
        """SIGKILL: no chance to finish anything."""
        self.process.kill()
        self.process.wait()

    def command(self, *arguments):
        text = subprocess.check_output([PROGRAM, *arguments, "--data", self.data, "--json"], stdin=subprocess.DEVNULL)
        return json.loads(text)

    def run(self, *arguments):
        subprocess.check_call([PROGRAM, *arguments, "--data", self.data], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    @property
    def authority(self):
        """The local authority's certificate, where the server made one."""
        return os.path.join(self.data, "tls", "ca.pem")

    def new_app(self, name):
        """An application and a key that reads it: `(application, key)`."""
        app = self.command("app", "create", name)
        return app, self.command("key", "create", "--app", name)["key"]

    def get(self, path, key, **parameters):
        query = "?" + urllib.parse.urlencode(parameters) if parameters else ""
        request = urllib.request.Request(self.url + path + query, headers={"X-Api-Key": key, "Cache-Control": "no-cache"})
        with urllib.request.urlopen(request, timeout=60) as reply:
            return json.load(reply)

    def query(self, app, key, text):
        """The rows of a KQL query as dictionaries."""
        table = self.get(f"/v1/apps/{app['appId']}/query", key, query=text)["tables"][0]
        names = [column["name"] for column in table["columns"]]
        return [dict(zip(names, row)) for row in table["rows"]]

    def events(self, app, key, kind, **parameters):
        return self.get(f"/v1/apps/{app['appId']}/events/{kind}", key, **parameters)["value"]

    def metric(self, app, key, metric, **parameters):
        return self.get(f"/v1/apps/{app['appId']}/metrics/{metric}", key, **parameters)["value"]

    def track(self, items):
        """Posts envelopes; answers the status and the verdict."""
        request = urllib.request.Request(self.url + "/v2.1/track", json.dumps(items).encode(),
                                         {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=30) as reply:
                return reply.status, json.load(reply)
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read() or b"null")
