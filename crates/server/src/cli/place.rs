//! The errors of a query as the command line prints them: each with the lines of the query that it is about, and carets under its
//! place.

use serde_json::Value;
use unicode_width::UnicodeWidthChar;

/// The most lines of the query that one error shows.
const MAX_LINES: usize = 5;

/// The errors of a query in a reply's `error` object, one after the other; `None` if it holds no error with a place.
fn errors(error: &Value, query: &str) -> Option<String> {
    let middle = error.get("innererror")?;
    let first = middle.get("innererror")?;
    let others = middle.get("details").and_then(Value::as_array);
    let all = std::iter::once(first).chain(others.into_iter().flatten());
    let described: Option<Vec<String>> = all.map(|one| described(one, query)).collect();
    Some(described?.join("\n\n"))
}

/// A failure: every error of the query with its place, or else the most exact message in one line.
pub(super) fn failure(status: u16, value: &Value, query: &str) -> String {
    let error = value.get("error").unwrap_or(value);
    let message = errors(error, query).unwrap_or_else(|| innermost(error));
    format!("status {status}: {message}")
}

/// The most exact message of nested errors.
pub(super) fn innermost(error: &Value) -> String {
    let details = error.get("details").and_then(|details| details.get(0));
    if let Some(inner) = error.get("innererror").or(details) {
        return innermost(inner);
    }
    let text = |key: &str| error.get(key).and_then(Value::as_str);
    let code = text("code")
        .map(|code| format!("{code}: "))
        .unwrap_or_default();
    format!("{code}{}", text("message").unwrap_or("no message"))
}

/// An error with its code, its message, its place and the lines of the query.
fn described(error: &Value, query: &str) -> Option<String> {
    let text = |key: &str| error.get(key).and_then(Value::as_str);
    let number = |key: &str| usize::try_from(error.get(key)?.as_u64()?).ok();
    let (line, position) = (number("line")?, number("pos")?);
    let (code, message) = (text("code")?, text("message")?);
    let marked = marked(query, line, position, text("token")?);
    Some(format!(
        "{code}: {message}\n --> line [{line},{position}]\n{marked}"
    ))
}

/// The lines of a query that hold `token`, each with carets under its part of it. `line` counts from 1, `position` from 0 in
/// characters, as in a reply.
fn marked(query: &str, line: usize, position: usize, token: &str) -> String {
    let parts: Vec<&str> = token.split('\n').collect();
    let last = line + parts.len().min(MAX_LINES) - 1;
    let gutter = last.to_string().len();
    let lines = query.split('\n').skip(line.saturating_sub(1));
    let mut out = Vec::new();
    for (index, (text, part)) in lines.zip(&parts).take(MAX_LINES).enumerate() {
        let number = line + index;
        let start = if index == 0 { position } else { 0 };
        let text = text.trim_end_matches('\r');
        out.push(format!("{number:>gutter$} | {}", printable(text)));
        let part = part.trim_end_matches('\r');
        if token.is_empty() || !part.trim().is_empty() {
            out.push(format!("{:>gutter$} | {}", "", carets(text, start, part)));
        }
    }
    if parts.len() > MAX_LINES {
        out.push(format!("{:>gutter$} | …", ""));
    }
    out.join("\n")
}

/// Carets under the part of a line that begins at a character, without the white space around the part. A tab stays a tab, so that
/// the carets are in the right column whatever the width of a tab is.
fn carets(line: &str, start: usize, part: &str) -> String {
    let start = start + part.chars().take_while(|c| c.is_whitespace()).count();
    let count = part.trim().chars().count();
    let padding = line.chars().take(start).map(|c| match c {
        '\t' => "\t".to_owned(),
        other => " ".repeat(columns(other)),
    });
    let width: usize = line.chars().skip(start).take(count).map(columns).sum();
    format!(
        "{}{}",
        padding.collect::<String>(),
        "^".repeat(width.max(1))
    )
}

/// A line without control characters, which a terminal would obey.
fn printable(line: &str) -> String {
    line.chars()
        .map(|c| if c.is_control() && c != '\t' { ' ' } else { c })
        .collect()
}

/// The columns of a terminal that a character takes.
fn columns(c: char) -> usize {
    c.width().unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn carets_are_under_the_token() {
        assert_eq!(
            marked("requests\n| oops", 2, 2, "oops"),
            "2 | | oops\n  |   ^^^^"
        );
    }

    #[test]
    fn the_end_of_the_text_gets_one_caret() {
        assert_eq!(
            marked("T | where", 1, 9, ""),
            "1 | T | where\n  |          ^"
        );
        assert_eq!(marked("", 1, 0, ""), "1 | \n  | ^");
    }

    #[test]
    fn tabs_are_kept_and_wide_characters_take_two_columns() {
        assert_eq!(
            marked("\twhere\tname == 1", 1, 7, "name"),
            "1 | \twhere\tname == 1\n  | \t     \t^^^^"
        );
        assert_eq!(
            marked("print '日本é', x", 1, 13, "x"),
            "1 | print '日本é', x\n  |                ^"
        );
        assert_eq!(
            marked("print ['日本']", 1, 6, "['日本']"),
            "1 | print ['日本']\n  |       ^^^^^^^^"
        );
    }

    #[test]
    fn a_token_of_several_lines_is_marked_on_each() {
        assert_eq!(
            marked(
                "T\r\n| where f(\r\n\r\n    1,\r\n  2)",
                2,
                8,
                "f(\r\n\r\n    1,\r\n  2)"
            ),
            "2 | | where f(\n  |         ^^\n3 | \n4 |     1,\n  |     ^^\n5 |   2)\n  |   ^^"
        );
        let long = "f(\n".repeat(12);
        let marked = marked(&long, 1, 0, &long);
        assert_eq!(marked.lines().count(), 2 * MAX_LINES + 1);
        assert!(marked.ends_with("  | …"), "{marked}");
    }

    #[test]
    fn control_characters_are_not_printed() {
        assert_eq!(
            marked("a\u{1b}[2J b", 1, 6, "b"),
            "1 | a [2J b\n  |       ^"
        );
    }

    #[test]
    fn every_error_is_shown() {
        let place = |line: usize, token: &str| json!({"code": "SEM0100", "message": "no", "line": line, "pos": 2, "token": token});
        let error = json!({"code": "BadArgumentError", "innererror": {"code": "SemanticError",
            "innererror": place(1, "a"), "details": [place(2, "b")]}});
        assert_eq!(
            errors(&error, "| a\n| b").as_deref(),
            Some(
                "SEM0100: no\n --> line [1,2]\n1 | | a\n  |   ^\n\nSEM0100: no\n --> line [2,2]\n2 | | b\n  |   ^"
            )
        );
        assert_eq!(errors(&json!({"code": "x", "message": "y"}), ""), None);
    }

    #[test]
    fn the_most_exact_message_is_shown_with_its_place() {
        let value = json!({"error": {"message": "outer", "code": "BadArgumentError", "innererror": {
            "code": "SyntaxError", "message": "x", "innererror": {"code": "SYN0002", "message": "no", "line": 1, "pos": 4, "token": "b"}}}});
        assert_eq!(
            failure(400, &value, "aaa b"),
            "status 400: SYN0002: no\n --> line [1,4]\n1 | aaa b\n  |     ^"
        );
        let value = json!({"error": {"message": "outer", "innererror": {"code": "NotFoundError", "message": "no app"}}});
        assert_eq!(
            failure(404, &value, "aaa b"),
            "status 404: NotFoundError: no app"
        );
    }
}
