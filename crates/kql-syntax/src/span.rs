//! Byte ranges of query text.

/// A half-open byte range of the query text. All spans are equal, so that the equality of syntax trees ignores them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Span {
    /// The offset of the first byte.
    pub start: u32,
    /// The offset after the last byte.
    pub end: u32,
}

impl Span {
    /// The range `start..end`.
    pub fn new(start: usize, end: usize) -> Span {
        Span {
            start: start as u32,
            end: end as u32,
        }
    }

    /// The smallest span that contains both.
    pub fn to(self, other: Span) -> Span {
        Span {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }

    /// The line (from 1), the column (from 0, in characters) and the text of the span, as the query API reports them.
    pub fn position(self, text: &str) -> (usize, usize, &str) {
        let start = (self.start as usize).min(text.len());
        let end = (self.end as usize).clamp(start, text.len());
        let before = text.get(..start).unwrap_or("");
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        let line = before.matches('\n').count() + 1;
        let column = before.get(line_start..).unwrap_or("").chars().count();
        (line, column, text.get(start..end).unwrap_or(""))
    }
}

impl PartialEq for Span {
    fn eq(&self, _: &Span) -> bool {
        true
    }
}

impl Eq for Span {}
