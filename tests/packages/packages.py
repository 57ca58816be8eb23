"""The packages of the program under test, made once; clean roots; and a program that is started from an installation."""
import functools
import json
import os
import pathlib
import platform
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
import urllib.request

from server import PROGRAM, TARGET

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"
IS_ROOT = os.geteuid() == 0


@functools.cache
def built():
    """The folder with all packages."""
    folder = TARGET / "packages-test"
    subprocess.check_call(["python3", PACKAGING / "build.py", PROGRAM, folder], stdout=subprocess.DEVNULL)
    return folder


def needs(*programs):
    """Skips a test where a program is missing, and says which."""
    missing = [program for program in programs if shutil.which(program) is None]
    return unittest.skipIf(missing, f"not installed: {', '.join(missing)}")


needs_root = unittest.skipUnless(IS_ROOT, "a clean root needs the rights of root")


@unittest.skipUnless((platform.system(), platform.machine()) == ("Linux", "x86_64"), "packages are made on Linux with x86_64 only")
class Package(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="hindsight-package-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def package(self, pattern):
        [path] = built().glob(pattern)
        return path

    def check_it_serves(self, command, data, **options):
        """Starts a program, which prints a line of the address, asks it, and ends it with SIGTERM."""
        log = self.folder / "log"
        with open(log, "wb") as out:
            process = subprocess.Popen(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL, **options)
        self.addCleanup(process.kill)
        info = pathlib.Path(data) / "server.json"
        deadline = time.monotonic() + 90
        url = None
        while url is None:
            self.assertIsNone(process.poll(), log.read_text())
            self.assertLess(time.monotonic(), deadline, log.read_text())
            time.sleep(0.1)
            try:
                url = json.loads(info.read_text())["url"].rstrip("/")
                with urllib.request.urlopen(url.replace("0.0.0.0", "127.0.0.1") + "/ready", timeout=5) as reply:
                    self.assertEqual(reply.status, 200)
            except (OSError, ValueError, KeyError):
                url = None
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=60), 0, log.read_text())
        self.assertIn("connection", log.read_text().lower())


def libraries(program):
    """The files that a program needs to run."""
    said = subprocess.check_output(["ldd", program], text=True)
    return re.findall(r"(/\S+) \(0x", said)


def put(root, *programs):
    """Puts programs of this machine and their libraries into a root, and nothing else of it."""
    for program in programs:
        for path in (program, *libraries(program)):
            target = root / path.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists():
                shutil.copy2(os.path.realpath(path), target)
