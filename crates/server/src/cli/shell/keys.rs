//! The keys of a terminal (ECMA-48, and the sequences of xterm).

use std::io::Read;

/// A key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Char(char),
    /// Ctrl and a letter.
    Ctrl(char),
    Enter,
    Tab,
    Backspace,
    Delete,
    Left,
    Right,
    Up,
    Down,
    WordLeft,
    WordRight,
    Home,
    End,
    /// What follows is pasted, until [`Key::PasteEnd`].
    PasteBegin,
    PasteEnd,
    /// Alt and Enter.
    NewLine,
    /// A key without a meaning here.
    Unknown,
}

/// Reads keys from bytes.
pub(super) struct Keys<R> {
    source: R,
    bytes: Vec<u8>,
}

impl<R: Read> Keys<R> {
    pub(super) fn new(source: R) -> Keys<R> {
        Keys {
            source,
            bytes: Vec::new(),
        }
    }

    /// The next key; `None` at the end of the input.
    pub(super) fn next(&mut self) -> std::io::Result<Option<Key>> {
        loop {
            if let Some((key, length)) = decode(&self.bytes) {
                self.bytes.drain(..length);
                return Ok(Some(key));
            }
            let mut chunk = [0; 1024];
            let read = self.source.read(&mut chunk)?;
            if read == 0 {
                return Ok(None);
            }
            self.bytes
                .extend_from_slice(chunk.get(..read).unwrap_or_default());
            // An escape character alone is the key of this name: sequences come in one piece.
            if self.bytes == [0x1b] {
                self.bytes.clear();
                return Ok(Some(Key::Unknown));
            }
        }
    }
}

/// The key that bytes begin with, and how many they are; `None` if more are needed.
fn decode(bytes: &[u8]) -> Option<(Key, usize)> {
    let first = *bytes.first()?;
    Some(match first {
        b'\r' | b'\n' => (Key::Enter, 1),
        b'\t' => (Key::Tab, 1),
        0x7f | 0x08 => (Key::Backspace, 1),
        0x1b => return escape(bytes),
        1..=26 => (Key::Ctrl(char::from(first - 1 + b'a')), 1),
        0..=31 => (Key::Unknown, 1),
        _ => return character(bytes),
    })
}

/// A character of UTF-8.
fn character(bytes: &[u8]) -> Option<(Key, usize)> {
    let first = *bytes.first()?;
    let length = match first {
        0xf8.. => 1,
        0xf0.. => 4,
        0xe0.. => 3,
        0xc0.. => 2,
        _ => 1,
    };
    let text = std::str::from_utf8(bytes.get(..length)?);
    let found = text.ok().and_then(|text| text.chars().next());
    Some(found.map_or((Key::Unknown, 1), |c| (Key::Char(c), length)))
}

/// An escape sequence.
fn escape(bytes: &[u8]) -> Option<(Key, usize)> {
    match bytes.get(1)? {
        b'[' => control_sequence(bytes),
        b'O' => {
            let key = match bytes.get(2)? {
                b'A' => Key::Up,
                b'B' => Key::Down,
                b'C' => Key::Right,
                b'D' => Key::Left,
                b'H' => Key::Home,
                b'F' => Key::End,
                _ => Key::Unknown,
            };
            Some((key, 3))
        }
        b'b' => Some((Key::WordLeft, 2)),
        b'f' => Some((Key::WordRight, 2)),
        b'\r' | b'\n' => Some((Key::NewLine, 2)),
        _ => Some((Key::Unknown, 2)),
    }
}

/// `ESC [`, parameters, and a final byte.
fn control_sequence(bytes: &[u8]) -> Option<(Key, usize)> {
    let rest = bytes.get(2..)?;
    let length = rest.iter().position(|byte| (0x40..=0x7e).contains(byte))?;
    let parameters = rest.get(..length)?;
    let key = match (rest.get(length)?, parameters) {
        (b'A', _) => Key::Up,
        (b'B', _) => Key::Down,
        (b'C', b"1;5" | b"1;3") => Key::WordRight,
        (b'D', b"1;5" | b"1;3") => Key::WordLeft,
        (b'C', _) => Key::Right,
        (b'D', _) => Key::Left,
        (b'H', _) | (b'~', b"1" | b"7") => Key::Home,
        (b'F', _) | (b'~', b"4" | b"8") => Key::End,
        (b'~', b"3") => Key::Delete,
        (b'~', b"200") => Key::PasteBegin,
        (b'~', b"201") => Key::PasteEnd,
        _ => Key::Unknown,
    };
    Some((key, length + 3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_however_their_bytes_arrive() {
        let bytes =
            "aé日\x1b[A\x1b[1;5D\x1bOF\x1b[3~\x1b[200~x\r\x1b[201~\x01\t\x7f\x1b\r".as_bytes();
        let expected = [
            Key::Char('a'),
            Key::Char('é'),
            Key::Char('日'),
            Key::Up,
            Key::WordLeft,
            Key::End,
            Key::Delete,
            Key::PasteBegin,
            Key::Char('x'),
            Key::Enter,
            Key::PasteEnd,
            Key::Ctrl('a'),
            Key::Tab,
            Key::Backspace,
            Key::NewLine,
        ];
        let mut keys = Keys::new(bytes);
        let mut found = Vec::new();
        while let Some(key) = keys.next().unwrap() {
            found.push(key);
        }
        assert_eq!(found, expected);
        assert_eq!(decode(&[0xff]), Some((Key::Unknown, 1)));
        assert_eq!(decode(&[0xe6, 0x97]), None);
    }
}
