#!/usr/bin/env python3
"""Compares the results of the documentation's examples with the outputs that its pages show.

The examples are `kql/documentation_examples.jsonl` in HINDSIGHT_SHARED (or the folder `shared` beside the checkout); a test of the crate
`hindsight-kql` runs them and prints our results. `differences.txt` lists the examples that differ, with the reasons: ids of examples, one a
line, then a line `----` and the reason. A difference that is not listed is an error, and so is a listed example that does not differ.
With --show the differing examples are printed in full. Without the examples nothing is compared, and the exit code is 77.
"""
import html
import json
import math
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SHARED = pathlib.Path(os.environ.get("HINDSIGHT_SHARED", ROOT.parent / "shared"))
EXAMPLES = SHARED / "kql" / "documentation_examples.jsonl"
LISTED = HERE / "differences.txt"
CARGO = os.environ.get("CARGO", "cargo")
SKIPPED = 77

# What a page shows of these examples changes from run to run: only the columns are compared.
VOLATILE = {"nondeterministic", "time_or_context_dependent"}
# A real of a page has at least these digits, or all.
DIGITS = 4


def our_answers():
    """The answer of each example: {id: {table: {columns, rows}} or {error}}."""
    out = subprocess.run([CARGO, "test", "--quiet", "--workspace", "--lib", "the_answers_of_the_documentation_examples", "--", "--ignored", "--nocapture"],
                         cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    answers = [json.loads(line.split("example ", 1)[1]) for line in out.splitlines() if "example {" in line]
    return {answer["id"]: answer for answer in answers}


def plain(text):
    """A cell of a page without its markup."""
    text = html.unescape(re.sub(r"<br\s*/?>|</?p>", " ", text, flags=re.I)).replace("\\|", "|")
    return text.strip().strip("`").strip()


def number(text):
    words = {"nan": math.nan, "∞": math.inf, "infinity": math.inf, "-infinity": -math.inf, "-∞": -math.inf, "inf": math.inf}
    text = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text.lower())
    try:
        return words.get(text) if text in words else float(text)
    except ValueError:
        return None


def near(ours, shown, shown_text):
    """Whether a real is the shown one, which may have fewer digits."""
    if math.isnan(shown) or math.isinf(shown):
        return ours == shown or math.isnan(ours) and math.isnan(shown)
    digits = max(DIGITS, len(re.sub(r"e.*|\D|^0+", "", shown_text.lower().lstrip("-0."))))
    return math.isclose(ours, shown, rel_tol=10.0 ** -min(digits - 1, 12), abs_tol=1e-12)


def same_json(ours, shown):
    if isinstance(ours, bool) or isinstance(shown, bool):
        return ours == shown or (isinstance(ours, bool) and ours == (shown == 1 or str(shown).lower() == "true"))
    if isinstance(ours, (int, float)) and isinstance(shown, (int, float)):
        return near(float(ours), float(shown), repr(shown))
    if isinstance(ours, list) and isinstance(shown, list):
        return len(ours) == len(shown) and all(map(same_json, ours, shown))
    if isinstance(ours, dict) and isinstance(shown, dict):
        return ours.keys() == shown.keys() and all(same_json(ours[key], shown[key]) for key in ours)
    if isinstance(ours, str) and isinstance(shown, str):
        return same_cell(ours, shown, "string")
    return ours == shown


def instant(text):
    """A datetime in one form, whatever the form in which a page writes it."""
    text = text.strip().rstrip("Z").replace("T", " ")
    american = re.fullmatch(r"(\d+)/(\d+)/(\d{4}),? (\d+):(\d+):(\d+)(\.\d+)?(?: ([AP]M))?", text)
    if american:
        month, day, year, hour, minute, second, fraction, half = american.groups()
        hour = int(hour) % 12 + (12 if half == "PM" else 0) if half else int(hour)
        text = f"{year}-{int(month):02}-{int(day):02} {hour:02}:{minute}:{second}{fraction or ''}"
    if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        text += " 00:00:00"
    if re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d", text):
        text += ":00"
    return re.sub(r"\.?0+$", "", text) if "." in text else text


def same_cell(ours, shown, kind):
    shown = plain(shown)
    ours = "" if ours == "null" else ours
    if ours == shown or shown in ('""', "null", "(null)") and ours == "":
        return True
    if kind == "bool":
        return {"1": "true", "0": "false"}.get(shown, shown.lower()) == ours
    if kind == "datetime":
        return instant(ours) == instant(shown)
    if kind == "timespan":
        return re.sub(r"\.0+$", "", ours) == re.sub(r"\.0+$", "", shown)
    if kind in ("int", "long", "real", "decimal") and number(ours) is not None and number(shown) is not None:
        return near(number(ours), number(shown), shown)
    if kind == "dynamic":
        try:
            return same_json(json.loads(ours), json.loads(shown))
        except ValueError:
            pass
    squeeze = lambda text: re.sub(r"\s+", " ", text).strip(" \"'")
    return squeeze(ours) == squeeze(shown) or instant(ours) == instant(shown)


def difference(example, answer):
    """What differs, in words, or None."""
    if "error" in answer:
        return f"refused: {answer['error']}"
    output, flags, table = example["output"], set(example["flags"]), answer["table"]
    names, kinds = zip(*table["columns"]) if table["columns"] else ((), ())
    official = [column["name"] for column in example["official_columns"]]
    if official and list(names) != official:
        return f"columns: ours {list(names)}, official {official}"
    if output is None or flags & VOLATILE:
        return None
    shown, ours = output["rows"], table["rows"]
    if len(output["columns"]) != len(names):
        return f"columns: ours {list(names)}, shown {output['columns']}"
    same_row = lambda a, b: len(a) == len(b) and all(map(same_cell, a, b, kinds))
    if "truncated" in flags or any("..." in map(plain, row) or "…" in map(plain, row) for row in shown):
        missing = [row for row in shown if not {"...", "…"} & set(map(plain, row)) and not any(same_row(own, row) for own in ours)]
        return f"rows that we do not return: {missing[:3]}" if missing else None
    if len(shown) != len(ours):
        return f"{len(ours)} rows, shown {len(shown)}"
    if "order_unspecified" in flags:
        left = list(ours)
        for row in shown:
            match = next((own for own in left if same_row(own, row)), None)
            if match is None:
                return f"no row like the shown {row}: left are {left[:3]}"
            left.remove(match)
        return None
    for position, (own, row) in enumerate(zip(ours, shown)):
        if not same_row(own, row):
            return f"row {position}: ours {own}, shown {row}"
    return None


def listed():
    """The ids of the examples that may differ, with the reasons."""
    ids = {}
    for block in LISTED.read_text().strip("\n").split("\n====\n"):
        lines, reason = block.split("\n----\n", 1)
        assert reason.strip(), f"a block has no reason: {lines}"
        for name in lines.strip("\n").split("\n"):
            assert name not in ids, f"{name} is listed twice"
            ids[name] = reason.strip()
    return ids


def main():
    if not EXAMPLES.exists():
        print("SKIPPED: the comparison with the documentation: there are no examples beside this checkout", flush=True)
        sys.exit(SKIPPED)
    examples = [json.loads(line) for line in EXAMPLES.read_text().splitlines()]
    answers = our_answers()
    assert len(answers) == len(examples), "each example has an answer"
    known = listed()
    unused = set(known)
    wrong = 0
    for example in examples:
        differs = difference(example, answers[example["id"]])
        unused.discard(example["id"]) if differs else None
        if differs and (example["id"] not in known or "--show" in sys.argv):
            wrong += example["id"] not in known
            print(f"{example['id']}\n{example['query'] if '--show' in sys.argv else ''}\n  {differs}\n")
    for name in sorted(unused):
        print(f"{name}\n  is listed in {LISTED.name} and does not differ")
    print(f"{len(examples)} examples of the documentation: {wrong + len(unused)} complaints, {len(known)} known differences")
    sys.exit(1 if wrong or unused else 0)


if __name__ == "__main__":
    main()
