"""What the Azure CLI's extensions do with `/metadata/endpoints`.

`az monitor app-insights` takes `appInsightsResourceId` as the resource of its token and, with `/v1`, as the address of the data-plane
SDK that it carries; `az monitor log-analytics query` posts to a workspace below `logAnalyticsResourceId`. The extensions come from no
package registry, so that the SDK and the requests stand for them here.
"""
import json
import os
import unittest
from unittest import mock

import requests

import shop_telemetry
from server import Server


class CloudEndpoints(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--dev-tls")
        cls.server.start()
        cls.addClassCleanup(cls.server.__exit__)
        cls.app, _ = cls.server.new_app("shop")
        items = shop_telemetry.envelopes(cls.app["instrumentationKey"])
        status, verdict = cls.server.track(items)
        assert (status, verdict["itemsAccepted"]) == (200, len(items)), verdict
        cls.client = cls.server.command("client", "create", "reports", "--app", "shop")
        trusting = mock.patch.dict(os.environ, REQUESTS_CA_BUNDLE=cls.server.authority)
        trusting.start()
        cls.addClassCleanup(trusting.stop)
        cls.endpoints = requests.get(f"{cls.server.tls_url}/metadata/endpoints?api-version=2022-09-01", timeout=30).json()

    def token(self, resource):
        import msal
        login = self.endpoints["authentication"]["loginEndpoint"]
        tenant = requests.get(f"{login}/common/v2.0/.well-known/openid-configuration", timeout=30).json()["issuer"].split("/")[-2]
        client = msal.ConfidentialClientApplication(
            self.client["clientId"], client_credential=self.client["secret"], authority=f"{login}/{tenant}",
            instance_discovery=False)
        reply = client.acquire_token_for_client([f"{resource}/.default"])
        self.assertIn("access_token", reply, reply)
        return reply["access_token"]

    def test_the_addresses_are_those_of_the_request(self):
        for url in (self.server.tls_url, self.server.tls_url.replace("localhost", "127.0.0.1")):
            endpoints = requests.get(f"{url}/metadata/endpoints", timeout=30).json()
            for name in ("resourceManager", "appInsightsResourceId", "logAnalyticsResourceId"):
                self.assertEqual(endpoints[name], url, name)
            self.assertEqual(endpoints["authentication"]["loginEndpoint"], url)
        # A request without TLS is sent to where the issuer has it.
        self.assertEqual(requests.get(f"{self.server.url}/metadata/endpoints", timeout=30).json(), self.endpoints)

    def test_application_insights(self):
        from azure.applicationinsights import ApplicationInsightsDataClient
        from azure.applicationinsights.models import QueryBody
        from msrest.authentication import BasicTokenAuthentication
        resource = self.endpoints["appInsightsResourceId"]
        credentials = BasicTokenAuthentication({"access_token": self.token(resource)})
        client = ApplicationInsightsDataClient(credentials, base_url=f"{resource}/v1")
        for app in (self.app["appId"], "shop"):
            query = QueryBody(query="requests | project id, name, resultCode | sort by id asc", timespan="PT3H")
            rows = client.query.execute(app, query).tables[0].rows
            self.assertEqual(rows, [["r1", "GET /a", "200"], ["r2", "GET /b", "500"], ["r3", "GET /a", "200"]])
            value = client.metrics.get(app, "requests/count", timespan="PT3H").value
            self.assertEqual(value.additional_properties["requests/count"], {"sum": 4})
            events = client.events.get_by_type(app, "requests", timespan="PT3H", filter="request/resultCode eq '500'").value
            self.assertEqual([event.request.name for event in events], ["GET /b"])

    def test_log_analytics(self):
        resource = self.endpoints["logAnalyticsResourceId"]
        headers = {"Authorization": f"Bearer {self.token(resource)}", "Content-Type": "application/json"}
        body = {"query": "AppRequests | project Id, ResultCode | sort by Id asc", "timespan": None, "workspaces": ["shop"]}
        reply = requests.post(f"{resource}/v1/workspaces/{self.app['appId']}/query", json.dumps(body), headers=headers, timeout=30)
        self.assertEqual(reply.json()["tables"][0]["rows"], [["r1", "200"], ["r2", "500"], ["r3", "200"]])


if __name__ == "__main__":
    unittest.main()
