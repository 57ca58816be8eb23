//! The matching of the string operators: terms, prefixes, substrings, case-sensitive and case-insensitive (`docs/semantics.md
//! §6`).

use arrow::array::ArrayRef;
use memchr::memmem::Finder;
use memchr::{memchr_iter, memchr2_iter};

use hindsight_kql_types::terms::is_term;
pub(crate) use hindsight_kql_types::terms::{fold_char, fold_text};

use crate::call::InnerKernel;
use crate::kernel::{KernelArgs, KernelError};
use crate::regular_expression;

/// The kind of match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Test {
    /// `has`: a whole term.
    Has,
    /// `hasprefix`: a term starts with the needle.
    HasPrefix,
    /// `hassuffix`: a term ends with the needle.
    HasSuffix,
    /// `contains`
    Contains,
    /// `startswith`
    StartsWith,
    /// `endswith`
    EndsWith,
    /// `=~`
    Equals,
}

/// A prepared needle.
pub(crate) struct Matcher {
    test: Test,
    sensitive: bool,
    /// The needle in its compared form: folded unless `sensitive`.
    needle: String,
    /// Whether the needle is ASCII, so that texts need not be folded.
    ascii: bool,
    /// Whether the needle contains `k` or `s`, which are also the folded forms of two letters beyond ASCII.
    ambiguous: bool,
    /// The index of the byte of an ASCII needle that is rarest in texts.
    rare: usize,
    finder: Finder<'static>,
}

/// The bytes of folded text in descending frequency, as they occur in messages, names and addresses.
const FREQUENT: &[u8] = b" etaoinsrlhdcu01mpg2.fy/34wb5-67v89k:_=j,xqz";

/// The index of the rarest byte of a needle; a search for it has the fewest candidate positions.
fn rarest(needle: &[u8]) -> usize {
    let seldom = |byte: u8| {
        let place = FREQUENT.iter().position(|frequent| *frequent == byte);
        place.unwrap_or(FREQUENT.len())
    };
    let best = needle
        .iter()
        .enumerate()
        .max_by_key(|(_, byte)| seldom(**byte));
    best.map_or(0, |(place, _)| place)
}

impl Matcher {
    /// A matcher for one needle.
    pub(crate) fn new(test: Test, sensitive: bool, needle: &str) -> Matcher {
        let needle = if sensitive {
            needle.to_owned()
        } else {
            fold_text(needle).into_owned()
        };
        Matcher {
            test,
            sensitive,
            ascii: needle.is_ascii(),
            ambiguous: needle.bytes().any(|b| matches!(b, b'k' | b's')),
            rare: rarest(needle.as_bytes()),
            finder: Finder::new(needle.as_bytes()).into_owned(),
            needle,
        }
    }

    /// Whether `text` matches.
    pub(crate) fn matches(&self, text: &str) -> bool {
        if self.needle.is_empty() {
            return self.test != Test::Equals || text.is_empty();
        }
        if self.sensitive {
            return self.found(text, self.finder.find_iter(text.as_bytes()));
        }
        if self.ascii && (!self.ambiguous || text.is_ascii()) {
            return self.matches_ascii(text);
        }
        let folded = fold_text(text);
        self.found(&folded, self.finder.find_iter(folded.as_bytes()))
    }

    /// Matches the bytes of `text` without folding; the needle is ASCII and no letter beyond ASCII folds into it.
    fn matches_ascii(&self, text: &str) -> bool {
        let (bytes, needle) = (text.as_bytes(), self.needle.as_bytes());
        match self.test {
            Test::Equals => bytes.eq_ignore_ascii_case(needle),
            Test::StartsWith => bytes
                .get(..needle.len())
                .is_some_and(|head| head.eq_ignore_ascii_case(needle)),
            Test::EndsWith => bytes
                .len()
                .checked_sub(needle.len())
                .and_then(|at| bytes.get(at..))
                .is_some_and(|tail| tail.eq_ignore_ascii_case(needle)),
            _ => {
                let byte = needle.get(self.rare).copied().unwrap_or_default();
                let upper = byte.to_ascii_uppercase();
                let tail = bytes.get(self.rare..).unwrap_or_default();
                let at = |start: &usize| {
                    bytes
                        .get(*start..*start + needle.len())
                        .is_some_and(|window| window.eq_ignore_ascii_case(needle))
                };
                if byte == upper {
                    self.found(text, memchr_iter(byte, tail).filter(at))
                } else {
                    self.found(text, memchr2_iter(byte, upper, tail).filter(at))
                }
            }
        }
    }

    /// Whether any occurrence of the needle matches. `text` is folded as the needle is, or the needle is ASCII.
    fn found(&self, text: &str, mut occurrences: impl Iterator<Item = usize>) -> bool {
        match self.test {
            Test::Contains => occurrences.next().is_some(),
            Test::StartsWith => text.starts_with(&self.needle),
            Test::EndsWith => text.ends_with(&self.needle),
            Test::Equals => text == self.needle,
            Test::Has => {
                occurrences.any(|at| self.left_edge(text, at) && self.right_edge(text, at))
            }
            Test::HasPrefix => occurrences.any(|at| self.left_edge(text, at)),
            Test::HasSuffix => occurrences.any(|at| self.right_edge(text, at)),
        }
    }

    fn left_edge(&self, text: &str, at: usize) -> bool {
        let before = text.get(..at).and_then(|t| t.chars().next_back());
        !(self.needle.chars().next().is_some_and(is_term) && before.is_some_and(is_term))
    }

    fn right_edge(&self, text: &str, at: usize) -> bool {
        let after = text
            .get(at + self.needle.len()..)
            .and_then(|t| t.chars().next());
        !(self.needle.chars().next_back().is_some_and(is_term) && after.is_some_and(is_term))
    }
}

macro_rules! text_kernels {
    ($($kernel:ident, $operator:literal, $test:ident, $sensitive:literal;)*) => {
    $(
        #[doc = concat!("`", $operator, "`")]
        pub static $kernel: InnerKernel = InnerKernel::new(
            concat!("$", stringify!($test), stringify!($sensitive)),
            |args| run(args, Test::$test, $sensitive),
        )
        .reading_text();
    )*

        /// The kernels of these operators.
        static TEXT_KERNELS: &[&InnerKernel] = &[$(&$kernel),*];
    };
}

text_kernels! {
    EQUALS_FOLDED, "=~", Equals, false;
    HAS, "has", Has, false;
    HAS_CS, "has_cs", Has, true;
    HAS_PREFIX, "hasprefix", HasPrefix, false;
    HAS_PREFIX_CS, "hasprefix_cs", HasPrefix, true;
    HAS_SUFFIX, "hassuffix", HasSuffix, false;
    HAS_SUFFIX_CS, "hassuffix_cs", HasSuffix, true;
    CONTAINS, "contains", Contains, false;
    CONTAINS_CS, "contains_cs", Contains, true;
    STARTS_WITH, "startswith", StartsWith, false;
    STARTS_WITH_CS, "startswith_cs", StartsWith, true;
    ENDS_WITH, "endswith", EndsWith, false;
    ENDS_WITH_CS, "endswith_cs", EndsWith, true;
}

/// `matches regex`
pub static MATCHES_REGEX: InnerKernel =
    InnerKernel::new("$matches_regex", matches_regex).reading_text();

/// The kernels of this file.
pub(crate) fn inner_kernels() -> impl Iterator<Item = &'static InnerKernel> {
    TEXT_KERNELS.iter().copied().chain([&MATCHES_REGEX])
}

/// A kernel over `(text, needle)`.
fn run(args: &KernelArgs<'_>, test: Test, sensitive: bool) -> Result<ArrayRef, KernelError> {
    let (texts, needles) = (args.texts(0)?, args.texts(1)?);
    if needles.is_constant() {
        let matcher = Matcher::new(test, sensitive, needles.get(0));
        return Ok(args.collect_truths(|row| matcher.matches(texts.get(row))));
    }
    Ok(args.collect_truths(|row| {
        Matcher::new(test, sensitive, needles.get(row)).matches(texts.get(row))
    }))
}

/// `matches regex`: an unanchored search.
fn matches_regex(args: &KernelArgs<'_>) -> Result<ArrayRef, KernelError> {
    let (texts, patterns) = (args.texts(0)?, args.texts(1)?);
    if patterns.is_constant() {
        let pattern = compile(patterns.get(0))?;
        return Ok(args.collect_truths(|row| pattern.is_match(texts.get(row))));
    }
    let mut cache = std::collections::HashMap::new();
    let mut out = Vec::with_capacity(args.rows());
    for row in 0..args.rows() {
        let text = patterns.get(row);
        if !cache.contains_key(text) {
            cache.insert(text, compile(text)?);
        }
        out.push(cache.get(text).map(|p| p.is_match(texts.get(row))));
    }
    Ok(args.collect_bools(|row| out.get(row).copied().flatten()))
}

/// Compiles a regular expression of the language with a size limit.
pub fn compile(pattern: &str) -> Result<regex::Regex, KernelError> {
    let ill_formed = || KernelError::Failed(format!("Regex pattern is ill-formed: '{pattern}'"));
    let translated = regular_expression::translate(pattern).map_err(|_| ill_formed())?;
    regex::RegexBuilder::new(&translated)
        .size_limit(4 << 20)
        .dfa_size_limit(8 << 20)
        .build()
        .map_err(|_| ill_formed())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(test: Test, text: &str, needle: &str, expected: bool) {
        let found = Matcher::new(test, false, needle).matches(text);
        assert_eq!(found, expected, "{test:?}: '{needle}' in '{text}'");
    }

    #[test]
    fn terms_are_letters_and_digits() {
        check(Test::Has, "snake_case", "SNAKE", true);
        check(Test::Has, "élan", "lan", false);
        check(Test::Has, "v2", "v", false);
        check(Test::Has, "10.20.30", "20.30", true);
        check(Test::Has, "xy z", "y ", false);
        check(Test::Has, "x y", "x ", true);
        check(Test::Has, "", "", true);
    }

    #[test]
    fn only_the_edges_of_the_needle_are_checked() {
        check(Test::HasPrefix, "p qr s", " q", true);
        check(Test::HasSuffix, "p-query", "que", false);
        check(Test::HasPrefix, "war um", "r u", false);
        check(Test::Has, "p q-r s", "q-r", true);
    }

    #[test]
    fn case_folds_one_character_for_one() {
        check(Test::Equals, "CAFÉ", "café", true);
        check(Test::Equals, "Gruß", "GRUSS", false);
        check(Test::Contains, "\u{212a}elvin", "KEL", true);
        check(Test::StartsWith, "ΣΑΣ", "σας", true);
        check(Test::EndsWith, "abcÉ", "CÉ", true);
    }

    #[test]
    fn needles_match_at_any_position_of_the_rarest_byte() {
        for needle in ["zebra", "barzoo", "the quiz", "e", "zz", "aza"] {
            for text in [
                needle.to_uppercase(),
                format!("x{needle}y{needle}"),
                format!("{}{needle}", &needle[..1]),
            ] {
                check(Test::Contains, &text, needle, true);
                check(Test::Contains, &text[..needle.len() - 1], needle, false);
            }
        }
        check(Test::Has, "an azaza aza", "AZA", true);
        check(Test::Has, "an azaza", "AZA", false);
    }
}
