"""The helpers in `packages/` by their own tests, and the examples of docs/testing.md as they stand there."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from server import PROGRAM, ROOT

PACKAGES = ROOT / "packages"
PYTEST = PACKAGES / "pytest-hindsight"
NODE = PACKAGES / "node-hindsight-test"
MODULES = os.environ.get("HINDSIGHT_NODE_MODULES")
# The Python SDK would report about itself to the cloud.
ENVIRONMENT = {**os.environ, "HINDSIGHT_PROGRAM": str(PROGRAM), "PYTHONPATH": str(PYTEST),
               "APPLICATIONINSIGHTS_STATSBEAT_DISABLED_ALL": "true", "APPLICATION_INSIGHTS_NO_STATSBEAT": "1"}


def examples(folder, ending):
    """Writes the files of docs/testing.md with this ending into a folder; answers their names."""
    text = (ROOT / "docs" / "testing.md").read_text()
    files = dict(re.findall(r"^```\w+ file=(\S+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    names = [name for name in files if name.endswith(ending)]
    for name in names:
        (folder / name).write_text(files[name])
    return names


class Packages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="hindsight-packages-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_tests(self, command, cwd):
        """Runs a test runner; answers what it printed."""
        run = subprocess.run(command, cwd=cwd, env=ENVIRONMENT, timeout=300, text=True, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(run.returncode, 0, run.stdout)
        return run.stdout

    def pytest(self, folder, *arguments):
        return self.run_tests([sys.executable, "-m", "pytest", "-p", "pytest_hindsight.plugin", "-p", "no:cacheprovider", *arguments], folder)

    def test_pytest(self):
        self.assertRegex(self.pytest(PYTEST / "tests"), r"\b2[0-9] passed")

    def test_pytest_example(self):
        self.assertEqual(examples(self.folder, ".py"), ["shop.py", "test_shop.py"])
        self.assertIn("2 passed", self.pytest(self.folder, "--hindsight-program", str(PROGRAM)))

    @unittest.skipUnless(shutil.which("node"), "node is not installed")
    def test_node(self):
        self.assertRegex(self.run_tests(["node", "--test"], NODE), r"(?s)pass 8\b.*fail 0\b")

    @unittest.skipUnless(MODULES, "npm is not installed")
    def test_node_example(self):
        self.assertEqual(examples(self.folder, ".mjs"), ["shop.mjs", "shop.test.mjs"])
        modules = self.folder / "node_modules"
        modules.mkdir()
        (modules / "hindsight-test").symlink_to(NODE)
        for module in pathlib.Path(MODULES).iterdir():
            (modules / module.name).symlink_to(module)
        self.assertRegex(self.run_tests(["node", "--test"], self.folder), r"(?s)pass 2\b.*fail 0\b")


if __name__ == "__main__":
    unittest.main()
