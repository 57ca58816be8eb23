//! Slices of segments by time: what a node reads of a segment that several nodes read.

/// Times, ends included, in ticks. Of a file with a slice, a scan reads the rows at these times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeSlice {
    /// The earliest time.
    pub from: i64,
    /// The latest time.
    pub to: i64,
}

impl TimeSlice {
    /// All times.
    pub const ALL: TimeSlice = TimeSlice {
        from: i64::MIN,
        to: i64::MAX,
    };

    /// The times that both slices have; `None` if there are none.
    pub(crate) fn and(self, other: TimeSlice) -> Option<TimeSlice> {
        let (from, to) = (self.from.max(other.from), self.to.min(other.to));
        (from <= to).then_some(TimeSlice { from, to })
    }

    /// Whether the slice has all times of another one.
    pub(crate) fn covers(self, other: TimeSlice) -> bool {
        self.and(other) == Some(other)
    }

    /// How many times it has.
    pub(crate) fn ticks(self) -> u64 {
        self.to.abs_diff(self.from).saturating_add(1)
    }
}
