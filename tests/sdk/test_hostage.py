"""Clients without a credential hold connections, bodies and memory; everybody else is served all the while (`attacks.md` 39 and 43)."""
import concurrent.futures
import gzip
import pathlib
import time
import unittest

import hostile
from hostile import MEBIBYTE
from server import Server

# Hostile clients do not get tired within a test.
SETTINGS = {"http_body_timeout": "600s", "log_filter": "warn"}


@unittest.skipUnless(pathlib.Path("/proc/self/status").exists(), "memory is read from /proc")
class Hostage(unittest.TestCase):
    def start(self, **settings):
        server = Server(**{**SETTINGS, **settings})
        server.start()
        self.addCleanup(server.__exit__)
        app, key = server.new_app("shop")
        return server, app, key

    def hold(self, connections):
        connections = list(connections)
        self.addCleanup(lambda: [connection.close() for connection in connections])
        return connections

    def serves(self, server, app):
        status, took = hostile.track(server, app)
        self.assertEqual(status, 200)
        self.assertLess(took, 5)
        self.assertLess(hostile.health(server), 1)

    def test_unfinished_bodies_of_one_connection(self):
        server, app, _ = self.start()
        self.hold([hostile.unfinished_streams(server, 16)])
        time.sleep(0.5)
        self.serves(server, app)

    def test_connections_whose_bodies_do_not_come(self):
        if not hostile.allow_files(6_000):
            self.skipTest("this process may open too few files")
        server, app, key = self.start()
        self.hold(hostile.unfinished(server) for _ in range(4_226))
        self.serves(server, app)
        self.assertEqual(server.query(app, key, "customEvents | count"), [{"Count": 1}])

    def test_bodies_that_do_not_end_hold_bounded_memory(self):
        if not hostile.allow_files(3_000):
            self.skipTest("this process may open too few files")
        server, app, key = self.start(http_body_memory="64MiB")
        before = hostile.memory(server)
        megabyte = b" " * MEBIBYTE
        head = hostile.HEAD.replace(b"9999", b"2000000")
        query = f"POST /v1/apps/{app['appId']}/query HTTP/1.1\r\nHost: x\r\nX-Api-Key: {key}\r\nContent-Length: 2000000\r\n\r\n"
        self.hold(hostile.unfinished(server, head, megabyte) for _ in range(500))
        self.hold(hostile.unfinished(server, query.encode(), megabyte) for _ in range(500))
        self.serves(server, app)
        self.assertLess(hostile.memory(server, "VmHWM") - before, 128 * MEBIBYTE)

    def test_packed_bodies_without_a_known_key_hold_bounded_memory(self):
        server, app, _ = self.start(http_body_memory="256MiB")
        before = hostile.memory(server)
        bodies = [gzip.compress(b"{}" * 64_000), gzip.compress(b"1\n" * (16 * MEBIBYTE)), gzip.compress(b"{" * (60 * MEBIBYTE))]
        with concurrent.futures.ThreadPoolExecutor(32) as pool:
            posts = [pool.submit(hostile.post, server, "/v2.1/track", bodies[number % 3], 300, Content_Encoding="gzip")
                     for number in range(32)]
            self.serves(server, app)
            statuses = {posted.result()[0] for posted in posts}
        self.assertLessEqual(statuses, {400, 413, 503})
        self.assertLess(hostile.memory(server, "VmHWM") - before, 384 * MEBIBYTE)


if __name__ == "__main__":
    unittest.main()
