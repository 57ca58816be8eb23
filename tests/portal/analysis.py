"""What the journeys of Logs and Operation share."""
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
