"""The program in test mode, and its interface (docs/testing.md of Hindsight)."""
import atexit
import json
import os
import shutil
import subprocess
import tempfile
import threading
import urllib.error
import urllib.parse
import urllib.request

from .expect import Expectation

# Seconds that the program may take to start and to stop.
PATIENCE = 30


class HindsightError(Exception):
    """The program cannot be started, or refuses a request. `status` is None or the status of its reply."""

    def __init__(self, message, status=None):
        super().__init__(message)
        self.status = status


class Waited:
    """The outcome of a wait: whether the condition holds, the rows of the last evaluation, and the seconds that passed."""

    def __init__(self, holds, rows, waited):
        self.holds, self.rows, self.waited = holds, rows, waited


class Clock:
    """The clock of the server."""

    def __init__(self, hindsight):
        self._hindsight = hindsight

    def fix(self, time):
        """Stops the clock at a time: ISO 8601 text, or a datetime with a time zone."""
        return self._put(fixed=time if isinstance(time, str) else time.isoformat())

    def shift(self, duration):
        """Runs the clock at an offset from the machine's: ISO 8601 text such as `P1D`, a timedelta, or seconds."""
        return self._put(offset=duration.total_seconds() if hasattr(duration, "total_seconds") else duration)

    def follow_machine(self):
        """Sets the clock to the machine's again."""
        return self._put(machine=True)

    def now(self):
        """What the clock shows, as text."""
        return self._hindsight._ask("GET", "/test/clock")["now"]

    def _put(self, **body):
        return self._hindsight._ask("PUT", "/test/clock", body)["now"]


class Hindsight:
    """A server in test mode. `with Hindsight() as hindsight: …`"""

    def __init__(self, program=None, in_memory=True, arguments=()):
        """`program` is the path of the program; without it that of `HINDSIGHT_PROGRAM`, or `hindsight` on `PATH`."""
        self.program = program or os.environ.get("HINDSIGHT_PROGRAM") or shutil.which("hindsight")
        self.arguments = [*(["--in-memory"] if in_memory else []), *arguments]
        self.clock = Clock(self)
        self._process = None

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    def start(self):
        """Starts the program and waits until it is ready."""
        if not self.program:
            raise HindsightError("the program 'hindsight' is neither given, nor in HINDSIGHT_PROGRAM, nor on PATH")
        # A file: nobody reads a pipe while the tests run.
        self._log = tempfile.TemporaryFile()
        command = [str(self.program), "serve", "--test", *self.arguments]
        try:
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self._log)
        except OSError as error:
            raise HindsightError(f"cannot start {self.program}: {error}") from error
        atexit.register(self.stop)
        killer = threading.Timer(PATIENCE, self._process.kill)
        killer.start()
        line = self._process.stdout.readline()
        killer.cancel()
        try:
            self.info = json.loads(line)
        except ValueError:
            self.stop()
            raise HindsightError(f"{' '.join(command)} did not start:\n{self.log()}") from None
        self.url = self.info["url"]
        self.app_id = self.info["appId"]
        self.api_key = self.info["apiKey"]
        self.instrumentation_key = self.info["instrumentationKey"]
        self.connection_string = self.info["connectionString"]
        return self

    def stop(self):
        """Stops the program; its data goes."""
        process, self._process = self._process, None
        if process is None:
            return
        atexit.unregister(self.stop)
        process.terminate()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()

    def log(self):
        """What the program has logged."""
        self._log.seek(0)
        return self._log.read().decode(errors="replace")

    def expect(self, query, timeout=10):
        """An expectation about a table or a KQL text."""
        return Expectation(self, query, timeout)

    def query(self, kql):
        """The rows of a KQL query, as dictionaries."""
        return rows(self._ask("POST", f"/v1/apps/{self.app_id}/query", {"query": kql}))

    def wait(self, kql, min_count=None, condition=None, timeout=10):
        """Waits until a query has `min_count` rows, or a KQL expression over aggregates of its rows is true."""
        body = {"query": kql, "minCount": min_count, "condition": condition, "timeout": timeout}
        body = {name: value for name, value in body.items() if value is not None}
        reply = self._ask("POST", "/test/wait", body, timeout + PATIENCE)
        return Waited(reply["holds"], rows(reply["result"]), reply["waitedSeconds"])

    def reset(self):
        """Removes all telemetry."""
        self._ask("POST", "/test/reset", {})

    def snapshot(self, name):
        """Remembers all telemetry under a name."""
        self._ask("POST", "/test/snapshot", {"name": name})

    def restore(self, name):
        """Brings the telemetry of a snapshot back, in place of all other."""
        self._ask("POST", "/test/restore", {"name": name})

    def _ask(self, method, path, body=None, timeout=PATIENCE):
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", "X-Api-Key": self.api_key}
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        # A proxy that the environment names is not for this machine.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=timeout) as reply:
                return json.load(reply)
        except urllib.error.HTTPError as error:
            raise HindsightError(refusal(error), error.code) from None


def rows(reply):
    """The rows of the first table of a reply, as dictionaries."""
    table = reply["tables"][0]
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row)) for row in table["rows"]]


def refusal(error):
    """What the reply to a refused request says, the innermost reason first."""
    text = error.read().decode(errors="replace")
    try:
        inner = json.loads(text)["error"]
        while "innererror" in inner:
            inner = inner["innererror"]
        return f"{error.code}: {inner['message']}"
    except (ValueError, KeyError, TypeError):
        return f"{error.code}: {text}"
