"""The command line on a terminal of 80 and of 200 columns: results, charts, the pager, the shell, items as they arrive, and errors."""
import contextlib
import datetime
import json
import os
import pathlib
import re
import signal
import stat
import subprocess
import tempfile
import threading
import time
import unittest

import shop_telemetry
from server import PROGRAM, Server
from terminal import Terminal, plain, run, wait_until_caught, width

BRAILLE = re.compile("[\u2801-\u28ff]")
CHART = "traces | summarize n = count() by bin(timestamp, 1m) | render timechart"


def trace(ikey, message, level=1):
    now = datetime.datetime.now(datetime.timezone.utc).isoformat()
    return {"name": "Message", "time": now, "iKey": ikey, "data": {"baseType": "MessageData", "baseData": {"message": message, "severityLevel": level}}}


def command(*arguments, **options):
    """Runs the program without a terminal."""
    return subprocess.run([PROGRAM, *arguments], text=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=120, **options)


class WithServer(unittest.TestCase):
    """One server with the telemetry of a shop for all tests of a class."""

    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.server.__enter__()
        cls.addClassCleanup(cls.server.__exit__)
        cls.app, cls.key = cls.server.new_app("shop")
        cls.ikey = cls.app["instrumentationKey"]
        status, verdict = cls.server.track(shop_telemetry.envelopes(cls.ikey))
        assert status == 200 and verdict["itemsReceived"] == verdict["itemsAccepted"], verdict

    def here(self, *arguments):
        """The arguments of a command about the application."""
        name, *others = arguments
        return [PROGRAM, name, *others, "--app", "shop", "--data", self.server.data]


class Results(WithServer):
    def test_a_table_fits_the_terminal_and_says_what_is_not_shown(self):
        shown = {}
        for columns in (80, 200):
            code, _, text = run(self.here("query", "requests | take 3"), columns=columns)
            self.assertEqual(code, 0, text)
            lines = text.splitlines()
            self.assertLessEqual(max(map(width, lines)), columns, text)
            self.assertRegex(text, r"not shown: \d+ empty columns and \d+ further columns \(--wide\)")
            self.assertRegex(lines[-1], r"^\d rows? in \d+\.\d{3} s; [\d,]+ rows and [\d.]+ k?B read$")
            self.assertTrue(lines[0].startswith("timestamp"), text)
            shown[columns] = len(lines[0].split())
        self.assertGreater(shown[200], shown[80])

    def test_wide_shows_everything(self):
        code, _, text = run(self.here("query", "requests | take 1", "--wide", "--no-pager"), columns=80)
        self.assertEqual(code, 0)
        self.assertNotIn("not shown", text)
        for column in ("user_AccountId", "_ResourceId", "customDimensions"):
            self.assertIn(column, text)

    def test_rows_are_counted_that_are_not_shown(self):
        code, _, text = run(self.here("query", "range x from 1 to 1234 step 1", "--no-pager"), columns=80)
        self.assertEqual(code, 0)
        self.assertIn("not shown: 234 rows (--max-rows 0)", text)
        _, _, text = run(self.here("query", "range x from 1 to 1234 step 1", "--no-pager", "--max-rows", "0"), columns=80)
        self.assertIn("\n1234\n", text.replace(" ", ""))
        self.assertNotIn("not shown", text)

    def test_a_chart_is_drawn_with_and_without_colours(self):
        for columns in (80, 200):
            code, raw, text = run(self.here("query", CHART), columns=columns)
            self.assertEqual(code, 0, text)
            self.assertRegex(text, BRAILLE)
            self.assertLessEqual(max(map(width, text.splitlines())), columns)
        two = "union traces, requests | summarize n = count() by bin(timestamp, 1m), itemType | render timechart"
        _, raw, text = run(self.here("query", two))
        self.assertIn("\x1b[36m", raw)
        _, raw, text = run(self.here("query", two), NO_COLOR="1")
        self.assertNotIn("\x1b[", raw)
        self.assertRegex(text, r"● \w+  ○ \w+")
        piped = command(*self.here("query", CHART, "--output", "chart")[1:])
        self.assertEqual(piped.returncode, 0, piped.stderr)
        self.assertRegex(piped.stdout, BRAILLE)
        self.assertNotIn("\x1b", piped.stdout)
        bars = command(*self.here("query", "requests | summarize count() by name | render barchart", "--output", "chart")[1:])
        self.assertRegex(bars.stdout, r"│█+")

    def test_a_chart_that_cannot_be_drawn_is_a_table_with_a_sentence(self):
        code, _, text = run(self.here("query", "requests | summarize count() by name | render sankey"))
        self.assertEqual(code, 0)
        self.assertIn("shown as a table: `render sankey` is not drawn on a terminal", text)
        forced = command(*self.here("query", "requests | count", "--output", "chart")[1:])
        self.assertEqual((forced.returncode, forced.stdout), (1, ""))
        self.assertIn("render", forced.stderr)

    def test_a_long_result_goes_through_the_pager(self):
        long = self.here("query", "range x from 1 to 100 step 1")
        _, _, text = run(long, PAGER="sed s/^/paged:/")
        self.assertIn("paged:100", text.replace(" ", ""))
        _, _, text = run([*long, "--no-pager"], PAGER="sed s/^/paged:/")
        self.assertNotIn("paged:", text)
        for pager in ("no-such-pager", "cat", ""):
            _, _, text = run(long, PAGER=pager)
            self.assertIn("\n100\n", text.replace(" ", ""))
        _, _, text = run(self.here("query", "print 1"), PAGER="sed s/^/paged:/")
        self.assertNotIn("paged:", text)

    def test_the_pager_gets_ctrl_c(self):
        arguments = self.here("query", "range x from 1 to 100 step 1")
        with Terminal(arguments, PAGER="trap 'echo interrupted; exit 0' INT; cat > /dev/null; echo ready; while :; do sleep 0.1; done") as terminal:
            terminal.expect("ready")
            terminal.interrupt()
            terminal.expect("interrupted")
            self.assertEqual(terminal.end(), 0)

    def test_forms_for_programs(self):
        kql = "print a = 1, b = 'x,y', c = datetime(2026-01-01), d = dynamic({'k': 1}), e = 0.1"
        forms = {form: command(*self.here("query", kql, "--output", form)[1:]).stdout for form in ("csv", "ndjson", "markdown", "json", "table")}
        self.assertEqual(forms["csv"], 'a,b,c,d,e\n1,"x,y",2026-01-01T00:00:00Z,"{""k"":1}",0.1\n')
        self.assertEqual(json.loads(forms["ndjson"]), {"a": 1, "b": "x,y", "c": "2026-01-01T00:00:00Z", "d": '{"k":1}', "e": 0.1})
        self.assertEqual(forms["markdown"].splitlines()[1], "| ---: | --- | --- | --- | ---: |")
        self.assertEqual(json.loads(forms["json"])["tables"][0]["rows"][0][0], 1)
        self.assertEqual(len(forms["table"].splitlines()), 3)

    def test_wide_characters_are_aligned(self):
        _, _, text = run(self.here("query", "print a = '日本', b = 1 | union (print a = 'x', b = 2) | sort by b asc"))
        first, second = text.splitlines()[2:4]
        self.assertEqual(width(first), width(second), text)


class Shell(WithServer):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="hindsight-shell-")
        self.addCleanup(folder.cleanup)
        self.home = pathlib.Path(folder.name)

    def shell(self, **options):
        return Terminal(self.here("shell"), HOME=str(self.home), **options)

    def test_completion_several_lines_and_history(self):
        for columns in (80, 200):
            with self.shell(columns=columns) as terminal:
                terminal.expect("kql> ")
                terminal.send("requ\t")
                terminal.expect("requests")
                terminal.send(" | wher\t")
                terminal.expect("where")
                terminal.send(" dura\t")
                terminal.expect("duration")
                terminal.send(" >= 0\r")
                terminal.expect(r"\.\.\.> ")
                terminal.send("| summarize total = count(), longest = max(dur\t)\r\r")
                terminal.expect(r"total +longest.*1 row in.*kql> ")
                terminal.send("requests | extend twice = 2 * duration | project twi\t;\r")
                terminal.expect(r"twice.*rows? in.*kql> ")
                terminal.send("\x04")
                self.assertEqual(terminal.end(), 0)
        with self.shell() as terminal:
            terminal.expect("kql> ")
            terminal.send("\x1b[A\x1b[A")
            terminal.expect("summarize total")
            terminal.send("\r\r")
            terminal.expect(r"longest.*1 row in.*kql> ")
            terminal.send("\x12twice\r")
            terminal.expect(r"twice.*rows? in.*kql> ")
            terminal.send("exit\r")
            self.assertEqual(terminal.end(), 0)
        history = self.home / ".local" / "state" / "hindsight" / "history"
        self.assertEqual(stat.S_IMODE(history.stat().st_mode), 0o600)
        self.assertIn("requests | where duration >= 0\\n| summarize", history.read_text())

    def test_candidates_are_listed(self):
        with self.shell() as terminal:
            terminal.expect("kql> ")
            terminal.send("requests | project operation_\t")
            terminal.expect("operation_Id .*operation_Name")
            terminal.send("Na\t\r\r")
            terminal.expect(r"operation_Name\s.*rows? in")

    def test_ctrl_c_cancels_the_running_query_and_gives_up_a_text(self):
        with self.shell() as terminal:
            terminal.expect("kql> ")
            terminal.send("range x from 1 to 3000000000 step 1 | summarize sum(x * x % 7);\r")
            wait_until_caught(terminal.pid, signal.SIGINT)
            time.sleep(1)
            terminal.interrupt()
            terminal.expect("cancelled.*kql> ", 20)
            terminal.send("requests | nonsense")
            terminal.interrupt()
            terminal.expect("kql> ")
            terminal.send("print answer = 42;\r")
            terminal.expect(r"42.*1 row in.*kql> ")

    def test_errors_and_commands(self):
        with self.shell() as terminal:
            terminal.expect("kql> ")
            terminal.send("requests | tak 3;\r")
            terminal.expect(r"Did you mean 'take'.*\^\^\^.*kql> ")
            terminal.send(".tables\r")
            terminal.expect(r"requests\n.*kql> ")
            terminal.send(".schema traces\r")
            terminal.expect(r"severityLevel +int.*kql> ")
            terminal.send(".nope\r")
            terminal.expect(r"\.help.*kql> ")
            terminal.send(".output csv\r")
            terminal.expect("kql> ")
            terminal.send("print a = 1, b = 2;\r")
            terminal.expect(r"a,b\n1,2\n")

    def test_a_pasted_query_is_one_text(self):
        with self.shell() as terminal:
            terminal.expect("kql> ")
            terminal.send("\x1b[200~print a = 1\r\r| extend b = 2\x1b[201~\r\r")
            terminal.expect(r"a +b\n.*1 row in")

    def test_queries_from_a_pipe(self):
        text = "let x = 2;\nprint y = x * 21;\n\nprint z = 1\n"
        out = subprocess.run(self.here("shell", "--output", "csv"), input=text, text=True, capture_output=True, timeout=60)
        self.assertEqual((out.returncode, out.stdout), (0, "y\n42\nz\n1\n"), out.stderr)


class Tail(WithServer):
    def follow(self, *arguments, **options):
        return subprocess.Popen([*self.here("tail"), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)

    def send(self, *messages, level=1):
        status, verdict = self.server.track([trace(self.ikey, message, level) for message in messages])
        self.assertEqual((status, verdict["itemsAccepted"]), (200, len(messages)))

    def test_items_come_once_and_whole(self):
        tail = self.follow("message startswith 'item '", "--table", "traces", "--output", "json", "--since", "60s")
        found, lines = [], threading.Thread(target=lambda: found.extend(map(json.loads, tail.stdout)))
        lines.start()
        sent = []
        for round in range(20):
            batch = [f"item {round}-{number}" for number in range(400)]
            self.send(*batch)
            sent += batch
            time.sleep(0.1)
        # More than a look reads at once, all at one time.
        batch = [f"item {number}" for number in range(12_000)]
        self.send(*batch)
        sent += batch
        deadline = time.monotonic() + 60
        while len(found) < len(sent) and time.monotonic() < deadline:
            time.sleep(0.2)
        time.sleep(2)
        tail.send_signal(signal.SIGINT)
        self.assertEqual(tail.wait(20), 0)
        lines.join()
        self.assertEqual(tail.stderr.read(), "")
        tail.stdout.close(), tail.stderr.close()
        messages = [item["message"] for item in found]
        self.assertEqual(sorted(messages), sorted(sent))
        self.assertEqual(len({item["itemId"] for item in found}), len(sent))
        self.assertNotIn("$arrived", found[0])

    def test_a_filter_on_a_terminal(self):
        for columns in (80, 200):
            with Terminal(self.here("tail", "severityLevel >= 3", "--since", "60s"), columns=columns) as terminal:
                self.send(f"quiet {columns}")
                self.send(f"loud {columns} " + "x" * 300, level=3)
                line = terminal.expect(rf"[^\n]*loud {columns}[^\n]*\n")[0]
                self.assertLess(width(line.strip("\n")), columns)
                self.assertIn("Error", line)
                wait_until_caught(terminal.pid, signal.SIGINT)
                terminal.interrupt()
                self.assertEqual(terminal.end(), 0)
                self.assertNotIn("quiet", terminal.text)

    def test_a_closed_pipe_ends_it(self):
        tail = self.follow("--since", "60s")
        tail.stdout.readline()
        tail.stdout.close()
        self.send("one", "two")
        self.assertEqual(tail.wait(30), 0)
        tail.stderr.close()

    def test_what_cannot_be_followed_is_told(self):
        out = command(*self.here("tail", "severityLevl >= 3")[1:])
        self.assertEqual(out.returncode, 1)
        self.assertIn("severityLevl", out.stderr)
        self.assertIn("^", out.stderr)
        out = command(*self.here("tail", "--table", "nope")[1:])
        self.assertIn("expected one of requests", out.stderr.replace("\n", " "))


class Restart(unittest.TestCase):
    def test_a_tail_goes_on_after_the_server_was_started_again(self):
        with Server() as server:
            app, _ = server.new_app("shop")
            tail = subprocess.Popen([PROGRAM, "tail", "--app", "shop", "--data", server.data, "--output", "json", "--since", "60s"],
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            server.track([trace(app["instrumentationKey"], "before")])
            self.assertEqual(json.loads(tail.stdout.readline())["message"], "before")
            server.stop()
            self.assertIn("waiting for the server", tail.stderr.readline())
            server.start()
            server.track([trace(app["instrumentationKey"], "after")])
            self.assertEqual(json.loads(tail.stdout.readline())["message"], "after")
            self.assertIn("connected again", tail.stderr.readline())
            tail.send_signal(signal.SIGINT)
            self.assertEqual((tail.wait(20), tail.stdout.read()), (0, ""))
            tail.stdout.close(), tail.stderr.close()
            server.stop()
            out = command("tail", "--app", "shop", "--data", server.data)
            self.assertEqual(out.returncode, 1)
            hint = re.search(r"`hindsight (serve --data \S+)`", out.stderr)[1]
            self.assertIn(server.data, hint)
            server.start()


class Errors(WithServer):
    def test_errors_lead_on(self):
        data = ("--data", self.server.data)
        for arguments, parts in [
            (("query", "requests", "--app", "nope", *data), ["there is no application 'nope'", "'shop'"]),
            (("app", "show", "nope", *data), ["there is no application 'nope'; the applications are 'default', 'shop'"]),
            (("query", "requests", "--app", "shop", "--url", self.server.url), ["--key", "HINDSIGHT_KEY", "hindsight key create"]),
            (("query", "requests", "--app", "shop", "--url", self.server.url, "--key", "hs_wrong"), ["hindsight key list"]),
            (("query", "requests", "--app", "shop", "--url", "http://127.0.0.1:9"), ["cannot reach http://127.0.0.1:9"]),
            (("query", "requests | where nme == 1", "--app", "shop", *data), ["nme", "^^^", "line [1,17]"]),
        ]:
            with self.subTest(arguments=arguments):
                out = command(*arguments)
                self.assertEqual((out.returncode, out.stdout), (1, ""), out.stderr)
                for part in parts:
                    self.assertIn(part, out.stderr)

    def test_without_a_name_the_only_application_is_taken(self):
        out = command("query", "requests | count", "--url", self.server.url, "--key", self.key, "--output", "csv")
        self.assertEqual(out.returncode, 0, out.stderr)
        with Server() as server:
            out = command("query", "requests | count", "--data", server.data, "--output", "csv")
            self.assertEqual((out.returncode, out.stdout), (0, "Count\n0\n"), out.stderr)
            server.new_app("second")
            out = command("query", "requests", "--data", server.data)
            self.assertEqual(out.returncode, 1)
            self.assertIn("--app is missing; the applications are 'default', 'second'", out.stderr)
            server.run("app", "delete", "default")
            server.run("app", "delete", "second")
            out = command("query", "requests", "--data", server.data)
            self.assertIn("`hindsight app create NAME`", out.stderr)

    def test_a_wrong_folder_is_not_created(self):
        with tempfile.TemporaryDirectory() as folder:
            missing = os.path.join(folder, "nope")
            for arguments in (("query", "requests", "--app", "shop"), ("tail",), ("shell",), ("app", "list"), ("ingest", "-", "--app", "shop"),
                              ("app", "create", "shop"), ("key", "list", "--app", "shop"), ("portal",), ("audit",)):
                with self.subTest(arguments=arguments):
                    out = command(*arguments, "--data", missing)
                    self.assertEqual(out.returncode, 1, out.stdout)
                    self.assertIn(f"`hindsight serve --data {missing}`", out.stderr)
                    self.assertEqual(os.listdir(folder), [])

    def test_ingest_names_file_and_line(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "items.ndjson")
            good, old = json.dumps(trace("", "good")), json.dumps({**trace("", "old"), "time": "1999-01-01T00:00:00Z"})
            file.write_text("\n".join([good, "no item", good, old, "{\"name\":", ""]))
            out = command("ingest", str(file), "--app", "shop", "--data", self.server.data)
            self.assertEqual(out.returncode, 1)
            self.assertEqual(out.stdout, "2 items accepted, 3 refused\n")
            for line in (2, 4, 5):
                self.assertIn(f"hindsight: {file}:{line}: ", out.stderr)

    def test_ingest_tells_what_was_kept_after_ctrl_c(self):
        with tempfile.TemporaryDirectory() as folder:
            pipe = os.path.join(folder, "pipe")
            os.mkfifo(pipe)
            process = subprocess.Popen([PROGRAM, "ingest", pipe, "--app", "shop", "--data", self.server.data],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            # It reads no more, or ends, while this is written.
            with contextlib.suppress(BrokenPipeError), open(pipe, "w") as items:
                for number in range(12_000):
                    items.write(json.dumps(trace("", f"kept {number}")) + "\n")
                items.flush()
                wait_until_caught(process.pid, signal.SIGINT)
                time.sleep(2)
                process.send_signal(signal.SIGINT)
                time.sleep(1)
                items.write((json.dumps(trace("", "late")) + "\n") * 10_000)
            out, error = process.communicate(timeout=60)
            self.assertEqual((process.returncode, out), (130, ""), error)
            kept = int(re.search(rf"interrupted before {pipe}:\d+: (\d+) items accepted, 0 refused; accepted items are stored", error)[1])
            self.assertGreaterEqual(kept, 5_000)
            self.assertEqual(self.server.query(self.app, self.key, "traces | where message startswith 'kept' or message == 'late' | count"), [{"Count": kept}])

    def test_the_hints_of_serve_work_as_printed(self):
        with Server("--demo") as server:
            log = pathlib.Path(server.data + ".log")
            deadline = time.monotonic() + 60
            while "Query, and follow" not in log.read_text():
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.1)
            line = re.search(r"^  (\S+ query .*)$", log.read_text(), re.M)[1]
            self.assertIn(f"--data {server.data}", line)
            out = subprocess.run(["bash", "-c", line], text=True, capture_output=True, timeout=60)
            self.assertEqual(out.returncode, 0, out.stderr)
            server.stop()
            server.start()
            while not (hint := re.search(r"a new key for the demo: (.*)", log.read_text())):
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.1)
            out = subprocess.run(["bash", "-c", hint[1]], text=True, capture_output=True, timeout=60)
            self.assertEqual(out.returncode, 0, out.stderr)
            self.assertIn("hs_", out.stdout)


class Generated(unittest.TestCase):
    def test_completions_are_scripts(self):
        for shell, part in [("bash", "complete "), ("zsh", "#compdef hindsight"), ("fish", "complete -c hindsight"), ("powershell", "Register-ArgumentCompleter"),
                            ("elvish", "edit:completion")]:
            script = command("completions", shell).stdout
            self.assertIn(part, script)
            for name in ("query", "shell", "tail"):
                self.assertIn(name, script)
        script = command("completions", "bash").stdout
        asked = script + "\nCOMP_WORDS=(hindsight qu) COMP_CWORD=1\n_hindsight hindsight qu hindsight\necho ${COMPREPLY[@]}\n"
        out = subprocess.run(["bash", "-c", asked], text=True, capture_output=True)
        self.assertEqual(out.stdout.split(), ["query"], out.stderr)

    def test_manual_pages(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(command("man", "--dir", folder).returncode, 0)
            pages = {path.name: path.read_text() for path in pathlib.Path(folder).iterdir()}
        for name in ("hindsight.1", "hindsight-query.1", "hindsight-app-create.1", "hindsight-config-check.1"):
            self.assertIn(".TH", pages[name])
        self.assertIn("hindsight query", plain(pages["hindsight-query.1"]).replace("\\-", "-"))
        self.assertEqual(command("man", "app", "create").stdout, pages["hindsight-app-create.1"])
        self.assertEqual(command("man", "nope").returncode, 1)

    def test_the_configuration_is_checked(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "h.toml")
            file.write_text("listen = \"127.0.0.1:0\"\n[query]\ntimout = \"5s\"\n[tls]\nkey = \"key.pem\"\n")
            bad = command("config", "check", "--config", str(file), env={"HINDSIGHT_CACHE_BYTES": "many", "HINDSIGHT_QUERY_TIMEOT": "1s"})
            self.assertEqual(bad.returncode, 1)
            for part in (f"{file}, line 3: unknown setting `query.timout`; did you mean `query.timeout`?",
                         "environment variable HINDSIGHT_CACHE_BYTES: setting `cache.bytes`", "`tls.certificate` and `tls.key` belong together",
                         "note: the environment variable HINDSIGHT_QUERY_TIMEOT names no setting; did you mean `HINDSIGHT_QUERY_TIMEOUT`?"):
                self.assertIn(part, bad.stderr)
            file.write_text("[query]\nmax_rows = 7\n")
            good = command("config", "check", "--config", str(file), "--show", env={"HINDSIGHT_LISTEN": "127.0.0.1:7"})
            self.assertEqual((good.returncode, good.stderr), (0, ""))
            lines = {line.split()[0]: line.split(maxsplit=1)[1].strip() for line in good.stdout.splitlines()}
            self.assertEqual(re.split(r"  +", lines["query.max_rows"]), ["7", f"{file}, line 2"])
            self.assertEqual(lines["listen"].split(), ["127.0.0.1:7", "HINDSIGHT_LISTEN"])
            self.assertEqual(lines["query.timeout"].split(), ["180s", "default"])
            self.assertEqual(os.listdir(folder), ["h.toml"])


if __name__ == "__main__":
    unittest.main()
