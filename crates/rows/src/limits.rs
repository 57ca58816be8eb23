//! How long each field may be (`docs/api-facts.md §7`). Longer texts are cut, as the service does.

use std::borrow::Cow;

/// Keys of properties and measurements.
pub const KEY: usize = 150;
/// Values of properties.
pub const PROPERTY: usize = 8192;
/// Ids, and names of custom events.
pub const ID: usize = 512;
/// Other names, result codes, sources, targets, types, locations and tags.
pub const NAME: usize = 1024;
/// Addresses.
pub const URL: usize = 2048;
/// A dependency's data, a test's message.
pub const DATA: usize = 8192;
/// Messages and stacks.
pub const MESSAGE: usize = 32_768;
/// Properties and measurements of one item; the rest is dropped so that one item cannot make thousands of columns.
pub const PAIRS: usize = 1024;

/// At most `limit` characters of a text.
pub fn cut(text: Cow<'_, str>, limit: usize) -> Cow<'_, str> {
    // A text of `limit` bytes has no more characters than that.
    if text.len() <= limit {
        return text;
    }
    match (text.char_indices().nth(limit).map(|(end, _)| end), text) {
        (None, text) => text,
        (Some(end), Cow::Borrowed(text)) => Cow::Borrowed(text.get(..end).unwrap_or(text)),
        (Some(end), Cow::Owned(mut text)) => {
            text.truncate(end);
            Cow::Owned(text)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_at_characters() {
        let check = |text: &str, limit: usize, expected: &str| {
            assert_eq!(cut(Cow::Borrowed(text), limit), expected);
            assert_eq!(cut(Cow::Owned(text.to_owned()), limit), expected);
        };
        check("short", 10, "short");
        check("äöü", 2, "äö");
        check("äöü", 3, "äöü");
        check("abc", 0, "");
    }
}
