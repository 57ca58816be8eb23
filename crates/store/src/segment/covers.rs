//! Which rows of a table a segment holds: hours, and for each the sequence numbers of the log whose rows it has.
//!
//! A seal writes all rows of its hours with the sequence numbers of one range, and the ranges of successful seals do not overlap. So
//! hours and ranges identify rows: a segment that covers what another one covers holds its rows too.

use std::collections::BTreeMap;

use serde_json::Value;

/// Ranges of sequence numbers, ends included, by hour since 0001-01-01. The ranges of an hour are sorted, and neither overlap nor
/// touch.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Covers(BTreeMap<i64, Vec<(u64, u64)>>);

impl Covers {
    /// One range of one hour.
    pub(crate) fn of(hour: i64, min_seq: u64, max_seq: u64) -> Covers {
        Covers(BTreeMap::from([(hour, vec![(min_seq, max_seq)])]))
    }

    /// Adds what `other` covers.
    pub(crate) fn add(&mut self, other: &Covers) {
        for (hour, ranges) in &other.0 {
            let all = self.0.entry(*hour).or_default();
            all.extend(ranges);
            *all = joined(std::mem::take(all));
        }
    }

    /// Whether it covers all that `other` covers.
    pub(crate) fn contains(&self, other: &Covers) -> bool {
        other.0.iter().all(|(hour, ranges)| {
            let own = self.0.get(hour).map(Vec::as_slice).unwrap_or_default();
            ranges
                .iter()
                .all(|(min, max)| own.iter().any(|(from, to)| from <= min && max <= to))
        })
    }

    /// Whether both cover a sequence number of the same hour.
    pub(crate) fn overlaps(&self, other: &Covers) -> bool {
        other.0.iter().any(|(hour, ranges)| {
            let own = self.0.get(hour).map(Vec::as_slice).unwrap_or_default();
            ranges
                .iter()
                .any(|(min, max)| own.iter().any(|(from, to)| from <= max && min <= to))
        })
    }

    /// The first hour and sequence number that it covers and `other` does not.
    pub(crate) fn first_outside(&self, other: &Covers) -> Option<(i64, u64)> {
        self.0.iter().find_map(|(hour, ranges)| {
            let theirs = other.0.get(hour).map(Vec::as_slice).unwrap_or_default();
            ranges.iter().find_map(|(min, max)| {
                let mut next = *min;
                for (from, to) in theirs {
                    if *from <= next && next <= *to {
                        next = to.saturating_add(1);
                    }
                }
                (next <= *max).then_some((*hour, next))
            })
        })
    }

    /// Whether it covers a sequence number of a range in an hour of a range, ends included.
    pub(crate) fn touches(&self, hours: (i64, i64), sequence: (u64, u64)) -> bool {
        let ranges = self.0.range(hours.0..=hours.1.max(hours.0));
        ranges
            .flat_map(|(_, ranges)| ranges)
            .any(|(from, to)| *from <= sequence.1 && sequence.0 <= *to)
    }

    /// `{"<hour>": [[min, max], …], …}`
    pub(crate) fn to_json(&self) -> String {
        let ranges = |ranges: &Vec<(u64, u64)>| -> Value {
            ranges.iter().map(|(min, max)| vec![*min, *max]).collect()
        };
        let hours = self.0.iter();
        let object: serde_json::Map<String, Value> = hours
            .map(|(hour, list)| (hour.to_string(), ranges(list)))
            .collect();
        Value::Object(object).to_string()
    }

    /// What [`Covers::to_json`] wrote; `None` for another text.
    pub(crate) fn from_json(text: &str) -> Option<Covers> {
        let value: Value = serde_json::from_str(text).ok()?;
        let mut covers = BTreeMap::new();
        for (hour, ranges) in value.as_object()? {
            let ranges = ranges.as_array()?.iter().map(range);
            let ranges = joined(ranges.collect::<Option<_>>()?);
            covers.insert(hour.parse().ok()?, ranges);
        }
        Some(Covers(covers))
    }
}

fn range(value: &Value) -> Option<(u64, u64)> {
    match value.as_array()?.as_slice() {
        [min, max] => Some((min.as_u64()?, max.as_u64()?)).filter(|(min, max)| min <= max),
        _ => None,
    }
}

/// The ranges in order, those that overlap or touch joined.
fn joined(mut ranges: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    ranges.sort_unstable();
    let mut all: Vec<(u64, u64)> = Vec::with_capacity(ranges.len());
    for (min, max) in ranges {
        match all.last_mut() {
            Some((_, end)) if min <= end.saturating_add(1) => *end = max.max(*end),
            _ => all.push((min, max)),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_an_hour_are_joined_and_compared() {
        let mut merged = Covers::of(5, 7, 9);
        merged.add(&Covers::of(5, 1, 3));
        merged.add(&Covers::of(5, 4, 4));
        merged.add(&Covers::of(6, 4, 6));
        assert_eq!(merged.to_json(), r#"{"5":[[1,4],[7,9]],"6":[[4,6]]}"#);
        assert_eq!(Covers::from_json(&merged.to_json()), Some(merged.clone()));
        for (hour, min, max, contained, overlapping) in [
            (5, 1, 4, true, true),
            (5, 2, 3, true, true),
            (5, 4, 7, false, true),
            (5, 5, 6, false, false),
            (6, 5, 6, true, true),
            (6, 1, 3, false, false),
            (7, 1, 1, false, false),
        ] {
            let other = Covers::of(hour, min, max);
            assert_eq!(merged.contains(&other), contained, "{other:?}");
            assert_eq!(merged.overlaps(&other), overlapping, "{other:?}");
            assert_eq!(other.first_outside(&merged).is_none(), contained);
        }
    }

    #[test]
    fn the_first_place_outside_is_found() {
        let all = Covers::of(5, 1, 9);
        let mut some = Covers::of(5, 1, 3);
        assert_eq!(all.first_outside(&some), Some((5, 4)));
        some.add(&Covers::of(5, 5, 9));
        assert_eq!(all.first_outside(&some), Some((5, 4)));
        some.add(&Covers::of(5, 4, 4));
        assert_eq!(all.first_outside(&some), None);
        assert_eq!(all.first_outside(&Covers::of(6, 1, 9)), Some((5, 1)));
    }

    #[test]
    fn a_text_that_is_no_covers_is_refused() {
        for text in [
            "",
            "[]",
            r#"{"x":[[1,2]]}"#,
            r#"{"5":[[2,1]]}"#,
            r#"{"5":[1]}"#,
            r#"{"5":[[-1,2]]}"#,
        ] {
            assert_eq!(Covers::from_json(text), None, "{text}");
        }
    }
}
