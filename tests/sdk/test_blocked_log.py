"""A log that nobody reads stops nothing: a pipe to a program that hangs, say."""
import http.client
import subprocess
import threading
import unittest
import urllib.parse
import urllib.request

from server import Server


class BlockedLog(unittest.TestCase):
    def test_a_pipe_that_nobody_reads(self):
        with Server(stderr=subprocess.PIPE, log_filter="trace") as server:
            self.addCleanup(server.process.stderr.close)
            app, key = server.new_app("shop")

            statuses = []

            def ask():
                connection = http.client.HTTPConnection(urllib.parse.urlsplit(server.url).netloc, timeout=30)
                for _ in range(2_500):
                    connection.request("GET", "/health")
                    reply = connection.getresponse()
                    reply.read()
                    statuses.append(reply.status)
                connection.close()

            # Each request is a line at least, 10,000 of which wait.
            threads = [threading.Thread(target=ask) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(statuses, [200] * 20_000)
            self.assertEqual(server.query(app, key, "print x = 1"), [{"x": 1}])
            with urllib.request.urlopen(server.url + "/metrics", timeout=30) as reply:
                figures = reply.read().decode().splitlines()
            [dropped] = [line.split()[1] for line in figures if line.startswith("hindsight_log_lines_dropped ")]
            self.assertGreater(float(dropped), 0, "the pipe was not full, so that nothing was tried")
            server.stop()


if __name__ == "__main__":
    unittest.main()
