//! Tables as CSV (RFC 4180), for the command line and `$format=csv`.

use hindsight_engine::ResultTable;

use super::cell::Cells;

/// The table with a header line.
pub(crate) fn table(table: &ResultTable) -> String {
    let mut out = String::new();
    line(
        table.columns.iter().map(|column| column.name.clone()),
        &mut out,
    );
    for batch in &table.batches {
        let cells: Vec<Cells<'_>> = table
            .columns
            .iter()
            .zip(batch.columns())
            .map(|(column, array)| Cells::new(column.kind, array))
            .collect();
        for row in 0..batch.num_rows() {
            let texts = cells.iter().map(|cell| {
                let mut text = String::new();
                cell.write_plain(row, &mut text);
                text
            });
            line(texts, &mut out);
        }
    }
    out
}

/// One line, which ends as the RFC says.
fn line(fields: impl Iterator<Item = String>, out: &mut String) {
    record(fields, out);
    out.push_str("\r\n");
}

/// One record without the end of its line. A field that a spreadsheet would run as a formula gets an apostrophe in front (CWE-1236).
pub(crate) fn record(fields: impl Iterator<Item = String>, out: &mut String) {
    for (index, field) in fields.enumerate() {
        if index > 0 {
            out.push(',');
        }
        let formula = is_formula(&field);
        let quoted = formula || field.contains([',', '"', '\n', '\r']);
        if !quoted {
            out.push_str(&field);
            continue;
        }
        out.push('"');
        if formula {
            out.push('\'');
        }
        out.push_str(&field.replace('"', "\"\""));
        out.push('"');
    }
}

/// Whether a spreadsheet may run a field: it begins like a formula and is no number.
fn is_formula(field: &str) -> bool {
    let digits = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E');
    let is_number = field.chars().all(digits) && field.parse::<f64>().is_ok();
    field.starts_with(['=', '+', '-', '@', '\t', '\r']) && !is_number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_needed() {
        let mut out = String::new();
        line(
            ["a", "b,c", "say \"x\"", "=1+1", "-5"]
                .into_iter()
                .map(str::to_owned),
            &mut out,
        );
        assert_eq!(out, "a,\"b,c\",\"say \"\"x\"\"\",\"'=1+1\",-5\r\n");
    }

    #[test]
    fn fields_that_a_spreadsheet_would_run_are_escaped_and_numbers_are_not() {
        let check = |field: &str, expected: &str| {
            let mut out = String::new();
            line([field.to_owned()].into_iter(), &mut out);
            assert_eq!(out, format!("{expected}\r\n"));
        };
        check("-5", "-5");
        check("+1.5e-3", "+1.5e-3");
        check("-1+1|cmd", "\"'-1+1|cmd\"");
        check("+SUM(A1)", "\"'+SUM(A1)\"");
        check("-2+3", "\"'-2+3\"");
        check("-inf", "\"'-inf\"");
        check("@SUM(A1)", "\"'@SUM(A1)\"");
        check("\t=1", "\"'\t=1\"");
        check("\r=1", "\"'\r=1\"");
        check("a=1", "a=1");
    }
}
