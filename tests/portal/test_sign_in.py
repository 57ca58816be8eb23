"""Signing in by the printed link, the end of a session, and what a person without a session sees."""
import json
import unittest
import urllib.error
import urllib.request

from playwright.sync_api import expect

from portal import Journey


class SignIn(Journey):
    def test_01_the_printed_link_leads_to_data_and_is_good_once(self):
        link = self.server.command("portal")["url"]
        self.page.goto(link)
        self.page.wait_for_url("**/portal/demo/overview**")
        expect(self.page.get_by_role("heading", name="Requests", exact=True)).to_be_visible()
        expect(self.page.locator(".chart").first).to_be_visible()
        self.assertNotIn("#", self.page.url, "the secret stays in the address")
        self.check_accessibility(name="Overview")
        self.permit("status of 400")
        other = self.new_context().new_page()
        other.goto(link)
        expect(other.get_by_role("alert")).to_contain_text("was used")
        self.check_accessibility(other, "signed out")

    def test_a_reload_keeps_the_session_and_signing_out_ends_it(self):
        self.sign_in()
        self.page.reload()
        self.page.wait_for_selector("#content h1")
        self.page.get_by_role("button", name="Account and display").click()
        self.page.get_by_role("button", name="Sign out").click()
        expect(self.page.get_by_role("alert")).to_have_text("You are signed out.")
        self.page.goto(f"{self.server.url}/portal/demo/overview")
        expect(self.page.get_by_role("button", name="Sign in")).to_be_visible()

    def test_a_person_signs_in_with_a_password_and_sees_what_they_may(self):
        user = self.server.command("user", "create", "ada", "--app", "demo")
        self.page.goto(f"{self.server.url}/portal/demo/search")
        self.page.get_by_role("button", name="Sign in").click()
        self.page.get_by_label("Name").fill("ada")
        self.page.get_by_label("Password").fill(user["password"])
        self.page.get_by_role("button", name="Sign in").click()
        self.page.wait_for_url("**/portal/demo/search**")
        expect(self.page.get_by_role("heading", name="Search")).to_be_visible()
        self.assertEqual(self.page.locator("header select option").all_inner_texts(), ["demo"])
        self.open("demo/access")
        expect(self.page.get_by_role("heading", name="Query")).to_be_visible()
        self.assertEqual(self.page.get_by_role("heading", name="API keys").count(), 0)

    def test_12_a_session_that_ends_keeps_the_text(self):
        self.sign_in()
        self.open("demo/logs")
        editor = self.page.locator(".cm-content")
        editor.click()
        self.page.keyboard.type("requests | where name has 'half'")
        # The password of another person's hand ends sessions and tokens.
        password = self.server.command("user", "password", "local owner")["password"]
        self.permit("status of 401", "status of 400")
        self.page.keyboard.press("Shift+Enter")
        again = self.page.get_by_role("button", name="Sign in again")
        expect(again).to_be_visible()
        expect(editor).to_contain_text("half")
        self.check_accessibility(name="a session that has ended")
        again.click()
        self.page.get_by_role("button", name="Sign in").or_(self.page.get_by_label("Name")).first.wait_for()
        if self.page.get_by_label("Name").count() == 0:
            self.page.get_by_role("button", name="Sign in").click()
        self.page.get_by_label("Name").fill("local owner")
        self.page.get_by_label("Password").fill(password)
        self.page.get_by_role("button", name="Sign in").click()
        self.page.wait_for_url("**/portal/demo/logs**")
        expect(self.page.locator(".cm-content")).to_contain_text("half")


class Pages(Journey):
    ARGUMENTS = ()

    def get(self, path, accept):
        request = urllib.request.Request(self.server.url + path, headers={"Accept": accept})
        with urllib.request.urlopen(request, timeout=30) as reply:
            return reply.geturl(), reply.headers["content-type"]

    def test_browsers_find_the_portal_at_the_root_and_programs_get_json(self):
        self.assertEqual(self.get("/", "text/html"), (self.server.url + "/portal/", "text/html; charset=utf-8"))
        with self.assertRaises(urllib.error.HTTPError) as refused:
            self.get("/", "application/json")
        self.assertEqual(json.load(refused.exception)["error"]["code"], "PathNotFoundError")

    def test_the_reference_of_the_api_is_made_of_its_document(self):
        self.page.goto(self.server.url + "/docs")
        expect(self.page.get_by_role("heading", name="API reference")).to_be_visible()
        operation = self.page.locator("#queryPost")
        operation.locator("summary").click()
        expect(operation).to_contain_text("QueryRequest")
        self.page.get_by_label("Filter").fill("live metrics")
        expect(self.page.locator("#liveMetrics")).to_be_visible()
        self.assertEqual(self.page.locator("#queryPost").count(), 0)
        self.check_accessibility(name="docs")


if __name__ == "__main__":
    unittest.main()
