//! Terms of text: the maximal runs of letters and digits of any script (`docs/semantics.md §6`), compared without case.
//!
//! The operators `has`, `hasprefix` and so on match by terms. An index of the terms of stored text excludes rows that cannot match, so the
//! index and the operators share this definition.

use std::borrow::Cow;

/// Simple case folding, character by character. `ß` folds to itself, and the dotless `ı` does not fold to `i`.
///
/// Folding makes no letter or digit of another character, nor the reverse: a text and its folded form have their terms at the same places.
pub fn fold_char(c: char) -> char {
    fn single(mut chars: impl Iterator<Item = char>, otherwise: char) -> char {
        match (chars.next(), chars.next()) {
            (Some(c), None) => c,
            _ => otherwise,
        }
    }
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    if matches!(c, 'ı' | 'İ') {
        return c;
    }
    let upper = single(c.to_uppercase(), c);
    single(upper.to_lowercase(), upper)
}

/// The folded form of `text`.
pub fn fold_text(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return if text.bytes().any(|b| b.is_ascii_uppercase()) {
            Cow::Owned(text.to_ascii_lowercase())
        } else {
            Cow::Borrowed(text)
        };
    }
    Cow::Owned(text.chars().map(fold_char).collect())
}

/// Terms consist of letters and digits of any script; `_` is a separator.
pub fn is_term(c: char) -> bool {
    c.is_alphanumeric()
}

/// The terms of a text, each with the byte at which it begins.
pub fn terms(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..)?;
        let begin = at + rest.find(is_term)?;
        let rest = text.get(begin..)?;
        let end = begin + rest.find(|c| !is_term(c)).unwrap_or(rest.len());
        at = end;
        Some((begin, text.get(begin..end)?))
    })
}

/// Which ends of a searched text are at the ends of terms wherever it matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edges {
    /// Nothing that continues its first term is before it.
    pub left: bool,
    /// Nothing that continues its last term is behind it.
    pub right: bool,
}

/// The folded terms that every text has that matches `searched`, with or without case: those within it, and the first and the last one if
/// the match ends there.
pub fn required_terms(searched: &str, edges: Edges) -> Vec<String> {
    let folded = fold_text(searched);
    let is_whole = |(begin, term): &(usize, &str)| {
        (edges.left || *begin > 0) && (edges.right || begin + term.len() < folded.len())
    };
    let whole = terms(&folded).filter(is_whole);
    whole.map(|(_, term)| term.to_owned()).collect()
}

/// A condition that every row meets that passes a filter: which terms its texts have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TermCondition {
    /// The text of a column has a term, which is folded.
    Has {
        /// The column.
        column: String,
        /// The term.
        term: String,
    },
    /// All of these are met. Without any, every row meets it.
    All(Vec<TermCondition>),
    /// One of these is met.
    Any(Vec<TermCondition>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folding_keeps_terms_in_place() {
        for c in '\0'..=char::MAX {
            assert_eq!(is_term(c), is_term(fold_char(c)), "{c:?}");
        }
    }

    #[test]
    fn terms_are_maximal_runs() {
        let found: Vec<_> = terms("10.20 snake_case, élan—v2").collect();
        let expected = [
            (0, "10"),
            (3, "20"),
            (6, "snake"),
            (12, "case"),
            (18, "élan"),
            (26, "v2"),
        ];
        assert_eq!(found, expected);
        assert_eq!(terms("").count() + terms(" _-").count(), 0);
    }

    #[test]
    fn terms_at_an_open_edge_are_not_required() {
        let check = |searched: &str, left: bool, right: bool, expected: &[&str]| {
            assert_eq!(required_terms(searched, Edges { left, right }), expected);
        };
        check("Timed OUT after", true, true, &["timed", "out", "after"]);
        check("Timed OUT after", false, false, &["out"]);
        check("Timed OUT after", true, false, &["timed", "out"]);
        check(" out ", false, false, &["out"]);
        check("out", false, true, &[]);
        check("", true, true, &[]);
    }
}
