//! The patterns of `reduce`, after R. Vaarandi, "A Data Clustering Algorithm for Mining Patterns From Event Logs" (2003).
//!
//! 1. A text is split into words. Words are letters and digits of any script. Every other character is a separator, and so is
//!    each character that the query adds.
//! 2. A word at its position in the text (first, second, …) is frequent if at least `threshold` of the rows have it there,
//!    and at least two rows. A word with a digit is never frequent, because numbers and identifiers vary.
//! 3. The pattern of a text is the text with its frequent words and its separators; each infrequent word is `*`. Adjacent
//!    infrequent words are one `*` together with the separators between them. A separator that the query adds is merged into
//!    an adjacent `*`.
//! 4. A pattern that at least `threshold` of the rows have, and at least two rows, is a cluster. All other rows, and rows
//!    whose pattern has no frequent word, are `others`.
//!
//! The paper first counts words by a hash to save memory; this implementation counts them exactly.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use datafusion::common::Result;
use datafusion::execution::memory_pool::MemoryReservation;

use crate::work::CancellationToken;

/// The separators of texts, and the share of the rows that a word and a pattern require.
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    /// Greater than 0, at most 1.
    pub(crate) threshold: f64,
    /// Additional characters that separate words.
    pub(crate) separators: BTreeSet<char>,
}

/// The rows of one pattern.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cluster {
    /// The pattern; `others` for rows without a pattern.
    pub(crate) pattern: String,
    /// The number of rows.
    pub(crate) count: i64,
    /// The smallest of the texts; empty for `others`.
    pub(crate) representative: String,
}

/// The clusters of a list of texts.
#[derive(Debug, Default)]
pub(crate) struct Clusters {
    /// In descending order of rows, then by pattern; `others` is last, if it exists.
    pub(crate) clusters: Vec<Cluster>,
    /// The index of each text's cluster.
    pub(crate) places: Vec<u32>,
}

/// A text, and the number of its rows.
pub(crate) type Weighted<'t> = (&'t str, i64);

/// The pattern of rows that are in no cluster.
const OTHERS: &str = "others";

/// The minimum number of rows of a frequent word or a cluster.
const MIN_ROWS: f64 = 2.0;

/// The approximate size of a table entry without its text.
const ENTRY_BYTES: usize = 64;

/// The number of words of a text between two checks for cancellation.
const CANCELLATION_CHECK_INTERVAL: usize = 4096;

/// The number of entries whose memory is reserved at once.
const RESERVED_ENTRIES: usize = 1024;

impl Rule {
    /// Clusters texts.
    ///
    /// # Errors
    /// The query was cancelled, or its memory is exhausted.
    pub(crate) fn clusters<'t, I>(
        &self,
        texts: I,
        cancellation: &CancellationToken,
    ) -> Result<Clusters>
    where
        I: Iterator<Item = Weighted<'t>> + Clone,
    {
        let rows: i64 = texts.clone().map(|(_, weight)| weight).sum();
        let needed = (self.threshold * rows as f64).max(MIN_ROWS);
        let mut held = TableReservation::new(cancellation);
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

    /// Counts the rows of each word at each position, except of words that are never frequent.
    fn count_words<'t>(
        &self,
        texts: impl Iterator<Item = Weighted<'t>>,
        cancellation: &CancellationToken,
        held: &mut TableReservation,
    ) -> Result<HashMap<(u32, &'t str), i64>> {
        let mut counts: HashMap<(u32, &'t str), i64> = HashMap::new();
        for (text, weight) in texts {
            cancellation.check()?;
            for (place, word) in (0_u32..).zip(self.words(text, cancellation)) {
                let Some(word) = text.get(word).filter(|word| can_be_frequent(word)) else {
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

    /// The byte ranges of the words of a text; the iterator ends early if the query is cancelled.
    fn words(
        &self,
        text: &str,
        cancellation: &CancellationToken,
    ) -> impl Iterator<Item = Range<usize>> {
        let separates = |c: char| !c.is_alphanumeric() || self.separators.contains(&c);
        let (mut from, mut number) = (0, 0_usize);
        std::iter::from_fn(move || {
            number += 1;
            if number.is_multiple_of(CANCELLATION_CHECK_INTERVAL) && cancellation.is_cancelled() {
                return None;
            }
            let rest = text.get(from..)?;
            let start = from + rest.find(|c| !separates(c))?;
            let word = text.get(start..)?;
            from = word.find(separates).map_or(text.len(), |end| start + end);
            Some(start..from)
        })
    }

    /// The pattern of a text; none if it has no frequent word.
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

/// Numbers, identifiers and times vary, so a word with a digit is never frequent.
fn can_be_frequent(word: &str) -> bool {
    !word.contains(char::is_numeric)
}

/// The rows of one pattern, before their number is compared with the minimum.
struct Candidate<'t> {
    number: usize,
    count: i64,
    smallest: &'t str,
}

/// The clusters among the candidates in their order, and the cluster of each text, by the candidate of the text.
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

/// The memory reservation of the tables, which grows with them.
struct TableReservation {
    reservation: Option<MemoryReservation>,
    cancellation: CancellationToken,
    entries: usize,
    bytes: usize,
}

impl TableReservation {
    fn new(cancellation: &CancellationToken) -> TableReservation {
        TableReservation {
            reservation: cancellation.reservation("reduce"),
            cancellation: cancellation.clone(),
            entries: 0,
            bytes: 0,
        }
    }

    /// Accounts for one more entry with a text of `bytes` bytes.
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
    fn separators_stay_and_varying_words_become_one_star() {
        let texts = [
            "get /cart/17 (ok)",
            "get /cart/18/a (ok)",
            "get /cart/b,c (ok)",
        ];
        // "ok" occurs at three positions, each of which one row alone has.
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
    fn clustering_stops_when_cancelled() {
        let pool = datafusion::execution::memory_pool::UnboundedMemoryPool::default();
        let work = crate::work::Work::new(std::sync::Arc::new(pool));
        work.cancel();
        let rule = Rule {
            threshold: 0.1,
            separators: BTreeSet::new(),
        };
        let run = work.clone().run(async {
            let long = "a ".repeat(100 * CANCELLATION_CHECK_INTERVAL);
            let words = rule.words(&long, &CancellationToken::current()).count();
            let clusters = rule.clusters([("a b", 1)].into_iter(), &CancellationToken::current());
            (words, clusters.is_err())
        });
        assert_eq!(
            futures::executor::block_on(run),
            (CANCELLATION_CHECK_INTERVAL - 1, true)
        );
        assert!(work.checks_after_cancellation() > 0);
    }
}
