"""Real clients sign in at the embedded issuer over TLS and ask with the tokens that they got."""
import contextlib
import datetime
import io
import json
import os
import pathlib
import runpy
import unittest
from unittest import mock

from person import Person
from server import ROOT, Server

RESOURCE = "https://api.applicationinsights.io"
CALLBACK = "http://localhost:8400/cb"


class Identity(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--dev-tls", "--tls-listen", "127.0.0.1:0")
        cls.server.start()
        cls.addClassCleanup(cls.server.__exit__)
        cls.app, _ = cls.server.new_app("shop")
        cls.other, _ = cls.server.new_app("other")
        cls.user = cls.server.command("user", "create", "ada", "--app", "shop")
        cls.client = cls.server.command("client", "create", "reports", "--public", "--redirect", CALLBACK, "--app", "shop")
        cls.id, cls.secret = cls.client["clientId"], cls.client["secret"]
        cls.url = cls.server.tls_url
        cls.enterClassContext(mock.patch.dict(os.environ, REQUESTS_CA_BUNDLE=cls.server.authority))
        configuration = cls.person(cls).get("/common/v2.0/.well-known/openid-configuration").json()
        cls.tenant = configuration["issuer"].split("/")[-2]
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        item = {"time": now, "iKey": cls.app["instrumentationKey"],
                "data": {"baseType": "EventData", "baseData": {"name": "sold"}}}
        status, verdict = cls.server.track([item])
        assert status == 200, verdict

    def person(self):
        return Person(self.url, self.server.authority, "ada", self.user["password"])

    def code(self):
        return self.person().authorize(f"/{self.tenant}/oauth2/authorize", client_id=self.id, response_type="code",
                                       redirect_uri=CALLBACK, resource=RESOURCE)["code"]

    def read(self, token, app=None):
        """Asks with a token over TLS; status and body."""
        import requests
        app = (app or self.app)["appId"]
        reply = requests.get(f"{self.url}/v1/apps/{app}/query", params={"query": "customEvents | project name"},
                             headers={"Authorization": f"Bearer {token}"}, timeout=30)
        return reply.status_code, reply.json()

    def check(self, token):
        status, body = self.read(token)
        self.assertEqual((status, body["tables"][0]["rows"]), (200, [["sold"]]))
        self.assertEqual(self.read(token, self.other)[0], 403)

    def test_adal_in_all_its_flows(self):
        import adal
        context = adal.AuthenticationContext(f"{self.url}/{self.tenant}", validate_authority=False)
        self.check(context.acquire_token_with_client_credentials(RESOURCE, self.id, self.secret)["accessToken"])
        reply = context.acquire_token_with_authorization_code(self.code(), CALLBACK, RESOURCE, self.id, self.secret)
        self.assertEqual((reply["userId"], reply["tokenType"]), ("ada", "bearer"))
        self.check(reply["accessToken"])
        again = context.acquire_token_with_refresh_token(reply["refreshToken"], self.id, RESOURCE, self.secret)
        self.check(again["accessToken"])
        self.assertNotEqual(again["refreshToken"], reply["refreshToken"])
        device = context.acquire_user_code(RESOURCE, self.id)
        self.person().approve_device(device["user_code"])
        self.check(context.acquire_token_with_device_code(RESOURCE, device, self.id)["accessToken"])

    def test_msal_programs_and_people(self):
        import msal
        authority = f"{self.url}/{self.tenant}"
        program = msal.ConfidentialClientApplication(self.id, authority=authority, client_credential=self.secret,
                                                     instance_discovery=False)
        self.check(program.acquire_token_for_client([RESOURCE + "/.default"])["access_token"])
        flow = program.initiate_auth_code_flow([RESOURCE + "/Data.Read"], redirect_uri=CALLBACK)
        uri = flow["auth_uri"].removeprefix(self.url)
        reply = program.acquire_token_by_auth_code_flow(flow, self.person().authorize(uri))
        self.assertEqual(reply["id_token_claims"]["preferred_username"], "ada")
        self.check(reply["access_token"])
        [account] = program.get_accounts()
        again = program.acquire_token_silent_with_error([RESOURCE + "/Data.Read"], account, force_refresh=True)
        self.check(again["access_token"])
        public = msal.PublicClientApplication(self.id, authority=authority, instance_discovery=False)
        flow = public.initiate_device_flow([RESOURCE + "/Data.Read"])
        self.person().approve_device(flow["user_code"])
        self.check(public.acquire_token_by_device_flow(flow)["access_token"])

    def test_azure_identity_with_the_data_plane_sdk(self):
        from azure.applicationinsights import ApplicationInsightsDataClient
        from azure.applicationinsights.models import QueryBody
        from azure.identity import ClientSecretCredential
        from msrest.authentication import BasicTokenAuthentication
        credential = ClientSecretCredential(self.tenant, self.id, self.secret, authority=self.url,
                                            disable_instance_discovery=True)
        token = credential.get_token(RESOURCE + "/.default").token
        client = ApplicationInsightsDataClient(BasicTokenAuthentication({"access_token": token}), base_url=self.url + "/v1")
        table = client.query.execute(self.app["appId"], QueryBody(query="customEvents | project name")).tables[0]
        self.assertEqual(table.rows, [["sold"]])
        self.assertEqual(client.events.get_by_type(self.app["appId"], "customEvents").value[0].custom_event.name, "sold")

    def test_azure_identity_with_the_query_sdk(self):
        from azure.identity import ClientSecretCredential
        from azure.monitor.query import LogsQueryClient
        credential = ClientSecretCredential(self.tenant, self.id, self.secret, authority=self.url,
                                            disable_instance_discovery=True)
        client = LogsQueryClient(credential, endpoint=self.url)
        reply = client.query_workspace(self.app["appId"], "AppEvents | project Name", timespan=datetime.timedelta(hours=1))
        self.assertEqual([list(row) for row in reply.tables[0].rows], [["sold"]])

    def test_azure_identity_with_a_device(self):
        from azure.identity import DeviceCodeCredential
        credential = DeviceCodeCredential(
            self.id, tenant_id=self.tenant, authority=self.url, disable_instance_discovery=True,
            prompt_callback=lambda url, code, _: self.person().approve_device(code))
        self.check(credential.get_token(RESOURCE + "/.default").token)

    def test_the_shared_script(self):
        shared = pathlib.Path(os.environ.get("HINDSIGHT_SHARED", ROOT.parent / "shared"))
        script = shared / "clients" / "auth_adal_msal.py"
        if not script.exists():
            self.skipTest(f"{script} is not here")
        import adal
        # The script shows its device code to nobody: the person who would read it is this wrapper.
        real = adal.AuthenticationContext.acquire_user_code

        def shown(context, *arguments, **named):
            reply = real(context, *arguments, **named)
            self.person().approve_device(reply["user_code"])
            return reply

        environment = {"AUTH_URL": self.url, "AUTH_TENANT": self.tenant, "AUTH_CLIENT": self.id,
                       "AUTH_SECRET": self.secret, "AUTH_CODE": self.code()}
        output = io.StringIO()
        with mock.patch.dict(os.environ, environment), contextlib.redirect_stdout(output), \
                mock.patch.object(adal.AuthenticationContext, "acquire_user_code", shown):
            runpy.run_path(str(script), run_name="__main__")
        self.assertTrue(output.getvalue().rstrip().endswith("OK"), output.getvalue())

    def test_a_deleted_client_is_refused_within_a_second(self):
        import time
        import adal
        client = self.server.command("client", "create", "short-lived", "--app", "shop")
        context = adal.AuthenticationContext(f"{self.url}/{self.tenant}", validate_authority=False)
        token = context.acquire_token_with_client_credentials(RESOURCE, client["clientId"], client["secret"])["accessToken"]
        self.check(token)
        self.server.run("client", "delete", client["clientId"])
        time.sleep(0.9)
        self.assertEqual(self.read(token)[0], 401)

    def test_the_audit_tells_who_did_what(self):
        self.code()
        notes = self.server.command("audit")
        actions = {(note["actor"], note["action"]) for note in notes}
        self.assertLessEqual({("ada", "sign-in"), ("command line", "client created"), ("command line", "user created"),
                              ("command line", "role given"), ("command line", "key created")}, actions)
        self.assertNotIn(self.user["password"], json.dumps(notes))


if __name__ == "__main__":
    unittest.main()
