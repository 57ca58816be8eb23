"""How long the portal takes, over the demo on this machine: part of `make bench`. Nothing is asserted; other machines differ.

Prints a line for each: the median of several runs, and the limit of the budget where there is one. Times of opening a page are from the
beginning of the navigation, those of a step within the page from the click or the key; both end with the frame that shows what is named.
"""
import datetime
import statistics
import sys
import time
import unittest
import urllib.parse

from analysis import operation_of
from portal import Journey

RUNS = 5
#: 100,000 rows for a chart, and 500,000 rows of 40 cells, 59 MB.
POINTS = "range i from 1 to 100000 step 1 | project at = now() - i * 1s, value = i % 977 | render timechart"
LARGE = "range i from 1 to 500000 step 1 | project i, " + ", ".join(f"c{n}=i%{n + 1}" for n in range(1, 40))
#: All panels of Overview have their answer.
PANELS = ".panel .result >> nth=5"
#: How many items the waterfall shows.
ITEMS = 10_000

#: Tells when an element is in a frame, also one of the editor.
WATCH = """(() => {
  const found = (selector) => document.querySelector(selector) ?? document.querySelector('.editor-box')?.shadowRoot?.querySelector(selector) ?? null;
  window.appears = (selector) => new Promise((resolve) => {
    const look = () => (found(selector) !== null ? resolve(performance.now()) : requestAnimationFrame(look));
    look();
  });
})()"""
STEP = """async ([step, selector]) => {
  const { go } = await import(document.querySelector('script:not([async])').src.replace(/main\\.js$/, 'lib/address.js'));
  const begun = performance.now();
  go(step);
  return (await window.appears(selector)) - begun;
}"""
CLICK = """async ([button, selector]) => {
  const begun = performance.now();
  [...document.querySelectorAll('a, button')].find((one) => one.textContent.trim() === button).click();
  return (await window.appears(selector)) - begun;
}"""
#: From the click on Logs until the language knows the tables.
LANGUAGE = """async () => {
  const begun = performance.now();
  [...document.querySelectorAll('#navigation a')].find((one) => one.textContent.trim() === 'Logs').click();
  for (;;) {
    const [mark] = performance.getEntriesByName('hindsight.language');
    if (mark !== undefined) return mark.startTime - begun;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}"""
#: Completion after the text of a query, in the worker of the language: milliseconds of each.
COMPLETE = """async () => {
  const { language } = await import(document.querySelector('script:not([async])').src.replace(/main\\.js$/, 'kql/client.js'));
  const took = [];
  for (let run = 0; run < 30; run++) {
    const text = `requests | where duration > ${run} | extend x = `, begun = performance.now();
    const answer = await language().call('complete', { text, position: text.length });
    if (answer.items.length < 100) throw new Error(`only ${answer.items.length} items`);
    took.push(performance.now() - begun);
  }
  return took.sort((a, b) => a - b)[15];
}"""
#: From the reply of a query to its first row.
AFTER_REPLY = """async ([step, selector]) => {
  const { go } = await import(document.querySelector('script:not([async])').src.replace(/main\\.js$/, 'lib/address.js'));
  performance.clearResourceTimings();
  go(step);
  const shown = await window.appears(selector);
  const replies = performance.getEntriesByType('resource').filter((entry) => entry.name.endsWith('/query'));
  return shown - Math.max(...replies.map((entry) => entry.responseEnd));
}"""


class Times(Journey):
    #: As people serve it.
    MOVES = True

    def runTest(self):
        self.sign_in()
        overview, logs = "demo/overview", "demo/logs"
        self.report("Overview, first chart, nothing cached", 1.0, lambda: self.opened(overview, ".chart canvas", cold=True))
        self.report("Overview, six panels, nothing cached", 1.0, lambda: self.opened(overview, PANELS, cold=True))
        self.report("Overview, first chart", 1.0, lambda: self.opened(overview, ".chart canvas"))
        self.report("Overview, six panels", 1.0, lambda: self.opened(overview, PANELS))
        self.report("Editor, after a click on Logs", 0.3, lambda: self.clicked(reads=True))
        self.report("Editor, after a click at once", 0.3, lambda: self.clicked(reads=False))
        self.report("Editor, Logs opened by its address", None, lambda: self.opened(logs, ".cm-content"))
        self.report("Editor, opened, nothing cached", None, lambda: self.opened(logs, ".cm-content", cold=True))
        self.report("Language, after the click", 2.5, self.language)
        self.report("Completion", 0.1, lambda: self.page.evaluate(COMPLETE) / 1000)
        self.report("First of 500,000 rows of 40 cells", 2.0, self.large)
        self.report("100,000 points, from rows in the page", 0.5, self.points)
        app, _ = self.server.new_app("large")
        begin = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(minutes=5)
        items = [operation_of(app["instrumentationKey"], begin, number) for number in range(ITEMS)]
        for start in range(0, ITEMS, 1_000):
            status, verdict = self.server.track(items[start:start + 1_000])
            self.assertEqual(status, 200, verdict)
        self.report("Waterfall of 10,000 items, from the reply", 0.2, self.waterfall)

    def new_page(self, cold=False):
        """A page of a browser that is signed in; `cold`: one that has kept no file."""
        context = self.new_context(storage_state=self.context.storage_state()) if cold else self.context
        page = context.new_page()
        page.add_init_script(WATCH)
        return page

    def opened(self, path, selector, cold=False):
        page = self.new_page(cold)
        begun = time.monotonic()
        page.goto(f"{self.server.url}/portal/{path}", wait_until="commit")
        page.wait_for_selector(selector)
        taken = time.monotonic() - begun
        self.closed(page, cold)
        return taken

    def closed(self, page, cold=False):
        (page.context if cold else page).close()

    def started(self, path, selector):
        """A page that shows something already."""
        page = self.new_page()
        page.goto(f"{self.server.url}/portal/{path}")
        page.wait_for_selector(selector)
        return page

    def clicked(self, reads):
        page = self.started("demo/overview", ".chart canvas")
        self.settled(page)
        if reads:
            page.wait_for_timeout(4000)
        taken = page.evaluate(CLICK, ["Logs", ".cm-content"])
        self.closed(page)
        return taken / 1000

    def language(self):
        page = self.started("demo/overview", ".chart canvas")
        self.settled(page)
        taken = page.evaluate(LANGUAGE)
        self.page.close()
        # Completion is measured in it.
        self.page = page
        return taken / 1000

    def large(self):
        page = self.started("demo/logs", ".cm-content")
        taken = page.evaluate(STEP, [{"screen": "logs", "params": {"q": LARGE}}, ".query-result .grid [role='gridcell']"])
        self.closed(page)
        return taken / 1000

    def points(self):
        page = self.started("demo/logs?v=table&q=" + urllib.parse.quote(POINTS), ".query-result .grid [role='gridcell']")
        taken = page.evaluate(CLICK, ["Chart", ".plot canvas"])
        self.closed(page)
        return taken / 1000

    def waterfall(self):
        page = self.started("large/operation", ".operation-find")
        taken = page.evaluate(AFTER_REPLY, [{"screen": "operation", "params": {"id": "op"}}, ".waterfall [role='gridcell']"])
        self.closed(page)
        return taken / 1000

    def report(self, name, limit, measure):
        taken = [measure() for _ in range(RUNS)]
        budget = "" if limit is None else f"   (budget {limit} s)"
        print(f"{name:44} {statistics.median(taken):6.2f} s   {min(taken):.2f} … {max(taken):.2f} s{budget}", flush=True)


if __name__ == "__main__":
    ended = unittest.TextTestRunner().run(unittest.TestSuite([Times()]))
    sys.exit(0 if ended.wasSuccessful() else 1)
