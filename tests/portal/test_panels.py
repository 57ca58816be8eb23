"""Every panel's text runs, over the demo and over an application without telemetry; and hostile telemetry is text everywhere."""
import datetime
import unittest

from playwright.sync_api import expect

from portal import Journey
from shop_telemetry import envelopes

#: Runs the panels of every screen through the portal's own modules; answers what failed, and how many there are.
RUN_PANELS = """async (app) => {
  const base = document.querySelector('script:not([async])').src.replace(/main\\.js$/, '');
  const load = (path) => import(base + path);
  const [{ SCREENS }, { query }, { fill }] = await Promise.all(['screens/list.js', 'lib/api.js', 'lib/kql-text.js'].map(load));
  const values = { bin: '5m', operation: 'x', problem: 'x', from: '1', to: '2' };
  const failed = [], counts = {};
  for (const screen of SCREENS) {
    const module = await screen.load();
    const panels = [...(module.panels ?? []), ...Object.values(module.samples ?? {}), ...Object.values(module.details ?? {})];
    counts[screen.name] = panels.length;
    for (const panel of panels) {
      const text = fill(panel.query, values);
      try {
        const result = await query(app, text, { timespan: 'P1D', noCache: true });
        if (result.partial || /[{][a-z]+[}]/.test(text)) throw new Error(`partial, or a placeholder: ${result.messages}`);
      } catch (error) {
        failed.push(`${screen.name}, ${panel.title}: ${error.message} in ${text}`);
      }
    }
  }
  return { failed, counts };
}"""


class Panels(Journey):
    def test_each_text_runs_over_the_demo_and_over_nothing(self):
        self.server.new_app("nothing")
        self.sign_in()
        for app in ("demo", "nothing"):
            with self.subTest(app):
                told = self.page.evaluate(RUN_PANELS, app)
                self.assertEqual(told["failed"], [])
                for screen, least in (("overview", 6), ("failures", 7), ("performance", 6), ("live", 4), ("search", 4), ("map", 1), ("logs", 8),
                                      ("availability", 4), ("usage", 5), ("volume", 4), ("operation", 2)):
                    self.assertGreaterEqual(told["counts"][screen], least, screen)


#: A text that would do something, were it anything but text; then marks that turn the direction of text around.
MARKUP = "<img src=x onerror=\"window.hit=1\"><script>window.hit=1</script><b>bold</b>"
BIDI = "\u202egnp.exe\u2066\u2069 \u0000 \ufeff"
FORMULA = "=cmd|'/C calc'!A0"
KEY = "a/b\"]['c'].d <i>"
LONG = "long " * 50_000


def hostile(envelope):
    """An envelope in which every text of people is hostile."""
    data = envelope["data"]["baseData"]
    kept = {"ver", "duration", "id", "handledAt", "perfTotal", "networkConnect", "sentRequest", "receivedResponse", "domProcessing"}

    def changed(value, name=""):
        if isinstance(value, dict):
            return {key: changed(one, key) for key, one in value.items()}
        if isinstance(value, list):
            return [changed(one, name) for one in value]
        return MARKUP + BIDI + FORMULA if isinstance(value, str) and name not in kept else value
    for name, value in list(data.items()):
        data[name] = changed(value, name)
    data["properties"] = {KEY: MARKUP, "__proto__": MARKUP, "constructor": FORMULA, "long": LONG[:8000]}
    if "message" in data:
        data["message"] = MARKUP + LONG
    for tag in ("ai.cloud.role", "ai.cloud.roleInstance", "ai.operation.name", "ai.user.id", "ai.location.city", "ai.application.ver"):
        envelope["tags"][tag] = MARKUP[:200]
    return envelope


class Hostile(Journey):
    ARGUMENTS = ()
    SETTINGS = {"ingest_max_item_bytes": 4 << 20}

    def test_15_hostile_telemetry_is_text_on_every_screen(self):
        app = self.server.command("app", "show", "default")
        now = datetime.datetime.now(datetime.timezone.utc)
        status, verdict = self.server.track([hostile(one) for one in envelopes(app["instrumentationKey"], now)])
        self.assertIn(status, (200, 206), verdict)
        self.assertGreater(verdict["itemsAccepted"], 15, verdict)
        self.sign_in()
        page = self.page
        operation = "op30"
        for screen in ("overview", "failures", "performance", "search", "live", f"operation?id={operation}", "map", "availability", "usage", "volume",
                       "metrics?split=request/name", "workbooks?sample=requests", "workbooks?sample=failures", "workbooks?sample=usage",
                       "access", "logs?q=" + "union%20*%20%7C%20take%20100"):
            with self.subTest(screen):
                self.open(f"default/{screen}")
                page.wait_for_timeout(1500)
                if screen == "search":
                    for item in page.locator("ul.items .item").all()[:12]:
                        item.click()
                        expect(page.locator(".details")).to_be_visible()
                        self.check_is_text(screen)
                self.check_is_text(screen)
        # The texts are there as they were sent.
        self.open("default/failures")
        expect(page.get_by_text("<script>window.hit=1</script>").first).to_be_visible()

    def check_is_text(self, screen):
        found = self.page.evaluate("""() => {
            const roots = [document, ...[...document.querySelectorAll('*')].map((element) => element.shadowRoot).filter(Boolean)];
            return { hit: window.hit ?? null,
              elements: roots.flatMap((root) => [...root.querySelectorAll('img, iframe, object, embed, script:not([src]), [onerror], b, i')]).map((element) => element.outerHTML) };
        }""")
        self.assertEqual(found, {"hit": None, "elements": []}, screen)


if __name__ == "__main__":
    unittest.main()
