"""Pictures of every screen, light and dark, wide and narrow, over the demo: `make portal-pictures`. They are for looking at, in
`target/portal/pictures`. With `--documentation` those that the documentation shows are made again, in docs/pictures."""
import pathlib
import sys
import urllib.parse

from portal import Journey
from test_shell import SCREENS

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "target" / "portal" / "pictures"
DOCUMENTED = ROOT / "docs" / "pictures"
CHART = "requests\n| summarize total = sum(itemCount), failed = sumif(itemCount, success == false) by bin(timestamp, 30m)\n| render timechart"


class Pictures(Journey):
    def runTest(self):
        self.sign_in()
        failed = self.server.query(*self.demo, "requests | where success == false | top 1 by timestamp desc | project operation_Id")
        operation = "demo/operation?id=" + failed[0]["operation_Id"]
        logs = "demo/logs?q=" + urllib.parse.quote(CHART)
        if "--documentation" in sys.argv:
            DOCUMENTED.mkdir(exist_ok=True)
            for name, address in (("logs", logs), ("operation", operation), ("map", "demo/map")):
                self.picture(DOCUMENTED / f"{name}.png", address, "light", 1280)
            return
        FOLDER.mkdir(parents=True, exist_ok=True)
        for address in [*SCREENS, operation, logs]:
            name = address.split("?")[0].replace("/", "-") + ("-of" if "?" in address else "")
            for scheme, width in (("light", 1280), ("dark", 1280), ("light", 320)):
                self.picture(FOLDER / f"{name}-{scheme}-{width}.png", address, scheme, width)
        print(f"the pictures are in {FOLDER}")

    def picture(self, path, address, scheme, width):
        self.page.set_viewport_size({"width": width, "height": 800})
        self.page.emulate_media(color_scheme=scheme)
        self.open(address)
        self.page.wait_for_timeout(2500)
        self.page.screenshot(path=path)


if __name__ == "__main__":
    import unittest
    ended = unittest.TextTestRunner().run(unittest.TestSuite([Pictures()]))
    sys.exit(0 if ended.wasSuccessful() else 1)
