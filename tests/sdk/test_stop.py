"""SIGTERM under load: what was accepted is finished and acknowledged, everything is sealed, the exit code is 0."""
import json
import signal
import threading
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

from server import Server
from test_crash import Sender


class Stop(unittest.TestCase):
    def test_stop_under_load(self):
        with Server() as server:
            app, key = server.new_app("stop")
            for round_ in range(5):
                senders = [Sender(server.url, app["instrumentationKey"], round_, n) for n in range(4)]
                for sender in senders:
                    sender.start()
                time.sleep(0.3)
                begun = time.monotonic()
                server.process.send_signal(signal.SIGTERM)
                self.assertEqual(server.process.wait(timeout=30), 0)
                self.assertLess(time.monotonic() - begun, 15)
                for sender in senders:
                    sender.join(timeout=15)
                    self.assertTrue(sender.acknowledged, "the load did not reach the server")
                server.start()
                acknowledged = {id_ for sender in senders for id_ in sender.acknowledged}
                rows = server.query(app, key, f"requests | where id startswith '{round_}-' | project id | take 400000")
                found = [row["id"] for row in rows]
                self.assertEqual(len(found), len(set(found)), "stored twice")
                self.assertEqual(acknowledged - set(found), set(), "acknowledged and lost")

    def test_queries_get_503(self):
        """A query that runs until the end gets 503 with Retry-After, not a closed connection."""
        slow = "range x from 1 to 1000000000000 step 1 | summarize sum(x)"
        with Server() as server:
            app, key = server.new_app("stop")
            url = f"{server.url}/v1/apps/{app['appId']}/query?" + urllib.parse.urlencode({"query": slow})
            replies = []

            def ask():
                try:
                    urllib.request.urlopen(urllib.request.Request(url, headers={"x-api-key": key}), timeout=60)
                except urllib.error.HTTPError as error:
                    replies.append((error.code, error.headers["Retry-After"], json.load(error)["error"]["code"]))

            asking = threading.Thread(target=ask)
            asking.start()
            time.sleep(1)
            server.process.send_signal(signal.SIGTERM)
            self.assertEqual(server.process.wait(timeout=30), 0)
            asking.join(timeout=15)
            self.assertEqual(replies, [(503, "5", "ServiceUnavailableError")])


if __name__ == "__main__":
    unittest.main()
