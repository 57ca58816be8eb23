"""Journeys in Operation: from a failure to everything that its operation did."""
import datetime
import unittest

from analysis import Analysis, operation_of

FAILED = "requests | where success == false | project timestamp, name, operation_Id, itemId | top 20 by timestamp"


class Operation(Analysis):
    def test_6_from_a_failed_request_to_its_operation_and_back_to_logs(self):
        page = self.visit(self.logs(FAILED))
        page.wait_for_selector(".grid [data-row='0']")
        page.locator(".grid").focus()
        page.keyboard.press(" ")
        page.get_by_role("link", name="Operation").click()
        page.wait_for_selector(".waterfall [role=gridcell]")
        self.assertIn("/operation?", page.url)
        page.locator(".waterfall").focus()
        page.keyboard.press("Home")
        page.keyboard.press("e")
        page.wait_for_selector(".trace-row.active.failed")
        chosen = page.get_attribute(".waterfall", "aria-activedescendant")
        page.keyboard.press("e")
        page.wait_for_function("before => document.querySelector('.waterfall').getAttribute('aria-activedescendant') !== before", arg=chosen)
        page.keyboard.press("Enter")
        page.wait_for_selector(".trace-details")
        self.check_accessibility(name=self.id())
        page.get_by_role("button", name="Traces of this operation").click()
        page.wait_for_selector(".query-result .grid [data-row='0']")
        self.assertIn("/logs?", page.url)
        self.assertIn("traces", page.evaluate("() => document.querySelector('.editor-box').shadowRoot.querySelector('.cm-content').innerText"))
        page.go_back()
        page.wait_for_selector(".waterfall [role=gridcell]")

    def test_folding_filtering_and_zoom_by_keyboard(self):
        page = self.visit(self.logs(FAILED))
        page.wait_for_selector(".grid [data-row='0']")
        page.locator(".grid").focus()
        page.keyboard.press(" ")
        page.get_by_role("link", name="Operation").click()
        page.wait_for_selector(".waterfall [role=gridcell]")
        tree = page.locator(".waterfall")
        rows = int(tree.get_attribute("aria-rowcount"))
        tree.focus()
        page.keyboard.press("Home")
        page.keyboard.press("ArrowLeft")
        page.wait_for_function("rows => Number(document.querySelector('.waterfall').getAttribute('aria-rowcount')) < rows", arg=rows)
        self.assertIn("below", page.inner_text(".trace-row.active"))
        page.keyboard.press("ArrowRight")
        page.wait_for_function("rows => Number(document.querySelector('.waterfall').getAttribute('aria-rowcount')) === rows", arg=rows)
        page.keyboard.press("+")
        page.wait_for_function("() => new URLSearchParams(location.search).has('w')")
        page.keyboard.press("0")
        page.wait_for_function("() => !new URLSearchParams(location.search).has('w')")
        page.keyboard.press("/")
        page.keyboard.type("sql")
        page.wait_for_function("() => document.querySelector('.trace-tools').innerText.includes(' match')")
        self.assertLessEqual(int(tree.get_attribute("aria-rowcount")), rows)

    def test_an_id_without_items_leads_on(self):
        page = self.visit("operation?id=nothing-of-this-id")
        page.wait_for_selector(".operation .note")
        self.assertIn("Last 24 hours", page.inner_text(".operation .note"))
        page.get_by_role("button", name="Look in the last 90 days").click()
        page.wait_for_function("() => document.querySelector('.operation .note')?.innerText.includes('90 days')")
        page.get_by_role("button", name="Latest operations").click()
        page.wait_for_selector(".operation-list [role=gridcell]")
        self.check_accessibility(name=self.id())


class Large(Analysis):
    ARGUMENTS = ()

    def test_an_operation_of_more_items_than_are_shown(self):
        app, _ = self.server.new_app("large")
        begin = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(minutes=5)
        for start in range(0, 10_050, 1_000):
            part = range(start, min(start + 1_000, 10_050))
            status, verdict = self.server.track([operation_of(app["instrumentationKey"], begin, number) for number in part])
            self.assertEqual(status, 200, verdict)
        page = self.visit("operation?id=op", "large")
        page.wait_for_selector(".waterfall [role=gridcell]")
        notes = page.locator(".operation .note").all_inner_texts()
        self.assertIn("first 10,000 items", notes[0])
        self.assertIn("9 items name parents that are not here", notes[1])
        tree = page.locator(".waterfall")
        self.assertEqual(tree.get_attribute("aria-rowcount"), "10001")
        self.assertLess(page.locator(".trace-row").count(), 80)
        tree.focus()
        page.keyboard.press("End")
        page.wait_for_function("() => document.querySelector('.trace-row.active')?.innerText.includes('orphan')")
        page.keyboard.press("Home")
        page.keyboard.press("e")
        page.wait_for_function("() => document.querySelector('.trace-row.active')?.classList.contains('failed')")
        self.assertRegex(page.inner_text(".trace-row.active"), r"call \d*999\b")
        page.keyboard.press("[")
        page.wait_for_function("() => Number(document.querySelector('.waterfall').getAttribute('aria-rowcount')) < 10001")
        self.check_accessibility(name="large operation")


if __name__ == "__main__":
    unittest.main()
