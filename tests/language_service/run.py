#!/usr/bin/env python3
"""Compares our binder with the official parser of the language, over every query of the conformance cases.

Both must accept or refuse a query alike, and give the same names and types of result columns. `differences.txt` lists the
justified differences with their reasons; an entry that no longer differs is an error. The parser is installed from npm into
`target/language_service`, as `tools/language-service` in HINDSIGHT_SHARED (or the folder `shared` beside the checkout) says.
CONFORMANCE selects files of cases as it does for the tests; entries of `differences.txt` for other files are then ignored.
Without that folder or npm nothing is compared, and the exit code is 77.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SHARED = pathlib.Path(os.environ.get("HINDSIGHT_SHARED", ROOT.parent / "shared"))
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
RECIPE = SHARED / "tools" / "language-service"
CARGO = os.environ.get("CARGO", "cargo")

# The table that all cases may read.
VISITS = {"visits": [["timestamp", "datetime"], ["page", "string"], ["seconds", "real"]]}


# The exit code of a comparison that could not run, which is no success.
SKIPPED = 77


def skip(why):
    print(f"SKIPPED: the comparison with the official parser: {why}", flush=True)
    sys.exit(SKIPPED)


def install():
    """The folder with the official parser."""
    folder = TARGET / "language_service"
    folder.mkdir(parents=True, exist_ok=True)
    for file in RECIPE.iterdir():
        if file.is_file() and not (folder / file.name).exists():
            shutil.copyfile(file, folder / file.name)
    if not (folder / "node_modules").exists():
        print("installing the official parser …", flush=True)
        subprocess.check_call(["npm", "install", "--silent", "--no-audit", "--no-fund", "--no-update-notifier"], cwd=folder)
    return folder


def our_verdicts():
    """Every case with our verdict: {file, query, own: {table: [[name, type], …]}, code, tables: [[[name, type], …], …]}."""
    out = subprocess.run([CARGO, "test", "--quiet", "--workspace", "--lib", "the_verdicts_of_all_cases", "--", "--ignored", "--nocapture"],
                         cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    return [json.loads(line.split("verdict ", 1)[1]) for line in out.splitlines() if "verdict {" in line]


def official_verdicts(folder, cases):
    """For each case, in order: the first error's code or None, and the last result's columns or None."""
    lines = "".join(json.dumps({"query": case["query"], "tables": VISITS | case["own"]}) + "\n" for case in cases)
    out = subprocess.run(["node", HERE / "check.js"], cwd=folder, check=True, input=lines, stdout=subprocess.PIPE, text=True).stdout
    for line in out.splitlines():
        answer = json.loads(line)
        yield next(iter(answer["codes"]), None), answer["columns"]


def difference(case, code, columns):
    """What differs, in words, or None."""
    if (case["code"] is None) != (code is None):
        verdict = lambda code: f"refuses it ({code})" if code else "takes it"
        return f"we {verdict(case['code']).replace('refuses', 'refuse').replace('takes', 'take')}, the official parser {verdict(code)}"
    if code is not None:
        return None
    ours = case["tables"][-1] if case["tables"] else []
    if ours != (columns or []):
        text = lambda columns: ", ".join(f"{n}:{t}" for n, t in columns or [])
        return f"ours: {text(ours)}\n  official: {text(columns)}"
    return None


def reasons():
    """The known differences: {query: reason}."""
    text = (HERE / "differences.txt").read_text()
    parts = [part.split("\n----\n", 1) for part in text.strip("\n").split("\n====\n") if part.strip()]
    return {query.strip("\n"): reason.strip() for query, reason in parts}


def ready():
    """Ends the program with the exit code of a skipped comparison if what it needs is missing."""
    if not RECIPE.exists():
        skip("there is no recipe for it beside this checkout")
    if not shutil.which("npm") or not shutil.which("node"):
        skip("npm is not installed")


def main():
    ready()
    folder = install()
    cases = our_verdicts()
    assert cases, "no case was read"
    known = reasons()
    unused = set(known)
    wrong = []
    for case, (code, columns) in zip(cases, official_verdicts(folder, cases), strict=True):
        reason = known.get(case["query"])
        unused.discard(case["query"])
        differs = difference(case, code, columns)
        if differs and not reason:
            wrong.append(f"{case['file']}: {case['query']}\n  {differs}")
        if reason and not differs:
            wrong.append(f"{case['file']}: {case['query']}\n  is listed in differences.txt and does not differ")
    if "CONFORMANCE" not in os.environ:
        wrong += [f"{query}\n  is listed in differences.txt and is no case" for query in known if query in unused]
    for text in wrong:
        print(text)
    print(f"{len(cases)} queries compared with the official parser: {len(wrong)} complaints, {len(known)} known differences")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
