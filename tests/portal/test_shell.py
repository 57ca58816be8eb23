"""The shell and its screens: the first item, addresses, keys, small windows, failures of the server."""
import datetime
import json
import re
import subprocess
import time
import unittest
import urllib.error
import urllib.request

from playwright.sync_api import expect

from portal import Journey

#: The address of every screen.
SCREENS = ["demo/overview", "demo/failures", "demo/performance", "demo/live", "demo/search", "demo/map", "demo/availability", "demo/logs",
           "demo/metrics", "demo/usage", "demo/volume", "demo/workbooks", "demo/workbooks?sample=requests", "demo/operation", "demo/access", "applications"]


#: Tab begins at the top of the page. What has had the focus is remembered.
BEGIN_TABBING = """() => {
  document.activeElement?.blur();
  window.scrollTo(0, 0);
  getSelection()?.setPosition(document.body, 0);
  window.stops = new Set();
}"""
#: The element with the focus: whether it had it before, and its markup if something covers all of it.
STOP = """() => {
  let at = document.activeElement;
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  if (at === null || at === document.body) return { again: window.stops.size > 0, covered: '' };
  const again = window.stops.has(at);
  window.stops.add(at);
  const root = at.getRootNode();
  const { left, top, width, height } = at.getBoundingClientRect();
  const seen = [[0.5, 0.5], [0.1, 0.5], [0.9, 0.5], [0.5, 0.1], [0.5, 0.9]].some(([x, y]) => {
    const hit = root.elementFromPoint(left + width * x, top + height * y);
    return hit !== null && (at.contains(hit) || hit.contains(at) || at.labels !== undefined && [...at.labels ?? []].some((label) => label.contains(hit)));
  });
  return { again, covered: seen ? '' : at.outerHTML.slice(0, 200) };
}"""
#: Controls that were not reached, but for those that arrow keys reach within a widget.
MISSED = """() => {
  const within = '[role="grid"], [role="treegrid"], [role="radiogroup"], [role="tablist"], [role="listbox"], [role="menu"], [role="tree"]';
  return [...document.querySelectorAll('a[href], button, input, select, textarea, summary')]
    .filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.disabled && !window.stops.has(one) && one.closest(within) === null)
    .map((one) => one.outerHTML.slice(0, 200));
}"""


class Empty(Journey):
    ARGUMENTS = ()

    def test_02_an_empty_server_leads_to_the_first_item(self):
        self.sign_in()
        expect(self.page.get_by_role("heading", name="default has sent nothing yet")).to_be_visible()
        self.check_accessibility(name="send something")
        # Live has the same lines, beside what it shows of instances without telemetry; other screens lead here.
        self.open("default/live")
        expect(self.page.get_by_role("heading", name="default has sent nothing yet")).to_be_visible()
        self.check_accessibility(name="live without telemetry")
        for screen in ("failures", "metrics"):
            self.open(f"default/{screen}")
            self.page.get_by_role("link", name="Send something").click()
            self.page.wait_for_url("**/default/overview**")
        line = self.page.get_by_label("curl", exact=True).inner_text()
        subprocess.check_call(["bash", "-c", line], stdout=subprocess.DEVNULL)
        # Without a reload.
        expect(self.page.get_by_role("heading", name="Requests", exact=True)).to_be_visible()
        self.open("default/search")
        expect(self.page.get_by_text("Hello from curl")).to_be_visible()

    def test_an_application_is_made_and_limited(self):
        self.sign_in()
        self.open("applications")
        self.page.get_by_label("New application").fill("second")
        self.page.get_by_role("button", name="Create").click()
        expect(self.page.get_by_role("link", name="Send its first telemetry")).to_be_visible()
        card = self.page.get_by_role("region", name="second")
        card.get_by_role("button", name="Change limits").click()
        card.get_by_label("Pricing tier").select_option("basic")
        card.get_by_label("Daily cap, MB").fill("2.5")
        card.get_by_role("button", name="Save").click()
        expect(card).to_contain_text("2.5 MB")
        shown = self.server.command("app", "show", "second")
        self.assertEqual((shown["tier"], shown["dailyCapBytes"]), ("basic", 2_500_000))
        self.check_accessibility(name="applications")


class Shell(Journey):
    def test_05_an_address_carries_text_range_and_view(self):
        self.sign_in()
        query = "requests | summarize n = count() by bin(timestamp, 1h) | render timechart"
        self.open("demo/logs?t=PT12H&q=" + urllib.request.quote(query))
        # A link runs when it is opened.
        expect(self.page.locator(".chart").first).to_be_visible()
        address = self.page.url
        other = self.new_context().new_page()
        self.sign_in(other)
        other.goto(address)
        expect(other.locator(".chart").first).to_be_visible()
        expect(other.locator(".cm-content")).to_contain_text("summarize n = count()")
        expect(other.get_by_role("button", name="Time range: Last 12 hours")).to_be_visible()
        self.check_accessibility(other, "a link that was opened")
        other.get_by_role("link", name="Failures").click()
        other.wait_for_url("**/demo/failures?t=PT12H")
        other.go_back()
        expect(other.locator(".cm-content")).to_contain_text("summarize n = count()")
        other.go_forward()
        expect(other.get_by_role("heading", name="Failures", exact=True)).to_be_visible()

    def test_keys_alone_reach_screens_ranges_and_help(self):
        self.sign_in()
        page = self.page
        page.keyboard.press("g")
        page.keyboard.press("f")
        page.wait_for_url("**/demo/failures**")
        page.keyboard.press("t")
        expect(page.get_by_role("radio", name="Last 24 hours")).to_be_focused()
        page.keyboard.press("ArrowUp")
        page.keyboard.press("Enter")
        page.wait_for_url("**t=PT12H**")
        page.keyboard.press("Control+k")
        page.keyboard.type("api acc")
        page.keyboard.press("Enter")
        page.wait_for_url("**/demo/access**")
        page.locator("#content").focus()
        page.keyboard.press("?")
        expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
        self.check_accessibility(name="keys")
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(page.locator("#content")).to_be_focused()
        # The skip link is the first stop, and leads past the navigation.
        page.reload()
        page.wait_for_selector("#content h1")
        page.keyboard.press("Tab")
        expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator("#content")).to_be_focused()

    def test_the_command_list_takes_the_letters_that_follow_its_keys_at_once(self):
        self.sign_in()
        # Microtasks run, and no frame is painted: a letter that is typed as fast as this goes to what has the focus now.
        focused = self.page.evaluate("""async () => {
            document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true, bubbles: true }));
            for (let turn = 0; turn < 20; turn += 1) await null;
            return [document.activeElement.ariaLabel, document.activeElement.closest('dialog')?.matches(':modal') ?? false];
        }""")
        self.assertEqual(focused, ["Command", True])

    def test_tab_reaches_every_control(self):
        self.sign_in()
        for screen in SCREENS:
            with self.subTest(screen):
                self.open(screen)
                self.settled()
                self.page.wait_for_timeout(500)
                if screen == "demo/live":
                    # Items arrive all the time: while it is paused the list stands still, and the button that shows what has arrived stays.
                    # The event alone: a click with the pointer would move where Tab begins.
                    self.page.get_by_role("button", name="Pause").dispatch_event("click")
                    expect(self.page.get_by_role("button", name=re.compile(r"^\d+ new$"))).to_be_visible()
                self.page.evaluate(BEGIN_TABBING)
                for _ in range(400):
                    self.page.keyboard.press("Tab")
                    stop = self.page.evaluate(STOP)
                    if stop["again"]:
                        break
                    self.assertEqual(stop["covered"], "", "what has the focus is seen")
                else:
                    self.fail("Tab does not come back to the first stop")
                self.assertEqual(self.page.evaluate(MISSED), [], "controls that Tab does not reach")
                # The skip link, the navigation and the header alone are more.
                self.assertGreater(self.page.evaluate("() => window.stops.size"), 20)

    def test_screens_are_accessible(self):
        self.sign_in()
        for screen in SCREENS:
            with self.subTest(screen):
                self.open(screen)
                self.page.wait_for_timeout(500)
                self.check_accessibility(name=screen)

    def test_an_empty_range_leads_to_the_newest_item(self):
        self.server.new_app("old")
        app = self.server.command("app", "show", "old")
        from shop_telemetry import envelopes
        then = self.now() - datetime.timedelta(days=20)
        status, verdict = self.server.track(envelopes(app["instrumentationKey"], then))
        self.assertEqual(status, 200, verdict)
        self.sign_in()
        self.open("old/search")
        expect(self.page.get_by_text("There is no telemetry in this time range")).to_be_visible()
        self.page.get_by_role("button", name="Show its hour").click()
        expect(self.page.locator("ul.items > li").first).to_be_visible()
        expect(self.page.get_by_text("There is no telemetry in this time range")).to_have_count(0)

    def test_14_small_windows_and_large_text_cut_nothing(self):
        self.sign_in()
        for screen in SCREENS:
            for width, size in ((320, "100%"), (1280, "200%")):
                with self.subTest(screen, width=width, size=size):
                    self.page.set_viewport_size({"width": width, "height": 800})
                    self.open(screen)
                    self.page.evaluate("(size) => { document.documentElement.style.fontSize = size; }", size)
                    self.page.wait_for_timeout(800)
                    self.check_nothing_is_cut(self.page, screen)
                    if width == 320 and screen in ("demo/overview", "demo/logs", "demo/access"):
                        self.check_accessibility(name=f"{screen}, narrow")

    def test_16_what_the_server_cannot_do_is_said_and_tried_again(self):
        self.sign_in()
        refused = []

        def throttle(route):
            if len(refused) < 2 and "exceptions" in (route.request.post_data or ""):
                refused.append(429)
                body = {"error": {"code": "ThrottledError", "message": "Rate limit is exceeded",
                                  "innererror": {"code": "ThrottledError", "message": "Too many queries", "limitValue": 1}}}
                route.fulfill(status=429, headers={"Retry-After": "1"}, content_type="application/json", body=json.dumps(body))
            else:
                route.continue_()
        self.permit("status of 429", "status of 503", "ERR_INTERNET_DISCONNECTED")
        self.page.route("**/v1/apps/*/query", throttle)
        self.open("demo/failures")
        expect(self.page.get_by_text("Too many queries").first).to_be_visible()
        expect(self.page.get_by_text("It is tried again in").first).to_be_visible()
        expect(self.page.get_by_text("Too many queries")).to_have_count(0)
        self.page.unroute("**/v1/apps/*/query")

        self.page.route("**/v1/apps/*/query", lambda route: route.fulfill(
            status=503, headers={"Retry-After": "1"}, content_type="application/json",
            body=json.dumps({"error": {"code": "ServiceUnavailableError", "message": "The server is stopping"}})))
        self.open("demo/performance")
        expect(self.page.get_by_text("The server is stopping").first).to_be_visible()
        self.check_accessibility(name="a server that is stopping")
        self.page.unroute("**/v1/apps/*/query")
        expect(self.page.get_by_text("The server is stopping")).to_have_count(0)
        self.settled()

        # What was loaded once needs no server.
        self.page.get_by_role("link", name="Search", exact=True).click()
        expect(self.page.locator("ul.items > li").first).to_be_visible()
        self.page.get_by_role("link", name="Performance", exact=True).click()
        self.settled()
        self.context.set_offline(True)
        self.page.get_by_role("link", name="Search", exact=True).click()
        expect(self.page.get_by_text("The server cannot be reached since")).to_be_visible()
        self.context.set_offline(False)
        expect(self.page.get_by_text("The server cannot be reached since")).to_have_count(0)
        expect(self.page.locator("ul.items > li").first).to_be_visible()


class Access(Journey):
    ARGUMENTS = ()

    def read(self, app, key):
        request = urllib.request.Request(f"{self.server.url}/v1/apps/{app}/query?query=print+7", headers={"X-Api-Key": key})
        try:
            with urllib.request.urlopen(request, timeout=30) as reply:
                return json.load(reply)["tables"][0]["rows"]
        except urllib.error.HTTPError as error:
            return error.code

    def test_10_a_key_is_made_used_and_deleted(self):
        self.sign_in()
        self.open("default/access")
        page = self.page
        page.get_by_label("Name").fill("ci")
        page.get_by_role("button", name="Create key").click()
        dialog = page.get_by_role("dialog", name="New API key")
        key = dialog.get_by_label("API key", exact=True).inner_text()
        self.check_accessibility(name="a new key")
        page.keyboard.press("Escape")
        expect(dialog.get_by_role("alert")).to_contain_text("Without a copy the key is lost")
        app = self.server.command("app", "show", "default")["appId"]
        self.assertEqual(self.read(app, key), [[7]])
        dialog.get_by_role("button", name="I have it").click()
        expect(dialog).to_have_count(0)
        kept = page.evaluate("() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href, document.documentElement.outerHTML])")
        self.assertNotIn(key, kept)
        row = page.get_by_role("row").filter(has_text="ci")
        expect(row).to_contain_text("local owner")
        row.get_by_role("button", name="Delete the key ci").click()
        confirm = page.get_by_role("dialog", name="Delete an API key")
        expect(confirm.get_by_role("button", name="Delete")).to_be_disabled()
        confirm.get_by_label("Its name, to delete it").fill("ci")
        confirm.get_by_role("button", name="Delete").click()
        expect(row).to_have_count(0)
        # Within a second, and a machine that is busy takes longer.
        deadline = time.monotonic() + 20
        while self.read(app, key) != 403 and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertEqual(self.read(app, key), 403)


class Live(Journey):
    ARGUMENTS = ()

    def test_11_an_item_shows_within_seconds_and_reading_holds_the_list(self):
        from shop_telemetry import envelopes
        self.sign_in()
        app = self.server.command("app", "show", "default")
        self.open("default/live")
        expect(self.page.get_by_text("Waiting for items")).to_be_visible()

        def send(*texts, level="Information"):
            [item] = [one for one in envelopes(app["instrumentationKey"]) if one["data"]["baseType"] == "MessageData"][:1]
            base = {**item["data"]["baseData"], "severityLevel": level}
            items = [{**item, "data": {**item["data"], "baseData": {**base, "message": text}}} for text in texts]
            status, verdict = self.server.track(items)
            self.assertEqual(status, 200, verdict)
        # So many failures that the list scrolls.
        send(*(f"failure {n}" for n in range(60)), level="Error")
        expect(self.page.locator("ul.items .item.failed")).to_have_count(60)
        self.check_nothing_is_cut(self.page, "live")
        send("the first")
        # In the list: the page of an application without telemetry waits for "the first item" as well.
        item = self.page.locator("ul.items .item").first
        expect(item).to_contain_text("the first")
        self.check_accessibility(name="live")
        item.focus()
        send("the second")
        expect(self.page.get_by_role("button", name="1 new")).to_be_visible()
        self.assertEqual(self.page.get_by_text("the second").count(), 0, "the list stands still while it is read")
        self.page.get_by_role("button", name="1 new").click()
        expect(self.page.locator("ul.items .item").first).to_contain_text("the second")
        self.page.get_by_label("Filter").fill("message == 'only this'")
        self.page.get_by_role("button", name="Apply").click()
        expect(self.page.locator("ul.items .item")).to_have_count(0)
        expect(self.page.get_by_text("Waiting for items")).to_be_visible()
        send("not this")
        send("only this")
        expect(self.page.locator("ul.items .item")).to_have_count(1)


if __name__ == "__main__":
    unittest.main()
