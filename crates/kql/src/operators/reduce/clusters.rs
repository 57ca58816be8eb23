//! The patterns of `reduce`, after R. Vaarandi, "A Data Clustering Algorithm for Mining Patterns From Event Logs" (2003).
//!
//! 1. A text is cut into words. Words are letters and digits of any script; every other character separates, and so do
//!    the characters that the query adds.
//! 2. A word at its place in the text (first, second, …) is frequent where at least `threshold` of the rows have it
//!    there, and at least two. A word with a digit is never frequent: numbers and identifiers vary by their nature.
//! 3. The pattern of a text is the text with its frequent words and its separators; what is not frequent is `*`.
//!    Neighbouring words that are not frequent are one `*` together with what separates them, and separators that
//!    the query added go into the `*` beside them.
//! 4. A pattern that at least `threshold` of the rows have, and at least two, is a cluster. All other rows, and those
//!    whose pattern has no frequent word, are `others`.
//!
//! The paper counts words by a hash first, to need less memory; here they are counted exactly.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use datafusion::common::Result;
use datafusion::execution::memory_pool::MemoryReservation;

use crate::work::CancellationToken;

/// How texts are cut, and what share of the rows a word and a pattern need.
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    /// Above 0, at most 1.
    pub(crate) threshold: f64,
    /// Characters that separate words beside those that always do.
    pub(crate) separators: BTreeSet<char>,
}

/// Rows of one pattern.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cluster {
    /// The pattern; `others` for rows without one.
    pub(crate) pattern: String,
    /// How many rows have it.
    pub(crate) count: i64,
    /// The smallest of its texts; empty for `others`.
    pub(crate) representative: String,
}

/// What became of a list of texts.
#[derive(Debug, Default)]
pub(crate) struct Clusters {
    /// The most frequent first, equally frequent ones by pattern; `others` last, where there are any.
    pub(crate) clusters: Vec<Cluster>,
    /// The place of each text's cluster among them.
    pub(crate) places: Vec<u32>,
}

/// A text, and how many rows have it.
pub(crate) type Weighted<'t> = (&'t str, i64);

/// The pattern of rows that have none.
const OTHERS: &str = "others";

/// The fewest rows that make a word frequent or a pattern a cluster: one row resembles nothing.
const FEWEST: f64 = 2.0;

/// About what an entry of a table takes beside its text.
const ENTRY_BYTES: usize = 64;

/// Every so many words of a text the work is asked whether it is still wanted.
const ASKED_EVERY: usize = 4096;

/// So many entries are reserved at once.
const RESERVED_ENTRIES: usize = 1024;

impl Rule {
    /// Clusters texts.
    ///
    /// # Errors
    /// The query was cancelled, or its memory is used up.
    pub(crate) fn clusters<'t, I>(
        &self,
        texts: I,
        cancellation: &CancellationToken,
    ) -> Result<Clusters>
    where
        I: Iterator<Item = Weighted<'t>> + Clone,
    {
        let rows: i64 = texts.clone().map(|(_, weight)| weight).sum();
        let needed = (self.threshold * rows as f64).max(FEWEST);
        let mut held = Held::new(cancellation);
        let words = self.count_words(texts.clone(), cancellation, &mut held)?;
        let frequent = |place: u32, word: &str| {
            let count = words.get(&(place, word)).copied();
            count.is_some_and(|count| count as f64 >= needed)
        };
        let mut found: HashMap<Option<String>, Candidate<'t>> = HashMap::new();
        let mut candidates = Vec::new();
        for (text, weight) in texts {
            cancellation.check()?;
            let pattern = self.pattern(text, cancellation, frequent);
            let bytes = pattern.as_ref().map_or(0, String::len);
            let next = found.len();
            let candidate = found.entry(pattern).or_insert_with(|| Candidate {
                number: next,
                count: 0,
                smallest: text,
            });
            candidate.count += weight;
            candidate.smallest = candidate.smallest.min(text);
            candidates.push(candidate.number);
            if found.len() > next {
                held.add(bytes)?;
            }
        }
        cancellation.check()?;
        Ok(ranked(found, &candidates, needed))
    }

    /// How many rows have each word at each place, but for words that are never frequent.
    fn count_words<'t>(
        &self,
        texts: impl Iterator<Item = Weighted<'t>>,
        cancellation: &CancellationToken,
        held: &mut Held,
    ) -> Result<HashMap<(u32, &'t str), i64>> {
        let mut counts: HashMap<(u32, &'t str), i64> = HashMap::new();
        for (text, weight) in texts {
            cancellation.check()?;
            for (place, word) in (0_u32..).zip(self.words(text, cancellation)) {
                let Some(word) = text.get(word).filter(|word| may_be_frequent(word)) else {
                    continue;
                };
                let before = counts.len();
                *counts.entry((place, word)).or_insert(0) += weight;
                if counts.len() > before {
                    held.add(0)?;
                }
            }
        }
        Ok(counts)
    }

    /// The places of a text's words in it; no more of them where the query was cancelled.
    fn words(
        &self,
        text: &str,
        cancellation: &CancellationToken,
    ) -> impl Iterator<Item = Range<usize>> {
        let separates = |c: char| !c.is_alphanumeric() || self.separators.contains(&c);
        let (mut from, mut number) = (0, 0_usize);
        std::iter::from_fn(move || {
            number += 1;
            if number.is_multiple_of(ASKED_EVERY) && cancellation.is_cancelled() {
                return None;
            }
            let rest = text.get(from..)?;
            let start = from + rest.find(|c| !separates(c))?;
            let word = text.get(start..)?;
            from = word.find(separates).map_or(text.len(), |end| start + end);
            Some(start..from)
        })
    }

    /// The pattern of a text; none where no word of it is frequent.
    fn pattern(
        &self,
        text: &str,
        cancellation: &CancellationToken,
        frequent: impl Fn(u32, &str) -> bool,
    ) -> Option<String> {
        let added = |c: char| self.separators.contains(&c);
        let mut pattern = String::new();
        let (mut fixed, mut open, mut end) = (false, false, 0);
        for (place, word) in (0_u32..).zip(self.words(text, cancellation)) {
            let gap = text.get(end..word.start).unwrap_or_default();
            end = word.end;
            let word = text.get(word).unwrap_or_default();
            let is_fixed = frequent(place, word);
            match (open, is_fixed) {
                (true, true) => pattern.push_str(gap.trim_start_matches(added)),
                (true, false) => {}
                (false, true) => pattern.push_str(gap),
                (false, false) => {
                    pattern.push_str(gap.trim_end_matches(added));
                    pattern.push('*');
                }
            }
            if is_fixed {
                pattern.push_str(word);
            }
            fixed |= is_fixed;
            open = !is_fixed;
        }
        let rest = text.get(end..).unwrap_or_default();
        pattern.push_str(if open {
            rest.trim_start_matches(added)
        } else {
            rest
        });
        fixed.then_some(pattern)
    }
}

/// Numbers, identifiers and times vary by their nature.
fn may_be_frequent(word: &str) -> bool {
    !word.contains(char::is_numeric)
}

/// The rows of one pattern, before it is known whether they are enough.
struct Candidate<'t> {
    number: usize,
    count: i64,
    smallest: &'t str,
}

/// The clusters among the candidates in their order, and the cluster of each text by its candidate.
fn ranked(
    found: HashMap<Option<String>, Candidate<'_>>,
    candidates: &[usize],
    needed: f64,
) -> Clusters {
    let mut others = 0;
    let mut kept = Vec::new();
    let many = found.len();
    for (pattern, candidate) in found {
        match pattern.filter(|_| candidate.count as f64 >= needed) {
            Some(pattern) => kept.push((
                candidate.number,
                Cluster {
                    pattern,
                    count: candidate.count,
                    representative: candidate.smallest.to_owned(),
                },
            )),
            None => others += candidate.count,
        }
    }
    kept.sort_by(|(_, a), (_, b)| (b.count, &a.pattern).cmp(&(a.count, &b.pattern)));
    let last = u32::try_from(kept.len()).unwrap_or(u32::MAX);
    let mut places = vec![last; many];
    for (place, (number, _)) in (0_u32..).zip(&kept) {
        if let Some(slot) = places.get_mut(*number) {
            *slot = place;
        }
    }
    let mut clusters: Vec<Cluster> = kept.into_iter().map(|(_, cluster)| cluster).collect();
    if others > 0 {
        clusters.push(Cluster {
            pattern: OTHERS.to_owned(),
            count: others,
            representative: String::new(),
        });
    }
    let place = |candidate: &usize| places.get(*candidate).copied().unwrap_or(last);
    Clusters {
        clusters,
        places: candidates.iter().map(place).collect(),
    }
}

/// The memory of the tables, reserved while they grow.
struct Held {
    reservation: Option<MemoryReservation>,
    cancellation: CancellationToken,
    entries: usize,
    bytes: usize,
}

impl Held {
    fn new(cancellation: &CancellationToken) -> Held {
        Held {
            reservation: cancellation.reservation("reduce"),
            cancellation: cancellation.clone(),
            entries: 0,
            bytes: 0,
        }
    }

    /// There is one more entry, with a text of its own of so many bytes.
    fn add(&mut self, bytes: usize) -> Result<()> {
        self.entries += 1;
        self.bytes += ENTRY_BYTES + bytes;
        if !self.entries.is_multiple_of(RESERVED_ENTRIES) {
            return Ok(());
        }
        self.cancellation.check()?;
        match &mut self.reservation {
            Some(reservation) => reservation.try_resize(self.bytes),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clusters(texts: &[&str], threshold: f64, separators: &str) -> Vec<String> {
        let rule = Rule {
            threshold,
            separators: separators.chars().collect(),
        };
        let texts = texts.iter().map(|text| (*text, 1));
        let found = rule.clusters(texts, &CancellationToken::current());
        let found = found.expect("nothing stops it").clusters;
        let line = |c: &Cluster| format!("{} {} {}", c.pattern, c.count, c.representative);
        found.iter().map(line).collect()
    }

    #[test]
    fn words_are_letters_and_digits() {
        let rule = Rule {
            threshold: 0.1,
            separators: BTreeSet::from(['Z']),
        };
        let words = |text: &'static str| -> Vec<&str> {
            rule.words(text, &CancellationToken::current())
                .filter_map(|at| text.get(at))
                .collect()
        };
        assert_eq!(words("fooZ1"), ["foo", "1"]);
        assert_eq!(words("  Müller_7: übung!"), ["Müller", "7", "übung"]);
        assert!(words("").is_empty() && words("—Z—").is_empty());
    }

    #[test]
    fn what_separates_stays_and_what_varies_is_one_star() {
        let texts = [
            "get /cart/17 (ok)",
            "get /cart/18/a (ok)",
            "get /cart/b,c (ok)",
        ];
        // "ok" stands at three places, so that one text alone has it at its own.
        assert_eq!(
            clusters(&texts, 1.0, ""),
            ["get /cart/*) 3 get /cart/17 (ok)"]
        );
        let texts = ["[17] started", "[18] started"];
        assert_eq!(clusters(&texts, 1.0, ""), ["[*] started 2 [17] started"]);
        assert_eq!(clusters(&texts, 1.0, "[]"), ["* started 2 [17] started"]);
    }

    #[test]
    fn order_does_not_matter() {
        let mut texts = ["a x", "a y", "b z", "b w", "c"];
        let before = clusters(&texts, 0.4, "");
        texts.reverse();
        assert_eq!(before, ["a * 2 a x", "b * 2 b w", "others 1 "]);
        assert_eq!(clusters(&texts, 0.4, ""), before);
    }

    #[test]
    fn it_stops_when_it_is_not_wanted() {
        let pool = datafusion::execution::memory_pool::UnboundedMemoryPool::default();
        let work = crate::work::Work::new(std::sync::Arc::new(pool));
        work.cancel();
        let rule = Rule {
            threshold: 0.1,
            separators: BTreeSet::new(),
        };
        let run = work.clone().run(async {
            let long = "a ".repeat(100 * ASKED_EVERY);
            let words = rule.words(&long, &CancellationToken::current()).count();
            let clusters = rule.clusters([("a b", 1)].into_iter(), &CancellationToken::current());
            (words, clusters.is_err())
        });
        assert_eq!(futures::executor::block_on(run), (ASKED_EVERY - 1, true));
        assert!(work.checks_after_cancellation() > 0);
    }
}
