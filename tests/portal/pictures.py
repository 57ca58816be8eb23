"""Pictures of every screen, light and dark, wide and narrow, over the demo: `make portal-pictures`. They are for looking at, in
`target/portal/pictures`. With `--documentation` those that the documentation shows are made again, in docs/pictures; `--only=TEXT` makes
those of the addresses with this text."""
import pathlib
import re
import sys
import urllib.parse

from portal import Journey
from test_shell import SCREENS

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "target" / "portal" / "pictures"
DOCUMENTED = ROOT / "docs" / "pictures"
CHART = "requests\n| summarize total = sum(itemCount), failed = sumif(itemCount, success == false) by bin(timestamp, 30m)\n| render timechart"


class Pictures(Journey):
    #: Live has something to show.
    MOVES = True

    def runTest(self):
        self.sign_in()
        failed = self.server.query(*self.demo, "requests | where success == false | top 1 by timestamp desc | project operation_Id")
        operation = "demo/operation?id=" + failed[0]["operation_Id"]
        logs = "demo/logs?q=" + urllib.parse.quote(CHART)
        if "--documentation" in sys.argv:
            DOCUMENTED.mkdir(exist_ok=True)
            for name, address in (("logs", logs), ("operation", operation), ("map", "demo/map"), ("workbook", "demo/workbooks?sample=requests")):
                self.picture(DOCUMENTED / f"{name}.png", address, "light", 1280)
            return
        FOLDER.mkdir(parents=True, exist_ok=True)
        only = next((argument.removeprefix("--only=") for argument in sys.argv if argument.startswith("--only=")), "")
        of_nothing = [f"default/{screen}" for screen in ("overview", "failures", "live", "map", "logs")]
        for address in [*SCREENS, "demo/workbooks?sample=failures", "demo/workbooks?sample=usage", operation, logs, *of_nothing]:
            if only not in address:
                continue
            name = re.sub(r"[^a-z]+", "-", re.sub(r"(id|q)=.*", r"\1", address)).strip("-")
            for scheme, width, size in (("light", 1280, 100), ("dark", 1280, 100), ("light", 320, 100), ("light", 1280, 200)):
                self.picture(FOLDER / f"{name}-{scheme}-{width}{'-large' if size > 100 else ''}.png", address, scheme, width, size, whole=True)
        print(f"the pictures are in {FOLDER}")

    def picture(self, path, address, scheme, width, size=100, whole=False):
        """`whole`: also what is below the window; a picture of that forgets the size of text."""
        self.page.set_viewport_size({"width": width, "height": 800})
        self.page.emulate_media(color_scheme=scheme)
        self.set_text_size(self.page, size)
        self.open(address)
        self.page.wait_for_timeout(1500)
        self.settled()
        self.page.wait_for_timeout(1500)
        self.page.screenshot(path=path, full_page=whole and size == 100)


if __name__ == "__main__":
    import unittest
    ended = unittest.TextTestRunner().run(unittest.TestSuite([Pictures()]))
    sys.exit(0 if ended.wasSuccessful() else 1)
