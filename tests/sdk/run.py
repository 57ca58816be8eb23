#!/usr/bin/env python3
"""Runs the tests in this folder with real SDKs, installed from their registries into `target/sdk`: two modules at once, then those that
measure times, one after the other.

usage: run.py [unittest arguments]
       run.py --install
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

FOLDER = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", HERE.parents[1] / "target")) / "sdk"
# These expect an answer within seconds, or share a processor with a load of their own.
ALONE = ["test_fair", "test_hostage", "test_nodes"]
LONGEST = ["test_chaos", "test_same_answers", "test_documents", "test_operations", "test_objects", "test_terminal"]


def python():
    folder = FOLDER / "venv"
    program = folder / "bin" / "python"

    def install():
        print("installing the Python SDKs …", flush=True)
        venv.create(folder, with_pip=True)
        subprocess.check_call([program, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                               "-r", HERE / "requirements.txt"])

    stamped(folder, HERE / "requirements.txt", install)
    return program


def node(name, variable):
    """Installs the packages of the folder `name`, and names their folder in the environment variable."""
    folder = FOLDER / name
    if shutil.which("npm") is None or shutil.which("node") is None:
        print(f"npm is not installed: the tests with the Node.js packages of {name} are skipped", flush=True)
        return

    def install():
        print(f"installing the Node.js packages of {name} …", flush=True)
        shutil.copy(HERE / name / "package.json", folder)
        subprocess.check_call(["npm", "install", "--silent", "--no-audit", "--no-fund", "--no-update-notifier"], cwd=folder)

    stamped(folder, HERE / name / "package.json", install)
    os.environ[variable] = str(folder / "node_modules")


def main():
    program = python()
    node("node", "HINDSIGHT_NODE_MODULES")
    node("node_otlp", "HINDSIGHT_OTLP_MODULES")
    node("azurite", "HINDSIGHT_AZURITE_MODULES")
    if sys.argv[1:] == ["--install"]:
        return
    if sys.argv[1:]:
        sys.exit(subprocess.call([program, "-m", "unittest", *sys.argv[1:]], cwd=HERE))
    sys.exit(run_all(program, HERE, LONGEST, ALONE))


if __name__ == "__main__":
    main()
