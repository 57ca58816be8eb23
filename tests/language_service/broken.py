#!/usr/bin/env python3
"""Compares the errors of broken queries with those of the official parser: 200 queries of the conformance cases, from each of which one
token is deleted.

Both must accept or refuse a text alike; `broken_differences.txt` lists the justified differences: texts, then a line `----` and the reason,
separated by lines `====`. How often both report the same number of errors, and the first one at the same place, is printed; --list prints
each text for which they do not. What is needed and the exit codes are those of `run.py`.
"""
import hashlib
import json
import re
import subprocess
import sys

from run import CARGO, HERE, ROOT, VISITS, install, our_verdicts, ready

LISTED = HERE / "broken_differences.txt"
COUNT = 200
TOKEN = re.compile(r"//[^\n]*|[hH]?@?\"(?:\\.|[^\"\\\n])*\"|[hH]?@?'(?:\\.|[^'\\\n])*'|```.*?```|[\w$]+|[=!<>]=|[=!]~|\.\.|\S", re.S)


def broken_texts():
    """The texts. A hash of the query chooses queries and tokens, so that a new case replaces at most one text."""
    queries = {case["query"] for case in our_verdicts() if case["code"] is None and not case["own"] and case["query"].isascii()}
    chosen = sorted((hashlib.sha256(query.encode()).digest(), query) for query in queries)[:COUNT]
    for digest, query in chosen:
        tokens = [token for token in TOKEN.finditer(query) if not token.group().startswith("//")]
        token = tokens[int.from_bytes(digest[8:16]) % len(tokens)]
        yield query[:token.start()] + query[token.end():]


def our_errors(texts):
    lines = "".join(json.dumps(text) + "\n" for text in texts)
    out = subprocess.run([CARGO, "test", "--quiet", "--workspace", "--lib", "the_errors_of_given_queries", "--", "--ignored", "--nocapture"],
                         cwd=ROOT, check=True, input=lines, stdout=subprocess.PIPE, text=True).stdout
    return [json.loads(line.split("errors ", 1)[1])["errors"] for line in out.splitlines() if "errors {" in line]


def official_errors(folder, texts):
    lines = "".join(json.dumps({"query": text, "tables": VISITS}) + "\n" for text in texts)
    out = subprocess.run(["node", HERE / "check.js"], cwd=folder, check=True, input=lines, stdout=subprocess.PIPE, text=True).stdout
    return [json.loads(line)["errors"] for line in out.splitlines()]


def near(text, ours, official):
    """Whether two places are the same: the official parser reports a missing token at the end of the text before it."""
    between = text[min(ours, official):max(ours, official)]
    return not between.strip() or official < ours and len(TOKEN.findall(between)) <= 1


def main():
    ready()
    texts = list(broken_texts())
    pairs = list(zip(texts, our_errors(texts), official_errors(install(), texts), strict=True))
    known = dict(part.split("\n----\n", 1) for part in LISTED.read_text().strip("\n").split("\n====\n") if part.strip())
    wrong = 0
    refused = [(text, ours, official) for text, ours, official in pairs if ours and official]
    for text, ours, official in pairs:
        differs = bool(ours) != bool(official)
        if differs != (text in known):
            wrong += 1
            verdict = f"ours: {ours}\n  official: {official}" if differs else "is listed and does not differ"
            print(f"{text}\n  {verdict}\n")
        same = len(ours) == len(official) and (not ours or near(text, ours[0][0], min(official)[0]))
        if "--list" in sys.argv and not same and not differs:
            print(f"{text}\n  ours: {ours}\n  official: {official}\n")
    for text in set(known) - set(texts):
        wrong += 1
        print(f"{text}\n  is listed in {LISTED.name} and is no text")
    number = sum(len(ours) == len(official) for _, ours, official in refused)
    place = sum(near(text, ours[0][0], min(official)[0]) for text, ours, official in refused)
    print(f"{len(texts)} broken texts: both refuse {len(refused)}, {number} of them with the same number of errors and {place} with the first one "
          f"at the same place; {wrong} complaints, {len(known)} known differences")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
