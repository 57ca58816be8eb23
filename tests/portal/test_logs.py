"""Journeys in Logs: writing a query, reading its result, and what may go wrong."""
import pathlib
import random
import time
import unittest
import urllib.request

from playwright.sync_api import expect

from analysis import Analysis

CHARTS = [
    # A query, what is drawn, and words of its accessible name.
    ("requests | summarize n = count() by bin(timestamp, 1h), name | render timechart", ".plot canvas", "Time chart"),
    ("requests | summarize n = count() by bin(timestamp, 1h) | render areachart", ".plot canvas", "Area chart"),
    ("requests | summarize n = count() by bin(timestamp, 1h), name | render stackedareachart", ".plot canvas", "Stacked area chart"),
    ("requests | summarize n = count() by bin(duration, 100) | order by duration asc | render linechart with (yaxis=log)", ".plot canvas", "Line chart"),
    ("requests | summarize n = count() by resultCode, name | render columnchart with (kind=stacked100)", ".plot canvas", "Column chart"),
    ("requests | summarize n = count(), avg(duration) by bin(timestamp, 1h) | render timechart with (ysplit=panels, title='Two')", ".plot canvas >> nth=1", "Time chart “Two”"),
    ("requests | take 500 | project duration, itemCount, name | render scatterchart", ".plot canvas", "Scatter chart"),
    ("requests | make-series n = count() default=0 on timestamp from ago(1d) to now() step 1h"
     " | extend (odd, score, base) = series_decompose_anomalies(n) | render anomalychart with (anomalycolumns=odd)", ".plot canvas", "Anomaly chart"),
    ("requests | summarize n = count() by name | render barchart", ".bars .chart-bar", "Bar chart"),
    ("requests | summarize n = count() by name | render piechart", ".pie svg path", "Pie chart"),
    ("requests | summarize n = count() by cloud_RoleName, name | render treemap", ".treemap-part", "Treemap"),
    ("requests | summarize n = count(), avg(duration) | render card", ".value-card", "Card"),
    ("requests | summarize n = count() by name, resultCode | render pivotchart", ".pivot td", "Pivot chart"),
    ("requests | take 20 | project name, timestamp, end = timestamp + totimespan(duration * 1ms) | render ladderchart", ".span-bar", "Ladder chart"),
    ("requests | take 20 | project name, timestamp, duration | render timepivot", ".span-bar", "Time pivot"),
]

# Kinds that are not drawn say so, above the rows.
REFUSED = ["plotly", "3Dchart", "sankey", "graph"]


class Logs(Analysis):
    def content(self, page):
        """The editor, which lives in a shadow root that Playwright looks into."""
        page.wait_for_selector(".cm-content")
        return page.locator(".cm-content")

    def ready(self, page):
        """Waits until the language has come: an incomplete text then has a problem."""
        page.wait_for_function("() => performance.getEntriesByName('hindsight.language').length > 0")

    def text(self, page):
        return page.evaluate("() => [...document.querySelector('.editor-box').shadowRoot.querySelectorAll('.cm-line')].map(line => line.textContent).join('\\n')")

    def rows(self, page):
        page.wait_for_selector(".query-result[aria-busy=false] .status")
        return page.inner_text(".status")

    def test_3_a_query_is_written_by_keyboard_alone(self):
        page = self.visit("logs")
        self.content(page).focus()
        self.ready(page)
        page.keyboard.type("requ")
        page.keyboard.press("Control+Space")
        page.wait_for_selector(".cm-tooltip-autocomplete [aria-selected=true]")
        # In its first 75 ms a list that appears takes no key.
        page.wait_for_timeout(300)
        page.keyboard.press("Enter")
        # The name of a table brings the pipe after it.
        page.keyboard.type("wher ")
        page.wait_for_selector(".cm-lintRange-error")
        page.wait_for_function("() => document.querySelector('.editor-foot').innerText.includes('wher')")
        for _ in range(2):
            page.keyboard.press("Backspace")
        page.keyboard.type("re success == false | summarize n = count() by name")
        page.wait_for_selector(".cm-lintRange-error", state="detached")
        page.keyboard.press("Escape")
        page.keyboard.press("Shift+Alt+F")
        page.wait_for_function("() => document.querySelector('.editor-box').shadowRoot.querySelectorAll('.cm-line').length === 3")
        self.assertEqual(self.text(page).split("\n")[2], "| summarize n = count() by name")
        page.keyboard.press("Shift+Enter")
        self.assertRegex(self.rows(page), r"^\d+ rows")
        self.assertIn("q=requests", page.url)
        # Tab leaves the editor.
        page.keyboard.press("Tab")
        self.assertFalse(page.evaluate("() => document.activeElement.classList.contains('editor-box')"))
        self.check_accessibility(name=self.id())

    def test_4_a_refused_function_is_named_at_one_place_by_editor_and_server(self):
        page = self.visit("logs")
        self.content(page).focus()
        self.ready(page)
        page.keyboard.type("requests | extend x = cluster_size_of(name), y = 1 | take 5")
        # A problem that was found in the middle of the text gives way to that of the whole.
        expect(page.locator(".cm-lintRange-error").first).to_have_text("cluster_size_of")
        # 400 ms after the last key the server's binder is asked; its sentence replaces the parser's.
        page.wait_for_function("() => document.querySelector('.editor-foot').innerText.includes('Unknown function')")
        self.permit("status of 400")
        page.keyboard.press("Control+Enter")
        page.wait_for_selector("[role=alert]")
        self.assertIn("cluster_size_of", page.inner_text("[role=alert]"))
        self.assertEqual(page.inner_text(".cm-lintRange-error").strip(), "cluster_size_of")
        self.check_accessibility(name=self.id())

    def test_7_a_large_result(self):
        query = ("range i from 1 to 600000 step 1 | extend " + ", ".join(f"c{n} = i * {n}" for n in range(1, 7))
                 + ", text = iff(i % 1000 == 0, '=cmd|calc', strcat('row ', i))")
        self.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=self.server.url)
        page = self.visit(self.logs(query))
        self.assertIn("500,000 rows of more", self.rows(page))
        self.assertIn("500000", page.inner_text(".query-result .note.warn").replace(",", ""))
        grid = page.locator(".grid")
        self.assertEqual(grid.get_attribute("aria-rowcount"), "500001")
        self.assertLess(page.evaluate("() => document.querySelectorAll('.grid *').length"), 1500)
        grid.focus()
        page.keyboard.press("Control+End")
        page.wait_for_function("() => document.querySelector('.grid-cell.active')?.innerText === '=cmd|calc'")
        # The head of a column sorts, and the address keeps it.
        page.locator(".grid-column").first.click()
        page.locator(".grid-column").first.click()
        page.wait_for_function("() => location.search.includes('sort=-')")
        self.assertIn("sort=-", page.url)
        grid.focus()
        page.keyboard.press("Control+Home")
        page.keyboard.press("Shift+ArrowDown")
        page.keyboard.press("Shift+ArrowRight")
        page.wait_for_function("() => document.querySelector('[data-row=\"1\"][data-place=\"0\"]')?.innerText === '499999'")
        page.keyboard.press("Control+c")
        page.wait_for_function("() => document.querySelector('[role=status]').innerText.startsWith('Copied')")
        self.assertEqual(page.evaluate("() => navigator.clipboard.readText()"), "500000\t500000\n499999\t499999")
        page.get_by_role("button", name="Export").click()
        with page.expect_download(timeout=60_000) as download:
            page.get_by_role("menuitem", name="CSV", exact=True).click()
        lines = pathlib.Path(download.value.path()).read_bytes().decode("utf-8-sig").split("\r\n")
        self.assertEqual(len(lines), 500_002)
        self.assertEqual(lines[1].split(",")[-1], "'=cmd|calc")
        page.get_by_role("button", name="Export").click()
        with page.expect_download(timeout=60_000) as download:
            page.get_by_role("menuitem", name="Parquet").click()
        self.assertEqual(pathlib.Path(download.value.path()).read_bytes()[:4], b"PAR1")
        self.check_accessibility(name=self.id())

    def test_8_a_dynamic_cell_filters_by_a_key(self):
        page = self.visit(self.logs("requests | project timestamp, name, customDimensions | order by tostring(customDimensions.plan) desc | take 200"))
        self.rows(page)
        page.locator(".grid").focus()
        page.keyboard.press("End")
        page.keyboard.press("Enter")
        page.wait_for_selector(".viewer .json-tree")
        self.assertIn("plan", page.inner_text(".viewer"))
        self.assertIn("row=0", page.url)
        self.check_accessibility(name=self.id())
        # Each result has a grid of its own.
        page.evaluate("() => { document.querySelector('.query-result .grid').dataset.before = ''; }")
        page.get_by_role("button", name="Filter for this plan").click()
        page.wait_for_selector(".query-result .grid:not([data-before])")
        self.assertRegex(self.rows(page), r"^\d+ rows")
        line = self.text(page).split("\n")[-1]
        self.assertRegex(line, r'^\| where tostring\(customDimensions\.plan\) == "(free|pro|enterprise)"$')
        self.assertIn("where", page.url)
        # Without a value, from the keyboard.
        page.locator(".grid").focus()
        page.keyboard.press("Home")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Shift+F")
        page.wait_for_function("() => location.search.includes('name+!%3D') || decodeURIComponent(location.search).replaceAll('+', ' ').includes('name != ')")

    def test_9_each_kind_of_render_with_its_table(self):
        page, seen = self.visit("logs"), set()
        for query, drawn, name in CHARTS:
            with self.subTest(query):
                self.visit(self.logs(query))
                page.wait_for_selector(drawn)
                sentence = page.locator("figure.chart figcaption .visually-hidden").inner_text()
                self.assertIn(name, sentence)
                page.get_by_role("button", name="Show as table").click()
                page.wait_for_selector("figure.chart .grid [role=gridcell]")
                page.get_by_role("button", name="Show as chart").click()
                page.wait_for_selector(drawn)
                if drawn not in seen:
                    seen.add(drawn)
                    self.check_accessibility(name=query)
        for kind in REFUSED:
            with self.subTest(kind):
                self.visit(self.logs(f"requests | take 5 | render {kind}"))
                page.wait_for_selector(".chart .grid [role=gridcell]")
                self.assertIn("is not drawn here", page.inner_text(".chart .note"))

    def test_9_the_cursor_and_the_range_of_a_chart_by_keyboard(self):
        page = self.visit(self.logs(CHARTS[1][0]))
        page.wait_for_selector(".plot canvas")
        page.locator(".plot").focus()
        page.keyboard.press("Home")
        page.keyboard.press("ArrowRight")
        self.assertRegex(page.inner_text(".plot-read"), r"^\d{4}-\d\d-\d\d \d\d:\d\d")
        self.assertRegex(page.inner_text(".chart [aria-live]"), r"n [\d,.]+$")
        page.keyboard.press("Shift+ArrowRight")
        page.keyboard.press("Shift+ArrowRight")
        page.keyboard.press("Enter")
        page.wait_for_function("() => new URLSearchParams(location.search).get('t')?.includes('/')")
        page.go_back()
        page.wait_for_function("() => !new URLSearchParams(location.search).get('t')?.includes('/')")

    def test_16_a_throttled_query_is_sent_again_and_a_lost_server_is_said(self):
        self.permit("status of 429", "net::ERR_FAILED", "Failed to load resource")
        page = self.visit("logs")
        page.wait_for_selector(".cm-content")
        answers = [
            lambda route: route.fulfill(status=429, headers={"Retry-After": "2", "Content-Type": "application/json"},
                                        body='{"error": {"code": "ThrottledError", "message": "Rate limit is exceeded"}}'),
            lambda route: route.abort(),
        ]
        self.context.route("**/v1/apps/*/query", lambda route: answers.pop(0)(route) if answers else route.continue_())
        page.locator(".cm-content").focus()
        page.keyboard.type("print kept = 7")
        page.keyboard.press("Escape")
        page.keyboard.press("Control+Enter")
        page.wait_for_function("() => /It is sent again in \\d s/.test(document.querySelector('[role=alert]')?.innerText)")
        self.assertIn("Rate limit is exceeded", page.inner_text(".query-result [role=alert]"))
        page.wait_for_function("() => document.querySelector('.query-result [role=alert]')?.innerText.includes('cannot be reached')")
        page.wait_for_selector(".query-result .grid [data-row='0']")
        self.assertEqual(page.locator(".query-result [role=alert]").count(), 0)

    def test_5_a_long_text_is_saved_before_it_has_an_address(self):
        page = self.visit("logs")
        page.wait_for_selector(".cm-content")
        noise = "".join(random.Random(1).choices("abcdefghijklmnopqrstuvwxyz0123456789", k=16_000))
        page.locator(".cm-content").focus()
        page.keyboard.insert_text(f"print length = strlen('{noise}')")
        page.keyboard.press("Control+Enter")
        page.wait_for_selector(".query-result .grid [data-row='0']")
        self.assertLess(len(page.url), 300)
        self.assertNotIn("saved=", page.url)
        page.get_by_role("button", name="Save", exact=True).click()
        page.keyboard.type("long one")
        page.keyboard.press("Enter")
        page.wait_for_url("**saved=long+one**")
        page.reload()
        page.wait_for_selector(".query-result .grid [data-row='0']")
        self.assertIn("16000", page.inner_text(".grid").replace(",", ""))

    def test_13_a_slow_query_is_stopped(self):
        page = self.visit(self.logs("range a from 1 to 3000000 step 1 | extend k = 1 | join kind=inner (range b from 1 to 30000 step 1 | extend k = 1) on k"
                                   " | summarize sum(hash(strcat(a, b)))"))
        stop = page.locator(".query-loading button")
        stop.wait_for()
        self.wait_for_running(1)
        self.content(page).focus()
        page.keyboard.press("Escape")
        page.wait_for_selector(".query-loading", state="detached")
        self.wait_for_running(0)
        self.check_accessibility(name=self.id())

    def wait_for_running(self, count):
        deadline = time.monotonic() + 20
        while self.running() != count and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual(self.running(), count, "queries that the server runs")

    def running(self):
        with urllib.request.urlopen(self.server.url + "/metrics") as reply:
            for line in reply.read().decode().splitlines():
                if line.startswith("hindsight_queries_running"):
                    return int(float(line.split()[-1]))
        raise AssertionError("the server does not tell how many queries run")


HOSTILE = {
    "markup": "<script>window.hurt = 1</script><img src=x onerror='window.hurt = 1'>",
    "bidi": "abc\u202edcba\u2066\u200b",
    "formula": "=cmd|' /C calc'!A0",
    "long": "x" * 1_000_000,
    "path.with['brackets']": "<b>key</b>",
}


class Hostile(Analysis):
    ARGUMENTS = ()
    SETTINGS = {"ingest_max_item_bytes": 4 << 20}

    def test_15_hostile_telemetry_is_text(self):
        app, _ = self.server.new_app("hostile")
        now = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
        tags = {"ai.operation.id": "op<1>", "ai.cloud.role": HOSTILE["markup"]}
        base = {"ver": 2, "properties": HOSTILE}
        items = [
            {"name": "x", "time": now, "iKey": app["instrumentationKey"], "tags": tags, "data": {"baseType": "MessageData", "baseData": {**base, "message": HOSTILE["markup"] + HOSTILE["bidi"]}}},
            {"name": "x", "time": now, "iKey": app["instrumentationKey"], "tags": tags, "data": {"baseType": "RequestData", "baseData": {
                **base, "id": "r", "name": HOSTILE["markup"], "duration": "00:00:01", "success": False, "responseCode": HOSTILE["formula"], "url": "javascript:window.hurt=1"}}},
        ]
        named = {**base, "name": HOSTILE["markup"]}
        for kind, data in (
            ("RemoteDependencyData", {**named, "id": "d", "target": HOSTILE["markup"], "type": HOSTILE["bidi"], "duration": "00:00:01", "success": False}),
            ("PageViewData", {**named, "duration": "00:00:01", "url": "javascript:window.hurt=1"}),
            ("EventData", named),
            ("AvailabilityData", {**named, "id": "a", "runLocation": HOSTILE["markup"], "message": HOSTILE["markup"], "duration": "00:00:01", "success": False}),
        ):
            items.append({"name": "x", "time": now, "iKey": app["instrumentationKey"], "tags": tags, "data": {"baseType": kind, "baseData": data}})
        status, verdict = self.server.track(items)
        self.assertEqual(status, 200, verdict)
        page = self.visit(self.logs("union requests, traces | project name, message, resultCode, url, cloud_RoleName, customDimensions, big = tostring(customDimensions.long) | order by name desc"), "hostile")
        page.wait_for_selector(".grid [data-row='1']")
        page.locator(".grid").focus()
        for key in ("Enter", " "):
            page.keyboard.press(key)
            page.wait_for_selector(".viewer-body :text-matches('.')")
            page.keyboard.press("Escape")
            page.wait_for_selector(".viewer", state="detached")
            page.locator(".grid").focus()
        self.assertIn("<script>", page.inner_text(".grid"))
        self.assertIn("U+202E", page.inner_text(".grid"))
        self.assertEqual(page.locator(".grid :is(script, img, b)").count(), 0)
        page.keyboard.press("End")
        page.keyboard.press("Enter")
        page.wait_for_selector(".viewer-body")
        shown = page.inner_text(".viewer-body")
        self.assertTrue(len(shown) < 100_000, len(shown))
        self.check_accessibility(name=self.id())
        for kind in ("barchart", "piechart", "treemap", "card", "pivotchart", "columnchart"):
            self.visit(self.logs(f"union requests, traces | summarize n = count() by cloud_RoleName, text = strcat(name, message) | render {kind}"), "hostile")
            page.wait_for_selector("figure.chart")
            self.assertEqual(page.locator("figure.chart :is(script, img, b)").count(), 0)
        self.visit("operation?id=op%3C1%3E", "hostile")
        page.wait_for_selector(".waterfall [role=gridcell]")
        self.assertIn("<script>", page.inner_text(".waterfall"))
        page.locator(".waterfall").focus()
        page.keyboard.press("Enter")
        page.wait_for_selector(".trace-details")
        self.assertEqual(page.locator(".operation :is(script, img, b)").count(), 0)
        self.check_accessibility(name=self.id())
        for screen, shown in (("map", ".map-node"), ("usage", ".grid [role=gridcell]"), ("availability", ".grid [role=gridcell]"), ("volume", ".plot canvas"),
                              ("metrics?split=cloud/roleName", ".plot canvas")):
            with self.subTest(screen):
                page = self.visit(screen, "hostile")
                page.wait_for_selector(shown)
                self.settled(page)
                self.assertEqual(page.locator("#content :is(script, img, b)").count(), 0)
                self.assertIn("<script>", page.locator("#content").inner_text() + page.locator("#content").inner_html().replace("&lt;", "<"))
        self.assertIsNone(page.evaluate("() => window.hurt ?? null"))


if __name__ == "__main__":
    unittest.main()
