"""`hindsight mcp` with the official client of the Model Context Protocol."""
import json
import re
import signal
import subprocess
import unittest
import urllib.error
import urllib.request

import shop_telemetry
from server import PROGRAM, Server

try:
    import anyio
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client
    from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client
except ImportError as error:
    raise unittest.SkipTest(f"the package mcp is not installed: {error}") from error


def talk(arguments, work):
    """Starts the server as an assistant does, and lets `work` use the session."""
    async def main():
        async with stdio_client(StdioServerParameters(command=str(PROGRAM), args=["mcp", *arguments])) as (read, write):
            async with ClientSession(read, write) as session:
                return await work(session, await session.initialize())
    return anyio.run(main)


class Assistants(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.server.__enter__()
        cls.addClassCleanup(cls.server.__exit__)
        cls.app, cls.key = cls.server.new_app("shop")
        cls.server.track(shop_telemetry.envelopes(cls.app["instrumentationKey"]))
        cls.arguments = ["--app", "shop", "--data", cls.server.data]

    def call(self, tool, arguments, **options):
        async def work(session, _):
            return await session.call_tool(tool, arguments)
        return talk(options.get("server", self.arguments), work)

    def structured(self, result):
        """The structured content, which the text repeats."""
        value = result.model_dump(by_alias=True)
        self.assertFalse(value["isError"], value)
        self.assertEqual(json.loads(value["content"][0]["text"]), value["structuredContent"])
        return value["structuredContent"]

    def test_the_server_tells_what_it_has(self):
        async def work(session, initialized):
            return initialized.model_dump(by_alias=True), (await session.list_tools()).model_dump(by_alias=True), await session.send_ping()
        initialized, tools, _ = talk(self.arguments, work)
        self.assertEqual(initialized["serverInfo"]["name"], "hindsight")
        self.assertIn("never as instructions", initialized["instructions"])
        self.assertEqual({tool["name"] for tool in tools["tools"]}, {"list_applications", "schema", "query", "samples"})
        for tool in tools["tools"]:
            self.assertEqual((tool["inputSchema"]["type"], tool["annotations"]["readOnlyHint"]), ("object", True))

    def test_tools_answer(self):
        apps = self.structured(self.call("list_applications", {}))["applications"]
        self.assertIn({"name": "shop", "id": self.app["appId"]}, apps)
        [table] = self.structured(self.call("schema", {"table": "requests"}))["tables"]
        self.assertIn({"name": "duration", "type": "real"}, table["columns"])
        self.assertEqual(len(self.structured(self.call("schema", {}))["tables"]), 10)
        found = self.structured(self.call("query", {"query": "range x from 1 to 5 step 1", "max_rows": 2}))
        self.assertEqual(found, {"columns": [{"name": "x", "type": "long"}], "rows": [[1], [2]], "rowCount": 5, "truncated": True})
        rows = self.structured(self.call("samples", {"table": "requests", "count": 1}))["rows"]
        self.assertEqual((len(rows), rows[0]["itemType"]), (1, "request"))
        self.assertNotIn("", rows[0].values())

    def test_errors_help_an_assistant(self):
        for arguments, part in [
            ({"query": "requests | tak 3"}, "Did you mean 'take'?"),
            ({"query": "requests", "application": "nope"}, "the applications are"),
        ]:
            value = self.call("query", arguments).model_dump(by_alias=True)
            self.assertTrue(value["isError"])
            self.assertIn(part, value["content"][0]["text"])
        for tool, arguments in [("nope", {}), ("query", {}), ("query", {"query": "requests", "limit": 1}), ("samples", {"table": "requests", "count": 51})]:
            with self.assertRaises(Exception, msg=f"{tool} {arguments}"):
                self.call(tool, arguments)

    def test_a_server_elsewhere_and_a_folder_without_one(self):
        elsewhere = ["--url", self.server.url, "--key", self.key]
        count = self.structured(self.call("query", {"query": "requests | count"}, server=elsewhere))["rows"]
        with Server() as server:
            app, _ = server.new_app("alone")
            server.track(shop_telemetry.envelopes(app["instrumentationKey"]))
            server.stop()
            alone = ["--app", "alone", "--data", server.data]
            self.assertEqual(self.structured(self.call("query", {"query": "requests | count"}, server=alone))["rows"], count)
            server.start()

    def test_over_http(self):
        process = subprocess.Popen([PROGRAM, "mcp", *self.arguments, "--http", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True)
        try:
            lines = [process.stdout.readline() for _ in range(4)]
            url = re.search(r"http://\S+", lines[1])[0]
            token = re.search(r"Authorization: (Bearer \S+)", lines[2])[1]

            async def main():
                async with create_mcp_http_client(headers={"Authorization": token}) as client:
                    async with streamable_http_client(url, http_client=client) as (read, write, *_):
                        async with ClientSession(read, write) as session:
                            await session.initialize()
                            return await session.call_tool("query", {"query": "print answer = 42"})

            self.assertEqual(self.structured(anyio.run(main))["rows"], [[42]])
            for headers, status in [({}, 401), ({"Authorization": "Bearer wrong"}, 401), ({"Authorization": token, "Origin": "http://evil.example"}, 403)]:
                request = urllib.request.Request(url, b"{}", {"Content-Type": "application/json", **headers})
                with self.assertRaises(urllib.error.HTTPError) as refused:
                    urllib.request.urlopen(request)
                self.assertEqual(refused.exception.code, status)
                refused.exception.close()
        finally:
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(20), 0)
            process.stdout.close()
        out = subprocess.run([PROGRAM, "mcp", *self.arguments, "--http", "0.0.0.0:0"], capture_output=True, text=True, timeout=60)
        self.assertEqual(out.returncode, 1)
        self.assertIn("is not an address of this machine alone", out.stderr)

    def test_requests_run_beside_each_other_and_are_cancelled(self):
        slow = {"jsonrpc": "2.0", "id": "slow", "method": "tools/call", "params": {"name": "query", "arguments": {"query": "range x from 1 to 3000000000 step 1 | summarize sum(x * x % 7)"}}}
        quick = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "query", "arguments": {"query": "print 1"}}}
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "slow"}}
        process = subprocess.Popen([PROGRAM, "mcp", *self.arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for message in (slow, quick):
            process.stdin.write(json.dumps(message) + "\n")
        process.stdin.flush()
        self.assertEqual(json.loads(process.stdout.readline())["id"], 2)
        process.stdin.write(json.dumps(cancel) + "\nno json\n")
        process.stdin.flush()
        self.assertEqual(json.loads(process.stdout.readline())["error"]["code"], -32700)
        process.stdin.close()
        self.assertEqual((process.wait(20), process.stdout.read()), (0, ""))
        process.stdout.close()


if __name__ == "__main__":
    unittest.main()
