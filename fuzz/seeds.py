"""Writes the seed corpora of the fuzz targets (queries of the conformance cases, examples of the library, regressions) and the
dictionary: every word and symbol of those queries."""

import hashlib
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent
ODATA = [
    "request/duration gt 10\nPT12H\nsum desc\nPT1H\nrequests/duration\nrequest/name\n0\ntrue\n",
    "startswith(cloud/roleName, 'a') and not (client/city eq null)\n2020-01-01T00:00:00Z/P1D\nvalue asc\nP1D\ncustomMetrics/x\nclient/city\n5\nfalse\n",
    "customDimensions/a eq 'it''s' or contains(tolower(operation/name), 'x')\nP1D/2020-01-02\ntimestamp desc,id\na AND NOT \"b c\"\ntype,timestamp\n5\n3\ntrue\n",
]

# Comments, empty lines, and tables, which end with an empty line.
BEFORE_QUERY = re.compile(r"\A(?:#.*\n|[ \t]*\n|table [^\W\d].*\n(?:.*\S.*\n)*)*")


def queries(path):
    """The queries of a conformance file: each case is comments and tables, the query, `----`, the answer, and ends with `====`."""
    for case in path.read_text(encoding="utf-8").split("\n====\n"):
        yield BEFORE_QUERY.sub("", case.split("\n----\n")[0])


def examples(path):
    """The queries of the examples in a source file."""
    for literal in re.findall(r'example\(\s*("(?:[^"\\]|\\.)*")', path.read_text(encoding="utf-8")):
        try:
            yield json.loads(literal)
        except ValueError:
            continue


def dictionary(texts):
    """libFuzzer's dictionary of the words and signs of `texts`."""
    words = {word for text in texts for word in re.findall(r"[A-Za-z_$][A-Za-z0-9_-]*\(?|[^\sA-Za-z0-9_]{1,3}", text)}
    escape = lambda word: "".join(c if c.isalnum() or c in "_-(" else "".join(f"\\x{b:02x}" for b in c.encode()) for c in word)
    lines = [f'"{escape(word)}"' for word in sorted(words) if 1 < len(word) < 40 and word.isascii()]
    (HERE / "corpus" / "kql.dict").write_text("\n".join(lines) + "\n")


def write(target, texts):
    folder = HERE / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    for text in texts:
        data = text.encode()
        (folder / hashlib.sha1(data).hexdigest()).write_bytes(data)


def copy(target):
    """Seeds that are files of a store."""
    folder = HERE / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    for path in (HERE / "regressions" / target).glob("*"):
        (folder / path.name).write_bytes(path.read_bytes())


def found(target):
    """What a target found in the past: it must not come back."""
    return [path.read_text(encoding="utf-8") for path in sorted((HERE / "regressions" / target).glob("*"))]


def kept(target):
    """The seeds of a target that are files."""
    return [path.read_text(encoding="utf-8") for path in sorted((HERE / "seeds" / target).glob("*"))]


def main():
    files = sorted((HERE.parent / "conformance" / "kql").rglob("*.kqlt"))
    kql = [query for path in files for query in queries(path)]
    crates = HERE.parent / "crates"
    sources = sorted(path for name in ("kql", "kql-library") for path in (crates / name / "src").rglob("*.rs"))
    kql += [query for path in sources for query in examples(path)]
    write("parse", kql + found("parse"))
    write("bind", kql + found("bind"))
    write("odata", ODATA + found("odata"))
    # The first byte of a body selects its encoding: 0 is none.
    write("track", ["\0" + text for text in kept("track")])
    # The first byte of a payload selects its signal and its encoding.
    payloads = dict(zip(("logs", "metrics", "traces"), kept("otlp")))
    write("otlp", [first + payloads[signal] for first, signal in (("B", "traces"), ("@", "logs"), ("A", "metrics"))])
    write("jwt", kept("jwt"))
    copy("log")
    copy("segment")
    dictionary(kql)
    print(f"{len(kql)} queries", file=sys.stderr)


main()
