"""A person signs in with a real browser: headless Chromium, with and without scripts."""
import http.server
import json
import os
import shutil
import ssl
import threading
import unittest
import urllib.parse
import urllib.request

from server import Server

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--ignore-certificate-errors"]


class Client(http.server.BaseHTTPRequestHandler):
    """The client's own page, which the browser is sent back to."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<title>client</title>you are back")

    def log_message(self, *_):
        pass


@unittest.skipUnless(CHROMIUM and DRIVER, "chromium and chromedriver are not installed: the browser flows are NOT tested")
class Browser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--dev-tls", "--tls-listen", "127.0.0.1:0")
        cls.server.start()
        cls.addClassCleanup(cls.server.__exit__)
        cls.page = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Client)
        threading.Thread(target=cls.page.serve_forever, daemon=True).start()
        cls.addClassCleanup(cls.page.shutdown)
        cls.callback = f"http://localhost:{cls.page.server_port}/signin"
        cls.app, _ = cls.server.new_app("shop")
        cls.user = cls.server.command("user", "create", "ada", "--app", "shop")
        cls.client = cls.server.command("client", "create", "Dashboards", "--redirect", cls.callback, "--app", "shop")
        cls.context = ssl.create_default_context(cafile=cls.server.authority)

    def browser(self, scripts=True):
        from selenium import webdriver
        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        for flag in FLAGS:
            options.add_argument(flag)
        if not scripts:
            options.add_experimental_option("prefs", {"profile.managed_default_content_settings.javascript": 2})
        browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
        self.addCleanup(browser.quit)
        browser.set_page_load_timeout(30)
        return browser

    def authorize(self, browser, response_type):
        query = urllib.parse.urlencode({"client_id": self.client["clientId"], "response_type": response_type, "state": "st-1",
                                        "redirect_uri": self.callback, "resource": "https://api.applicationinsights.io"})
        browser.get(f"{self.server.tls_url}/common/oauth2/authorize?{query}")

    def sign_in(self, browser, password):
        from selenium.webdriver.common.by import By
        self.assertIn("Dashboards", browser.find_element(By.TAG_NAME, "main").text)
        name = browser.find_element(By.ID, "username")
        name.clear()
        name.send_keys("ada")
        browser.find_element(By.ID, "password").send_keys(password)
        browser.find_element(By.TAG_NAME, "button").click()

    def wait(self, browser, condition):
        from selenium.webdriver.support.ui import WebDriverWait
        WebDriverWait(browser, 30).until(condition)

    def wait_for_text(self, browser, text):
        self.wait(browser, lambda b: text in b.page_source)

    def wait_until_back(self, browser):
        self.wait(browser, lambda b: b.current_url.startswith(self.callback))
        place = urllib.parse.urlsplit(browser.current_url)
        return dict(urllib.parse.parse_qsl(place.query)), dict(urllib.parse.parse_qsl(place.fragment))

    def read(self, token):
        request = urllib.request.Request(f"{self.server.tls_url}/v1/apps/{self.app['appId']}/query?query=print+7",
                                         headers={"Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(request, context=self.context, timeout=30) as reply:
            return json.load(reply)["tables"][0]["rows"]

    def code_flow(self, scripts):
        browser = self.browser(scripts)
        self.authorize(browser, "code")
        self.sign_in(browser, "not the password")
        self.wait_for_text(browser, "password is wrong")
        self.sign_in(browser, self.user["password"])
        query, fragment = self.wait_until_back(browser)
        self.assertEqual((query["state"], fragment), ("st-1", {}))
        form = urllib.parse.urlencode({
            "grant_type": "authorization_code", "client_id": self.client["clientId"], "code": query["code"],
            "redirect_uri": self.callback, "resource": "https://api.applicationinsights.io",
            "client_secret": self.client["secret"]}).encode()
        address = f"{self.server.tls_url}/common/oauth2/token"
        with urllib.request.urlopen(address, form, context=self.context, timeout=30) as reply:
            body = json.load(reply)
        self.assertEqual(self.read(body["access_token"]), [[7]])
        return browser

    def test_code_flow_and_the_session_after_it(self):
        browser = self.code_flow(scripts=True)
        browser.get(self.server.tls_url + "/common/oauth2/logout")
        [session] = [cookie for cookie in browser.get_cookies() if "session" in cookie["name"]]
        self.assertEqual((session["name"], session["httpOnly"], session["secure"], session["sameSite"]),
                         ("__Host-hindsight-session", True, True, "Lax"))
        self.assertNotIn(session["name"], browser.execute_script("return document.cookie"))
        self.authorize(browser, "code")
        self.assertIn("code", self.wait_until_back(browser)[0], "signed in already: nothing is asked")

    def test_code_flow_without_scripts(self):
        self.code_flow(scripts=False)

    def test_implicit_flow(self):
        browser = self.browser()
        self.authorize(browser, "token")
        self.sign_in(browser, self.user["password"])
        query, fragment = self.wait_until_back(browser)
        self.assertEqual((query, fragment["token_type"], fragment["expires_in"], fragment["state"]), ({}, "Bearer", "3600", "st-1"))
        self.assertIn("session_state", fragment)
        self.assertEqual(self.read(fragment["access_token"]), [[7]])

    def test_signing_out_ends_the_session(self):
        from selenium.webdriver.common.by import By
        browser = self.browser()
        self.authorize(browser, "code")
        self.sign_in(browser, self.user["password"])
        self.wait_until_back(browser)
        browser.get(self.server.tls_url + "/common/oauth2/logout")
        browser.find_element(By.TAG_NAME, "button").click()
        self.wait_for_text(browser, "You are signed out")
        self.authorize(browser, "code")
        self.wait_for_text(browser, "password")


if __name__ == "__main__":
    unittest.main()
