"""Expectations about telemetry: they wait for it, and say what was there instead."""
from . import kql
from .table_text import table_text

# Rows that a failure shows.
SHOWN = 10


class Expectation:
    """Rows of a table or a query that are expected. `where` narrows them; the other methods wait and assert."""

    def __init__(self, hindsight, query, timeout=10, predicates=(), columns=()):
        self._hindsight = hindsight
        self._source = str(query)
        self._timeout = timeout
        self._predicates = tuple(predicates)
        self._columns = tuple(columns)

    def where(self, *predicates, **columns):
        """The rows with these values in these columns, for which these KQL predicates hold. A dictionary is about the keys of
        a property bag: `customDimensions={"lane": "4"}`. None is an absent value."""
        equal = [predicate for column, value in columns.items() for predicate in kql.equals(column, value)]
        return Expectation(self._hindsight, self._source, self._timeout, (*self._predicates, *predicates, *equal),
                           (*self._columns, *columns))

    def within(self, seconds):
        """Waits so long, in place of the usual 10 seconds."""
        return Expectation(self._hindsight, self._source, seconds, self._predicates, self._columns)

    @property
    def query(self):
        """The KQL text."""
        # On lines of their own: a comment may end the line before.
        return self._source + "".join(f"\n| where {predicate}" for predicate in self._predicates)

    def rows(self):
        """The rows that are there now, as dictionaries."""
        return self._hindsight.query(self.query)

    def count(self, expected):
        """Waits until there are so many rows; fails if there are fewer in the end, or more. Returns the rows."""
        reply = self._hindsight.wait(self.query, min_count=expected, timeout=self._timeout)
        if len(reply.rows) != expected:
            raise AssertionError(self._failure(f"{expected}", reply))
        return reply.rows

    def at_least(self, expected):
        """Waits until there are at least so many rows. Returns the rows."""
        reply = self._hindsight.wait(self.query, min_count=expected, timeout=self._timeout)
        if not reply.holds:
            raise AssertionError(self._failure(f"at least {expected}", reply))
        return reply.rows

    def none(self):
        """Fails if there is a row. It does not wait: what was acknowledged is visible."""
        self.count(0)

    def _failure(self, expected, reply):
        indented = self.query.replace("\n", "\n    ")
        lines = [f"expected {expected} rows of", f"    {indented}",
                 f"found {len(reply.rows)} after {reply.waited:.1f} s" + (":" if reply.rows else "")]
        lines += self._shown(reply.rows)
        if not reply.rows and self._predicates:
            others = self._hindsight.query(f"{self._source}\n| take {SHOWN}")
            total = self._hindsight.query(f"{self._source}\n| count")[0]["Count"]
            lines.append(f"without 'where' there are {total}" + (":" if others else ""))
            lines += self._shown(others, total)
        return "\n".join(lines)

    def _shown(self, rows, total=None):
        lines = ["    " + line for line in table_text(rows[:SHOWN], self._columns)]
        more = (len(rows) if total is None else total) - SHOWN
        return lines + ([f"    … and {more} more"] if more > 0 else [])
