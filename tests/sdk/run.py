#!/usr/bin/env python3
"""Runs the tests in this folder with real SDKs, installed from their registries into `target/sdk`: two modules at once, then those that
measure times, one after the other. Many tests wait for a program more than they compute.

usage: run.py [unittest arguments]
"""
import concurrent.futures
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import venv

HERE = pathlib.Path(__file__).resolve().parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", HERE.parents[1] / "target"))
FOLDER = TARGET / "sdk"
AT_ONCE = 2
# These expect an answer within seconds, or share a processor with a load of their own.
ALONE = ["test_fair", "test_hostage", "test_nodes"]
# The longest of the others begin first, so that the last one to end ends early.
LONGEST = ["test_chaos", "test_same_answers", "test_documents", "test_operations", "test_objects", "test_terminal"]
# The exit code of unittest if no test ran.
NO_TESTS = 5
SUMMARY = re.compile(r"^Ran (\d+) tests? in .*\n\n(?:OK|FAILED|NO TESTS RAN)(?: \((.*)\))?", re.MULTILINE)


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


def modules():
    """The names of the modules with tests, those of LONGEST first; without those of ALONE."""
    found = {path.stem for path in HERE.glob("test_*.py")}
    missing = {*ALONE, *LONGEST} - found
    assert not missing, f"no such module: {missing}"
    return LONGEST + sorted(found - {*ALONE, *LONGEST})


def run_module(program, module):
    """Runs the tests of a module: its name, how long they took, what they printed, and the exit code."""
    begun = time.monotonic()
    done = subprocess.run([program, "-m", "unittest", "-v", module], cwd=HERE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return module, time.monotonic() - begun, done.stdout, done.returncode


def results(program):
    """Runs the tests of all modules; yields each result when it is there."""
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        running = [pool.submit(run_module, program, module) for module in modules()]
        for done in concurrent.futures.as_completed(running):
            yield done.result()
    for module in ALONE:
        yield run_module(program, module)


def run_all(program):
    """Runs the tests of all modules, and says how many there were; the exit code."""
    ran, skipped, failed = 0, 0, []
    for module, seconds, output, code in results(program):
        print(f"{module}, {seconds:.0f} s\n{output}", flush=True)
        # The last one: a test may print that of a program that it runs.
        summary = next(reversed([*SUMMARY.finditer(output)]), None)
        skips = sum(map(int, re.findall(r"skipped=(\d+)", summary[2] or ""))) if summary else 0
        # A module whose tests are all skipped ends with a code of its own.
        if not summary or code != 0 and not (code == NO_TESTS and skips):
            failed.append(module)
        ran += int(summary[1]) if summary else 0
        skipped += skips
    print(f"{ran} tests, {skipped} skipped: " + (f"FAILED in {', '.join(failed)}" if failed else "OK"))
    return 1 if failed else 0


def main():
    program = python()
    node("node", "HINDSIGHT_NODE_MODULES")
    node("node_otlp", "HINDSIGHT_OTLP_MODULES")
    node("azurite", "HINDSIGHT_AZURITE_MODULES")
    if sys.argv[1:]:
        sys.exit(subprocess.call([program, "-m", "unittest", *sys.argv[1:]], cwd=HERE))
    sys.exit(run_all(program))


if __name__ == "__main__":
    main()
