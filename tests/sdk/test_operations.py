"""Everyday operations with the whole program: backups under load, exports, imports that are killed and resumed, retention by table."""
import csv
import datetime
import gzip
import http.server
import json
import pathlib
import signal
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

import shop_telemetry
from server import PROGRAM, Server

HOUR = datetime.timedelta(hours=1)


def now():
    return datetime.datetime.now(datetime.timezone.utc)


def event(app, name, at=None):
    return {"name": "Microsoft.ApplicationInsights.Event", "time": (at or now()).isoformat(), "iKey": app["instrumentationKey"],
            "data": {"baseType": "EventData", "baseData": {"ver": 2, "name": name}}}


def ran(*arguments):
    """Exit code and standard output of a command, and its standard error."""
    ended = subprocess.run([PROGRAM, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
    return ended.returncode, ended.stdout, ended.stderr


def names(server, app, key):
    return [row["name"] for row in server.query(app, key, "customEvents | project name | take 500000")]


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="hindsight-operations-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def succeeded(self, *arguments):
        code, text, error = ran(*arguments)
        self.assertEqual(code, 0, text + error)
        return text


class Backups(Folder):
    def test_backups_under_load_hold_each_acknowledged_item_once(self):
        with Server() as server:
            app, _ = server.new_app("shop")
            acknowledged, stop, failures = [], threading.Event(), []

            def send(sender):
                number = 0
                while not stop.is_set():
                    batch = [f"{sender}-{number + n}" for n in range(5)]
                    status, _ = server.track([event(app, name, now() - HOUR * (number % 7)) for name in batch])
                    if status != 200:
                        failures.append(status)
                        return
                    acknowledged.extend(batch)
                    number += 5

            threads = [threading.Thread(target=send, args=(sender,)) for sender in range(3)]
            for thread in threads:
                thread.start()
            backup = self.folder / "backup"
            checked = []
            for number in range(4):
                time.sleep(0.5)
                before = list(acknowledged)
                report = server.command("backup", backup)
                self.assertEqual(report["damage"], [])
                after = list(acknowledged)
                verified = json.loads(self.succeeded("verify", backup, "--json"))
                self.assertEqual((verified["damage"], verified["sequence"]), ([], report["sequence"]))
                data = self.folder / f"restored-{number}"
                self.assertIn("hindsight serve --data", self.succeeded("restore", backup, "--data", data))
                checked.append((data, before, after))
            stop.set()
            for thread in threads:
                thread.join()
            self.assertEqual(failures, [])
            code, _, error = ran("restore", backup, "--data", checked[0][0])
            self.assertEqual((code, "not empty" in error), (1, True), error)
        for data, before, after in checked:
            text = self.succeeded("query", "customEvents | project name | take 500000", "--app", "shop", "--data", data, "--output", "json")
            found = [row[0] for row in json.loads(text)["tables"][0]["rows"]]
            self.assertEqual(len(found), len(set(found)), "an item is there twice")
            self.assertEqual(set(before) - set(found), set(), "an acknowledged item is missing")
            # Of each sender one request may have been on disk and not acknowledged yet.
            self.assertLessEqual(len(set(found) - set(after)), 15)
        # What was damaged later is named.
        [file, *_] = sorted((self.folder / "backup" / "segments").rglob("*.parquet")) or sorted((self.folder / "backup").rglob("*.wal"))
        file.write_bytes(file.read_bytes()[:-1] + b"?")
        code, text, _ = ran("verify", backup)
        self.assertEqual((code, str(file) in text, "1 file is damaged" in text), (1, True, True), text)

    def test_keys_and_telemetry_go_on_after_a_restore(self):
        backup = self.folder / "backup"
        with Server() as server:
            app, key = server.new_app("shop")
            self.assertEqual(server.track([event(app, "sealed")])[0], 200)
            server.stop()
            server.start()
            self.assertEqual(server.track([event(app, "logged")])[0], 200)
            server.kill()
            server.command("backup", backup)
        with Server() as server:
            server.stop()
            data = self.folder / "data"
            self.succeeded("restore", backup, "--data", data)
            server.data = str(data)
            server.start()
            self.assertEqual(sorted(names(server, app, key)), ["logged", "sealed"])
            self.assertEqual(server.track([event(app, "new")])[0], 200)
            self.assertEqual(sorted(names(server, app, key)), ["logged", "new", "sealed"])


def rows(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


class Exports(Folder):
    def test_an_export_is_imported_again_exactly(self):
        with Server() as server:
            app, key = server.new_app("shop")
            items = shop_telemetry.envelopes(app["instrumentationKey"])
            self.assertEqual(server.track(items)[0], 200)
            out = self.folder / "out"
            self.succeeded("export", "--app", "shop", "--data", server.data, out)
            exported = {path.stem: rows(path) for path in out.glob("*.ndjson")}
            self.assertEqual(sum(map(len, exported.values())), len(items))
            self.assertNotIn(b"\r", (out / "requests.ndjson").read_bytes())

            other = server.command("app", "create", "other")
            text = self.succeeded("import", "--app", "other", "--data", server.data, out)
            self.assertIn(f"{len(items)} items imported, 0 were there already, 0 refused", text)
            text = self.succeeded("import", "--app", "other", "--data", server.data, "--again", out)
            self.assertIn(f"0 items imported, {len(items)} were there already", text)
            again = self.folder / "again"
            self.succeeded("export", "--app", "other", "--data", server.data, again)
            own = {"appId", "appName", "iKey", "_ResourceId"}
            for table, found in exported.items():
                def plain(row):
                    return {name: value for name, value in row.items() if name not in own}
                copies = {row["itemId"]: row for row in rows(again / f"{table}.ndjson")}
                self.assertEqual(len(copies), len(found))
                for row in found:
                    self.assertEqual(plain(copies[row["itemId"]]), plain(row))
                    self.assertEqual(copies[row["itemId"]]["appId"], other["appId"])
            # Whole numbers and reals in bags stay what they are.
            half = "requests | where isnotempty(customMeasurements) | project tostring(customMeasurements), itemId | order by itemId asc"
            otherkey = server.command("key", "create", "--app", "other")["key"]
            self.assertEqual(server.query(app, key, half), server.query(other, otherkey, half))

    def test_tables_times_and_formats(self):
        with Server() as server:
            app, key = server.new_app("shop")
            start = now() - HOUR * 5
            texts = ["plain", "a,b", 'say "x"', "two\nlines", "=1+1", "größe"]
            self.assertEqual(server.track([event(app, name, start + HOUR * n) for n, name in enumerate(texts[:5])])[0], 200)
            self.assertEqual(server.track([event(app, texts[5], start + HOUR * 4)])[0], 200)
            where = ["--app", "shop", "--data", server.data, "--table", "customEvents"]
            self.succeeded("export", *where, "--format", "csv", self.folder / "events.csv")
            text = (self.folder / "events.csv").read_bytes().decode()
            self.assertNotIn("\r", text)
            found = list(csv.DictReader(text.splitlines(keepends=True)))
            self.assertEqual(sorted(row["name"] for row in found), sorted(texts))
            code, _, error = ran("export", *where, self.folder / "events.csv")
            self.assertEqual((code, "exists already" in error), (1, True))
            part = self.folder / "part.ndjson"
            begin, end = (start + HOUR - HOUR / 2).isoformat(), (start + HOUR * 3 - HOUR / 2).isoformat()
            self.succeeded("export", *where, "--from", begin, "--to", end, part)
            self.assertEqual(sorted(row["name"] for row in rows(part)), sorted(texts[1:3]))
            self.succeeded("export", "--app", "shop", "--table", "AppEvents", "--url", server.url, "--key", key, self.folder / "remote.ndjson")
            self.assertEqual(sorted(row["name"] for row in rows(self.folder / "remote.ndjson")), sorted(texts))
            self.succeeded("export", *where, "--format", "parquet", self.folder / "events.parquet")
            self.assertEqual((self.folder / "events.parquet").read_bytes()[:4], b"PAR1")
            code, _, error = ran("export", "--app", "shop", "--table", "oops", "--data", server.data, self.folder / "oops")
            self.assertEqual((code, "there is no table 'oops'" in error), (1, True), error)

    def test_more_items_than_a_page_also_at_one_moment(self):
        with Server() as server:
            app, _ = server.new_app("shop")
            moment = now() - HOUR * 2
            for batch in range(6):
                items = [event(app, f"{batch}-{n}", moment if n % 2 else moment + datetime.timedelta(microseconds=batch * 5000 + n))
                         for n in range(2500)]
                self.assertEqual(server.track(items)[0], 200)
            out = self.folder / "events.ndjson"
            self.succeeded("export", "--app", "shop", "--data", server.data, "--table", "customEvents", out)
            found = [row["name"] for row in rows(out)]
            self.assertEqual((len(found), len(set(found))), (15000, 15000))


def continuous(number, at, kind="event", **properties):
    """A record of continuous export, as the documented model has it."""
    element = {"event": {"name": f"event {number}", "count": 1}}.get(kind, {})
    return {kind: [{**element, **properties}],
            "internal": {"data": {"id": f"00000000-0000-0000-0000-{number:012}", "documentVersion": "1.61"}},
            "context": {"data": {"eventTime": at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"), "isSynthetic": False, "samplingRate": 100.0},
                        "cloud": {}, "device": {"type": "PC", "roleName": "web", "roleInstance": "web-1", "screenResolution": {}},
                        "user": {"isAuthenticated": False}, "session": {"isFirst": False, "id": "s"},
                        "operation": {"id": "op", "parentId": "parent", "name": "GET Home"},
                        "location": {"clientip": "0.0.0.0", "country": "Norway", "city": "Oslo", "continent": "Europe", "province": "Oslo"},
                        "custom": {"dimensions": [{"a": "x"}, {"b": "y"}], "metrics": [{"m": {"value": 2.0, "count": 1.0}}]}}}


def lines(records):
    return "".join(json.dumps(record) + "\n" for record in records)


class Imports(Folder):
    def test_continuous_export(self):
        at = now() - HOUR * 24 * 30
        blobs = self.folder / "shop_key" / "Event" / "2026-10-01" / "00"
        blobs.mkdir(parents=True)
        request = continuous(1, at, "request", id="r1", name="GET /", responseCode=200, success=True, count=4, url="/",
                             urlData={"base": "/", "host": "contoso.org"}, durationMetric={"value": 1046804.0, "count": 1.0})
        failure = continuous(2, at, "basicException", typeName="A", message="outer", method="M", assembly="S", handledAt="Unhandled",
                             parsedStack=[{"method": "M", "assembly": "S", "level": 0, "line": 3}])
        metric = continuous(3, at, "metric")
        metric["metric"] = []
        trace = continuous(4, at, "message", raw="hello", severityLevel="Warning")
        call = continuous(5, at, "remoteDependency", id="d", name="SQL", type="SQL", commandName="select 1", success=False,
                          resultCode="500", durationMetric={"value": 20000.0}, urlData={"host": "db"})
        view = continuous(6, at, "view", name="page", url="http://x/", durationMetric={"value": 50000.0})
        test = continuous(7, at, "availability", testName="ping", result="Pass", runLocation="Oslo", durationMetric={"value": 10000.0},
                          availabilityMetric={"name": "availability", "value": 1.0}, testTimestamp="x", testRunId="run")
        browser = continuous(8, at, "clientPerformance", name="page", url="http://x/", total={"value": 9000000.0},
                             networkConnection={"value": 10000})
        (blobs / "a.blob").write_text(lines([request, failure, metric, trace, call, view, test, browser, continuous(9, at)]))
        strange = [{**continuous(10, at), "event": [{"name": "x", "oops": 1}]}, {"what": "ever"}, continuous(11, at, "performanceCounter")]
        (self.folder / "strange.blob").write_text(lines(strange))
        with Server() as server:
            app, key = server.new_app("shop")
            where = ["--app", "shop", "--data", server.data]
            text = self.succeeded("import", *where, self.folder / "shop_key")
            self.assertIn("9 items imported, 0 were there already, 0 refused", text)
            self.assertIn("1 files were skipped", self.succeeded("import", *where, self.folder / "shop_key"))
            [row] = server.query(app, key, "requests")
            expected = {"id": "r1", "name": "GET /", "resultCode": "200", "success": "True", "itemCount": 4, "url": "/", "duration": 104.6804,
                        "performanceBucket": "<250ms", "operation_Id": "op", "operation_ParentId": "parent", "operation_Name": "GET Home",
                        "cloud_RoleName": "web", "cloud_RoleInstance": "web-1", "client_Type": "PC", "client_City": "Oslo",
                        "client_CountryOrRegion": "Norway", "session_Id": "s", "itemId": "00000000-0000-0000-0000-000000000001",
                        "customDimensions": '{"a":"x","b":"y"}', "appName": "shop", "iKey": app["instrumentationKey"]}
            self.assertEqual({name: row[name] for name in expected}, expected)
            self.assertEqual(server.query(app, key, "requests | project x = toreal(customMeasurements.m)"), [{"x": 2}])
            [row] = server.query(app, key, "exceptions | project type, outerMessage, innermostMethod, problemId, handledAt, n = array_length(details)")
            self.assertEqual(row, {"type": "A", "outerMessage": "outer", "innermostMethod": "M", "problemId": "A at M",
                                   "handledAt": "Unhandled", "n": 1})
            [row] = server.query(app, key, "customMetrics | project name, value, valueCount, valueSum")
            self.assertEqual(row, {"name": "m", "value": 2, "valueCount": 1, "valueSum": 2})
            self.assertEqual(server.query(app, key, "traces | project message, severityLevel"), [{"message": "hello", "severityLevel": 2}])
            [row] = server.query(app, key, "dependencies | project target, data, success, duration")
            self.assertEqual(row, {"target": "db", "data": "select 1", "success": "False", "duration": 2})
            self.assertEqual(server.query(app, key, "availabilityResults | project name, success, location"),
                             [{"name": "ping", "success": "1", "location": "Oslo"}])
            self.assertEqual(server.query(app, key, "browserTimings | project totalDuration, networkDuration"),
                             [{"totalDuration": 900, "networkDuration": 1}])
            # What is not known is refused by name, and again in the next import.
            for _ in range(2):
                code, text, error = ran("import", *where, self.folder / "strange.blob")
                self.assertEqual((code, "3 refused" in text), (1, True), text)
                for part in ["'oops' of `event` is not known; `--ignore oops`", "what is of no known form", "performanceCounter"]:
                    self.assertIn(part, error)
            code, text, _ = ran("import", *where, "--ignore", "oops", self.folder / "strange.blob")
            self.assertIn("1 items imported, 0 were there already, 2 refused", text)

    def test_diagnostic_settings_and_replies_of_queries(self):
        at = (now() - HOUR * 50).replace(microsecond=0)
        time_text = at.strftime("%Y-%m-%dT%H:%M:%S.1238381Z")
        request = {"time": time_text, "resourceId": "/SUBSCRIPTIONS/S/COMPONENTS/SHOP", "ResourceGUID": "g", "Type": "AppRequests",
                   "AppRoleName": "web", "ClientCity": "Portland", "ClientIP": "0.0.0.0", "IKey": "other", "_BilledSize": 1082,
                   "OperationName": "f", "OperationId": "o", "ParentId": "p", "SDKVersion": "azurefunctions: 3", "Properties": {"k": "v"},
                   "Measurements": {"m": 1.5}, "Id": "09d7", "Name": "f", "Url": "https://x/", "Success": True, "ResultCode": "200",
                   "DurationMs": 9.1593, "PerformanceBucket": "<250ms", "ItemCount": 1}
        metric = {"time": time_text, "Type": "AppMetrics", "Name": "HeartbeatState", "Sum": 6, "Min": 1, "Max": 4, "ItemCount": 3,
                  "Properties": {"a": "b"}, "SyntheticSource": "HeartbeatState"}
        counter = {"time": time_text, "Type": "AppPerformanceCounters", "Name": "% Processor Time", "Category": "Processor",
                   "Counter": "% Processor Time", "Value": 0.768134898484558}
        hour = self.folder / "resourceId=" / "y=2026" / "m=11" / "d=20" / "h=05" / "m=00"
        hour.mkdir(parents=True)
        # Two equal records of one file are two items.
        (hour / "PT1H.json").write_text(lines([request, request, metric]))
        (self.folder / "records.json").write_text(json.dumps({"records": [counter]}))
        with gzip.open(self.folder / "more.json.gz", "wt") as file:
            file.write(lines([{**request, "Id": "other", "Oops": 1}]))
        with Server() as server:
            app, key = server.new_app("shop")
            where = ["--app", "shop", "--data", server.data]
            files = [self.folder / "resourceId=", self.folder / "records.json"]
            self.assertIn("4 items imported, 0 were", self.succeeded("import", *where, *files))
            self.assertIn("0 items imported, 4 were there already", self.succeeded("import", *where, "--again", *files))
            code, _, error = ran("import", *where, self.folder / "more.json.gz")
            self.assertEqual((code, "the column 'Oops' of AppRequests is not known" in error), (1, True), error)
            self.succeeded("import", *where, "--ignore", "Oops", self.folder / "more.json.gz")
            found = server.query(app, key, "requests | project id, success, duration, timestamp, x = customMeasurements.m, city = client_City")
            self.assertEqual(sorted(row["id"] for row in found), ["09d7", "09d7", "other"])
            self.assertEqual({(row["success"], row["duration"], row["timestamp"], row["city"]) for row in found},
                             {("True", 9.1593, time_text, "Portland")})
            self.assertEqual(server.query(app, key, "customMetrics | project value, valueCount, valueSum, operation_SyntheticSource"),
                             [{"value": 2, "valueCount": 3, "valueSum": 6, "operation_SyntheticSource": "HeartbeatState"}])
            self.assertEqual(server.query(app, key, "performanceCounters | project category, counter, value"),
                             [{"category": "Processor", "counter": "% Processor Time", "value": 0.768134898484558}])

            # Replies of the query API, with the columns of either family of tables.
            reply = server.get(f"/v1/apps/{app['appId']}/query", key, query="requests")
            (self.folder / "reply.json").write_text(json.dumps(reply, indent=1))
            workspace = server.get(f"/v1/workspaces/{app['appId']}/query", key, query="AppRequests | where Id == 'other'")
            (self.folder / "workspace.json").write_text(json.dumps(workspace))
            other = server.command("app", "create", "other")
            otherkey = server.command("key", "create", "--app", "other")["key"]
            where = ["--app", "other", "--data", server.data]
            self.assertIn("3 items imported", self.succeeded("import", *where, self.folder / "reply.json"))
            ids = "requests | project itemId | order by itemId asc"
            self.assertEqual(server.query(other, otherkey, ids), server.query(app, key, ids), "identities are kept")
            self.assertIn("1 items imported", self.succeeded("import", *where, self.folder / "workspace.json"))
            cut = {**reply, "error": {"code": "PartialError", "message": "cut"}}
            (self.folder / "cut.json").write_text(json.dumps(cut))
            code, _, error = ran("import", *where, self.folder / "cut.json")
            self.assertEqual((code, "the reply is not whole" in error), (1, True), error)

    def test_an_import_that_is_killed_and_resumed_stores_nothing_twice(self):
        """Killed are the import, and the server that it sends to."""
        start = now() - HOUR * 24 * 20
        blobs = self.folder / "blobs"
        blobs.mkdir()
        count = 0
        for file in range(12):
            records = [continuous(count + n, start + HOUR * file + datetime.timedelta(seconds=n)) for n in range(2000)]
            (blobs / f"{file:02}.blob").write_text(lines(records))
            count += len(records)
        with Server() as server:
            app, key = server.new_app("shop")
            command = [PROGRAM, "import", "--app", "shop", "--data", server.data, str(blobs)]
            stopped = 0
            for number in range(25):
                importing = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                try:
                    importing.communicate(timeout=0.1 * 1.25 ** number)
                    break
                except subprocess.TimeoutExpired:
                    if number % 3 == 1:
                        server.kill()
                    importing.kill()
                    importing.communicate()
                    stopped += 1
                    if number % 3 == 1:
                        server.start()
            self.assertGreater(stopped, 1)
            self.succeeded(*map(str, command[1:]))
            query = "customEvents | summarize items = count(), ids = count_distinct(itemId), names = count_distinct(name)"
            self.assertEqual(server.query(app, key, query), [{"items": count, "ids": count, "names": count}])

    def test_an_interrupted_import_says_what_it_did_and_goes_on(self):
        start = now() - HOUR * 24 * 20
        records = [continuous(n, start + datetime.timedelta(seconds=n)) for n in range(40000)]
        (self.folder / "a.blob").write_text(lines(records))
        with Server() as server:
            app, key = server.new_app("shop")
            where = ["import", "--app", "shop", "--data", server.data, str(self.folder / "a.blob")]
            importing = subprocess.Popen([PROGRAM, *where], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            deadline = time.monotonic() + 60
            while not server.query(app, key, "customEvents | take 1") and time.monotonic() < deadline:
                time.sleep(0.05)
            importing.send_signal(signal.SIGINT)
            text, error = importing.communicate(timeout=60)
            self.assertEqual(importing.returncode, 1, text + error)
            self.assertIn("interrupted; what was imported stays", error)
            self.assertRegex(text, r"[1-9]\d* items imported, 0 were there already, 0 refused")
            self.succeeded(*where)
            query = "customEvents | summarize items = count(), ids = count_distinct(itemId)"
            self.assertEqual(server.query(app, key, query), [{"items": 40000, "ids": 40000}])

    def test_items_past_their_retention_are_refused_by_name(self):
        (self.folder / "old.blob").write_text(lines([continuous(1, now() - HOUR * 24 * 100), continuous(2, now())]))
        with Server() as server:
            app, key = server.new_app("shop")
            where = ["--app", "shop", "--data", server.data, self.folder / "old.blob"]
            code, text, error = ran("import", *where)
            self.assertEqual((code, "1 items imported, 0 were there already, 1 refused" in text), (1, True), text)
            self.assertIn("older than items of customEvents are kept; `hindsight retention set`", error)
            self.succeeded("retention", "set", "--app", "shop", "--table", "customEvents", "--days", "200", "--data", server.data)
            self.assertIn("1 items imported, 1 were there already", self.succeeded("import", *where))
            self.assertEqual(len(names(server, app, key)), 2)


class Pull(Folder):
    """From another Hindsight, which stands for the cloud; a proxy before it fails now and then."""

    def test_a_pull_that_is_killed_and_resumed(self):
        with Server() as cloud, Server() as server:
            source, source_key = cloud.new_app("cloud")
            start = (now() - HOUR * 30).replace(minute=0, second=0, microsecond=0)
            count = 0
            for hour in range(0, 28, 2):
                items = [event(source, f"{hour}-{n}", start + HOUR * hour + datetime.timedelta(milliseconds=n)) for n in range(1500)]
                self.assertEqual(cloud.track(items)[0], 200)
                count += len(items)
            self.assertEqual(cloud.track(shop_telemetry.envelopes(source["instrumentationKey"]))[0], 200)
            (self.folder / "key").write_text(source_key + "\n")
            app, key = server.new_app("shop")
            proxy = Proxy(cloud.url)
            self.addCleanup(proxy.close)
            command = [PROGRAM, "import", "--app", "shop", "--data", server.data, "--from-api", proxy.url, "--app-id", source["appId"],
                       "--key-file", str(self.folder / "key")]
            only_events = [*command, "--tables", "customEvents"]
            stopped = 0
            for number in range(30):
                importing = subprocess.Popen(only_events, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                try:
                    importing.communicate(timeout=0.3 + 0.1 * number)
                    break
                except subprocess.TimeoutExpired:
                    importing.kill()
                    importing.communicate()
                    stopped += 1
            self.assertGreater(stopped, 1)
            asked = proxy.requests
            self.succeeded(*map(str, command[1:]))
            for table in ["customEvents", "requests", "dependencies", "exceptions", "traces", "pageViews", "customMetrics"]:
                ids = f"{table} | project timestamp, itemId | order by itemId asc, timestamp asc"
                self.assertEqual(server.query(app, key, ids), cloud.query(source, source_key, ids), table)
            self.assertGreaterEqual(len(names(server, app, key)), count)
            # Hours that are finished are not asked for again, but for their count; the last hour is.
            before = proxy.requests
            text = self.succeeded(*map(str, only_events[1:]))
            self.assertIn(" 0 refused", text)
            self.assertIn("0 items imported", text)
            self.assertLess(proxy.requests - before, 5)
            self.assertGreater(asked, 0)
            (self.folder / "key").write_text("hs_wrong")
            code, _, error = ran(*only_events[1:])
            self.assertEqual((code, "status 401" in error or "status 403" in error), (1, True), error)


class Proxy:
    """Passes queries on; the first of every ten is refused as if the server had too much to do."""

    def __init__(self, url):
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                proxy.requests += 1
                if proxy.requests % 10 == 1:
                    self.answer(429, b"{}")
                    return
                headers = {name: self.headers[name] for name in ("Content-Type", "X-Api-Key") if self.headers[name]}
                request = urllib.request.Request(url + self.path, body, headers)
                try:
                    with urllib.request.urlopen(request, timeout=60) as reply:
                        self.answer(reply.status, reply.read())
                except urllib.error.HTTPError as error:
                    self.answer(error.code, error.read())

            def answer(self, status, body):
                try:
                    self.send_response(status)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                except OSError:
                    # The import was killed.
                    self.close_connection = True

            def log_message(self, *_):
                pass

        self.requests = 0
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Retention(Folder):
    def test_a_table_keeps_its_items_as_long_as_its_rule_says(self):
        with Server(retention_interval="1s") as server:
            app, key = server.new_app("shop")
            trace = {"name": "Microsoft.ApplicationInsights.Message", "time": (now() - HOUR * 24 * 10).isoformat(),
                     "iKey": app["instrumentationKey"], "data": {"baseType": "MessageData", "baseData": {"message": "old"}}}
            old = [event(app, "old", now() - HOUR * 24 * 10), trace]
            self.assertEqual(server.track([*old, *[event(app, f"new {n}") for n in range(5)]])[0], 200)
            server.stop()
            server.start()
            shown = server.command("retention", "set", "--app", "shop", "--table", "traces", "--days", "7", "--max-bytes", "10GiB")
            traces = [rule for rule in shown if rule["table"] == "traces"]
            self.assertEqual([(rule["days"], rule["maxBytes"]) for rule in traces], [(7, 10 << 30)])
            deadline = time.monotonic() + 30
            while server.query(app, key, "traces") and time.monotonic() < deadline:
                time.sleep(0.2)
            self.assertEqual(server.query(app, key, "traces"), [])
            self.assertEqual(len(names(server, app, key)), 6)
            self.assertEqual(server.command("retention", "status")["expiredSegments"], 1)
            with urllib.request.urlopen(server.url + "/metrics", timeout=10) as reply:
                figures = reply.read().decode().splitlines()
            self.assertIn('hindsight_table_retention_seconds{application="shop",table="traces"} 604800', figures)
            self.assertIn(f'hindsight_table_retention_bytes{{application="shop",table="traces"}} {10 << 30}', figures)
            self.assertIn('hindsight_table_rows{application="shop",table="customEvents"} 6', figures)
            server.stop()
            self.assertEqual(server.command("retention", "restore"), {"restored": 1})


if __name__ == "__main__":
    unittest.main()
