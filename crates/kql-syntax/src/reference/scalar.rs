//! The operators of scalar expressions.

use super::{Item, item};

/// The operators of scalar expressions (`docs/semantics.md §3–§6`).
pub static SCALAR_OPERATORS: &[Item] = &[
    item(
        "+",
        "a + b",
        "Sum; two ints give a long, longs wrap around; a span moves a time.",
    ),
    item(
        "-",
        "a - b, -a",
        "Difference; between two times lies a span.",
    ),
    item("*", "a * b", "Product."),
    item(
        "/",
        "a / b",
        "Quotient; of integers it is cut towards zero, by zero it is null.",
    ),
    item("%", "a % b", "Rest, which is never negative."),
    item("<", "a < b", "Smaller; null where either side is."),
    item(
        "<=",
        "a <= b",
        "Smaller or equal; null where either side is.",
    ),
    item(">", "a > b", "Larger; null where either side is."),
    item(
        ">=",
        "a >= b",
        "Larger or equal; null where either side is.",
    ),
    item(
        "==",
        "a == b",
        "Equal; false where one side is null, null where both are.",
    ),
    item(
        "!=",
        "a != b, a <> b",
        "Not equal; true where one side is null, null where both are.",
    ),
    item("=~", "a =~ b", "Texts are equal but for case."),
    item("!~", "a !~ b", "Texts differ by more than case."),
    item(
        "and",
        "a and b",
        "Both are true; null is what is not known.",
    ),
    item("or", "a or b", "One is true; null is what is not known."),
    item(
        "in",
        "a in (value, array, table, …)",
        "Equal to one of them.",
    ),
    item(
        "!in",
        "a !in (value, array, table, …)",
        "Equal to none of them.",
    ),
    item(
        "in~",
        "a in~ (value, array, table, …)",
        "Equal to one of the texts but for case.",
    ),
    item(
        "!in~",
        "a !in~ (value, array, table, …)",
        "Equal to none of the texts, whatever the case.",
    ),
    item(
        "between",
        "a between (low .. high)",
        "Within the bounds, which belong to the range; a span as the upper bound of a time counts from the lower.",
    ),
    item(
        "!between",
        "a !between (low .. high)",
        "Outside the bounds.",
    ),
    item(
        "has",
        "a has b",
        "The text stands there as a whole term; case does not matter.",
    ),
    item("!has", "a !has b", "Denies has."),
    item("has_cs", "a has_cs b", "As has; case matters."),
    item("!has_cs", "a !has_cs b", "Denies has_cs."),
    item(
        "hasprefix",
        "a hasprefix b",
        "A term begins with the text; case does not matter.",
    ),
    item("!hasprefix", "a !hasprefix b", "Denies hasprefix."),
    item(
        "hasprefix_cs",
        "a hasprefix_cs b",
        "As hasprefix; case matters.",
    ),
    item("!hasprefix_cs", "a !hasprefix_cs b", "Denies hasprefix_cs."),
    item(
        "hassuffix",
        "a hassuffix b",
        "A term ends with the text; case does not matter.",
    ),
    item("!hassuffix", "a !hassuffix b", "Denies hassuffix."),
    item(
        "hassuffix_cs",
        "a hassuffix_cs b",
        "As hassuffix; case matters.",
    ),
    item("!hassuffix_cs", "a !hassuffix_cs b", "Denies hassuffix_cs."),
    item(
        "has_any",
        "a has_any (text, array, table, …)",
        "One of the texts stands there as a whole term.",
    ),
    item(
        "has_all",
        "a has_all (text, array, table, …)",
        "All of the texts stand there as whole terms.",
    ),
    item(
        "contains",
        "a contains b",
        "The text stands somewhere in it; case does not matter.",
    ),
    item("!contains", "a !contains b", "Denies contains."),
    item(
        "contains_cs",
        "a contains_cs b",
        "As contains; case matters.",
    ),
    item("!contains_cs", "a !contains_cs b", "Denies contains_cs."),
    item(
        "startswith",
        "a startswith b",
        "It begins with the text; case does not matter.",
    ),
    item("!startswith", "a !startswith b", "Denies startswith."),
    item(
        "startswith_cs",
        "a startswith_cs b",
        "As startswith; case matters.",
    ),
    item(
        "!startswith_cs",
        "a !startswith_cs b",
        "Denies startswith_cs.",
    ),
    item(
        "endswith",
        "a endswith b",
        "It ends with the text; case does not matter.",
    ),
    item("!endswith", "a !endswith b", "Denies endswith."),
    item(
        "endswith_cs",
        "a endswith_cs b",
        "As endswith; case matters.",
    ),
    item("!endswith_cs", "a !endswith_cs b", "Denies endswith_cs."),
    item(
        "matches regex",
        "a matches regex b",
        "The regular expression finds something in it; case matters.",
    ),
];
