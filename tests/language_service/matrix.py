#!/usr/bin/env python3
"""Compares our binder with the official one over the type matrix: one-step queries of every operator with every pair of types, of every
function and aggregate with every type of each argument, and of steps with every type of their column.

`crates/kql/src/testing/matrix.rs` makes the queries from our own list of functions. Both binders must accept or refuse a query
alike, and give the same names and types of result columns; a query that we accept must also run. `matrix_differences.txt` lists
the justified differences: names of queries, one a line, in which `{a,b}` stands for both, then a line `----` and the reason. A
difference that is not listed is an error, and so is a listed query that does not differ.
With --unlisted the unlisted differences are printed in full. What is needed and the exit codes are those of `run.py`.
"""
import itertools
import json
import re
import subprocess
import sys

from run import CARGO, HERE, ROOT, install, ready

LISTED = HERE / "matrix_differences.txt"


def our_verdicts():
    """Every query with our verdict: {id, query, code, failure, columns}."""
    out = subprocess.run([CARGO, "test", "--quiet", "--workspace", "--lib", "the_verdicts_of_the_type_matrix", "--", "--ignored", "--nocapture"],
                         cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    return [json.loads(line.split("cell ", 1)[1]) for line in out.splitlines() if "cell {" in line]


def official_verdicts(folder, cells):
    """For each query, in order: the first error's code or None, and the last result's columns or None."""
    lines = "".join(json.dumps({"query": cell["query"], "tables": {}}) + "\n" for cell in cells)
    out = subprocess.run(["node", HERE / "check.js"], cwd=folder, check=True, input=lines, stdout=subprocess.PIPE, text=True).stdout
    for line in out.splitlines():
        answer = json.loads(line)
        yield next(iter(answer["codes"]), None), answer["columns"]


def difference(cell, code, columns):
    """What differs, in words, or None. The official parser itself fails on some queries; they have no verdict to compare with."""
    if code == "CRASH":
        return None
    if cell["failure"]:
        return f"we accept it and fail to run it: {cell['failure']}"
    if (cell["code"] is None) != (code is None):
        return f"only we refuse it ({cell['code']})" if cell["code"] else f"only the official parser refuses it ({code})"
    if code is None and (cell["columns"] or []) != (columns or []):
        return f"ours: {cell['columns'][-1:]}, official: {(columns or [])[-1:]}"
    return None


def expanded(pattern):
    """The names that a line stands for: each `{a,b}` stands for its words."""
    parts = [part[1:-1].split(",") if part.startswith("{") else [part] for part in re.split(r"(\{[^}]*\})", pattern)]
    return ["".join(words) for words in itertools.product(*parts)]


def listed():
    """The names of the queries that may differ, with the reasons."""
    names = {}
    for block in LISTED.read_text().strip("\n").split("\n====\n"):
        lines, reason = block.split("\n----\n", 1)
        assert reason.strip(), f"a block has no reason: {lines}"
        for name in itertools.chain.from_iterable(map(expanded, lines.strip("\n").split("\n"))):
            assert name not in names, f"{name} is listed twice"
            names[name] = reason.strip()
    return names


def main():
    ready()
    cells = our_verdicts()
    assert cells, "no query was read"
    names = listed()
    differing = {}
    for cell, (code, columns) in zip(cells, official_verdicts(install(), cells), strict=True):
        differs = difference(cell, code, columns)
        # A query that fails while it runs is a mistake of ours, which no reason justifies.
        if differs and (cell["failure"] or cell["id"] not in names):
            print(f"{cell['id']}: {cell['query']}\n  {differs}" if "--unlisted" not in sys.argv else json.dumps([cell["id"], cell["query"], differs]))
        if differs:
            differing[cell["id"]] = cell
    stale = [name for name in names if name not in differing]
    for name in stale:
        print(f"{name}\n  is listed in {LISTED.name} and does not differ")
    wrong = [cell for name, cell in differing.items() if cell["failure"] or name not in names] + stale
    print(f"{len(cells)} queries of the type matrix compared with the official parser: {len(wrong)} complaints, {len(names)} known differences")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
