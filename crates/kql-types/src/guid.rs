//! Guids: sixteen bytes in the order of their text (`docs/semantics.md §8.8`).

use std::fmt;

/// Parses a guid: 32 hex digits with hyphens anywhere between them and optional white space around.
pub fn parse(text: &str) -> Option<[u8; 16]> {
    let mut bytes = [0u8; 16];
    let mut count = 0usize;
    for byte in text.trim_ascii().bytes().filter(|b| *b != b'-') {
        let digit = (byte as char).to_digit(16)? as u8;
        let place = bytes.get_mut(count / 2)?;
        *place = *place << 4 | digit;
        count += 1;
    }
    (count == 32).then_some(bytes)
}

/// As [`parse`], with optional braces around, which the `parse` operator accepts.
pub fn parse_braced(text: &str) -> Option<[u8; 16]> {
    let text = text.trim_ascii();
    let inner = text
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'));
    parse(inner.unwrap_or(text))
}

/// Writes lower-case `8-4-4-4-12`.
pub fn write(guid: &[u8; 16], out: &mut impl fmt::Write) -> fmt::Result {
    for (index, byte) in guid.iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            out.write_char('-')?;
        }
        write!(out, "{byte:02x}")?;
    }
    Ok(())
}

/// The text of [`write`].
pub fn to_text(guid: &[u8; 16]) -> String {
    let mut text = String::with_capacity(36);
    // Writing to a String never fails.
    let _ = write(guid, &mut text);
    text
}
