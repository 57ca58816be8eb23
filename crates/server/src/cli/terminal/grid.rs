//! Rows under a header, fitted to a width.

use super::text::{columns, cut, printable};

/// Cells are cut at this width where nothing else limits them: one long message must not push the others off the screen.
const WIDEST: usize = 80;
/// A column of text is narrowed to this width before another column is left out.
const NARROW: usize = 16;
/// Between two columns.
const GAP: usize = 2;

/// The side of a column that its cells stand at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Align {
    /// Text, which may be narrowed.
    Left,
    /// Times and ids of a fixed length, which are shown whole.
    Whole,
    /// Numbers, which are shown whole.
    Right,
}

/// What a grid is fitted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Fit {
    /// All columns, cells cut at 80 columns: for pipes.
    Cut,
    /// All columns and cells whole.
    Wide,
    /// The width of a terminal in characters: columns without a value, and then those that do not fit, are left out.
    Width(usize),
}

/// A table of texts.
#[derive(Debug, Default)]
pub(in super::super) struct Grid {
    /// Names with the side that their cells stand at.
    pub(in super::super) columns: Vec<(String, Align)>,
    /// Cells, as many as there are columns.
    pub(in super::super) rows: Vec<Vec<String>>,
}

/// A grid as text.
#[derive(Debug, PartialEq, Eq)]
pub(in super::super) struct Laid {
    /// The lines.
    pub(in super::super) text: String,
    /// Columns that were left out because no row has a value in them.
    pub(in super::super) empty: usize,
    /// Columns that were left out because they do not fit.
    pub(in super::super) cut: usize,
}

impl Grid {
    /// The lines of a header, a rule and the rows.
    pub(in super::super) fn lay(&self, fit: Fit) -> Laid {
        let lines = self.lines();
        let all: Vec<usize> = (0..self.columns.len()).collect();
        let (shown, empty) = match fit {
            Fit::Width(_) => self.filled(&all),
            Fit::Cut | Fit::Wide => (all, 0),
        };
        let limit = match fit {
            Fit::Wide => usize::MAX,
            Fit::Cut => WIDEST,
            Fit::Width(width) => WIDEST.min(width),
        };
        let natural: Vec<usize> = shown
            .iter()
            .map(|column| width(&lines, *column).min(limit))
            .collect();
        let widths = match fit {
            Fit::Width(width) => self.fitted(&shown, &natural, width),
            Fit::Cut | Fit::Wide => natural,
        };
        let cut = shown.len() - widths.len();
        let aligned = !matches!(fit, Fit::Cut);
        let layout: Vec<(usize, usize, bool)> = shown
            .into_iter()
            .zip(widths)
            .map(|(column, width)| (column, width, aligned && self.is_number(column)))
            .collect();
        let mut text = String::new();
        for (index, line) in lines.iter().enumerate() {
            push_line(line, &layout, &mut text);
            if index == 0 {
                let rules = layout.iter().map(|(_, width, _)| "─".repeat(*width));
                text.push_str(&rules.collect::<Vec<_>>().join("  "));
                text.push('\n');
            }
        }
        Laid { text, empty, cut }
    }

    /// The header and the rows, without control characters.
    fn lines(&self) -> Vec<Vec<String>> {
        let header = self.columns.iter().map(|(name, _)| printable(name));
        let rows = self.rows.iter();
        let rows = rows.map(|row| row.iter().map(|cell| printable(cell)).collect());
        std::iter::once(header.collect()).chain(rows).collect()
    }

    /// The columns in which a row has a value, and how many others there are. Without rows all columns count as filled.
    fn filled(&self, all: &[usize]) -> (Vec<usize>, usize) {
        let has_value = |column: usize| {
            (self.rows.iter()).any(|row| row.get(column).is_some_and(|c| !c.is_empty()))
        };
        let filled: Vec<usize> = all.iter().copied().filter(|c| has_value(*c)).collect();
        if filled.is_empty() {
            return (all.to_vec(), 0);
        }
        let empty = all.len() - filled.len();
        (filled, empty)
    }

    fn is_number(&self, column: usize) -> bool {
        (self.columns.get(column)).is_some_and(|(_, align)| *align == Align::Right)
    }

    /// The widths of the first columns that fit: text is narrowed, and what is left over widens it again, evenly.
    fn fitted(&self, shown: &[usize], natural: &[usize], width: usize) -> Vec<usize> {
        let mut widths = Vec::new();
        let mut used = 0;
        for (column, natural) in shown.iter().zip(natural) {
            let text = (self.columns.get(*column)).is_some_and(|(_, align)| *align == Align::Left);
            let least = if text {
                (*natural).min(NARROW)
            } else {
                *natural
            };
            let gap = if widths.is_empty() { 0 } else { GAP };
            if used + gap + least > width && !widths.is_empty() {
                break;
            }
            used += gap + least;
            widths.push(least.min(width));
        }
        let mut left = width.saturating_sub(used);
        while left > 0 {
            let mut grew = false;
            for (width, natural) in widths.iter_mut().zip(natural) {
                if left > 0 && *width < *natural {
                    *width += 1;
                    left -= 1;
                    grew = true;
                }
            }
            if !grew {
                break;
            }
        }
        widths
    }
}

/// The widest cell of a column.
fn width(lines: &[Vec<String>], column: usize) -> usize {
    let cells = lines.iter().filter_map(|line| line.get(column));
    cells.map(|cell| columns(cell)).max().unwrap_or(0)
}

/// Appends a line; `layout` has each column with its width and whether its cells stand at the right.
fn push_line(line: &[String], layout: &[(usize, usize, bool)], out: &mut String) {
    let mut text = String::new();
    for (index, (column, width, right)) in layout.iter().enumerate() {
        if index > 0 {
            text.push_str("  ");
        }
        let cell = line.get(*column).map_or("", String::as_str);
        let cell = cut(cell, *width);
        let padding = " ".repeat(width.saturating_sub(columns(&cell)));
        if *right {
            text.push_str(&padding);
            text.push_str(&cell);
        } else {
            text.push_str(&cell);
            text.push_str(&padding);
        }
    }
    out.push_str(text.trim_end());
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(columns: &[(&str, Align)], rows: &[&[&str]]) -> Grid {
        let own = |text: &&str| (*text).to_owned();
        Grid {
            columns: (columns.iter().map(|(name, align)| (own(name), *align))).collect(),
            rows: rows
                .iter()
                .map(|row| row.iter().map(own).collect())
                .collect(),
        }
    }

    #[test]
    fn columns_are_aligned_and_cut() {
        let long = "y".repeat(100);
        let laid = grid(
            &[("a", Align::Left), ("bee", Align::Right)],
            &[&["long\nvalue", "x"], &["é", &long]],
        )
        .lay(Fit::Cut);
        let lines: Vec<&str> = laid.text.lines().collect();
        assert_eq!(lines.first(), Some(&"a           bee"));
        assert_eq!(lines.get(2), Some(&"long value  x"));
        assert!(lines.get(3).unwrap().ends_with('…'));
        assert_eq!((laid.empty, laid.cut), (0, 0));
    }

    #[test]
    fn a_width_leaves_out_empty_columns_first_and_then_the_last_ones() {
        let wide = "w".repeat(40);
        let table = grid(
            &[
                ("time", Align::Whole),
                ("none", Align::Left),
                ("name", Align::Left),
                ("n", Align::Right),
                ("last", Align::Left),
            ],
            &[
                &["12:00:00", "", &wide, "7", &wide],
                &["12:00:01", "", "日本", "12", ""],
            ],
        );
        let laid = table.lay(Fit::Width(40));
        assert_eq!((laid.empty, laid.cut), (1, 1));
        for line in laid.text.lines() {
            assert!(columns(line) <= 40, "{line}");
        }
        let lines: Vec<&str> = laid.text.lines().collect();
        assert_eq!(
            lines.first(),
            Some(&"time      name                         n")
        );
        assert_eq!(
            lines.get(3),
            Some(&"12:00:01  日本                        12")
        );
        let laid = table.lay(Fit::Width(200));
        assert_eq!((laid.empty, laid.cut), (1, 0));
        let laid = table.lay(Fit::Wide);
        assert_eq!((laid.empty, laid.cut), (0, 0));
        assert!(!laid.text.contains('…'));
    }

    #[test]
    fn a_column_that_is_wider_than_the_terminal_is_cut_and_not_left_out() {
        let wide = "w".repeat(60);
        let laid =
            grid(&[("a", Align::Whole), ("b", Align::Left)], &[&[&wide, "x"]]).lay(Fit::Width(30));
        assert_eq!((laid.empty, laid.cut), (0, 1));
        assert_eq!(laid.text.lines().nth(2).map(columns), Some(30));
    }

    #[test]
    fn without_rows_the_header_is_shown() {
        let laid = grid(&[("a", Align::Left), ("b", Align::Left)], &[]).lay(Fit::Width(80));
        assert_eq!(laid.text, "a  b\n─  ─\n");
        assert_eq!(laid.empty, 0);
    }
}
