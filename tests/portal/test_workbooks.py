"""Workbooks: those of the portal over the demo, importing one, its parameters, saving it and getting it back."""
import json
import pathlib
import unittest

from playwright.sync_api import expect

from analysis import Analysis

MARKUP = "<img src=x onerror=\"window.hit=1\"> **bold**"
#: Ours, in the published form: what is supported, and what is not.
DOCUMENT = {
    "version": "Notebook/1.0",
    "items": [
        {"type": 1, "content": {"json": f"## Names\n{MARKUP} of {{Names:label}}\n\n[out](https://example.org/?q={{Names}}) [no](javascript:alert(1)) ![picture](https://example.org/x.png)"}},
        {"type": 9, "content": {"parameters": [
            {"name": "TimeRange", "label": "Time range", "type": 4, "isRequired": True, "value": {"durationMs": 3600000},
             "typeSettings": {"selectableValues": [{"durationMs": 3600000}, {"durationMs": 86400000}], "allowCustom": True}},
            {"name": "Names", "type": 2, "isRequired": True, "multiSelect": True, "quote": "'", "delimiter": ",",
             "jsonData": json.dumps([{"value": "it's", "label": MARKUP, "selected": True}, {"value": "b-c", "label": "B"}])},
            {"name": "Subscription", "type": 6},
        ]}},
        {"type": 3, "content": {"title": "Rows of {Names:label}", "query": "print name = pack_array({Names})\n| mv-expand name to typeof(string)\n| extend n = strlen(name)",
                                "visualization": "table", "timeContextFromParameter": "TimeRange", "exportFieldName": "name", "exportParameterName": "Picked",
                                "gridSettings": {"formatters": [{"columnMatch": "n", "formatter": 4}]}}},
        {"type": 3, "content": {"title": "Details", "query": "print chosen = \"{Picked}\", range = '{TimeRange:label}', span = {TimeRange:end} - {TimeRange:start}"}},
        {"type": 3, "content": {"title": "Format", "query": "print '{Names:tomltojson}'"}},
        {"type": 10, "content": {"title": "Processor time"}},
        {"type": 1, "content": {"json": "Only for the other"}, "conditionalVisibility": {"parameterName": "Picked", "comparison": "isEqualTo", "value": "b-c"}},
    ],
}


class Workbooks(Analysis):
    def imported(self, document, name="ours"):
        page = self.visit("workbooks")
        path = pathlib.Path(self.server.data) / f"{name}.workbook"
        path.write_text(json.dumps(document))
        page.get_by_label("File").set_input_files(str(path))
        page.wait_for_url("**draft=1**")
        return page

    def test_those_of_the_portal_show_the_demo(self):
        page = self.visit("workbooks")
        self.check_accessibility(name="workbooks")
        for name, shown in (("Requests at a glance", "svg.spark"), ("Failures by role and code", ".pie svg"), ("Users and sessions", ".value-card")):
            with self.subTest(name):
                self.open("demo/workbooks")
                page.get_by_role("link", name=name).click()
                page.wait_for_selector(shown)
                page.wait_for_selector(".plot canvas")
                self.settled(page)
                expect(page.locator(".note.error")).to_have_count(0)
                expect(page.get_by_text("The query returned no results")).to_have_count(0)
                self.check_accessibility(name=name)

    def test_tabs_rows_and_choices_are_in_the_address(self):
        page = self.visit("workbooks?sample=failures")
        page.locator(".book-grid button.link").first.click()
        page.wait_for_url("**p.Operation=**")
        expect(page.get_by_role("heading", name="Latest failures of")).to_be_visible()
        expect(page.locator(".grid [role=gridcell]").first).to_be_visible()
        page.get_by_role("button", name="Dependencies").click()
        page.wait_for_url("**p.Part=dependencies**")
        expect(page.get_by_role("heading", name="Failed calls by target")).to_be_visible()
        page.get_by_role("button", name="Roles").click()
        page.get_by_role("checkbox", name="All").uncheck()
        expect(page.get_by_text("Waits for a choice of Roles").first).to_be_visible()
        page.get_by_role("checkbox").nth(1).check()
        page.keyboard.press("Escape")
        self.settled(page)
        address = page.url
        other = self.new_context().new_page()
        self.sign_in(other)
        other.goto(address)
        expect(other.get_by_role("heading", name="Failed calls by target")).to_be_visible()
        other.go_back()
        page.go_back()
        expect(page.get_by_text("Waits for a choice of Roles").first).to_be_visible()

    def test_an_imported_document_is_text_and_names_what_is_not_supported(self):
        page = self.imported(DOCUMENT)
        expect(page.get_by_text("<img src=x onerror").first).to_be_visible()
        self.assertEqual(page.evaluate("() => [window.hit ?? null, document.querySelectorAll('.workbook img, .workbook b').length]"), [None, 0])
        expect(page.get_by_text("Processor time is not shown.")).to_be_visible()
        expect(page.get_by_text("The parameter Subscription is not supported.")).to_be_visible()
        expect(page.get_by_text("This query is not run: {Names:tomltojson} is not supported.")).to_be_visible()
        expect(page.get_by_text("2 parts of this workbook are not supported")).to_be_visible()
        self.assertEqual(page.locator(".markdown a").evaluate_all("(all) => all.map((one) => [one.protocol, one.rel])"), [["https:", "noreferrer noopener"]])
        expect(page.get_by_text("Waits for a choice of Picked.")).to_be_visible()
        page.get_by_role("button", name="it's").click()
        expect(page.get_by_text("Last hour").last).to_be_visible()
        expect(page.get_by_text("01:00:00").last).to_be_visible()
        page.get_by_label("Time range").select_option("86400000")
        expect(page.get_by_text("Last 24 hours").last).to_be_visible()
        page.get_by_role("button", name="Names").click()
        page.get_by_role("checkbox", name="B", exact=True).check()
        page.get_by_role("button", name="b-c").click()
        expect(page.get_by_text("Only for the other")).to_be_visible()
        self.check_accessibility(name="imported")

    def test_a_workbook_is_saved_exported_and_deleted(self):
        page = self.imported(DOCUMENT, "kept")
        page.get_by_role("button", name="Save", exact=True).click()
        page.get_by_label("Name", exact=True).fill("For everyone")
        page.keyboard.press("Enter")
        page.wait_for_url("**w=For+everyone**")
        other = self.new_context().new_page()
        self.sign_in(other)
        self.open("demo/overview", other)
        other.keyboard.press("Control+k")
        other.keyboard.type("for everyone workbook")
        expect(other.get_by_role("option", name="For everyone")).to_be_visible()
        other.keyboard.press("Enter")
        expect(other.get_by_text("Processor time is not shown.")).to_be_visible()
        with other.expect_download() as download:
            other.get_by_role("button", name="Export").click()
        self.assertEqual(json.loads(pathlib.Path(download.value.path()).read_text()), DOCUMENT)
        other.get_by_role("button", name="Edit").click()
        text = other.get_by_label("The document")
        text.fill("{}")
        other.get_by_role("button", name="Apply").click()
        expect(other.get_by_text("it has no list “items”")).to_be_visible()
        text.fill('{"version":"Notebook/1.0","items":[{"type":1,"content":{"json":"Changed"}}]}')
        other.get_by_role("button", name="Apply").click()
        expect(other.get_by_text("Changed", exact=True)).to_be_visible()
        other.get_by_role("button", name="Save", exact=True).click()
        other.keyboard.press("Enter")
        expect(other.get_by_role("button", name="Save for everyone")).to_have_count(0)
        # The first page has the version before.
        self.permit("status of 412")
        page.get_by_role("button", name="Save", exact=True).click()
        page.keyboard.press("Enter")
        expect(page.get_by_text("was changed meanwhile")).to_be_visible()
        other.get_by_role("button", name="Delete For everyone").click()
        other.get_by_role("button", name="Delete for everyone").click()
        expect(other.get_by_text("None yet.")).to_be_visible()


if __name__ == "__main__":
    unittest.main()
