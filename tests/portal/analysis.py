"""What the journeys of Logs and Operation share."""
import datetime
import urllib.parse

from portal import Journey


class Analysis(Journey):
    """A page of an application, of a person who is signed in."""

    def visit(self, path, app="demo"):
        if self.page.url == "about:blank":
            self.page.goto(self.server.command("portal")["url"])
            self.page.wait_for_selector("#content h1", state="attached")
        return self.open(f"{app}/{path}")

    def logs(self, query):
        """The path of Logs with a query, which runs when it is opened."""
        return "logs?q=" + urllib.parse.quote(query)


def operation_of(key, begin, number):
    """The item of this number of the operation `op`: a tree of calls, ten below each, and the last items without a parent."""
    parent = "gone" if number > 9_990 else f"n{(number - 1) // 10}" if number else "op"
    call = {"ver": 2, "id": f"n{number}", "name": f"call {number}", "duration": "00:00:00.005", "success": number % 1000 != 999, "type": "HTTP",
            "target": "there"}
    return {"name": "x", "time": (begin + datetime.timedelta(milliseconds=number)).isoformat(), "iKey": key,
            "tags": {"ai.operation.id": "op", "ai.operation.parentId": parent, "ai.cloud.role": f"role{number % 7}"},
            "data": {"baseType": "RemoteDependencyData", "baseData": call}}
