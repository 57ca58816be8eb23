//! The item reader: it reads the items of a file one at a time, with the memory of one item.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use anyhow::bail;
use hindsight_ingest::{Next, is_separator, next_item};
use indicatif::ProgressBar;

/// Bytes that are read at once.
const CHUNK: usize = 256 << 10;
/// Bytes of the largest item; what is longer is no envelope.
const MAX_ITEM: usize = 64 << 20;

/// A part of a stream that is an item, or should be one.
pub(super) struct Piece<'r> {
    /// The line on which it begins, from 1 on.
    pub(super) line: u64,
    /// The item's text, or why it is none.
    pub(super) text: Result<&'r [u8], &'static str>,
}

/// Reads the items of a stream.
pub(super) struct ItemReader {
    source: Box<dyn Read>,
    buffer: Vec<u8>,
    start: usize,
    /// The line of `start`, from 1 on.
    next_line: u64,
    ended: bool,
}

impl ItemReader {
    /// The items of a file or, for `-`, of standard input; `bar` follows the bytes as they lie in the file.
    pub(super) fn open(path: &Path, bar: &ProgressBar) -> anyhow::Result<ItemReader> {
        if path == Path::new("-") {
            return ItemReader::of(bar.wrap_read(std::io::stdin()));
        }
        let file = std::fs::File::open(path)?;
        bar.set_length(file.metadata()?.len());
        ItemReader::of(bar.wrap_read(file))
    }

    /// The items of a stream, unpacked where it is gzip.
    pub(super) fn of(source: impl Read + 'static) -> anyhow::Result<ItemReader> {
        let mut source = BufReader::with_capacity(CHUNK, source);
        let packed = source.fill_buf()?.starts_with(&[0x1f, 0x8b]);
        let source: Box<dyn Read> = if packed {
            Box::new(flate2::bufread::MultiGzDecoder::new(source))
        } else {
            Box::new(source)
        };
        Ok(ItemReader {
            source,
            buffer: Vec::new(),
            start: 0,
            next_line: 1,
            ended: false,
        })
    }

    /// The next piece; nothing at the end.
    pub(super) fn next(&mut self) -> anyhow::Result<Option<Piece<'_>>> {
        let (line, range) = loop {
            let text = self.buffer.get(self.start..).unwrap_or_default();
            match next_item(text, self.ended) {
                Next::Item(range) => {
                    let (from, to) = (self.start + range.start, self.start + range.end);
                    let line = self.count_lines(from, to);
                    self.start = to;
                    break (line, from..to);
                }
                Next::Bad(why, used) => {
                    let taken = text.get(..used).unwrap_or_default();
                    let blank = taken.iter().take_while(|byte| is_separator(byte)).count();
                    let line = self.count_lines(self.start + blank, self.start + used);
                    self.start += used;
                    return Ok(Some(Piece {
                        line,
                        text: Err(why),
                    }));
                }
                Next::End => return Ok(None),
                Next::More => self.fill()?,
            }
        };
        let text = self.buffer.get(range).map(Ok);
        Ok(text.map(|text| Piece { line, text }))
    }

    /// The line of a piece that lies between two offsets of the buffer; what lies before it is taken too.
    fn count_lines(&mut self, from: usize, to: usize) -> u64 {
        let count = |from: usize, to: usize| {
            let text = self.buffer.get(from..to).unwrap_or_default();
            memchr::memchr_iter(b'\n', text).count() as u64
        };
        let line = self.next_line + count(self.start, from);
        self.next_line = line + count(from, to);
        line
    }

    fn fill(&mut self) -> anyhow::Result<()> {
        self.buffer.drain(..self.start.min(self.buffer.len()));
        self.start = 0;
        if self.buffer.len() > MAX_ITEM {
            bail!("an item is longer than {MAX_ITEM} bytes");
        }
        // Twice as much each time: an item that spans many chunks is not looked at from its start for each of them.
        let wanted = self.buffer.len().max(CHUNK) as u64;
        let read = self
            .source
            .by_ref()
            .take(wanted)
            .read_to_end(&mut self.buffer)?;
        self.ended = read == 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// Gives one byte at a time, as the slowest pipe does.
    struct Dripping(std::vec::IntoIter<u8>);

    impl Read for Dripping {
        fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
            match (self.0.next(), out.first_mut()) {
                (Some(byte), Some(place)) => {
                    *place = byte;
                    Ok(1)
                }
                _ => Ok(0),
            }
        }
    }

    fn all(mut items: ItemReader) -> Vec<Result<String, &'static str>> {
        let mut found = Vec::new();
        while let Some(item) = items.next().unwrap() {
            found.push(
                item.text
                    .map(|text| String::from_utf8(text.to_vec()).unwrap()),
            );
        }
        found
    }

    #[test]
    fn items_are_the_same_however_they_arrive() {
        let text = "\u{feff}[{\"a\":\"}\"},\n{\"b\":[1]}]\nno item\n{\"c\":{}}\n{\"d\":";
        let whole = all(ItemReader::of(std::io::Cursor::new(text.as_bytes().to_vec())).unwrap());
        let dripping = Dripping(text.as_bytes().to_vec().into_iter());
        assert_eq!(all(ItemReader::of(dripping).unwrap()), whole);
        let texts: Vec<&str> = whole.iter().filter_map(|one| one.as_deref().ok()).collect();
        assert_eq!(texts, ["{\"a\":\"}\"}", "{\"b\":[1]}", "{\"c\":{}}"]);
        assert_eq!(whole.iter().filter(|one| one.is_err()).count(), 2);
    }

    #[test]
    fn items_have_lines() {
        let text = "[{\n},\n\n{\"a\":1}]\nno item\n{\"c\":{}} {\"d\":1}\n";
        let mut items = ItemReader::of(std::io::Cursor::new(text.as_bytes().to_vec())).unwrap();
        let mut lines = Vec::new();
        while let Some(item) = items.next().unwrap() {
            lines.push((item.text.is_ok(), item.line));
        }
        assert_eq!(
            lines,
            [(true, 1), (true, 4), (false, 5), (true, 6), (true, 6)]
        );
    }

    #[test]
    fn gzip_is_unpacked_as_it_is_read() {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        for index in 0..100_000 {
            writeln!(encoder, "{{\"n\":{index}}}").unwrap();
        }
        let packed = encoder.finish().unwrap();
        let mut items = ItemReader::of(std::io::Cursor::new(packed)).unwrap();
        let (mut count, mut largest) = (0, 0);
        while let Some(item) = items.next().unwrap() {
            assert!(item.text.is_ok());
            count += 1;
            largest = largest.max(items.buffer.capacity());
        }
        assert_eq!(count, 100_000);
        assert!(largest <= 4 * CHUNK, "{largest} bytes were held");
    }

    #[test]
    fn broken_gzip_is_an_error() {
        let broken = vec![0x1f, 0x8b, 8, 0, 1, 2, 3];
        assert!(
            ItemReader::of(std::io::Cursor::new(broken))
                .unwrap()
                .next()
                .is_err()
        );
    }
}
