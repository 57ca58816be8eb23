"""A data folder whose catalogue was lost, emptied or replaced: the program refuses it and keeps every file of telemetry."""
import datetime
import pathlib
import subprocess
import tempfile
import unittest

from server import PROGRAM, Server


def now():
    return datetime.datetime.now(datetime.timezone.utc).isoformat()


def telemetry(folder):
    """Every segment and log file with its bytes."""
    files = [path for name in ("segments", "log") for path in pathlib.Path(folder, name).rglob("*") if path.is_file()]
    return {path: path.read_bytes() for path in files}


def fails(*arguments):
    """What a command that must fail says."""
    ended = subprocess.run([PROGRAM, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1, f"{arguments} exited with {ended.returncode}"
    return ended.stderr


class Opening(unittest.TestCase):
    def test_commands_make_no_folder_unless_they_are_asked_to(self):
        with tempfile.TemporaryDirectory() as parent:
            folder = pathlib.Path(parent, "data")
            for command in (["app", "list"], ["app", "create", "shop"], ["key", "list", "--app", "shop"], ["audit"],
                            ["query", "requests", "--app", "shop"]):
                self.assertIn("there is no data folder at", fails(*command, "--data", str(folder)))
                self.assertFalse(folder.exists(), command)
            subprocess.check_call([PROGRAM, "app", "create", "shop", "--create", "--data", str(folder)], stdout=subprocess.DEVNULL)
            self.assertIn("shop", subprocess.check_output([PROGRAM, "app", "list", "--data", str(folder)], text=True))

    def test_without_its_catalogue_a_folder_is_refused_and_kept(self):
        with Server() as server:
            app, key = server.new_app("shop")
            item = {"name": "Microsoft.ApplicationInsights.Event", "time": now(), "iKey": app["instrumentationKey"],
                    "data": {"baseType": "EventData", "baseData": {"ver": 2, "name": "sold"}}}
            self.assertEqual(server.track([item])[0], 200)
            server.stop()
            before = telemetry(server.data)
            self.assertTrue(any(path.suffix == ".parquet" for path in before))
            catalogue = pathlib.Path(server.data, "catalogue.db")
            kept = catalogue.read_bytes()

            catalogue.unlink()
            self.assertIn("catalogue.db is missing", fails("app", "list", "--data", server.data))
            self.assertFalse(catalogue.exists())
            self.assertIn("catalogue.db is missing", fails("serve", "--data", server.data, "--listen", "127.0.0.1:0"))
            catalogue.write_bytes(b"")
            for command in (["serve", "--listen", "127.0.0.1:0"], ["app", "list"]):
                self.assertIn("does not belong to this data folder", fails(*command, "--data", server.data))
            self.assertEqual(telemetry(server.data), before)

            catalogue.write_bytes(kept)
            server.start()
            self.assertEqual(server.query(app, key, "customEvents | project name"), [{"name": "sold"}])


if __name__ == "__main__":
    unittest.main()
