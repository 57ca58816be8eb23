//! The lines that show the edited text.

use unicode_width::UnicodeWidthChar;

/// Lines of a terminal, and where the cursor is in them.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Drawn {
    pub(super) rows: Vec<String>,
    /// Row and column.
    pub(super) cursor: (usize, usize),
}

/// Lays a text out in rows that are shorter than `width`: each of its lines begins after a prompt. `cursor` counts characters.
pub(super) fn lay(text: &str, cursor: usize, prompts: (&str, &str), width: usize) -> Drawn {
    let mut rows = vec![prompts.0.to_owned()];
    let mut column = prompts.0.chars().count();
    let mut place = (0, column);
    for (index, c) in text.chars().chain(['\0']).enumerate() {
        let wide = c.width().unwrap_or(0);
        // The last column stays free: a terminal that has written there may stand on either line.
        if column + wide >= width && c != '\n' {
            rows.push(String::new());
            column = 0;
        }
        if index == cursor {
            place = (rows.len() - 1, column);
        }
        if c == '\n' {
            rows.push(prompts.1.to_owned());
            column = prompts.1.chars().count();
        } else if let (Some(row), true) = (rows.last_mut(), c != '\0') {
            row.push(c);
            column += wide;
        }
    }
    Drawn {
        rows,
        cursor: place,
    }
}

impl Drawn {
    /// The rows that fit a screen of a height: those around the cursor.
    pub(super) fn within(self, height: usize) -> Drawn {
        let height = height.max(1);
        if self.rows.len() <= height {
            return self;
        }
        let first = (self.cursor.0 + 1).saturating_sub(height);
        Drawn {
            rows: self.rows.into_iter().skip(first).take(height).collect(),
            cursor: (self.cursor.0 - first, self.cursor.1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_laid_out_in_rows() {
        let drawn = lay("abcdef\nx日", 8, ("> ", ". "), 8);
        assert_eq!(drawn.rows, ["> abcde", "f", ". x日"]);
        assert_eq!(drawn.cursor, (2, 3));
        let drawn = lay("abcde", 5, ("> ", ". "), 8);
        assert_eq!(drawn.rows, ["> abcde"]);
        assert_eq!(drawn.cursor, (0, 7));
        let tall = lay("1\n2\n3\n4", 0, ("> ", ". "), 8).within(2);
        assert_eq!((tall.rows.len(), tall.cursor), (2, (0, 2)));
        let tall = lay("1\n2\n3\n4", 7, ("> ", ". "), 8).within(2);
        assert_eq!(tall.rows, [". 3", ". 4"]);
        assert_eq!(tall.cursor, (1, 3));
    }
}
