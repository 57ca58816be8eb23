"""The screens of an application's map, metrics, availability, usage and volume, and texts that are kept."""
import gzip
import base64
import unittest
import urllib.parse

from analysis import Analysis

# A screen, and what it shows of the demo.
SCREENS = [
    ("map", ".map-node.role"),
    ("metrics?split=request/name", ".plot canvas"),
    ("availability", ".grid [role=gridcell]"),
    ("usage", ".chart-bar"),
    ("volume", ".plot canvas"),
]


class Screens(Analysis):
    def test_the_screens_show_the_demo(self):
        for path, shown in SCREENS:
            with self.subTest(path):
                page = self.visit(path)
                page.wait_for_selector(shown)
                self.settled(page)
                self.check_accessibility(name=path)

    def test_they_fit_a_narrow_window(self):
        self.page.set_viewport_size({"width": 320, "height": 800})
        for path, shown in [*SCREENS, (self.logs("requests | take 5"), ".grid [role=gridcell]"), ("operation", ".operation-list [role=gridcell]")]:
            with self.subTest(path):
                page = self.visit(path)
                page.wait_for_selector(shown)
                self.check_nothing_is_cut(page, path)

    def test_the_map_leads_to_the_calls_of_an_edge(self):
        page = self.visit("map")
        page.wait_for_selector(".grid [data-row='0']")
        self.assertIn("roles", page.get_attribute(".map-box svg", "aria-label"))
        page.locator(".grid").focus()
        page.keyboard.press("Enter")
        page.wait_for_selector(".query-result .grid [data-row='0']")
        self.assertIn("dependencies", urllib.parse.unquote(page.url))

    def test_a_metric_says_its_query(self):
        page = self.visit("metrics?metric=requests/duration&aggregation=avg")
        page.wait_for_selector(".plot canvas")
        page.get_by_role("button", name="Query in Logs").click()
        page.wait_for_selector(".query-result .status")
        self.assertIn("summarize", urllib.parse.unquote(page.url))


class Kept(Analysis):
    def text(self, page):
        return page.locator(".cm-content").inner_text()

    def test_drafts_and_history_stay_and_signing_out_forgets_them(self):
        page = self.visit("logs")
        page.locator(".cm-content").click()
        page.keyboard.type("print draft = 1")
        page.keyboard.press("Escape")
        page.keyboard.press("Control+Enter")
        page.wait_for_selector(".query-result .status")
        page.get_by_role("button", name="New query").click()
        page.keyboard.type("print other = 2")
        self.visit("logs")
        page.wait_for_selector(".cm-content")
        self.assertIn("other", self.text(page))
        self.assertEqual(page.get_by_role("tablist", name="Queries", exact=True).get_by_role("tab").count(), 2)
        page.get_by_role("tab", name="History").click()
        self.assertIn("print draft = 1", page.inner_text(".side-content"))
        kept = page.evaluate("() => JSON.stringify(localStorage)")
        self.assertIn("draft", kept)
        page.evaluate("async () => (await import(document.querySelector('script:not([async])').src.replace('main.js', 'lib/preferences.js'))).forgetTexts()")
        self.assertNotIn("print draft", page.evaluate("() => JSON.stringify(localStorage)"))

    def test_a_saved_query_is_everyone_s_and_has_a_short_address(self):
        page = self.visit(self.logs("print saved = 42"))
        page.wait_for_selector(".query-result .status")
        page.get_by_role("button", name="Save", exact=True).click()
        page.keyboard.type("Answer & more")
        page.keyboard.press("Enter")
        page.wait_for_function("() => document.querySelector('[role=status]').innerText.startsWith('Saved')")
        other = self.new_context().new_page()
        other.goto(self.server.command("portal")["url"])
        other.wait_for_selector("#content h1", state="attached")
        self.open("demo/logs", other)
        other.get_by_role("tab", name="Saved").click()
        other.get_by_role("button", name="Answer & more").first.click()
        other.wait_for_selector(".query-result .status")
        self.assertIn("saved=Answer", other.url)
        self.assertIn("saved = 42", other.locator(".cm-content").inner_text())
        other.get_by_role("button", name="Delete Answer & more").click()
        other.get_by_role("button", name="Delete for everyone").click()
        other.wait_for_function("() => document.querySelector('.side-content').innerText.includes('No query is saved')")

    def test_a_link_of_the_cloud_is_understood_where_it_is_pasted(self):
        self.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=self.server.url)
        page = self.visit("logs")
        page.wait_for_selector(".cm-content")
        coded = urllib.parse.quote(base64.b64encode(gzip.compress(b"requests\n| take 7")).decode(), safe="")
        link = f"https://portal.azure.com/#blade/Microsoft_Azure_Monitoring_Logs/LogsBlade/resourceId/x/source/y/q/{coded}/timespan/P1D"
        page.evaluate("text => navigator.clipboard.writeText(text)", link)
        page.locator(".cm-content").focus()
        page.keyboard.press("Control+v")
        page.wait_for_function("() => document.querySelector('.editor-box').shadowRoot.querySelector('.cm-content').innerText.includes('take 7')")


if __name__ == "__main__":
    unittest.main()
