//! A byte cursor for the hand-written parsers of dates and times.

/// A position in ASCII text.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a> {
    rest: &'a [u8],
}

/// A run of digits: its value and its length.
#[derive(Clone, Copy)]
pub(crate) struct Digits {
    pub(crate) value: u32,
    pub(crate) count: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Cursor<'a> {
        Cursor {
            rest: text.as_bytes(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    pub(crate) fn bump(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    pub(crate) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.bump();
        }
        found
    }

    /// Skips white space. Returns whether there was any.
    pub(crate) fn skip_space(&mut self) -> bool {
        !self.take_while(|b| b.is_ascii_whitespace()).is_empty()
    }

    pub(crate) fn word(&mut self) -> &'a [u8] {
        self.take_while(|b| b.is_ascii_alphabetic())
    }

    /// One to nine digits.
    pub(crate) fn digits(&mut self) -> Option<Digits> {
        let run = self.take_while(|b| b.is_ascii_digit());
        if run.is_empty() || run.len() > 9 {
            return None;
        }
        Some(Digits {
            value: number(run),
            count: run.len(),
        })
    }

    /// The digits of a fraction of a second as ticks; digits after the seventh are ignored.
    pub(crate) fn fraction(&mut self) -> Option<u32> {
        let run = self.take_while(|b| b.is_ascii_digit());
        if run.is_empty() {
            return None;
        }
        let kept = run.get(..7).unwrap_or(run);
        Some(number(kept) * 10u32.pow(7 - kept.len() as u32))
    }

    fn take_while(&mut self, wanted: impl Fn(u8) -> bool) -> &'a [u8] {
        let end = self
            .rest
            .iter()
            .position(|b| !wanted(*b))
            .unwrap_or(self.rest.len());
        let (run, rest) = self.rest.split_at(end);
        self.rest = rest;
        run
    }
}

fn number(digits: &[u8]) -> u32 {
    digits
        .iter()
        .fold(0, |n, d| n * 10 + u32::from(d.wrapping_sub(b'0')))
}
