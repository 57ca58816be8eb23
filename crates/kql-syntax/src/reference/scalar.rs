//! The operators of scalar expressions.

use super::{Item, item};

/// The operators of scalar expressions (`docs/semantics.md §3–§6`).
pub static SCALAR_OPERATORS: &[Item] = &[
    item(
        "+",
        "a + b",
        "Sum; of two ints it is a long; longs wrap on overflow. A timespan can be added to a datetime.",
    ),
    item(
        "-",
        "a - b, -a",
        "Difference; of two datetimes it is a timespan.",
    ),
    item("*", "a * b", "Product."),
    item(
        "/",
        "a / b",
        "Quotient; of integers it is truncated towards zero. Division by zero is null.",
    ),
    item("%", "a % b", "Remainder, never negative."),
    item("<", "a < b", "Less than; null if an operand is null."),
    item(
        "<=",
        "a <= b",
        "Less than or equal; null if an operand is null.",
    ),
    item(">", "a > b", "Greater than; null if an operand is null."),
    item(
        ">=",
        "a >= b",
        "Greater than or equal; null if an operand is null.",
    ),
    item(
        "==",
        "a == b",
        "Equal; false if one operand is null, null if both are.",
    ),
    item(
        "!=",
        "a != b, a <> b",
        "Not equal; true if one operand is null, null if both are.",
    ),
    item("=~", "a =~ b", "Equal texts, ignoring case."),
    item("!~", "a !~ b", "Negation of =~."),
    item(
        "and",
        "a and b",
        "Conjunction in three-valued logic; null is unknown.",
    ),
    item(
        "or",
        "a or b",
        "Disjunction in three-valued logic; null is unknown.",
    ),
    item(
        "in",
        "a in (value, array, table, …)",
        "Equal to one of the values.",
    ),
    item("!in", "a !in (value, array, table, …)", "Negation of in."),
    item(
        "in~",
        "a in~ (value, array, table, …)",
        "Equal to one of the texts, ignoring case.",
    ),
    item(
        "!in~",
        "a !in~ (value, array, table, …)",
        "Negation of in~.",
    ),
    item(
        "between",
        "a between (low .. high)",
        "Within the bounds, both inclusive. A timespan as the upper bound of a datetime is added to the lower bound.",
    ),
    item(
        "!between",
        "a !between (low .. high)",
        "Negation of between.",
    ),
    item(
        "has",
        "a has b",
        "Contains the text as a whole term, ignoring case.",
    ),
    item("!has", "a !has b", "Negation of has."),
    item("has_cs", "a has_cs b", "As has, case-sensitive."),
    item("!has_cs", "a !has_cs b", "Negation of has_cs."),
    item(
        "hasprefix",
        "a hasprefix b",
        "A term starts with the text, ignoring case.",
    ),
    item("!hasprefix", "a !hasprefix b", "Negation of hasprefix."),
    item(
        "hasprefix_cs",
        "a hasprefix_cs b",
        "As hasprefix, case-sensitive.",
    ),
    item(
        "!hasprefix_cs",
        "a !hasprefix_cs b",
        "Negation of hasprefix_cs.",
    ),
    item(
        "hassuffix",
        "a hassuffix b",
        "A term ends with the text, ignoring case.",
    ),
    item("!hassuffix", "a !hassuffix b", "Negation of hassuffix."),
    item(
        "hassuffix_cs",
        "a hassuffix_cs b",
        "As hassuffix, case-sensitive.",
    ),
    item(
        "!hassuffix_cs",
        "a !hassuffix_cs b",
        "Negation of hassuffix_cs.",
    ),
    item(
        "has_any",
        "a has_any (text, array, table, …)",
        "Contains one of the texts as a whole term, ignoring case.",
    ),
    item(
        "has_all",
        "a has_all (text, array, table, …)",
        "Contains all of the texts as whole terms, ignoring case.",
    ),
    item(
        "contains",
        "a contains b",
        "Contains the text, ignoring case.",
    ),
    item("!contains", "a !contains b", "Negation of contains."),
    item(
        "contains_cs",
        "a contains_cs b",
        "As contains, case-sensitive.",
    ),
    item(
        "!contains_cs",
        "a !contains_cs b",
        "Negation of contains_cs.",
    ),
    item(
        "startswith",
        "a startswith b",
        "Starts with the text, ignoring case.",
    ),
    item("!startswith", "a !startswith b", "Negation of startswith."),
    item(
        "startswith_cs",
        "a startswith_cs b",
        "As startswith, case-sensitive.",
    ),
    item(
        "!startswith_cs",
        "a !startswith_cs b",
        "Negation of startswith_cs.",
    ),
    item(
        "endswith",
        "a endswith b",
        "Ends with the text, ignoring case.",
    ),
    item("!endswith", "a !endswith b", "Negation of endswith."),
    item(
        "endswith_cs",
        "a endswith_cs b",
        "As endswith, case-sensitive.",
    ),
    item(
        "!endswith_cs",
        "a !endswith_cs b",
        "Negation of endswith_cs.",
    ),
    item(
        "matches regex",
        "a matches regex b",
        "Contains a match of the regular expression, case-sensitive.",
    ),
];
