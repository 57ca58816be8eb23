"""Rows of telemetry as a table that a person reads."""

# Columns that say the same in every row, or nothing to a person.
DULL = {"itemId", "itemType", "itemCount", "iKey", "appId", "appName", "sdkVersion", "_ResourceId", "details"}
WIDEST = 48
MOST_COLUMNS = 9


def table_text(rows, first=()):
    """The lines of a table: `first` and the timestamp, then the columns with values, as many as fit."""
    if not rows:
        return []
    leading = [column for column in ("timestamp", *first) if column in rows[0]]
    others = [column for column in rows[0] if column not in leading and column not in DULL
              and any(row[column] not in (None, "", "{}") for row in rows)]
    columns = (list(dict.fromkeys(leading)) + others)[:MOST_COLUMNS]
    cells = [columns] + [[cut(row[column]) for column in columns] for row in rows]
    widths = [max(len(line[index]) for line in cells) for index in range(len(columns))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in cells]


def cut(value):
    text = "" if value is None else str(value).replace("\n", " ")
    return text if len(text) <= WIDEST else text[:WIDEST - 1] + "…"
