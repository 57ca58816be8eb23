//! What the command line writes.

use std::io::Write;

/// Writes to standard output. A reader that went away (`| head`) is no failure.
pub(super) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// Writes one line to standard error.
pub(super) fn complain(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "hindsight: {text}");
}

/// Rows under a header, each column as wide as its widest cell.
pub(super) fn table(header: &[String], rows: &[Vec<String>]) -> String {
    /// Cells are cut at this width: one long message must not push the others off the screen.
    const WIDEST: usize = 80;
    let cell = |text: &String| -> String {
        let line: String = text
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        if line.chars().count() <= WIDEST {
            line
        } else {
            line.chars().take(WIDEST - 1).chain(['…']).collect()
        }
    };
    let lines: Vec<Vec<String>> = std::iter::once(header)
        .chain(rows.iter().map(Vec::as_slice))
        .map(|row| row.iter().map(cell).collect())
        .collect();
    let width = |column: usize| {
        lines
            .iter()
            .filter_map(|line| line.get(column))
            .map(|text| text.chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let mut out = String::new();
    for (index, line) in lines.iter().enumerate() {
        let padded: Vec<String> = line
            .iter()
            .zip(&widths)
            .map(|(text, width)| format!("{text:<width$}"))
            .collect();
        out.push_str(padded.join("  ").trim_end());
        out.push('\n');
        if index == 0 {
            let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
            out.push_str(&rule.join("  "));
            out.push('\n');
        }
    }
    out
}

/// A tick count as a date for people; nothing for none.
pub(super) fn date(at: Option<i64>) -> String {
    let mut text = String::new();
    if let Some(at) = at {
        // Writing into a text cannot fail.
        let _ = hindsight_kql_types::datetime::write_trimmed(at, &mut text);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_cut() {
        let text = table(
            &["a".into(), "bee".into()],
            &[
                vec!["long\nvalue".into(), "x".into()],
                vec!["é".into(), "y".repeat(100)],
            ],
        );
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.first(), Some(&"a           bee"));
        assert_eq!(lines.get(2), Some(&"long value  x"));
        assert!(lines.get(3).unwrap().ends_with('…'));
    }
}
