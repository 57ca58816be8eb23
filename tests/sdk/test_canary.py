"""Secrets go through everything, into right and wrong places, and are then looked for in everything that is written."""
import base64
import os
import pathlib
import unittest
import urllib.parse
from unittest import mock

import requests

from person import Form, Person
from server import Server

RESOURCE = "https://api.applicationinsights.io"
CALLBACK = "http://localhost:8400/cb"


class Canary(unittest.TestCase):
    def test_no_secret_is_written_anywhere(self):
        log_everything = mock.patch.dict(os.environ, HINDSIGHT_LOG_FILTER="debug,hindsight=trace")
        with log_everything, Server("--dev-tls", "--tls-listen", "127.0.0.1:0") as server:
            secrets, replies = self.use(server)
            metrics = requests.get(server.url + "/metrics", timeout=30).text
            server.stop()
            log = pathlib.Path(server.data).parent / (pathlib.Path(server.data).name + ".log")
            written = {"metrics": metrics.encode(), "log": log.read_bytes()}
            written.update({str(path): path.read_bytes() for path in pathlib.Path(server.data).rglob("*") if path.is_file()})
            written.update({f"reply {number}": text.encode() for number, text in enumerate(replies)})
            private = [path for path in pathlib.Path(server.data).rglob("*") if path.is_file() and b"PRIVATE KEY" in path.read_bytes()]
            self.assertEqual({path.name for path in private} - {"catalogue.db-wal"}, {"catalogue.db", "ca-key.pem"})
            for path in private:
                self.assertEqual(path.stat().st_mode & 0o777, 0o600, f"{path} holds a private key")
            audit = server.command("audit")
            written["audit"] = repr(audit).encode()
            log.unlink()
        self.assertGreater(len(secrets), 12)
        self.assertIn(b"request", written["log"], "there is a log to look into")
        for name, secret in secrets.items():
            spellings = {secret, urllib.parse.quote(secret, safe=""), base64.b64encode(f"{secret}:".encode()).decode()}
            for place, text in written.items():
                for spelling in spellings:
                    self.assertNotIn(spelling.encode(), text, f"{name} in {place}")

    def use(self, server):
        """Sends every kind of secret; answers them, and the replies that must not repeat them."""
        url, ca = server.tls_url, server.authority
        app, key = server.new_app("shop")
        user = server.command("user", "create", "ada", "--app", "shop")
        client = server.command("client", "create", "reports", "--public", "--redirect", CALLBACK, "--app", "shop")
        secrets = {"key": key, "password": user["password"], "client secret": client["secret"]}
        replies = []
        query = f"/v1/apps/{app['appId']}/query"

        def get(path, **options):
            reply = requests.get(url + path, verify=ca, timeout=30, **options)
            replies.append(reply.text)
            return reply

        def post(path, form, **options):
            return requests.post(url + path, data=form, verify=ca, timeout=30, allow_redirects=False, **options)

        def refused(path, form, **options):
            replies.append(post(path, form, **options).text)

        # The key in its three places, and where it does not belong.
        for options in ({"headers": {"X-Api-Key": key}}, {"auth": (key, "")}, {"auth": ("", key)}):
            assert get(query, params={"query": "print 1"}, **options).status_code == 200
        assert get(query, params={"query": "print 1", "api_key": key}).status_code == 200
        wrong = key[:-8] + "AAAAAAAA"
        secrets["mistyped key"] = wrong
        for options in ({"headers": {"X-Api-Key": wrong}}, {"auth": (wrong, "x")}, {"headers": {"Authorization": f"Bearer {key}"}}):
            get(query, params={"query": "print 1"}, **options)
        get(query, params={"API_KEY": key, "key": key, "access_token": key})
        get(f"/v1/apps/{key}/query", params={"query": "print 1"}, headers={"X-Api-Key": key})
        requests.post(server.url + "/v2/track", data=b"not json", headers={"X-Api-Key": key}, timeout=30)

        # Passwords and secrets, right and wrong.
        tenant = "common"
        person = Person(url, ca, "ada", user["password"])
        usual = {"client_id": client["clientId"], "redirect_uri": CALLBACK, "resource": RESOURCE}
        answer = person.authorize(f"/{tenant}/oauth2/authorize", response_type="code", state="a-state", **usual)
        secrets["code"] = answer["code"]
        secrets["session"] = next(cookie.value for cookie in person.session.cookies if "session" in cookie.name)
        secrets["form token"] = next(cookie.value for cookie in person.session.cookies if "form" in cookie.name)
        token = f"/{tenant}/oauth2/token"
        form = {**usual, "grant_type": "authorization_code", "code": answer["code"], "client_secret": client["secret"]}
        first = post(token, form).json()
        refused(token, form)
        secrets.update({name: first[name] for name in ("access_token", "refresh_token", "id_token")})
        second = post(token, {**usual, "grant_type": "refresh_token", "refresh_token": first["refresh_token"],
                              "client_secret": client["secret"]})
        assert second.json()["error"] == "invalid_grant", "the code was used twice, so its family is revoked"
        mistyped = client["secret"][:-1] + "~"
        secrets["mistyped secret"] = mistyped
        refused(token, {**usual, "grant_type": "client_credentials", "client_secret": mistyped})
        refused(token, {"grant_type": "client_credentials", "resource": RESOURCE}, auth=(client["clientId"], mistyped))
        refused(token + "?" + urllib.parse.urlencode({"client_secret": client["secret"], "password": user["password"]}), {})
        get(query, params={"query": "print 1"}, headers={"Authorization": "Bearer " + first["access_token"]})
        get(query, params={"query": "print 1"}, headers={"Authorization": "Bearer " + first["access_token"][:-3]})
        good = post(token, {**usual, "grant_type": "client_credentials", "client_secret": client["secret"]}).json()
        secrets["program's token"] = good["access_token"]
        assert get(query, params={"query": "print 1"}, headers={"Authorization": "Bearer " + good["access_token"]}).status_code == 200

        # A password typed as the name, and a device.
        page = person.get(f"/{tenant}/oauth2/authorize", response_type="code", prompt="login", **usual)
        assert Form(page.text).fields["form_token"] == secrets["form token"]
        person.submit(page, username=user["password"], password="x")
        device = post(f"/{tenant}/oauth2/devicecode", usual).json()
        secrets["device code"] = device["device_code"]
        person.approve_device(device["user_code"])
        reply = post(token, {**usual, "grant_type": "device_code", "code": device["device_code"]}).json()
        secrets["device's token"], secrets["device's refresh token"] = reply["access_token"], reply["refresh_token"]
        implicit = person.authorize(f"/{tenant}/oauth2/authorize", response_type="token", **usual)
        secrets["implicit token"] = implicit["access_token"]
        return secrets, replies


if __name__ == "__main__":
    unittest.main()
