//! The forms of a result: a table for people, and CSV, Markdown and lines of JSON for programs.

use super::{AnswerColumn, AnswerTable, text};
use crate::cli::terminal::{Align, Fit, Grid, Screen, printable};
use crate::wire::csv::record;

/// What of a table is shown on a terminal.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Limits {
    /// The terminal.
    pub(in super::super) screen: Screen,
    /// All columns, and cells whole.
    pub(in super::super) wide: bool,
    /// The most rows; zero for all.
    pub(in super::super) rows: usize,
}

/// The result as a table of aligned columns, with a line about what is not shown.
pub(in super::super) fn table(result: &AnswerTable<'_>, limits: &Limits) -> String {
    let most = if limits.rows == 0 {
        usize::MAX
    } else {
        limits.rows
    };
    let rows = result.rows.iter().take(most);
    let grid = Grid {
        columns: (result.columns.iter())
            .map(|column| (column.name.clone(), align(column)))
            .collect(),
        rows: rows
            .map(|row| row.iter().map(|cell| text(cell)).collect())
            .collect(),
    };
    let fit = match (limits.wide, limits.screen.terminal) {
        (true, _) => Fit::Wide,
        (false, true) => Fit::Width(limits.screen.width),
        (false, false) => Fit::Cut,
    };
    let laid = grid.lay(fit);
    let hidden_rows = result.rows.len().saturating_sub(most);
    match not_shown(laid.empty, laid.cut, hidden_rows) {
        Some(note) => format!("{}{}\n", laid.text, limits.screen.dim(&note)),
        None => laid.text,
    }
}

fn align(column: &AnswerColumn) -> Align {
    match column.kind.as_str() {
        "string" | "dynamic" => Align::Left,
        _ if column.is_number() => Align::Right,
        _ => Align::Whole,
    }
}

/// A line about what is not shown, with the flags that show it.
fn not_shown(empty: usize, cut: usize, rows: usize) -> Option<String> {
    let plural = |count: usize, one: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        _ => Some(format!("{} {one}s", grouped(count as u64))),
    };
    let further = if empty > 0 {
        "further column"
    } else {
        "column"
    };
    let columns: Vec<String> = [plural(empty, "empty column"), plural(cut, further)]
        .into_iter()
        .flatten()
        .collect();
    let columns = (!columns.is_empty()).then(|| format!("{} (--wide)", columns.join(" and ")));
    let rows = plural(rows, "row").map(|rows| format!("{rows} (--max-rows 0)"));
    let parts: Vec<String> = columns.into_iter().chain(rows).collect();
    (!parts.is_empty()).then(|| format!("not shown: {}", parts.join(", ")))
}

/// A number with commas between groups of three digits.
pub(in super::super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The result as CSV with a header; lines end with a line feed.
pub(in super::super) fn csv(result: &AnswerTable<'_>) -> String {
    let mut out = String::new();
    record(
        result.columns.iter().map(|column| column.name.clone()),
        &mut out,
    );
    out.push('\n');
    for row in &result.rows {
        record(row.iter().map(|cell| text(cell)), &mut out);
        out.push('\n');
    }
    out
}

/// The result as a table of GitHub Flavored Markdown.
pub(in super::super) fn markdown(result: &AnswerTable<'_>) -> String {
    let mut out = String::new();
    let mut line = |cells: &mut dyn Iterator<Item = String>| {
        out.push('|');
        for cell in cells {
            out.push_str(&format!(" {cell} |"));
        }
        out.push('\n');
    };
    line(
        &mut result
            .columns
            .iter()
            .map(|column| markdown_cell(&column.name)),
    );
    line(&mut result.columns.iter().map(|column| {
        let rule = if column.is_number() { "---:" } else { "---" };
        rule.to_owned()
    }));
    for row in &result.rows {
        line(&mut row.iter().map(|cell| markdown_cell(&text(cell))));
    }
    out
}

/// A cell in one line, of which Markdown reads nothing as markup that would end the cell or make elements.
fn markdown_cell(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('|', "\\|");
    let escaped = escaped.replace('&', "&amp;").replace('<', "&lt;");
    let lines: Vec<String> = escaped.lines().map(printable).collect();
    lines.join("<br>")
}

/// The rows as objects of JSON, one a line. Values are as in the reply: dynamic ones are strings with JSON text.
pub(in super::super) fn ndjson(result: &AnswerTable<'_>) -> String {
    let names: Vec<String> = (result.columns.iter())
        .map(|column| serde_json::Value::from(column.name.as_str()).to_string())
        .collect();
    let mut out = String::new();
    for row in &result.rows {
        let members: Vec<String> = (names.iter().zip(row))
            .map(|(name, cell)| format!("{name}:{}", cell.get()))
            .collect();
        out.push_str(&format!("{{{}}}\n", members.join(",")));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::Answer;
    use super::*;

    const REPLY: &str = r#"{"tables":[{"name":"PrimaryResult","columns":[{"name":"a","type":"long"},{"name":"b|c","type":"string"},{"name":"d","type":"real"}],
        "rows":[[1,"x,y\nz",0.1],[9007199254740993,"<b>|",1e300],[null,"",null]]}]}"#;

    fn with_table(check: impl Fn(&AnswerTable<'_>)) {
        let answer: Answer<'_> = serde_json::from_str(REPLY).unwrap();
        check(answer.tables.first().unwrap());
    }

    #[test]
    fn csv_has_line_feeds_and_exact_numbers() {
        with_table(|table| {
            assert_eq!(
                csv(table),
                "a,b|c,d\n1,\"x,y\nz\",0.1\n9007199254740993,<b>|,1e300\n,,\n"
            );
        });
    }

    #[test]
    fn markdown_cells_end_nothing() {
        with_table(|table| {
            assert_eq!(
                markdown(table),
                "| a | b\\|c | d |\n| ---: | --- | ---: |\n| 1 | x,y<br>z | 0.1 |\n| 9007199254740993 | &lt;b>\\| | 1e300 |\n|  |  |  |\n"
            );
        });
    }

    #[test]
    fn lines_of_json_hold_the_replys_values() {
        with_table(|table| {
            let lines = ndjson(table);
            assert_eq!(
                lines.lines().nth(1),
                Some(r#"{"a":9007199254740993,"b|c":"<b>|","d":1e300}"#)
            );
            assert_eq!(
                lines.lines().nth(2),
                Some(r#"{"a":null,"b|c":"","d":null}"#)
            );
        });
    }

    #[test]
    fn a_terminal_is_told_what_it_does_not_show() {
        let screen = Screen {
            width: 23,
            height: 10,
            terminal: true,
            colors: false,
        };
        with_table(|result| {
            let limits = Limits {
                screen,
                wide: false,
                rows: 2,
            };
            let text = table(result, &limits);
            assert!(
                text.ends_with("not shown: 1 column (--wide), 1 row (--max-rows 0)\n"),
                "{text}"
            );
            let limits = Limits {
                wide: true,
                rows: 0,
                ..limits
            };
            assert!(!table(result, &limits).contains("not shown"));
        });
        assert_eq!(
            not_shown(12, 1, 0).as_deref(),
            Some("not shown: 12 empty columns and 1 further column (--wide)")
        );
        assert_eq!(
            not_shown(0, 0, 1234).as_deref(),
            Some("not shown: 1,234 rows (--max-rows 0)")
        );
        assert_eq!(not_shown(0, 0, 0), None);
    }
}
