#!/usr/bin/env python3
"""Mutation testing: changes the program in many small ways and counts how many of the changes a test finds.

usage: run.py store|identity [--sample N] [--seed S] [--only TEXT] [--again]

`cargo mutants --list` names the mutants; this program compiles a random sample of them into one build (`schemata.py`), and runs
for each the tests that reach it, the quick ones first, until one fails. Mutants that do not compile are taken out. Those that no
test finds are compared with `missed.txt`, which gives a reason for each. The program fails where one is not listed, or where less
than 85% are found. Needs `cargo install cargo-mutants --locked`.
"""
import argparse
import collections
import hashlib
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import venv

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
FOLDER = TARGET / "mutants"
SOURCES = FOLDER / "sources"
SHARE = 0.85

# The test programs of a crate: cargo's arguments, and the tests of each that run (all, or those whose names begin so). The unit tests
# are compiled as an integration test of the whole workspace: `-p` would select other features and compile the query engine again.
PROGRAMS = {
    "store": {
        "mutants_store": (["--test", "mutants_store"], ("",)),
        "mutants_engine": (["--test", "mutants_engine"], ("plan_tests::",)),
    },
    "identity": {
        "mutants_identity": (["--test", "mutants_identity"], ("",)),
        "external": (["--test", "external"], ("",)),
        "issuer": (["--test", "issuer"], ("",)),
        "hindsight": (["--bin", "hindsight"], ("tests::oauth::", "tests::identity::", "tests::attacks::identity::", "tests::portal::", "auth::")),
    },
}
# Less work for tests that take samples.
LESS = {"HINDSIGHT_POWER_CUTS": "100"}
# Tests of one process: those that take up to so many seconds each.
GROUPS = (0.2, 1, 5, 1000)
# Seconds of a test; those that take longer do not run.
LONGEST = 30
# What a mutant may take of memory and of a file, in bytes.
MEMORY, FILE = 16 << 30, 1 << 30


def with_packages():
    """Starts this program again with the packages of `requirements.txt`."""
    folder, requirements = FOLDER / "venv", HERE / "requirements.txt"
    python, stamp = folder / "bin" / "python", folder / ".installed-from"
    digest = hashlib.sha256(requirements.read_bytes()).hexdigest()
    if not (stamp.exists() and stamp.read_text() == digest):
        venv.create(folder, with_pip=True, clear=True)
        subprocess.check_call([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", requirements])
        stamp.write_text(digest)
    if pathlib.Path(sys.prefix) != folder:
        os.execv(python, [str(python), *sys.argv])


def listed(crate):
    """All mutants of a crate, with an id and a key that does not depend on lines."""
    command = ["cargo", "mutants", "--list", "--json", "--package", f"hindsight-{crate}"]
    mutants = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)
    seen = collections.Counter()
    for id, mutant in enumerate(mutants):
        key = re.sub(r":\d+:\d+: ", ": ", mutant["name"], count=1)
        seen[key] += 1
        mutant["id"], mutant["key"] = id, key if seen[key] == 1 else f"{key} ({seen[key]})"
    return mutants


def copy_sources():
    """Copies the checkout; files that did not change keep their times, so that cargo does not compile them again."""
    files = subprocess.check_output(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, text=True).split("\0")
    files = {file for file in files if file and (ROOT / file).is_file()}
    for old in [path for path in SOURCES.rglob("*") if path.is_file()]:
        if str(old.relative_to(SOURCES)) not in files:
            old.unlink()
    for file in files:
        write(SOURCES / file, (ROOT / file).read_bytes())


def write(path, content):
    if not path.exists() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


class Build:
    """The copy of the sources with all mutants of a sample in it."""

    def __init__(self, crate, all_mutants, sample):
        import schemata

        self.crate, self.count, self.sample, self.schemata = crate, len(all_mutants), sample, schemata
        self.outcomes = {}  # id → (outcome, detail) of those that are in no build
        self.files = {}
        for mutant in sample:
            file = mutant["file"]
            if file not in self.files:
                self.files[file] = schemata.Source((ROOT / file).read_text())
            try:
                self.files[file].add(mutant)
            except schemata.Unviable as reason:
                self.outcomes[mutant["id"]] = ("unviable", str(reason))
            except schemata.NotSwitchable as reason:
                self.outcomes[mutant["id"]] = ("not tried", str(reason))

    def write(self):
        """Writes the sources with the mutants that compile as far as is known."""
        folder = SOURCES / "crates" / self.crate
        write(folder / "src" / "mutants.rs", self.schemata.switch(self.count).encode())
        for program in PROGRAMS[self.crate]:
            crate = program.removeprefix("mutants_")
            if crate != program:
                manifest = (ROOT / "crates" / crate / "Cargo.toml").read_text()
                test = f'\n[[test]]\nname = "{program}"\npath = "src/lib.rs"\n'
                write(SOURCES / "crates" / crate / "Cargo.toml", (manifest + test).encode())
        self.ranges = {}
        lib = f"crates/{self.crate}/src/lib.rs"
        self.files.setdefault(lib, self.schemata.Source((ROOT / lib).read_text()))
        for file, source in self.files.items():
            text, self.ranges[file] = source.render(self.outcomes)
            if file == lib:
                # At the end, so that the places of the mutants stay.
                text += "\nmod mutants;\n"
            write(SOURCES / file, text.encode())

    def compile(self):
        """Compiles until no mutant is left that does not compile; returns the test programs by name."""
        programs = PROGRAMS[self.crate]
        unit = f"mutants_{self.crate}"
        while True:
            self.write()
            found, errors = cargo(programs[unit][0])
            if not errors:
                break
            before = len(self.outcomes)
            for error in errors:
                for id in self.culprits(error):
                    self.outcomes[id] = ("unviable", error["message"])
                if (error["code"] or {}).get("code") == "E0015":
                    self.leave_out_constants(error["message"])
            print(f"{len(self.outcomes) - before} mutants do not compile", flush=True)
            if len(self.outcomes) == before:
                sys.exit("\n".join(error["rendered"] for error in errors))
        for name, (arguments, _) in programs.items():
            if name not in found:
                more, errors = cargo(arguments)
                found |= more
                if errors:
                    sys.exit("\n".join(error["rendered"] for error in errors))
        return found

    def leave_out_constants(self, message):
        """Leaves out the mutants of a function that a constant calls: `on` cannot be called there."""
        for mutant in self.sample:
            name = (mutant["function"] or {"function_name": ""})["function_name"].split("::")[-1]
            if f"::{name}`" in message and mutant["id"] not in self.outcomes:
                self.outcomes[mutant["id"]] = ("not tried", "a constant calls the function")

    def culprits(self, error):
        """The mutants that an error is about: whose branch holds a place of it, or else whose expression does."""
        places = [span for span in error["spans"] if span["is_primary"]] + error["spans"]
        places += [span for child in error["children"] for span in child["spans"]]
        for part in (0, 1):
            for place in places:
                ranges = self.ranges.get(place["file_name"], {})
                around = {
                    id: parts[part][1] - parts[part][0]
                    for id, parts in ranges.items()
                    if parts[part][0] <= place["byte_start"] and place["byte_end"] <= parts[part][1]
                }
                if around:
                    return [id for id, size in around.items() if size == min(around.values())]
        return []


def cargo(arguments):
    """Builds test programs in the copy; returns those by name, and the errors."""
    command = ["cargo", "test", "--workspace", "--no-run", "--message-format", "json", *arguments]
    environment = {**os.environ, "CARGO_TARGET_DIR": str(TARGET)}
    process = subprocess.run(command, cwd=SOURCES, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    programs, errors = {}, []
    for line in process.stdout.splitlines():
        message = json.loads(line)
        if message["reason"] == "compiler-message" and message["message"]["level"].startswith("error") and message["message"]["spans"]:
            errors.append(message["message"])
        if message["reason"] == "compiler-artifact" and message.get("executable") and message["profile"]["test"]:
            programs[message["target"]["name"]] = (message["executable"], pathlib.Path(message["manifest_path"]).parent)
    if process.returncode != 0 and not errors:
        sys.exit(process.stderr)
    return programs, errors


class Tests:
    """The test programs, how long each test takes, and which mutants it reaches."""

    def __init__(self, crate, found):
        # In memory where there is such a place: what a test leaves is removed after each mutant.
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="mutants-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None))
        self.scratch.chmod(0o755)
        self.found = {}
        for name, (program, folder) in found.items():
            # Another build may write the program again.
            (FOLDER / crate).mkdir(exist_ok=True)
            self.found[name] = (shutil.copy2(program, FOLDER / crate / name), folder)
        self.seconds = {}
        self.reaching = collections.defaultdict(list)
        for program, (_, prefixes) in PROGRAMS[crate].items():
            listing = subprocess.check_output([self.found[program][0], "--list", "--format", "terse"], text=True)
            names = [line.removesuffix(": test") for line in listing.splitlines() if line.endswith(": test")]
            for name in names:
                if name.startswith(prefixes):
                    self.measure(program, name)

    def measure(self, program, name):
        start = time.monotonic()
        passed, output = self.run(program, [name], 600, None)
        if passed != "passed":
            print(f"left out: {name} {passed} without a mutant", flush=True)
            return
        test, seconds = (program, name), time.monotonic() - start
        if seconds > LONGEST:
            print(f"left out: {name}, which takes {seconds:.0f} seconds", flush=True)
            return
        self.seconds[test] = seconds
        for id in set(re.findall(r"^reached mutant (\d+)$", output, re.MULTILINE)):
            self.reaching[int(id)].append(test)

    def run(self, program, names, seconds, mutant):
        """Runs tests of a program; returns whether they `passed`, `failed` or `timed out`, and their output or the test that failed."""
        path, folder = self.found[program]
        environment = {**os.environ, **LESS, "TMPDIR": str(self.scratch), "CARGO_MANIFEST_DIR": str(folder), "RUST_BACKTRACE": "0"}
        environment.pop("HINDSIGHT_MUTANT", None)
        if mutant is not None:
            environment["HINDSIGHT_MUTANT"] = str(mutant)
        log = self.scratch / "stderr"
        with open(log, "wb") as stderr:
            process = subprocess.Popen(
                [path, "--exact", "--test-threads=1", *(["--nocapture"] if mutant is None else []), *names],
                cwd=folder, env=environment, text=True, errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr,
                start_new_session=True, preexec_fn=limit)
            late = threading.Event()
            timer = threading.Timer(seconds, lambda: (late.set(), end(process)))
            timer.start()
            verdict, detail = "passed", ""
            for line in process.stdout:
                if mutant is not None and line.rstrip().endswith("... FAILED"):
                    verdict, detail = "failed", line.split()[1]
                    break
            if verdict == "failed":
                end(process)
            process.stdout.close()
            code = process.wait()
            timer.cancel()
            end(process)
        if late.is_set():
            verdict = "timed out"
        elif verdict == "passed" and code != 0:
            verdict, detail = "failed", f"exit code {code}"
        if mutant is None:
            detail = log.read_text(errors="replace")
        self.clean()
        return verdict, detail

    def clean(self):
        for path in self.scratch.iterdir():
            # The template of PostgreSQL's databases is made once.
            if path.is_dir() and not path.name.startswith("hindsight-test-postgres"):
                shutil.rmtree(path, ignore_errors=True)

    def judge(self, id):
        """Whether a test finds a mutant: the outcome and a detail."""
        groups = collections.defaultdict(list)
        for test in self.reaching[id]:
            limit = next(limit for limit in GROUPS if self.seconds[test] <= limit)
            groups[limit, test[0]].append(test)
        if not groups:
            return "missed", "no test reaches it"
        for (_, program), tests in sorted(groups.items()):
            allowed = 10 + 5 * sum(self.seconds[test] for test in tests)
            names = [name for _, name in tests]
            verdict, detail = self.run(program, names, allowed, id)
            # A failure counts if it repeats: some tests wait for other processes.
            if verdict == "failed" and self.run(program, [detail] if detail in names else names, allowed, id)[0] != "passed":
                return "caught", detail
            if verdict == "timed out":
                return "timed out", ""
        return "missed", f"{len(self.reaching[id])} tests reach it"


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE, FILE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def end(process):
    """Ends a test program and the processes that it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def reasons():
    """The mutants that no test needs to find, with the reason of each."""
    entries = {}
    for line in (HERE / "missed.txt").read_text().splitlines():
        if line.startswith("crates/"):
            key = line
            entries[key] = ""
        elif line.startswith("    "):
            entries[key] += line.strip() + " "
    without = [key for key, reason in entries.items() if not reason]
    if without:
        sys.exit("without a reason in missed.txt: " + ", ".join(without))
    return entries


def report(crate, all_mutants, sample, outcomes, arguments):
    """Prints the table and what was missed; returns whether enough was found and the rest is listed."""
    counts = collections.Counter(outcome for outcome, _ in outcomes.values())
    found, missed = counts["caught"] + counts["timed out"], counts["missed"]
    share = found / max(found + missed, 1)
    known = reasons()
    print(f"\n{crate}: {len(sample)} of {len(all_mutants)} mutants, seed {arguments.seed}")
    for outcome in ("caught", "timed out", "missed", "unviable", "not tried"):
        print(f"{outcome:>10} {counts[outcome]:5}")
    print(f"{'found':>10} {share:6.1%} of {found + missed}")
    unlisted = 0
    for mutant in sample:
        outcome, detail = outcomes[mutant["id"]]
        if outcome == "missed" and mutant["key"] not in known:
            unlisted += 1
            print(f"missed: {mutant['name']} [{detail}]")
        if outcome in ("caught", "timed out") and mutant["key"] in known:
            print(f"listed in missed.txt and found: {mutant['key']}")
    print(f"{missed - unlisted} of {missed} missed mutants are listed in missed.txt with a reason")
    return share >= SHARE and not unlisted


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("crate", choices=PROGRAMS)
    parser.add_argument("--sample", type=int, help="how many mutants, drawn at random; all without it")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", default=[], help="only mutants of the sample whose names hold this text")
    parser.add_argument("--again", action="store_true", help="tries those alone that the last run missed and missed.txt does not list")
    arguments = parser.parse_args()
    with_packages()
    all_mutants = listed(arguments.crate)
    # A sample stays the same where code changes elsewhere.
    sample = sorted(all_mutants, key=lambda mutant: hashlib.sha256(f"{arguments.seed} {mutant['key']}".encode()).digest())
    sample = sample[:arguments.sample]
    if arguments.only:
        sample = [mutant for mutant in sample if any(text in mutant["name"] for text in arguments.only)]
    sample.sort(key=lambda mutant: mutant["id"])
    results = FOLDER / f"{arguments.crate}.json"
    known = json.loads(results.read_text()) if arguments.again else {}
    known = {key: outcome for key, outcome in known.items() if outcome[0] != "missed" or key in reasons()}
    copy_sources()
    build = Build(arguments.crate, all_mutants, [mutant for mutant in sample if mutant["key"] not in known])
    outcomes = build.outcomes
    outcomes |= {mutant["id"]: known[mutant["key"]] for mutant in sample if mutant["key"] in known}
    programs = build.compile()
    tests = Tests(arguments.crate, programs)
    print(f"{len(tests.seconds)} tests, {sum(tests.seconds.values()):.0f} seconds", flush=True)
    for program, _ in tests.found.values():
        print(f"HINDSIGHT_MUTANT=<number> {program} repeats one", flush=True)
    try:
        for mutant in sample:
            if mutant["id"] not in outcomes:
                outcomes[mutant["id"]] = tests.judge(mutant["id"])
                print(mutant["id"], mutant["name"], *outcomes[mutant["id"]], sep=" | ", flush=True)
    finally:
        shutil.rmtree(tests.scratch, ignore_errors=True)
        found = {mutant["key"]: outcomes[mutant["id"]] for mutant in sample if mutant["id"] in outcomes}
        results.write_text(json.dumps(found, indent=1))
    sys.exit(not report(arguments.crate, all_mutants, sample, outcomes, arguments))


if __name__ == "__main__":
    main()
