"""The wheel in a virtual environment, and the npm packages in a prefix of their own; both without a registry."""
import subprocess
import unittest
import venv

from packages import Package, needs


class Wheel(Package):
    def test_pip_installs_the_program(self):
        environment = self.folder / "venv"
        venv.create(environment, with_pip=True)
        pip = [environment / "bin" / "python", "-m", "pip", "--disable-pip-version-check"]
        subprocess.check_call([*pip, "install", "--quiet", "--no-index", self.package("*.whl")])
        shown = subprocess.check_output([*pip, "show", "--files", "hindsight-server"], text=True)
        self.assertIn("License", shown)
        self.assertIn("bin/hindsight", shown)
        program = environment / "bin" / "hindsight"
        data = self.folder / "data"
        self.check_it_serves([program, "serve", "--data", data, "--listen", "127.0.0.1:0"], data)
        subprocess.check_call([*pip, "uninstall", "--quiet", "--yes", "hindsight-server"])
        self.assertFalse(program.exists())


class Npm(Package):
    def install(self, *packages):
        subprocess.check_call(["npm", "install", "--silent", "--offline", "--no-audit", "--no-fund", "--prefix", self.folder, *packages])

    @needs("npm", "node")
    def test_npx_runs_the_program_of_the_platform(self):
        self.install(self.package("hindsight-server-linux-x64-*.tgz"), self.package("hindsight-server-[0-9]*.tgz"))
        said = subprocess.check_output(["npx", "--no-install", "hindsight-server", "--version"], text=True, cwd=self.folder)
        self.assertRegex(said, r"^hindsight \d")
        failed = subprocess.run(["npx", "--no-install", "hindsight", "no-such-command"], capture_output=True, cwd=self.folder, check=False)
        self.assertEqual(failed.returncode, 2)
        data = self.folder / "data"
        launcher = self.folder / "node_modules" / ".bin" / "hindsight"
        self.check_it_serves([launcher, "serve", "--data", data, "--listen", "127.0.0.1:0"], data)

    @needs("npm", "node")
    def test_a_platform_without_a_program_is_named(self):
        self.install("--omit=optional", self.package("hindsight-server-[0-9]*.tgz"))
        failed = subprocess.run([self.folder / "node_modules" / ".bin" / "hindsight"], capture_output=True, text=True, check=False)
        self.assertEqual(failed.returncode, 1)
        self.assertIn("hindsight-server-linux-x64 is not installed", failed.stderr)


if __name__ == "__main__":
    unittest.main()
