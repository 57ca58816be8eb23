//! Why the result of a recovery may not be certain.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A reason why the rebuilt catalogue may lack rows or have them twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Doubt {
    /// The file of a segment is damaged: its rows will be missing.
    DamagedSegments,
    /// A segment is of another store: it will not be listed.
    ForeignSegments,
    /// The files of the log are gone or damaged: rows that no segment has are lost.
    LostLog,
    /// The old catalogue lacks transactions that were committed: its applications, keys and users are those of an earlier time.
    OlderCatalogue,
    /// The log ends before a segment that it should contain: that segment will not be listed.
    LogEndsEarly,
    /// Segments may hold the same rows, and no choice of them certainly holds each row once: the earlier ones will not be listed.
    OverlappingSegments,
    /// A segment is of before segments had checksums: nothing shows whether its file is as it was written.
    UnverifiedSegments,
}

impl Doubt {
    /// All doubts.
    pub const ALL: [Doubt; 7] = [
        Doubt::DamagedSegments,
        Doubt::ForeignSegments,
        Doubt::LostLog,
        Doubt::OlderCatalogue,
        Doubt::LogEndsEarly,
        Doubt::OverlappingSegments,
        Doubt::UnverifiedSegments,
    ];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Doubt::DamagedSegments => "damaged-segments",
            Doubt::ForeignSegments => "foreign-segments",
            Doubt::LostLog => "lost-log",
            Doubt::OlderCatalogue => "older-catalogue",
            Doubt::LogEndsEarly => "log-ends-early",
            Doubt::OverlappingSegments => "overlapping-segments",
            Doubt::UnverifiedSegments => "unverified-segments",
        }
    }

    /// What a recovery does where the doubt is accepted.
    pub const fn consequence(self) -> &'static str {
        match self {
            Doubt::DamagedSegments => {
                "they are marked as damaged or left out, and their rows are missing"
            }
            Doubt::ForeignSegments => "they are left out",
            Doubt::LostLog => "rows that no segment has are lost",
            Doubt::OlderCatalogue => {
                "applications, keys and users are those of an earlier time: what was revoked since is valid again"
            }
            Doubt::LogEndsEarly => "the segments that it should contain are left out",
            Doubt::OverlappingSegments => {
                "of segments that may hold the same rows, the earlier ones are left out"
            }
            Doubt::UnverifiedSegments => "their files are taken as they are",
        }
    }
}

/// The doubts of one recovery, with the files that they are about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Doubts(BTreeMap<Doubt, Vec<(PathBuf, String)>>);

impl Doubts {
    pub(super) fn add(&mut self, doubt: Doubt, path: &Path, what: String) {
        self.0
            .entry(doubt)
            .or_default()
            .push((path.to_owned(), what));
    }

    /// The doubts in order.
    pub fn kinds(&self) -> Vec<Doubt> {
        self.0.keys().copied().collect()
    }

    /// The files that a doubt is about, and why.
    pub fn files(&self, doubt: Doubt) -> &[(PathBuf, String)] {
        self.0.get(&doubt).map(Vec::as_slice).unwrap_or_default()
    }

    /// Without those that are accepted.
    #[must_use]
    pub fn without(mut self, accepted: &[Doubt]) -> Doubts {
        self.0.retain(|doubt, _| !accepted.contains(doubt));
        self
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
