//! The text that is edited, and where the cursor is.

/// A text of one or more lines.
#[derive(Debug, Default, Clone)]
pub(super) struct Line {
    text: Vec<char>,
    cursor: usize,
}

impl Line {
    /// The whole text.
    pub(super) fn text(&self) -> String {
        self.text.iter().collect()
    }

    /// The text before the cursor.
    pub(super) fn before(&self) -> String {
        self.text.iter().take(self.cursor).collect()
    }

    /// The characters before the cursor.
    pub(super) fn cursor(&self) -> usize {
        self.cursor
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Replaces the whole text and puts the cursor at its end.
    pub(super) fn replace(&mut self, text: &str) {
        self.text = text.chars().collect();
        self.cursor = self.text.len();
    }

    pub(super) fn insert(&mut self, text: &str) {
        let added: Vec<char> = text.chars().collect();
        let end = self.cursor + added.len();
        self.text.splice(self.cursor..self.cursor, added);
        self.cursor = end;
    }

    /// Removes the characters between two positions.
    fn remove(&mut self, from: usize, to: usize) {
        self.text.drain(from..to);
        self.cursor = from;
    }

    pub(super) fn backspace(&mut self) {
        if self.cursor > 0 {
            self.remove(self.cursor - 1, self.cursor);
        }
    }

    pub(super) fn delete(&mut self) {
        if self.cursor < self.text.len() {
            self.remove(self.cursor, self.cursor + 1);
        }
    }

    /// Removes this number of characters before the cursor.
    pub(super) fn remove_before(&mut self, count: usize) {
        self.remove(self.cursor.saturating_sub(count), self.cursor);
    }

    pub(super) fn delete_to_start(&mut self) {
        self.remove(self.line_start(), self.cursor);
    }

    pub(super) fn delete_to_end(&mut self) {
        let end = self.line_end();
        self.remove(self.cursor, end);
    }

    pub(super) fn delete_word(&mut self) {
        self.remove(self.word_start(), self.cursor);
    }

    pub(super) fn left(&mut self) {
        self.cursor = self.cursor.saturating_sub(1);
    }

    pub(super) fn right(&mut self) {
        self.cursor = (self.cursor + 1).min(self.text.len());
    }

    pub(super) fn word_left(&mut self) {
        self.cursor = self.word_start();
    }

    pub(super) fn word_right(&mut self) {
        while self.at(self.cursor).is_some_and(|c| !is_word(c)) {
            self.cursor += 1;
        }
        while self.at(self.cursor).is_some_and(is_word) {
            self.cursor += 1;
        }
    }

    pub(super) fn home(&mut self) {
        self.cursor = self.line_start();
    }

    pub(super) fn end(&mut self) {
        self.cursor = self.line_end();
    }

    /// Moves to the line above; false if there is none.
    pub(super) fn up(&mut self) -> bool {
        let start = self.line_start();
        if start == 0 {
            return false;
        }
        let column = self.cursor - start;
        self.cursor = start - 1;
        let above = self.line_start();
        self.cursor = (above + column).min(start - 1);
        true
    }

    /// Moves to the line below; false if there is none.
    pub(super) fn down(&mut self) -> bool {
        let end = self.line_end();
        if end == self.text.len() {
            return false;
        }
        let column = self.cursor - self.line_start();
        self.cursor = end + 1;
        self.cursor = (end + 1 + column).min(self.line_end());
        true
    }

    fn at(&self, index: usize) -> Option<char> {
        self.text.get(index).copied()
    }

    fn line_start(&self) -> usize {
        let before = self.text.get(..self.cursor).unwrap_or_default();
        before
            .iter()
            .rposition(|c| *c == '\n')
            .map_or(0, |at| at + 1)
    }

    fn line_end(&self) -> usize {
        let after = self.text.get(self.cursor..).unwrap_or_default();
        let length = after.iter().position(|c| *c == '\n');
        length.map_or(self.text.len(), |length| self.cursor + length)
    }

    fn word_start(&self) -> usize {
        let mut at = self.cursor;
        while at > 0 && self.at(at - 1).is_some_and(|c| !is_word(c)) {
            at -= 1;
        }
        while at > 0 && self.at(at - 1).is_some_and(is_word) {
            at -= 1;
        }
        at
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_edited_by_character_word_and_line() {
        let mut line = Line::default();
        line.insert("requests\n| where name");
        line.delete_word();
        assert_eq!(line.text(), "requests\n| where ");
        assert!(line.up());
        assert_eq!(line.before(), "requests");
        assert!(!line.up());
        line.word_left();
        assert_eq!(line.before(), "");
        line.delete();
        line.insert("R");
        assert!(line.down());
        assert_eq!(line.before(), "Requests\n|");
        assert!(!line.down());
        line.delete_to_end();
        assert_eq!(line.text(), "Requests\n|");
        line.backspace();
        line.left();
        line.delete_to_start();
        assert_eq!(line.text(), "\n");
        line.right();
        line.remove_before(5);
        assert!(line.is_empty());
    }
}
