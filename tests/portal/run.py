#!/usr/bin/env python3
"""Runs the portal's journeys in a real Chromium. Playwright and axe-core are installed into `target/portal`.

usage: run.py [unittest arguments]
       run.py pictures [--documentation]
       run.py times

Exit code 77 means that they were skipped: there is no Chromium, or no npm.
"""
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import venv

HERE = pathlib.Path(__file__).resolve().parent
SDK = HERE.parent / "sdk"
FOLDER = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", HERE.parents[1] / "target")) / "portal"


def stamped():
    """`stamped` of the SDK tests, whose module has the name of this one."""
    of = importlib.util.spec_from_file_location("sdk_run", SDK / "run.py")
    module = importlib.util.module_from_spec(of)
    of.loader.exec_module(module)
    return module.stamped


def main():
    for program in ("chromium", "npm"):
        if shutil.which(program) is None:
            print(f"{program} is not installed: the portal's journeys are NOT tested", flush=True)
            sys.exit(77)
    install = stamped()
    folder, modules = FOLDER / "venv", FOLDER / "node"
    python = folder / "bin" / "python"

    def packages():
        print("installing Playwright …", flush=True)
        venv.create(folder, with_pip=True)
        subprocess.check_call([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", HERE / "requirements.txt"])

    def axe():
        shutil.copy(HERE / "package.json", modules)
        subprocess.check_call(["npm", "install", "--silent", "--no-audit", "--no-fund", "--no-update-notifier"], cwd=modules)

    install(folder, HERE / "requirements.txt", packages)
    install(modules, HERE / "package.json", axe)
    os.environ["HINDSIGHT_AXE"] = str(modules / "node_modules" / "axe-core" / "axe.min.js")
    os.environ["PYTHONPATH"] = str(SDK)
    if sys.argv[1:2] in (["pictures"], ["times"]):
        sys.exit(subprocess.call([python, HERE / f"{sys.argv[1]}.py", *sys.argv[2:]], cwd=HERE))
    arguments = sys.argv[1:] or ["discover", "-v", "-s", str(HERE)]
    sys.exit(subprocess.call([python, "-m", "unittest", *arguments], cwd=HERE))


if __name__ == "__main__":
    main()
