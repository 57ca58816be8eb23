//! One record: `length u32 | crc32c u32 | sequence u64 | payload`, little-endian.
//!
//! `length` counts the payload's bytes; the checksum covers length, sequence and payload. The payload of a mark of
//! acknowledgement is [`MARK`] bytes: the last sequence that is durable. A mark has the sequence of the request that follows it.

/// What a log file begins with, before the sequence of its first record.
pub(super) const MAGIC: [u8; 8] = *b"HSLOG\x00\x00\x01";
/// Bytes before a file's first record: magic and first sequence.
pub(super) const FILE_HEADER: usize = 16;
/// Bytes before a record's payload.
pub(super) const RECORD_HEADER: usize = 16;
/// Longest payload: a length beyond this is damage, not a record.
pub(super) const MAX_PAYLOAD: usize = 1 << 30;

/// Bytes of a mark's payload. The payload of a request is longer.
pub(super) const MARK: usize = 8;

/// The first bytes of a log file.
pub(super) fn file_header(first: u64) -> [u8; FILE_HEADER] {
    let mut header = [0; FILE_HEADER];
    let (magic, sequence) = header.split_at_mut(8);
    magic.copy_from_slice(&MAGIC);
    sequence.copy_from_slice(&first.to_le_bytes());
    header
}

/// Appends a record whose payload is the concatenation of `parts`.
pub(super) fn write(out: &mut Vec<u8>, sequence: u64, parts: &[&[u8]]) {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let length = u32::try_from(length).unwrap_or(u32::MAX);
    out.reserve(RECORD_HEADER + length as usize);
    out.extend_from_slice(&length.to_le_bytes());
    let mut crc = crc32c::crc32c(&length.to_le_bytes());
    crc = crc32c::crc32c_append(crc, &sequence.to_le_bytes());
    for part in parts {
        crc = crc32c::crc32c_append(crc, part);
    }
    out.extend_from_slice(&crc.to_le_bytes());
    out.extend_from_slice(&sequence.to_le_bytes());
    for part in parts {
        out.extend_from_slice(part);
    }
}

/// A record that was read whole.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Record<'a> {
    pub(super) sequence: u64,
    pub(super) payload: &'a [u8],
}

impl Record<'_> {
    /// The record's bytes in the file.
    pub(super) fn size(&self) -> usize {
        RECORD_HEADER + self.payload.len()
    }

    /// The last sequence that was durable when the record was written.
    pub(super) fn durable(&self) -> Option<u64> {
        self.payload
            .first_chunk::<8>()
            .map(|bytes| u64::from_le_bytes(*bytes))
    }

    /// Whether it is a mark of acknowledgement and no request.
    pub(super) fn is_mark(&self) -> bool {
        self.payload.len() == MARK
    }
}

/// Appends the mark that all requests before `next` are durable.
pub(super) fn write_mark(out: &mut Vec<u8>, next: u64) {
    write(out, next, &[&next.saturating_sub(1).to_le_bytes()]);
}

/// The beginning of a file of the log that holds the requests from `first` up to, but not including, `next`; `None` if one of
/// them does not read back.
pub(super) fn requests(bytes: &[u8], first: u64, next: u64) -> Option<&[u8]> {
    let mut rest = bytes.strip_prefix(file_header(first).as_slice())?;
    let mut due = first;
    while due < next {
        let record = read(rest).filter(|record| record.sequence == due)?;
        if !record.is_mark() {
            due += 1;
        }
        rest = rest.get(record.size()..)?;
    }
    bytes.get(..bytes.len() - rest.len())
}

/// The sequence of the last of these requests; `None` unless they are whole, follow each other and begin with `first`.
pub(super) fn last_of(bytes: &[u8], first: u64) -> Option<u64> {
    let (mut rest, mut due) = (bytes, first);
    while !rest.is_empty() {
        let record = read(rest).filter(|record| record.sequence == due && !record.is_mark())?;
        due += 1;
        rest = rest.get(record.size()..)?;
    }
    (due > first).then(|| due - 1)
}

/// The record at the beginning of `bytes`, if a whole and undamaged one is there.
pub(super) fn read(bytes: &[u8]) -> Option<Record<'_>> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (crc, rest) = rest.split_first_chunk::<4>()?;
    let (sequence, rest) = rest.split_first_chunk::<8>()?;
    let size = u32::from_le_bytes(*length) as usize;
    if size == 0 || size > MAX_PAYLOAD {
        return None;
    }
    let payload = rest.get(..size)?;
    let mut actual = crc32c::crc32c(length);
    actual = crc32c::crc32c_append(actual, sequence);
    actual = crc32c::crc32c_append(actual, payload);
    (actual == u32::from_le_bytes(*crc)).then_some(Record {
        sequence: u64::from_le_bytes(*sequence),
        payload,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_requests_of_a_file_end_before_what_follows_them() {
        let mut bytes = file_header(5).to_vec();
        write(&mut bytes, 5, &[b"a request"]);
        write_mark(&mut bytes, 6);
        write(&mut bytes, 6, &[b"another request"]);
        let length = bytes.len();
        write_mark(&mut bytes, 7);
        bytes.extend_from_slice(b"torn");
        assert_eq!(requests(&bytes, 5, 7), Some(&bytes[..length]));
        assert_eq!(requests(&bytes, 5, 5), Some(&bytes[..FILE_HEADER]));
        assert_eq!(requests(&bytes, 5, 8), None);
        assert_eq!(requests(&bytes, 6, 7), None);
        assert_eq!(requests(&bytes[..length - 1], 5, 7), None);
    }

    #[test]
    fn requests_that_are_received_are_whole_and_follow_each_other() {
        let mut bytes = Vec::new();
        write(&mut bytes, 5, &[b"a request"]);
        write(&mut bytes, 6, &[b"another request"]);
        assert_eq!(last_of(&bytes, 5), Some(6));
        assert_eq!(last_of(&bytes, 4), None);
        assert_eq!(last_of(&bytes[..bytes.len() - 1], 5), None);
        assert_eq!(last_of(&[], 5), None);
        write_mark(&mut bytes, 7);
        assert_eq!(last_of(&bytes, 5), None);
    }

    #[test]
    fn a_record_reads_back_and_every_flipped_bit_is_noticed() {
        let mut bytes = Vec::new();
        write(&mut bytes, 7, &[b"durable", b"batch"]);
        let record = read(&bytes).expect("a whole record");
        assert_eq!((record.sequence, record.payload), (7, &b"durablebatch"[..]));
        assert_eq!(record.size(), bytes.len());
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(read(&damaged), None, "bit {bit}");
        }
        for length in 0..bytes.len() {
            assert_eq!(read(&bytes[..length]), None, "cut to {length}");
        }
    }
}
