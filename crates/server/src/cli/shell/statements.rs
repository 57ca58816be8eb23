//! Where a query ends.

/// The first words of statements that precede a query.
const BEFORE_QUERY: [&str; 5] = ["let", "set", "declare", "alias", "restrict"];

/// Whether a text that was entered is whole: a command, nothing at all, or a query that ends with an empty line or with a `;` that no
/// further statement must follow.
pub(super) fn is_whole(text: &str) -> bool {
    let trimmed = text.trim();
    if trimmed.is_empty() || trimmed.starts_with('.') {
        return true;
    }
    if matches!(trimmed, "exit" | "quit" | "help") {
        return true;
    }
    let last = text.rsplit('\n').next().unwrap_or_default();
    if text.contains('\n') && last.trim().is_empty() {
        return true;
    }
    let Some(query) = trimmed.strip_suffix(';') else {
        return false;
    };
    let statement = query.rsplit(';').next().unwrap_or_default();
    let first = statement.split_whitespace().next().unwrap_or_default();
    !BEFORE_QUERY.contains(&first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_ends_with_an_empty_line_or_a_semicolon() {
        for (text, expected) in [
            ("requests", false),
            ("requests;", true),
            ("requests\n| count", false),
            ("requests\n| count\n", true),
            ("requests\n| count ; ", true),
            ("let x = 1;", false),
            ("let x = 1;\nprint x;", true),
            ("let x = 1; print x", false),
            ("", true),
            (".tables", true),
            ("exit", true),
        ] {
            assert_eq!(is_whole(text), expected, "{text}");
        }
    }
}
