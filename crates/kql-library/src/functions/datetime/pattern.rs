//! The patterns of `format_datetime` and `format_timespan`, parsed once while binding and once per batch.

/// A token of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece {
    /// A literal delimiter.
    Literal(char),
    /// A run of one letter, within the maximum length for that letter.
    Token(char, usize),
}

/// The letters of a pattern, each with its maximum run length; a longer run is split into several tokens.
pub(super) struct Letters(pub(super) &'static [(char, usize)]);

/// The delimiters allowed between tokens.
const DELIMITERS: &str = " /-:,._[]";

impl Letters {
    /// The tokens of `pattern`, or the first character that is neither a pattern letter nor a delimiter.
    pub(super) fn parse(&self, pattern: &str) -> Result<Vec<Piece>, char> {
        let mut pieces = Vec::new();
        let mut rest = pattern.chars().peekable();
        while let Some(letter) = rest.next() {
            if DELIMITERS.contains(letter) {
                pieces.push(Piece::Literal(letter));
                continue;
            }
            let longest = self.0.iter().find(|(l, _)| *l == letter).map(|(_, n)| *n);
            let longest = longest.ok_or(letter)?;
            let mut count = 1;
            while count < longest && rest.next_if_eq(&letter).is_some() {
                count += 1;
            }
            pieces.push(Piece::Token(letter, count));
        }
        Ok(pieces)
    }
}

/// Appends the first `count` digits of the fraction of a second.
pub(super) fn write_fraction(ticks: u32, letter: char, count: usize, out: &mut String) {
    let digits = format!("{ticks:07}");
    let shown = digits.get(..count.min(7)).unwrap_or(&digits);
    // `F` omits the fraction if every digit is zero, and otherwise does not trim zeros.
    if letter == 'f' || shown.bytes().any(|digit| digit != b'0') {
        out.push_str(shown);
    }
}

/// Appends a number padded with zeros.
pub(super) fn write_padded(number: u64, width: usize, out: &mut String) {
    let digits = number.to_string();
    out.extend(std::iter::repeat_n('0', width.saturating_sub(digits.len())));
    out.push_str(&digits);
}
