"""Three nodes and one server have the same telemetry, and every request gets the same answer from each of them: the conformance queries,
the requests of the specification's rows, the recorded requests, and queries over telemetry in segments of S3 and memtables of all nodes.

HINDSIGHT_SHARED names the folder with the recordings; without it they are not compared.
"""
import concurrent.futures
import datetime
import json
import math
import os
import pathlib
import re
import sys
import tempfile
import unittest
import urllib.error
import urllib.request

import cluster_requests
from object_server import BUCKET, Moto, is_installed
from postgres import Postgres, programs
from server import Server
from test_nodes import Node

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import telemetry  # noqa: E402 (a module of bench/)

SHARED = pathlib.Path(os.environ.get("HINDSIGHT_SHARED", pathlib.Path(__file__).resolve().parents[3] / "shared"))
REQUESTS = 6_000
ROUNDS = 3
# What differs between two requests to one server, too: random values, the time, and what an error or a trace says of the request itself.
# The id of an item, which the node that takes it makes up.
ITEM = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
VOLATILE = re.compile(r"rand\(|new_guid|now\(|ago\(|ingestion_time|current_|startofday|endof", re.I)
# A sort that no later operator undoes.
SORTED = re.compile(r"\|\s*(sort|order|top)\b(?!.*\b(summarize|distinct|join|union)\b)", re.I | re.S)


def call(server, key, app, method, path, body):
    """The status and the document of a reply."""
    path = path.replace("{app}", app["appId"]).replace("{key}", key).replace("{ikey}", app["instrumentationKey"])
    body = body.replace("{app}", app["appId"]).encode() if body else None
    request = urllib.request.Request(server.url + path, body, {
        "X-Api-Key": key, "Cache-Control": "no-cache", "Content-Type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=120) as reply:
            status, text = reply.status, reply.read().decode()
    except urllib.error.HTTPError as error:
        status, text = error.code, error.read().decode()
    text = ITEM.sub("{item}", text)
    for own, name in ((app["appId"], "{app}"), (app["instrumentationKey"], "{ikey}"), (server.url, "{url}"), (key, "{key}")):
        text = text.replace(own, name)
    try:
        document = json.loads(text)
    except ValueError:
        return status, text
    if isinstance(document, dict) and "Tables" in document:
        # The other tables of this form have the times and costs of the query.
        document["Tables"] = document["Tables"][:1]
    return status, document


def same(left, right, in_order):
    """Whether two documents are equal; the rows of tables count as a multiset unless they are `in_order`. Sums of reals may differ in their last
    digits, because their rows are added in another order, also within dynamic values, which are texts."""
    if isinstance(left, float) and isinstance(right, float):
        return math.isclose(left, right, rel_tol=1e-9) or (math.isnan(left) and math.isnan(right))
    if isinstance(left, dict) and isinstance(right, dict):
        # What a request took and how it is called is its own.
        keys = (left.keys() | right.keys()) - {"statistics", "requestId", "correlationId"}
        left, right = ({**document, "rows": sorted(document["rows"], key=row_key)} if "rows" in document and not in_order else document
                       for document in (left, right))
        return all(near(left.get(key), right.get(key)) if key in ("start", "end") else same(left.get(key), right.get(key), in_order) for key in keys)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(same(a, b, in_order) for a, b in zip(left, right))
    if isinstance(left, str) and isinstance(right, str) and left != right:
        left, right = parsed(left), parsed(right)
        return isinstance(left, list) and same(left, right, in_order)
    return left == right


def parsed(text):
    """The value of a text in JSON; None if it is in none."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def near(left, right):
    """Whether two moments are less than a minute apart: a span without an end ends when the request comes."""
    if not (isinstance(left, str) and isinstance(right, str)):
        return left == right
    moments = (datetime.datetime.fromisoformat(text.replace("Z", "+00:00")) for text in (left, right))
    return abs(next(moments) - next(moments)) < datetime.timedelta(minutes=1)


def row_key(row):
    """Sorts rows by their texts; the last digits of reals do not count."""
    return json.dumps([float(f"{cell:.6g}") if isinstance(cell, float) else cell for cell in row])


@unittest.skipUnless(programs() and is_installed(), "PostgreSQL or moto[server] is not installed")
class SameAnswers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stack = cls.enterClassContext
        postgres, moto = cls.stack(Postgres()), cls.stack(Moto())
        cls.one = cls.stack(Server(query_rate=1_000_000))
        cls.nodes = [cls.stack(Node(postgres, f"s3://{BUCKET}/hindsight", name, environment=moto.environment)) for name in ("a", "b", "c")]
        cls.app, cls.key = cls.one.new_app("shop")
        cls.apps = {cls.one: (cls.app, cls.key)}
        app, key = cls.nodes[0].new_app("shop")
        cls.apps |= {node: (app, key) for node in cls.nodes}
        cls.end = datetime.datetime.now(datetime.timezone.utc).replace(minute=0, second=0, microsecond=0)
        cls.fill()

    @classmethod
    def fill(cls):
        """The same telemetry for the server and, by turns, for the nodes. All but the last turn is sealed."""
        def bodies(app):
            return [body for _, body in telemetry.batches(app["instrumentationKey"], REQUESTS, 3, cls.end, size=500)]

        day = (cls.end - datetime.timedelta(days=1)).strftime("%Y-%m-%d")
        lines = (cluster_requests.CONFORMANCE / "specification" / "telemetry.ndjson").read_text().splitlines()
        # Older items would be refused.
        rows = "\n".join(line.replace("2026-03-06", day) for line in lines if '"time":"2026-03-06' in line)
        one, many = bodies(cls.app), bodies(cls.apps[cls.nodes[0]][0])
        for round_ in range(ROUNDS):
            for number in range(round_, len(one), ROUNDS):
                cls.post(cls.one, one[number])
                cls.post(cls.nodes[number % 3], many[number])
            if round_ + 1 < ROUNDS:
                for server in (cls.one, *cls.nodes):
                    server.stop()
                    server.start()
        for server in (cls.one, cls.nodes[2]):
            cls.post(server, rows.replace("{ikey}", cls.apps[server][0]["instrumentationKey"]).encode())
        cls.day = day

    @staticmethod
    def post(server, body):
        deadline = datetime.datetime.now() + datetime.timedelta(seconds=60)
        while True:
            request = urllib.request.Request(server.url + "/v2.1/track", body, {"Content-Type": "application/x-json-stream"})
            try:
                with urllib.request.urlopen(request, timeout=60) as reply:
                    verdict = json.load(reply)
                    assert verdict["itemsReceived"] == verdict["itemsAccepted"], verdict
                    return
            except urllib.error.HTTPError as error:
                # A node that has just started waits until the others know it.
                if error.code != 503 or datetime.datetime.now() > deadline:
                    raise

    def compare(self, requests, all_run=False):
        """`(name, method, path, body, in_order)`: each is sent to the server and to all nodes. Fails if answers differ, and if a request is refused
        although `all_run` says that none may be."""
        def differences(request):
            name, method, path, body, ordered = request
            answers = [call(server, key, app, method, path, body) for server, (app, key) in self.apps.items()]
            if all_run and answers[0][0] != 200:
                return [(name, path, body, answers[0], "must run")]
            return [(name, path, body, answers[0], answer) for answer in answers[1:]
                    if answer[0] != answers[0][0] or not same(answers[0][1], answer[1], ordered)]

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            found = [difference for some in pool.map(differences, requests) for difference in some]
        report = "\n".join(f"{name} {path} {body[:300]}\n  one:  {str(one)[:600]}\n  node: {str(node)[:600]}"
                           for name, path, body, one, node in found[:10])
        if found:
            self.fail(f"{len(found)} answers differ\n{report}")
        print(f"{len(requests)} requests have the same answer from one server and from each of three nodes")

    @staticmethod
    def query(name, text):
        return name, "POST", "/v1/apps/{app}/query", json.dumps({"query": text}), False

    def test_conformance_queries(self):
        cases = [case for case in cluster_requests.queries_of_cases() if not VOLATILE.search(case[1])]
        self.compare([self.query(*case) for case in cases])

    def test_queries_of_telemetry(self):
        requests = [self.query(name, text) for name, text in cluster_requests.telemetry_queries(self.end)]
        self.compare([(*request[:4], bool(SORTED.search(request[0]))) for request in requests], all_run=True)
        # Each node has run parts of the others' queries, and none has failed.
        for node in self.nodes:
            self.assertGreater(node.figure("hindsight_fragments_sent_total"), 20)
            self.assertGreater(node.figure("hindsight_fragments_run_total"), 20)
            self.assertEqual(node.figure("hindsight_fragments_failed_total"), 0)

    @property
    def span(self):
        """A fixed span: one that ends now is another one for each request."""
        return f"{self.end - datetime.timedelta(days=2):%Y-%m-%dT%H:%M:%SZ}/{self.end:%Y-%m-%dT%H:%M:%SZ}"

    def fixed(self, path, body):
        """A request with the fixed span in the place of one that ends now, and of none."""
        path = re.sub(r"(timespan=)P[^&]*", rf"\g<1>{self.span}", path)
        body = re.sub(r'("timespan": ?)"P[^"/]*"', rf'\g<1>"{self.span}"', body)
        # Events have a span of their own accord only where no condition names the time.
        ends_now = "/metrics/" in path or "/events/" in path and "$metadata" not in path and "timestamp" not in path
        if ends_now and "timespan=" not in path:
            path += f"{'&' if '?' in path else '?'}timespan={self.span}"
        if path.endswith("/metrics"):
            body = self.fixed_batch(body)
        return path, body

    def fixed_batch(self, body):
        """The body of a batch of metrics with a span for each. A body that is no such batch stays as it is."""
        try:
            batch = json.loads(body)
        except ValueError:
            return body
        for metric in batch if isinstance(batch, list) else ():
            if isinstance(metric, dict) and isinstance(metric.get("parameters"), dict):
                metric["parameters"].setdefault("timespan", self.span)
        return json.dumps(batch)

    def compare_fixed(self, requests):
        """Compares requests with fixed spans, but for those whose answer is volatile or any rows."""
        self.compare([(name, method, *self.fixed(path, body), False) for name, method, path, body in requests
                      if not VOLATILE.search(path + body) and "| take" not in body])

    def test_specification(self):
        self.compare_fixed(cluster_requests.requests_of_rows(self.day))

    def test_recordings(self):
        folder = SHARED / "recordings"
        if not folder.exists():
            self.skipTest("the recordings are not at hand (HINDSIGHT_SHARED)")
        self.compare_fixed(cluster_requests.requests_of_recordings(folder))


if __name__ == "__main__":
    unittest.main()
