"""What the banner of `serve --demo` tells people to paste works as it stands."""
import json
import pathlib
import re
import shutil
import subprocess
import time
import unittest

from server import Server


def run(lines, **environment):
    """Runs lines in a shell; answers the JSON that each of them printed."""
    script = "\n".join(lines)
    text = subprocess.check_output(["bash", "-c", script], text=True, env={"PATH": "/usr/bin:/bin", **environment})
    decoder, values, at = json.JSONDecoder(), [], 0
    while at < len(text.rstrip()):
        value, at = decoder.raw_decode(text, at)
        values.append(value)
        at += len(text[at:]) - len(text[at:].lstrip())
    return values


@unittest.skipUnless(shutil.which("curl") and shutil.which("bash"), "bash and curl are not installed")
class Try(unittest.TestCase):
    def test_banner(self):
        with Server("--demo") as server:
            log = pathlib.Path(server.data + ".log")
            deadline = time.monotonic() + 60
            while "query by GET" not in (banner := log.read_text()) or "--get" not in banner:
                self.assertLess(time.monotonic(), deadline, "no banner")
                time.sleep(0.1)
            lines = [line.strip() for line in banner.splitlines()
                     if re.match(r"\s+(export (KEY|APP|URL)|ID|curl)\b", line)]
            app, key = (re.search(rf"export {name}=(\S+)", banner)[1] for name in ("APP", "KEY"))
            while not server.query({"appId": app}, key, "requests | where timestamp > ago(1m) | take 1"):
                self.assertLess(time.monotonic(), deadline, "no demo telemetry")
                time.sleep(0.2)
            answers = run(lines)
            self.assertEqual(len(answers), 6, answers)
            metric, batch, events, event, get, post = answers
            self.assertTrue(metric["value"]["segments"])
            self.assertEqual(batch[0]["status"], 200)
            self.assertEqual(len(events["value"]), 1)
            self.assertEqual(event["value"][0]["type"], "request")
            self.assertTrue(get["tables"][0]["rows"])
            self.assertTrue(post["tables"][0]["rows"])


if __name__ == "__main__":
    unittest.main()
