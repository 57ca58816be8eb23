//! The content of a segment's file, compared with what the catalogue says of it.

use crate::catalogue::SegmentRecord;
use crate::segment::{ChecksumWriter, Checksums};

/// The size and the checksums of content that was read to its end.
pub(super) struct Content {
    pub(super) bytes: u64,
    pub(super) checksums: Checksums,
}

impl Content {
    pub(super) fn of(bytes: &[u8]) -> Content {
        let mut sums = ChecksumWriter::default();
        sums.update(bytes);
        Content {
            bytes: bytes.len() as u64,
            checksums: sums.finish(),
        }
    }

    /// Where the content differs from what the catalogue says of a segment, and how.
    pub(super) fn difference(&self, record: &SegmentRecord) -> Option<(u64, String)> {
        if self.bytes != record.bytes {
            let what = format!(
                "it has {} bytes and the catalogue says {}",
                self.bytes, record.bytes
            );
            return Some((self.bytes.min(record.bytes), what));
        }
        let offset = record
            .checksums
            .as_ref()?
            .first_difference(&self.checksums)?;
        let what = "a block does not have the checksum that it was written with".to_owned();
        Some((offset, what))
    }
}
