#!/usr/bin/env python3
"""Runs the tests in this folder with real SDKs, installed from their registries into `target/sdk`.

usage: run.py [unittest arguments]
"""
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import venv

HERE = pathlib.Path(__file__).resolve().parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", HERE.parents[1] / "target"))
FOLDER = TARGET / "sdk"


def stamped(folder, source, install):
    """Runs `install` unless `folder` was made from this very `source`."""
    stamp = folder / ".installed-from"
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == digest:
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    install()
    stamp.write_text(digest)


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
    arguments = sys.argv[1:] or ["discover", "-v", "-s", str(HERE)]
    sys.exit(subprocess.call([program, "-m", "unittest", *arguments], cwd=HERE))


if __name__ == "__main__":
    main()
