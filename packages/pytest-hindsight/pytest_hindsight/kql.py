"""KQL texts of Python values."""
import datetime
import decimal
import math
import re
import uuid

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def string(text):
    """A string literal."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
    return f'"{escaped}"'


def name(text):
    """A column's name."""
    return text if NAME.fullmatch(text) else f"[{string(text)}]"


def literal(value):
    """A literal. A value of a type that KQL does not have is a TypeError."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return string(value)
    if isinstance(value, int):
        return f"long({value})"
    if isinstance(value, float):
        text = "nan" if math.isnan(value) else ("+inf" if value > 0 else "-inf") if math.isinf(value) else repr(value)
        return f"real({text})"
    if isinstance(value, decimal.Decimal):
        return f"decimal({value})"
    if isinstance(value, datetime.datetime):
        if value.tzinfo is None:
            raise TypeError(f"{value!r} has no time zone")
        return f"datetime({value.astimezone(datetime.timezone.utc).strftime('%Y-%m-%dT%H:%M:%S.%fZ')})"
    if isinstance(value, datetime.timedelta):
        microseconds = value // datetime.timedelta(microseconds=1)
        return f"({microseconds} * 1microsecond)"
    if isinstance(value, uuid.UUID):
        return f"guid({value})"
    raise TypeError(f"{value!r} has no type of KQL")


def equals(column, value):
    """The predicates under which a column has a value; a dictionary is about the keys of a property bag."""
    path = column if column.endswith("]") else name(column)
    if isinstance(value, dict):
        return [predicate for key, inner in value.items() for predicate in equals(f"{path}[{string(key)}]", inner)]
    if value is None:
        return [f"isempty({path})"]
    return [f"{path} == {literal(value)}"]
