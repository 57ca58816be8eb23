"""The requests that every node is sent: the conformance queries, the requests of the specification's rows and of the recordings,
and queries over telemetry."""
import datetime
import json
import pathlib
import re
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONFORMANCE = ROOT / "conformance"

# The table that every conformance case may read.
VISITS = ("let visits = datatable(timestamp:datetime, page:string, seconds:real)["
          "datetime(1970-01-01T00:00:00Z), 'home', 1.5, datetime(1970-01-01T01:00:00Z), 'basket', 20.0, "
          "datetime(1970-01-01T02:00:00Z), 'home', real(null)]; ")

# The applications of the recordings.
APPLICATION = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
TABLE = re.compile(r"table ([\w\[\]'\" .-]+?) \((.*)\)$")


def literal(text, kind):
    """A cell of a case's table as a literal of KQL."""
    if kind == "string":
        return text if text.startswith('"') else json.dumps("" if text == "null" else text, ensure_ascii=False)
    if kind == "dynamic" and text != "null" and not text.startswith(("{", "[", '"')):
        text = text if re.fullmatch(r"-?\d.*|true|false", text) else json.dumps(text)
    return f"{kind}({text})"


def table(lines):
    """A `let` statement for the table that these lines of a case define."""
    name, columns = TABLE.match(lines[0]).groups()
    kinds = [column.rsplit(":", 1)[1].strip() for column in columns.split(",")]
    cells = [literal(cell.strip(), kind) for row in lines[1:] for cell, kind in zip(row.split(" | "), kinds)]
    return f"let {name} = datatable({columns})[{', '.join(cells)}]; "


def queries_of_cases():
    """`(file, query)` of every conformance case, with its tables as `let` statements before the query."""
    for file in sorted((CONFORMANCE / "kql").rglob("*.kqlt")):
        name = str(file.relative_to(CONFORMANCE / "kql").with_suffix(""))
        for case in file.read_text().split("\n====\n"):
            lines = case.split("\n----")[0].strip("\n").split("\n")
            while lines and lines[0].startswith("#"):
                lines.pop(0)
            tables = VISITS
            while lines and TABLE.match(lines[0]):
                end = lines.index("") if "" in lines else len(lines)
                tables += table(lines[:end])
                lines = lines[end + 1:]
            if lines:
                yield name, tables + "\n".join(lines)


def requests_of_rows(day):
    """`(name, method, path, body)` of the specification's rows that are plain requests. `day` takes the place of the day of their telemetry."""
    for file in sorted((CONFORMANCE / "specification").glob("*.toml")):
        text = file.read_text().replace("2026-03-06", day)
        for section in tomllib.loads(text)["section"]:
            for row in section["row"]:
                if {"settings", "tier", "grant", "gap", "seen"} & row.keys():
                    continue
                for step in row.get("steps", [row]):
                    if {"grant", "pass", "track", "headers"} & step.keys() or step.get("key") is False or "ask" not in step:
                        continue
                    for word in row.get("each", [""]):
                        method, path = step["ask"].replace("{each}", word).split(" ", 1)
                        body = step.get("body", "").replace("{each}", word)
                        yield f"{file.stem}: {section['title']}: {row['name']}", method, path, body


def requests_of_recordings(folder):
    """`(name, method, path, body)` of the recorded requests, with `{app}` in the place of their application."""
    for entry in json.loads((folder / "index.json").read_text()):
        path = entry["uri"][entry["uri"].index("/v1/"):]
        recording = json.loads((folder.parent / entry["file"]).read_text()) if entry["file"].endswith(".json") else {}
        request = recording.get("request", {})
        body = request.get("body") or ""
        if not isinstance(body, str):
            body = json.dumps(body)
        parts = path.split("/")
        parts[3] = "{app}"
        yield entry["file"], entry["method"], "/".join(parts), APPLICATION.sub("{app}", body)


def telemetry_queries(end):
    """Queries over telemetry that is in the segments and memtables of several nodes. Each has one answer, whatever the order of the rows read."""
    from queries import everyday, kql
    named = {**kql(end), **everyday(end)}
    # Any 1,000 rows are right for the first, and any of the names with equal counts at the end of the others.
    for name in ("Q14", "Q2", "E2"):
        del named[name]
    yield from named.items()
    start = (end - datetime.timedelta(days=2)).strftime("datetime(%Y-%m-%dT%H:%M:%SZ)")
    for block in (pathlib.Path(__file__).parent / "cluster_queries.kql").read_text().split("\n\n"):
        text = "\n".join(line for line in block.split("\n") if not line.startswith("//")).strip()
        if text:
            yield text, text.replace("START", start)
