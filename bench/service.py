"""One build of Hindsight under measurement: starts it, fills it with telemetry, and times its queries over HTTP."""
import concurrent.futures
import datetime
import http.client
import itertools
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

import telemetry

DAYS = 7
# Bodies that are generated before they are sent.
SLICE = 2000
# The limits of the service would end the measurement: a reply of all columns is larger than it permits.
SETTINGS = {"HINDSIGHT_QUERY_RATE": "1000000", "HINDSIGHT_QUERY_MAX_BYTES": "4GiB"}


def last_full_hour():
    return datetime.datetime.now(datetime.timezone.utc).replace(minute=0, second=0, microsecond=0)


class Service:
    """A data folder, and the program that serves it on a port of this machine."""

    def __init__(self, program, data, port):
        self.program = program
        self.data = data
        self.address = ("127.0.0.1", port)
        self.process = None

    def start(self):
        # A log that nobody reads would fill its pipe and stop the server, so it goes to a file.
        with open(os.path.join(tempfile.gettempdir(), f"hindsight-bench-{self.address[1]}.log"), "wb") as log:
            self.process = subprocess.Popen(
                [self.program, "serve", "--data", self.data, "--listen", "%s:%d" % self.address],
                stdout=log, stderr=log, env={**os.environ, **SETTINGS})
        for _ in range(600):
            try:
                with urllib.request.urlopen("http://%s:%d/ready" % self.address, timeout=1) as reply:
                    if reply.status == 200:
                        return
            except OSError:
                time.sleep(0.05)
        sys.exit(f"the server did not become ready; see {log.name}")

    def stop(self):
        """Stops the server, which writes all rows to segments. Returns the seconds that this took."""
        started = time.perf_counter()
        self.process.send_signal(signal.SIGTERM)
        if self.process.wait(timeout=600) != 0:
            sys.exit(f"the server stopped with {self.process.returncode}")
        return time.perf_counter() - started

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def command(self, *arguments):
        return json.loads(subprocess.check_output([self.program, *arguments, "--data", self.data, "--json"]))

    def create_application(self):
        """Creates an application. Returns it and a key that reads its telemetry."""
        app = self.command("app", "create", f"bench-{int(time.time())}")
        return app, self.command("key", "create", "--app", app["appId"])["key"]

    def fill(self, slices, connections=4):
        """Posts slices of bodies, each body with its number of items, over several connections. Returns the items per second. The
        time in which the next slice is generated does not count; what the server computes in it, such as seals and merges, is part of its
        processor time."""
        items, size, took, before = 0, 0, 0.0, self.processor_seconds()
        with concurrent.futures.ProcessPoolExecutor(connections) as pool:
            for bodies in slices:
                count = sum(count for count, _ in bodies)
                shares = [bodies[i::connections] for i in range(connections)]
                started = time.perf_counter()
                accepted = sum(pool.map(send, [self.address] * connections, shares))
                took += time.perf_counter() - started
                assert accepted == count
                items += count
                size += sum(len(body) for _, body in bodies)
        print(f"ingestion: {items:,} items in {took:.1f} s = {items / took:,.0f} items/s "
              f"({size / took / 1e6:.0f} MB/s of JSON), socket to fsync; "
              f"{(self.processor_seconds() - before) / items * 1e6:.2f} µs of processor time for each item", flush=True)
        return items / took

    def ask(self, app, key, query):
        return json.loads(self.reply(app, key, query))

    def reply(self, app, key, query):
        """The body of the reply to a query."""
        request = urllib.request.Request(
            "http://%s:%d/v1/apps/%s/query" % (*self.address, app), json.dumps({"query": query}).encode(),
            {"Content-Type": "application/json", "X-Api-Key": key, "Cache-Control": "no-store"})
        with urllib.request.urlopen(request, timeout=600) as reply:
            return reply.read()

    def time_query(self, app, key, query):
        """Runs a query once, uncached. Returns its milliseconds and its rows."""
        started = time.perf_counter()
        reply = self.ask(app, key, query)
        return (time.perf_counter() - started) * 1000, reply["tables"][0]["rows"]

    def time_reply(self, app, key, query):
        """As `time_query`, without the time in which the client reads the rows from the body."""
        started = time.perf_counter()
        body = self.reply(app, key, query)
        return (time.perf_counter() - started) * 1000, json.loads(body)["tables"][0]["rows"]

    def processor_seconds(self):
        """The processor time of the server so far, also of its threads that have ended, in steps of some milliseconds. Zero where the
        system does not report it."""
        stat = pathlib.Path(f"/proc/{self.process.pid}/stat")
        if not stat.exists():
            return 0.0
        fields = stat.read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def processor_time(self):
        """The milliseconds that the threads of the server have run so far, where the system reports them; zero elsewhere. On a machine
        with other load they vary less than times of queries do."""
        threads = pathlib.Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e6


def send(address, bodies):
    """Posts the bodies over one connection and returns how many items were accepted."""
    connection = http.client.HTTPConnection(*address)
    accepted = 0
    for count, body in bodies:
        while True:
            connection.request("POST", "/v2.1/track", body, {"Content-Type": "application/x-json-stream"})
            reply = connection.getresponse()
            answer = reply.read()
            if reply.status != 503:
                break
            # As SDKs do: an overloaded server is asked again. The waiting counts.
            time.sleep(0.05)
        if reply.status != 200 or json.loads(answer)["itemsAccepted"] != count:
            raise RuntimeError(f"ingestion answered {reply.status}: {answer[:300]!r}")
        accepted += count
    return accepted


def make_telemetry(instrumentation_key, requests, end):
    """Yields lists of bodies that together fit into memory, whatever the number of requests is."""
    print(f"making telemetry of {requests:,} requests …", flush=True)
    bodies = telemetry.batches(instrumentation_key, requests, DAYS, end)
    while some := list(itertools.islice(bodies, SLICE)):
        yield some
