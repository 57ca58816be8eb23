//! Ranges of time: what conditions permit, what segments have, and the slice of a segment that a node reads of it.

use datafusion::logical_expr::Operator;

/// Times, ends included, in ticks. A range whose end is before its begin has none. Of a file with a range, a scan reads the rows at these times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeRange {
    /// The earliest time.
    pub from: i64,
    /// The latest time.
    pub to: i64,
}

impl TimeRange {
    /// All times.
    pub const ALL: TimeRange = TimeRange {
        from: i64::MIN,
        to: i64::MAX,
    };

    /// The times that both ranges have.
    pub(crate) fn and(self, other: TimeRange) -> TimeRange {
        TimeRange {
            from: self.from.max(other.from),
            to: self.to.min(other.to),
        }
    }

    /// Whether a time between `min` and `max` is in the range.
    pub(crate) fn overlaps(self, min: i64, max: i64) -> bool {
        min <= self.to && max >= self.from
    }

    /// The range, unless it has no times.
    pub(crate) fn non_empty(self) -> Option<TimeRange> {
        (self.from <= self.to).then_some(self)
    }

    /// Whether the range has all times of another one.
    pub(crate) fn covers(self, other: TimeRange) -> bool {
        self.and(other) == other
    }

    /// How many times it has.
    pub(crate) fn ticks(self) -> u64 {
        self.to.abs_diff(self.from).saturating_add(1)
    }

    /// The times of the range for which a comparison with a time on its right is true. Other operators than comparisons exclude none.
    pub(crate) fn compared(self, op: Operator, ticks: i64) -> TimeRange {
        let (from, to) = match op {
            Operator::Gt => (ticks.saturating_add(1), i64::MAX),
            Operator::GtEq => (ticks, i64::MAX),
            Operator::Lt => (i64::MIN, ticks.saturating_sub(1)),
            Operator::LtEq => (i64::MIN, ticks),
            Operator::Eq => (ticks, ticks),
            _ => return self,
        };
        self.and(TimeRange { from, to })
    }
}
