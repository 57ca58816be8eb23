"""`hindsight store` and `hindsight retention`: damage is named and survived, a lost catalogue is rebuilt, a wrong clock expires nothing."""
import datetime
import json
import pathlib
import subprocess
import time
import unittest
import urllib.request

from server import PROGRAM, Server


def event(app, name, days=0):
    at = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=days)
    return {"name": "Microsoft.ApplicationInsights.Event", "time": at.isoformat(), "iKey": app["instrumentationKey"],
            "data": {"baseType": "EventData", "baseData": {"ver": 2, "name": name}}}


def ran(server, *arguments):
    """Exit code and standard output of a command on the server's folder, and its standard error."""
    ended = subprocess.run([PROGRAM, *arguments, "--data", server.data], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                           timeout=60)
    return ended.returncode, ended.stdout, ended.stderr


def segments(server):
    return sorted(pathlib.Path(server.data, "segments").rglob("*.parquet"))


def ready(server):
    with urllib.request.urlopen(server.url + "/ready", timeout=10) as reply:
        return json.load(reply)


class Store(unittest.TestCase):
    def test_damage_is_named_and_everything_else_is_served(self):
        with Server() as server:
            app, key = server.new_app("shop")
            self.assertEqual(server.track([event(app, "old", -2), event(app, "new")])[0], 200)
            self.assertEqual(ran(server, "store", "check")[0], 0)
            server.stop()
            code, text, _ = ran(server, "store", "check")
            self.assertEqual((code, "nothing is damaged: 2 segments" in text), (0, True), text)
            old = segments(server)[0]
            whole = old.read_bytes()
            old.write_bytes(whole[:-1] + b"?")
            code, text, _ = ran(server, "store", "check")
            self.assertEqual((code, str(old) in text, "1 thing is damaged" in text), (1, True, True), text)
            code, text, _ = ran(server, "store", "check", "--json")
            self.assertEqual((code, json.loads(text)["damage"][0]["path"]), (1, str(old)))

            server.start()
            self.assertEqual(server.query(app, key, "customEvents | project name"), [{"name": "new"}])
            self.assertEqual(ready(server), {"status": "degraded", "damagedSegments": 1})
            reply = server.get(f"/v1/apps/{app['appId']}/query", key, query="customEvents | project name")
            self.assertEqual(reply["error"]["details"][0]["innererror"]["code"], "DamagedData")
            reply = server.get(f"/v1/apps/{app['appId']}/query", key, query="customEvents | where timestamp > ago(1h)")
            self.assertNotIn("error", reply)
            server.stop()
            old.write_bytes(whole)
            server.start()
            self.assertEqual(len(server.query(app, key, "customEvents")), 2)
            self.assertEqual(ready(server), {"status": "ready"})

    def test_a_lost_catalogue_is_rebuilt(self):
        with Server() as server:
            app, _ = server.new_app("shop")
            self.assertEqual(server.track([event(app, "sealed")])[0], 200)
            server.stop()
            server.start()
            self.assertEqual(server.track([event(app, "logged")])[0], 200)
            code, _, error = ran(server, "store", "recover")
            self.assertEqual((code, "in use" in error), (1, True), error)
            server.kill()
            for path in pathlib.Path(server.data).glob("catalogue.db*"):
                path.unlink()
            code, text, _ = ran(server, "store", "check")
            self.assertEqual((code, "catalogue.db: missing" in text), (1, True), text)
            code, text, error = ran(server, "store", "recover")
            self.assertEqual((code, app["instrumentationKey"] in text, "API keys" in text), (0, True, True), text + error)

            server.start()
            key = server.command("key", "create", "--app", "shop")["key"]
            self.assertEqual(server.query(app, key, "customEvents | project name | sort by name asc"),
                             [{"name": "logged"}, {"name": "sealed"}])
            self.assertEqual(server.track([event(app, "more")])[0], 200)
            server.stop()
            segments(server)[0].write_bytes(b"damaged")
            pathlib.Path(server.data, "catalogue.db").unlink()
            code, _, error = ran(server, "store", "recover")
            self.assertEqual((code, "--accept damaged-segments" in error), (1, True), error)
            self.assertFalse(pathlib.Path(server.data, "catalogue.db").exists())
            self.assertEqual(ran(server, "store", "recover", "--accept", "damaged-segments")[0], 0)
            server.start()
            self.assertEqual(ready(server)["status"], "ready", "a file without a footer cannot be listed")

    def test_a_wrong_clock_expires_nothing_until_it_is_confirmed(self):
        with Server(retention_interval="1s", retention_age="30d", retention_grace="1h") as server:
            app, key = server.new_app("shop")
            self.assertEqual(server.track([event(app, "old", -29), event(app, "new")])[0], 200)
            server.stop()
            # To the store, the clock is further ahead of the latest trusted time than it may jump.
            server.environment["HINDSIGHT_RETENTION_MAX_CLOCK_JUMP"] = "2s"
            time.sleep(4)
            server.environment["HINDSIGHT_RETENTION_AGE"] = "28d"
            server.environment["HINDSIGHT_INGEST_MAX_AGE"] = "30d"
            server.start()
            self.assertEqual(ready(server), {"status": "degraded", "clock": "suspect"})
            time.sleep(5)
            self.assertEqual(len(server.query(app, key, "customEvents")), 2)
            status, verdict = server.track([event(app, "too old", -31)])
            self.assertEqual((status, verdict["errors"][0]["statusCode"]), (503, 503))
            self.assertIn("hindsight retention confirm", pathlib.Path(server.data + ".log").read_text())

            self.assertEqual(ran(server, "retention", "confirm")[0], 0)
            deadline = time.monotonic() + 30
            while len(server.query(app, key, "customEvents")) > 1 and time.monotonic() < deadline:
                time.sleep(0.2)
            self.assertEqual(server.query(app, key, "customEvents | project name"), [{"name": "new"}])
            self.assertEqual(ready(server), {"status": "ready"})
            self.assertEqual(server.track([event(app, "too old", -31)])[0], 400)
            self.assertEqual(server.command("retention", "status")["expiredSegments"], 1)
            self.assertEqual(ran(server, "retention", "restore")[0], 1, "a server holds the folder")
            server.stop()
            self.assertEqual(server.command("retention", "restore"), {"restored": 1})
            server.environment["HINDSIGHT_RETENTION_AGE"] = "30d"
            server.start()
            self.assertEqual(len(server.query(app, key, "customEvents")), 2)


if __name__ == "__main__":
    unittest.main()
