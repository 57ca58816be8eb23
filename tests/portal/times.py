"""How long the portal takes, over the demo on this machine: part of `make bench`. Nothing is asserted; other machines differ.

Prints a line for each: the median of several runs, and the limit of the budget.
"""
import statistics
import sys
import time
import unittest

from portal import Journey

RUNS = 5
QUERY = "range i from 1 to 100000 step 1 | project i, at = now() - i * 1s, text = strcat('row ', i)"


class Times(Journey):
    def runTest(self):
        self.sign_in()
        self.report("Overview with six panels, cold", 1.0, self.cold)
        self.report("Overview with six panels, warm", 1.0, lambda: self.until_drawn("demo/overview", ".chart"))
        self.report("editor visible", 0.3, lambda: self.until_drawn("demo/logs", ".cm-content"))
        address = "demo/logs?q=" + QUERY.replace(" ", "%20").replace("'", "%27").replace("|", "%7C")
        self.report("first rows of 100,000", 2.0, lambda: self.until_drawn(address, "[role='gridcell']"))

    def cold(self):
        """In a browser that has kept no file; its session is the same."""
        context = self.new_context(storage_state=self.context.storage_state())
        taken = self.until_drawn("demo/overview", ".chart", context.new_page())
        context.close()
        return taken

    def until_drawn(self, path, selector, page=None):
        page = page or self.page
        begun = time.monotonic()
        page.goto(f"{self.server.url}/portal/{path}", wait_until="commit")
        page.wait_for_selector(selector)
        return time.monotonic() - begun

    def report(self, name, limit, measure):
        taken = statistics.median(measure() for _ in range(RUNS))
        print(f"{name:40} {taken:6.2f} s   (budget {limit} s)", flush=True)


if __name__ == "__main__":
    ended = unittest.TextTestRunner().run(unittest.TestSuite([Times()]))
    sys.exit(0 if ended.wasSuccessful() else 1)
