"""Runs the tests of the modules of a folder, two modules at once: many tests wait for a program more than they compute. What a folder's
tests need is installed once."""
import concurrent.futures
import hashlib
import re
import shutil
import subprocess
import time

AT_ONCE = 2
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


def modules(folder, longest, alone):
    """The names of the modules of `folder` with tests, those of `longest` first; without those of `alone`."""
    found = {path.stem for path in folder.glob("test_*.py")}
    missing = {*alone, *longest} - found
    assert not missing, f"no such module: {missing}"
    return longest + sorted(found - {*alone, *longest})


def run_module(program, folder, module):
    """Runs the tests of a module: its name, how long they took, what they printed, and the exit code."""
    begun = time.monotonic()
    done = subprocess.run([program, "-m", "unittest", "-v", module], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return module, time.monotonic() - begun, done.stdout, done.returncode


def results(program, folder, longest, alone):
    """Runs the tests of all modules; yields each result when it is there."""
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        running = [pool.submit(run_module, program, folder, module) for module in modules(folder, longest, alone)]
        for done in concurrent.futures.as_completed(running):
            yield done.result()
    for module in alone:
        yield run_module(program, folder, module)


def run_all(program, folder, longest=(), alone=()):
    """Runs the tests of all modules of `folder` with the interpreter `program`, and says how many there were; the exit code.

    Modules of `longest` begin first, so that the last one to end ends early. Those of `alone` run after all others, one after the other.
    """
    ran, skipped, failed = 0, 0, []
    for module, seconds, output, code in results(program, folder, list(longest), list(alone)):
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
