//! The brackets of a text, matched before it is parsed.

use crate::token::{Token, TokenKind};

/// The brackets of a list of tokens.
pub(super) struct Brackets {
    /// For each bracket the index of the matching one; for other tokens and unmatched brackets the index of the last token.
    mates: Vec<u32>,
    /// The number of closed brackets around each token. A bracket is not inside itself.
    depths: Vec<u32>,
    /// The innermost bracket around each token that nothing closes.
    unclosed: Vec<Option<u32>>,
}

impl Brackets {
    /// Matches the brackets of some tokens, of which the last is [`TokenKind::End`].
    pub(super) fn of(tokens: &[Token]) -> Brackets {
        let last = tokens.len().saturating_sub(1) as u32;
        let mut mates = vec![last; tokens.len()];
        let mut open = OpenBrackets::default();
        for (index, token) in tokens.iter().enumerate() {
            if let Some(opener) = open.close(token.kind) {
                for (from, to) in [(opener, index), (index, opener)] {
                    if let Some(mate) = mates.get_mut(from) {
                        *mate = to as u32;
                    }
                }
            }
            open.open(index, token.kind);
        }
        Brackets::with_mates(tokens, mates)
    }

    fn with_mates(tokens: &[Token], mates: Vec<u32>) -> Brackets {
        let last = tokens.len().saturating_sub(1) as u32;
        let mut depths = Vec::with_capacity(tokens.len());
        let mut unclosed = Vec::with_capacity(tokens.len());
        let mut depth: u32 = 0;
        // The unclosed brackets inside each closed one, outermost first.
        let mut open: Vec<Option<u32>> = vec![None];
        for (index, (token, mate)) in tokens.iter().zip(&mates).enumerate() {
            let is_closed = *mate != last;
            let mut inside = None;
            if token.kind.closes() && is_closed {
                depth = depth.saturating_sub(1);
                inside = open.pop().flatten();
            }
            depths.push(depth);
            unclosed.push(inside.or_else(|| open.last().copied().flatten()));
            match (token.kind.opens(), is_closed) {
                (true, true) => {
                    depth += 1;
                    open.push(None);
                }
                (true, false) => {
                    if let Some(innermost) = open.last_mut() {
                        *innermost = Some(index as u32);
                    }
                }
                (false, _) => {}
            }
        }
        Brackets {
            mates,
            depths,
            unclosed,
        }
    }

    /// The index of the bracket that matches the one at this index, or of the last token if none does.
    pub(super) fn mate(&self, index: usize) -> usize {
        self.mates.get(index).copied().unwrap_or(0) as usize
    }

    /// Whether a bracket matches the one at this index.
    pub(super) fn is_closed(&self, index: usize) -> bool {
        self.mate(index) + 1 < self.mates.len()
    }

    /// The number of closed brackets around a token. An unclosed bracket does not count, so that the rest of the text is not
    /// taken for its content.
    pub(super) fn depth(&self, index: usize) -> u32 {
        self.depths.get(index).copied().unwrap_or(0)
    }

    /// The innermost bracket around a token that nothing closes, unless a closed bracket is between the two. For a closing bracket
    /// it may be one inside of it.
    pub(super) fn unclosed(&self, index: usize) -> Option<usize> {
        Some(self.unclosed.get(index).copied().flatten()? as usize)
    }
}

/// The brackets that are open at a place, outermost first.
#[derive(Default)]
struct OpenBrackets {
    brackets: Vec<(usize, TokenKind)>,
    /// How many of them are `(`, `[` and `{`, so that a search for an absent kind takes no time.
    counts: [usize; 3],
}

impl OpenBrackets {
    fn open(&mut self, index: usize, kind: TokenKind) {
        if let Some(count) = self.count(kind) {
            *count += 1;
            self.brackets.push((index, kind));
        }
    }

    /// The number of open brackets of a kind; none if the kind opens no bracket.
    fn count(&mut self, opener: TokenKind) -> Option<&mut usize> {
        let [parens, brackets, braces] = &mut self.counts;
        match opener {
            TokenKind::LeftParen => Some(parens),
            TokenKind::LeftBracket => Some(brackets),
            TokenKind::LeftBrace => Some(braces),
            _ => None,
        }
    }

    /// The innermost bracket that a token closes. Brackets inside of it stay unclosed.
    fn close(&mut self, kind: TokenKind) -> Option<usize> {
        let opener = kind.opener()?;
        if self.count(opener).is_none_or(|count| *count == 0) {
            return None;
        }
        while let Some((index, found)) = self.brackets.pop() {
            if let Some(count) = self.count(found) {
                *count -= 1;
            }
            if found == opener {
                return Some(index);
            }
        }
        None
    }
}
