#!/usr/bin/env python3
"""Runs the portal's journeys in a real Chromium, two modules at once. Playwright and axe-core are installed into `target/portal`.

usage: run.py [unittest arguments]
       run.py pictures [--documentation]
       run.py times

Exit code 77 means that they were skipped: there is no Chromium, or no npm.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import venv

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from modules import run_all, stamped  # noqa: E402 (it lies beside this folder)

SDK = HERE.parent / "sdk"
FOLDER = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", HERE.parents[1] / "target")) / "portal"
LONGEST = ["test_shell", "test_logs"]


def main():
    for program in ("chromium", "npm"):
        if shutil.which(program) is None:
            print(f"{program} is not installed: the portal's journeys are NOT tested", flush=True)
            sys.exit(77)
    folder, modules = FOLDER / "venv", FOLDER / "node"
    python = folder / "bin" / "python"

    def packages():
        print("installing Playwright …", flush=True)
        venv.create(folder, with_pip=True)
        subprocess.check_call([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", HERE / "requirements.txt"])

    def axe():
        shutil.copy(HERE / "package.json", modules)
        subprocess.check_call(["npm", "install", "--silent", "--no-audit", "--no-fund", "--no-update-notifier"], cwd=modules)

    stamped(folder, HERE / "requirements.txt", packages)
    stamped(modules, HERE / "package.json", axe)
    os.environ["HINDSIGHT_AXE"] = str(modules / "node_modules" / "axe-core" / "axe.min.js")
    os.environ["PYTHONPATH"] = str(SDK)
    if sys.argv[1:2] in (["pictures"], ["times"]):
        sys.exit(subprocess.call([python, HERE / f"{sys.argv[1]}.py", *sys.argv[2:]], cwd=HERE))
    if sys.argv[1:]:
        sys.exit(subprocess.call([python, "-m", "unittest", *sys.argv[1:]], cwd=HERE))
    sys.exit(run_all(python, HERE, LONGEST))


if __name__ == "__main__":
    main()
