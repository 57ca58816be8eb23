"""Telemetry and connections that are meant to exhaust the server (`attacks.md` 39, 42 and 43), against the real program."""
import datetime
import gzip
import itertools
import json
import pathlib
import resource
import socket
import unittest
import urllib.error
import urllib.parse
import urllib.request
import zlib

from hostile import MEBIBYTE, memory
from server import Server


@unittest.skipUnless(pathlib.Path("/proc/self/status").exists(), "memory is read from /proc")
class HostileTelemetry(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.server.start()
        cls.addClassCleanup(cls.server.__exit__)
        cls.app, cls.key = cls.server.new_app("shop")

    def post(self, path, body, **headers):
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request(self.server.url + path, body, headers)
        try:
            with urllib.request.urlopen(request, timeout=60) as reply:
                return reply.status
        except urllib.error.HTTPError as error:
            return error.code

    def test_bombs_need_no_memory(self):
        # 4 GiB of blanks: one compressor for deflate; members of 64 MiB, one after the other, for gzip.
        piece = b" " * (64 * MEBIBYTE)
        packer = zlib.compressobj(9)
        deflated = b"".join(packer.compress(piece) for _ in range(64)) + packer.flush()
        member = gzip.compress(piece)
        self.assertLess(max(len(deflated), 64 * len(member)), 8 * MEBIBYTE)
        place = f"/v1/apps/{self.app['appId']}/query"
        before = memory(self.server)
        for _ in range(3):
            self.assertEqual(self.post("/v2.1/track", 64 * member, Content_Encoding="gzip"), 413)
            self.assertEqual(self.post("/v2.1/track", deflated, Content_Encoding="deflate"), 413)
            # Of a question no more than 2 MiB are read, which are still a gigabyte.
            self.assertEqual(self.post(place, 16 * member, Content_Encoding="gzip", X_Api_Key=self.key), 413)
        # Each body is 4 MiB as it comes, and as much is held of it decoded; the rest is counted. Allocators keep some copies.
        self.assertLess(memory(self.server, "VmHWM") - before, 128 * MEBIBYTE)

    def test_ever_new_names(self):
        """40,000 properties, metrics and roles, each with a name of its own."""
        numbers = itertools.count()

        def item(base_type, data):
            number = next(numbers)
            now = datetime.datetime.now(datetime.timezone.utc).isoformat()
            return {"time": now, "iKey": self.app["instrumentationKey"], "tags": {"ai.cloud.role": f"role{number}"},
                    "data": {"baseType": base_type, "baseData": data(number)}}

        def event(number):
            return {"name": "e", "properties": {f"key{number}": "v"}, "measurements": {f"number{number}": number}}

        def metric(number):
            return {"metrics": [{"name": f"metric{number}", "value": number}]}

        def figures():
            with urllib.request.urlopen(self.server.url + "/metrics", timeout=30) as reply:
                return reply.read().decode()

        before, lines = memory(self.server), len(figures().splitlines())
        for _ in range(4):
            items = [item("EventData", event) for _ in range(5_000)] + [item("MetricData", metric) for _ in range(5_000)]
            status, verdict = self.server.track(items)
            self.assertEqual((status, verdict["itemsAccepted"]), (200, 10_000))
        # Exact all the same.
        roles = "union customEvents, customMetrics | summarize dcount(cloud_RoleName, 4), count()"
        [row] = self.server.query(self.app, self.key, roles)
        self.assertEqual(row["count_"], 40_000)
        self.assertLess(abs(row["dcount_cloud_RoleName"] - 40_000), 1_000)
        [row] = self.server.query(self.app, self.key, "customEvents | where customDimensions.key7 == 'v' | count")
        self.assertEqual(row["Count"], 1)
        # What is listed is bounded, and so are the server's own figures and its memory.
        metadata = self.server.get(f"/v1/apps/{self.app['appId']}/metrics/metadata", self.key)
        self.assertLess(len(metadata["metrics"]), 2_200)
        self.assertLess(len(metadata["dimensions"]), 1_200)
        more = figures()
        self.assertLess(len(more.splitlines()), lines + 200)
        self.assertNotIn("role7", more)
        self.assertLess(memory(self.server, "VmHWM") - before, 1024 * MEBIBYTE)

    def test_connections_leave_files_to_the_store(self):
        """A server that may open 200 files only, and 1,000 connections."""
        before = resource.getrlimit(resource.RLIMIT_NOFILE)
        limited = Server()
        limited.limits = {resource.RLIMIT_NOFILE: (200, 200)}
        with limited as server:
            app, key = server.new_app("shop")
            place = urllib.parse.urlsplit(server.url)
            held = [socket.create_connection((place.hostname, place.port), timeout=30) for _ in range(1_000)]
            self.addCleanup(lambda: [connection.close() for connection in held])
            with urllib.request.urlopen(server.url + "/health", timeout=10) as reply:
                self.assertEqual(reply.status, 200)
            self.assertEqual(server.query(app, key, "requests | count"), [{"Count": 0}])
            self.assertLess(len(list(pathlib.Path(f"/proc/{server.process.pid}/fd").iterdir())), 150)
        self.assertEqual(resource.getrlimit(resource.RLIMIT_NOFILE), before)

    def test_ten_thousand_idle_connections(self):
        wanted = 10_500
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard != resource.RLIM_INFINITY and hard < wanted:
            self.skipTest(f"this process may open {hard} files only")
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        place = urllib.parse.urlsplit(self.server.url)
        held = []
        self.addCleanup(lambda: [connection.close() for connection in held])
        for number in range(10_000):
            connection = socket.create_connection((place.hostname, place.port), timeout=30)
            if number % 2:
                connection.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\nX-Slow: ")
            held.append(connection)
        with urllib.request.urlopen(self.server.url + "/health", timeout=10) as reply:
            self.assertEqual(reply.status, 200)
        self.assertEqual(self.server.query(self.app, self.key, "print x = 1"), [{"x": 1}])


if __name__ == "__main__":
    unittest.main()
