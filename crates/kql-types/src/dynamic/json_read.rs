//! Encoding JSON text (`docs/semantics.md §9.2`), in one pass and without a tree.

use super::{Dynamic, DynamicRef, Encoder, MAX_DEPTH};

/// `parse_json`: the value of JSON text, null for `""`, and a string for text that is not JSON.
pub fn parse_json(text: &str) -> Dynamic {
    let mut bytes = Vec::new();
    parse_json_into(text, &mut bytes);
    Dynamic::decode(&bytes)
}

/// As [`parse_json`]; appends the encoded value to `out`.
pub fn parse_json_into(text: &str, out: &mut Vec<u8>) {
    let mut encoder = Encoder::new();
    encode_parsed(text, &mut encoder);
    encoder.finish_into(out);
}

/// As [`parse_json`]; writes the value to an empty encoder.
pub fn encode_parsed(text: &str, encoder: &mut Encoder) {
    if !text.is_empty() && encode_json(text, encoder).is_none() {
        encoder.clear();
        encoder.string(text);
    }
}

impl Dynamic {
    /// The value of JSON text; `None` if it is not JSON or nested deeper than [`MAX_DEPTH`].
    pub fn from_json(text: &str) -> Option<Dynamic> {
        let mut encoder = Encoder::new();
        encode_json(text, &mut encoder)?;
        Some(DynamicRef::new(&encoder.finish()).to_owned())
    }
}

/// Writes the value of strict JSON text to an empty encoder. Integers that do not fit a `long` become doubles. `None` if the
/// text is not JSON; the encoder must then be cleared.
pub fn encode_json(text: &str, encoder: &mut Encoder) -> Option<()> {
    let mut parser = Parser {
        text,
        at: 0,
        encoder,
        scratch: String::new(),
    };
    parser.skip_space();
    parser.value(0)?;
    parser.skip_space();
    (parser.at == text.len()).then_some(())
}

struct Parser<'t, 'e> {
    text: &'t str,
    at: usize,
    encoder: &'e mut Encoder,
    scratch: String,
}

impl<'t> Parser<'t, '_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Option<()> {
        match self.peek()? {
            b'{' => self.bag(depth + 1),
            b'[' => self.array(depth + 1),
            b'"' => {
                let text = self.string()?;
                match text {
                    Some(text) => self.encoder.string(text),
                    None => self.encoder.string(&self.scratch),
                }
                Some(())
            }
            b't' => self.word("true").map(|()| self.encoder.bool(true)),
            b'f' => self.word("false").map(|()| self.encoder.bool(false)),
            b'n' => self.word("null").map(|()| self.encoder.null()),
            _ => self.number(),
        }
    }

    fn word(&mut self, word: &str) -> Option<()> {
        self.text.get(self.at..)?.starts_with(word).then_some(())?;
        self.at += word.len();
        Some(())
    }

    fn array(&mut self, depth: usize) -> Option<()> {
        (depth <= MAX_DEPTH && self.eat(b'[')).then_some(())?;
        self.encoder.begin_array();
        self.skip_space();
        if !self.eat(b']') {
            loop {
                self.skip_space();
                self.value(depth)?;
                if !self.more(b']')? {
                    break;
                }
            }
        }
        self.encoder.end();
        Some(())
    }

    fn bag(&mut self, depth: usize) -> Option<()> {
        (depth <= MAX_DEPTH && self.eat(b'{')).then_some(())?;
        self.encoder.begin_bag();
        self.skip_space();
        if !self.eat(b'}') {
            loop {
                self.skip_space();
                match self.string()? {
                    Some(key) => self.encoder.key(key),
                    None => self.encoder.key(&self.scratch),
                }
                self.skip_space();
                self.eat(b':').then_some(())?;
                self.skip_space();
                self.value(depth)?;
                if !self.more(b'}')? {
                    break;
                }
            }
        }
        self.encoder.end();
        Some(())
    }

    /// Whether a comma follows, and so another element, or the closing bracket. Anything else is not JSON.
    fn more(&mut self, close: u8) -> Option<bool> {
        self.skip_space();
        if self.eat(b',') {
            return Some(true);
        }
        self.eat(close).then_some(false)
    }

    fn number(&mut self) -> Option<()> {
        let start = self.at;
        self.eat(b'-');
        if !self.eat(b'0') {
            self.digits()?;
        }
        let mut is_integer = true;
        if self.eat(b'.') {
            self.digits()?;
            is_integer = false;
        }
        if self.eat(b'e') || self.eat(b'E') {
            let _ = self.eat(b'+') || self.eat(b'-');
            self.digits()?;
            is_integer = false;
        }
        let digits = self.text.get(start..self.at)?;
        match digits.parse::<i64>() {
            Ok(number) if is_integer => self.encoder.long(number),
            _ => self.encoder.real(digits.parse().ok()?),
        }
        Some(())
    }

    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while self.peek().is_some_and(|b| b.is_ascii_digit()) {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }

    /// Reads a string. `Some(None)` means that it has escapes and its text is in `scratch`.
    fn string(&mut self) -> Option<Option<&'t str>> {
        self.eat(b'"').then_some(())?;
        let start = self.at;
        self.plain_run();
        if self.peek()? == b'"' {
            let text = self.text.get(start..self.at)?;
            self.at += 1;
            return Some(Some(text));
        }
        self.scratch.clear();
        self.scratch.push_str(self.text.get(start..self.at)?);
        loop {
            match self.peek()? {
                b'"' => {
                    self.at += 1;
                    return Some(None);
                }
                b'\\' => {
                    self.at += 1;
                    let escaped = self.escape()?;
                    self.scratch.push(escaped);
                }
                0..0x20 => return None,
                _ => {
                    let from = self.at;
                    self.plain_run();
                    self.scratch.push_str(self.text.get(from..self.at)?);
                }
            }
        }
    }

    fn plain_run(&mut self) {
        while self
            .peek()
            .is_some_and(|b| b >= 0x20 && b != b'"' && b != b'\\')
        {
            self.at += 1;
        }
    }

    fn escape(&mut self) -> Option<char> {
        let byte = self.peek()?;
        self.at += 1;
        Some(match byte {
            b'"' | b'\\' | b'/' => byte as char,
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode(),
            _ => return None,
        })
    }

    /// The character of `\uXXXX`, or of two of them that make a surrogate pair. An unpaired surrogate is not JSON.
    fn unicode(&mut self) -> Option<char> {
        let first = self.hex4()?;
        if !(0xD800..0xDC00).contains(&first) {
            return char::from_u32(first);
        }
        (self.eat(b'\\') && self.eat(b'u')).then_some(())?;
        let second = self.hex4()?;
        (0xDC00..0xE000).contains(&second).then_some(())?;
        char::from_u32(0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00))
    }

    fn hex4(&mut self) -> Option<u32> {
        let digits = self.text.get(self.at..self.at + 4)?;
        digits
            .bytes()
            .all(|b| b.is_ascii_hexdigit())
            .then_some(())?;
        self.at += 4;
        u32::from_str_radix(digits, 16).ok()
    }
}
