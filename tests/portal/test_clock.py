"""The portal of a server in test mode, whose clock stands still: what it shows is the same each time."""
import json
import unittest
import urllib.parse

from playwright.sync_api import expect

import shop_telemetry
from portal import NOON, Journey, Tested

#: In the published form: both ends of a time range, as text and in a query.
DOCUMENT = {"version": "Notebook/1.0", "items": [
    {"type": 9, "content": {"parameters": [{"name": "Range", "type": 4, "value": {"durationMs": 3600000}}]}},
    {"type": 1, "content": {"json": "From {Range:start} to {Range:end}."}},
    {"type": 3, "content": {"title": "Of the server", "timeContextFromParameter": "Range", "visualization": "table", "gridSettings": {"filter": True},
                            "query": "requests | where timestamp {Range} | summarize count() by same = {Range:end} == now()"}},
]}


class Clock(Journey):
    ARGUMENTS = ()

    @classmethod
    def start_server(cls):
        cls.server = Tested(query_rate=100_000)
        cls.server.start()

    def new_context(self, **options):
        return super().new_context(timezone_id="UTC", **options)

    def test_the_printed_line_signs_in_once(self):
        self.page.goto(self.server.addresses["portal"])
        self.page.wait_for_url("**/portal/test/overview**")
        expect(self.page.get_by_role("heading", name="test has sent nothing yet")).to_be_visible()
        other = self.new_context().new_page()
        self.permit("status of 400")
        other.goto(self.server.addresses["portal"])
        expect(other.get_by_text("This link was used")).to_be_visible()

    def test_what_is_shown_is_the_same_each_time(self):
        self.server.fix(NOON)
        status, verdict = self.server.track(shop_telemetry.envelopes(self.server.addresses["instrumentationKey"], NOON))
        self.assertEqual(status, 200, verdict)
        self.context.clock.set_fixed_time(NOON)
        self.sign_in()
        page = self.open("test/search?types=requests&t=PT1H")
        times = page.locator("ul.items time")
        expect(times).to_have_count(2)
        self.assertEqual(times.all_inner_texts(), ["2030-03-01 11:50:00.000", "2030-03-01 11:30:00.000"])
        self.open("test/logs?t=PT2H&q=" + urllib.parse.quote("requests | summarize n = count(), newest = max(timestamp) | extend at = now()"))
        cells = page.locator(".grid [role=gridcell]")
        expect(cells).to_have_count(3)
        self.assertEqual([text[:19] for text in cells.all_inner_texts()], ["3", "2030-03-01 11:50:00", "2030-03-01 12:00:00"])
        self.open("test/workbooks")
        page.get_by_label("Text").fill(json.dumps(DOCUMENT))
        page.get_by_role("button", name="Import").click()
        expect(page.get_by_text("From 2030-03-01 11:00:00 to 2030-03-01 12:00:00.")).to_be_visible()
        expect(page.locator(".book-grid td")).to_have_text(["true", "2"])


if __name__ == "__main__":
    unittest.main()
