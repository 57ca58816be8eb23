"""SIGTERM under load: what was accepted is finished and acknowledged, everything is sealed, the exit code is 0."""
import signal
import time
import unittest

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


if __name__ == "__main__":
    unittest.main()
