"""A browser at the portal of a real server: signing in, and what every page must hold to."""
import datetime
import json
import os
import pathlib
import shutil
import subprocess
import time
import unittest
import urllib.parse
import urllib.request

from playwright.sync_api import expect, sync_playwright

from server import PROGRAM, Server

CHROMIUM = shutil.which("chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]
AXE = pathlib.Path(os.environ.get("HINDSIGHT_AXE", "none"))
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
#: How long a page may take for one step, in milliseconds: a machine that also compiles is slow.
PATIENCE = 60_000
#: The time of the demo, whose clock stands still: what it shows is the same each time.
NOON = datetime.datetime(2030, 3, 1, 12, tzinfo=datetime.timezone.utc)
#: The clock of the browser begins there too. It goes on, as widgets expect of one.
SHIFTED = """(() => {
  const Real = Date, ahead = %d - Real.now();
  globalThis.Date = class Date extends Real {
    constructor(...given) { given.length === 0 ? super(Real.now() + ahead) : super(...given); }
    static now() { return Real.now() + ahead; }
  };
})()""" % (NOON.timestamp() * 1000)

expect.set_options(timeout=PATIENCE)


class Tested(Server):
    """A server in test mode, which prints how it is reached."""

    def start(self):
        self.process = subprocess.Popen([PROGRAM, "serve", "--test", *self.arguments], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                                        env=self.environment)
        self.addresses = json.loads(self.process.stdout.readline())
        self.url, self.data = self.addresses["url"], self.addresses["data"]

    def stop(self):
        super().stop()
        self.process.stdout.close()

    def fix(self, at):
        body = json.dumps({"fixed": at.isoformat()}).encode()
        urllib.request.urlopen(urllib.request.Request(f"{self.url}/test/clock", body, method="PUT")).close()


class Journey(unittest.TestCase):
    """Tests of one server, in one browser. `ARGUMENTS` and `SETTINGS` are those of the server. The clock of the demo stands still unless
    `MOVES`."""

    ARGUMENTS = ("--demo",)
    SETTINGS = {}
    MOVES = False

    @classmethod
    def setUpClass(cls):
        cls.start_server()
        cls.addClassCleanup(cls.server.__exit__)
        playwright = sync_playwright().start()
        cls.addClassCleanup(playwright.stop)
        cls.browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        cls.addClassCleanup(cls.browser.close)
        if "--demo" in cls.ARGUMENTS:
            cls.wait_for_demo()

    @classmethod
    def start_server(cls):
        if cls.is_fixed():
            # Replies are cached as they are without test mode.
            cls.server = Tested(*cls.ARGUMENTS, "--clock", NOON.isoformat(), query_rate=100_000, cache_lifetime="120s", cache_stale="5s",
                                **cls.SETTINGS)
        else:
            cls.server = Server(*cls.ARGUMENTS, query_rate=100_000, **cls.SETTINGS)
        cls.server.start()

    @classmethod
    def is_fixed(cls):
        return "--demo" in cls.ARGUMENTS and not cls.MOVES

    @classmethod
    def now(cls):
        """The time of the server."""
        return NOON if cls.is_fixed() else datetime.datetime.now(datetime.timezone.utc)

    @classmethod
    def wait_for_demo(cls):
        """The demo fills in a day at its start."""
        app = next(app for app in cls.server.command("app", "list") if app["name"] == "demo")
        key = cls.server.command("key", "create", "--app", "demo")["key"]
        cls.demo = (app, key)
        # The oldest comes first.
        last = "1m" if cls.is_fixed() else "15m"
        while cls.server.query(app, key, f"union requests, traces | where timestamp > ago({last}) | count")[0]["Count"] == 0:
            time.sleep(0.5)

    def setUp(self):
        self.permitted = []
        self.problems = []
        self.context = self.new_context()
        self.page = self.context.new_page()

    def tearDown(self):
        problems = [problem for problem in self.problems if not any(known in problem for known in self.permitted)]
        self.assertEqual(problems, [], "what the browser reported")

    def permit(self, *texts):
        """Reports with these texts are no problem: the test provokes them."""
        self.permitted.extend(texts)

    def new_context(self, **options):
        """A browser that knows nothing, in which each request to another host fails the test."""
        options.setdefault("viewport", {"width": 1280, "height": 800})
        if self.is_fixed():
            options.setdefault("timezone_id", "UTC")
        context = self.browser.new_context(**options)
        if self.is_fixed():
            context.add_init_script(SHIFTED)
        context.set_default_timeout(PATIENCE)
        self.addCleanup(context.close)
        host = urllib.parse.urlsplit(self.server.url).netloc

        def look(request):
            place = urllib.parse.urlsplit(request.url)
            if place.scheme in ("http", "https", "ws", "wss") and place.netloc != host:
                self.problems.append(f"a request to {request.url}")
        context.on("request", look)
        context.on("console", lambda message: message.type in ("error", "warning") and self.problems.append(f"console: {message.text}"))
        context.on("weberror", lambda error: self.problems.append(f"page: {error.error}"))
        return context

    def sign_in(self, page=None):
        """Opens a printed link, and waits for the page that it leads to."""
        page = page or self.page
        page.goto(self.server.command("portal")["url"])
        page.wait_for_url("**/portal/*/overview**")
        page.wait_for_selector("#content h1")

    def open(self, path, page=None):
        """Opens an address below /portal/, which the session of the browser signs in."""
        page = page or self.page
        page.goto(f"{self.server.url}/portal/{path}")
        page.wait_for_selector("#content h1", state="attached")
        return page

    def set_text_size(self, page, percent):
        """The size of text that the person has chosen in the browser, for pages that are opened from now on."""
        sizes = {"standard": 16 * percent // 100, "fixed": 13 * percent // 100}
        page.context.new_cdp_session(page).send("Page.setFontSizes", {"fontSizes": sizes})

    def settled(self, page=None):
        """Waits until nothing is loading any more."""
        page = page or self.page
        page.wait_for_function("() => !document.querySelector('.loading, [data-old=\"true\"]')")

    def check_accessibility(self, page=None, name=""):
        """axe finds nothing, in light, dark and forced colours."""
        page = page or self.page
        for media in ({"color_scheme": "light"}, {"color_scheme": "dark"}, {"color_scheme": "dark", "forced_colors": "active"}):
            page.emulate_media(**{"forced_colors": "none", **media})
            page.wait_for_timeout(100)
            if not page.evaluate("() => 'axe' in window"):
                page.evaluate(AXE.read_text())
            found = page.evaluate("async (rules) => (await axe.run(document, { runOnly: rules, resultTypes: ['violations'] })).violations", RULES)
            told = [f"{one['id']}: {node['target']} {node['failureSummary'][:300]}" for one in found for node in one["nodes"][:3]]
            self.assertEqual(told, [], f"{name} {media}")
        page.emulate_media(color_scheme="light", forced_colors="none")

    def check_nothing_is_cut(self, page, name):
        """The page is not wider than the window, and neither is any control, and it ends where its content does."""
        wide = page.evaluate("""() => {
            const width = document.documentElement.clientWidth;
            if (document.documentElement.scrollWidth <= width) return [];
            const scrolls = (element) => element.closest('.scroll, [role="grid"], [role="treegrid"], [role="region"], .grid, pre') !== null;
            return [...document.querySelectorAll('body *')].filter((element) => element.getBoundingClientRect().right > width + 1 && !scrolls(element))
              .slice(0, 5).map((element) => element.outerHTML.slice(0, 200));
        }""")
        self.assertEqual(wide, [], f"{name} is wider than its window")
        # What is hidden from the eye in a list that scrolls makes the page as long as the list, unless the list has its place.
        below = page.evaluate("""() => {
            const end = document.getElementById('content').getBoundingClientRect().bottom + scrollY;
            if (document.documentElement.scrollHeight <= Math.max(end, innerHeight) + 1) return [];
            return [...document.querySelectorAll('#content *')].filter((element) => getComputedStyle(element).position === 'absolute'
              && element.getBoundingClientRect().bottom + scrollY > end + 1).slice(0, 5).map((element) => element.outerHTML.slice(0, 200)).concat('the page');
        }""")
        self.assertEqual(below, [], f"{name} is longer than its content")
