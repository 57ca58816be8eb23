//! Cutting a body into items without parsing them: a JSON array, one object, or objects one after another (NDJSON).
//!
//! Each item is then parsed alone, so that one that is broken costs itself and not its neighbours.

/// One item's text, or why it is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RawItem<'a> {
    /// The text of a JSON object.
    Item(&'a [u8]),
    /// Something that is no object, or is nested too deeply.
    Bad(&'static str),
}

/// Nesting that an item may have. An envelope of an SDK has less than ten levels.
const MAX_DEPTH: usize = 64;

/// The first `most` items of a body in order, and how many items it has.
pub fn split(body: &[u8], most: usize) -> (Vec<RawItem<'_>>, usize) {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let (mut items, mut count) = (Vec::new(), 0);
    let mut rest = skip_separators(body);
    while !rest.is_empty() {
        let (item, after) = next(rest);
        if let Some(item) = item {
            count += 1;
            if items.len() < most {
                items.push(item);
            }
        }
        rest = skip_separators(after);
    }
    (items, count)
}

/// The mean size of the whole items in the beginning of a body, separators included; `None` where it holds none.
pub(super) fn mean_size(beginning: &[u8]) -> Option<usize> {
    let (mut count, mut used, mut rest) = (0, 0, beginning);
    while let Next::Item(place) = next_item(rest, false) {
        count += 1;
        used += place.end;
        rest = rest.get(place.end..).unwrap_or_default();
    }
    used.checked_div(count)
}

/// What comes next in a text of which more may follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// An item's place in the text.
    Item(std::ops::Range<usize>),
    /// No item, and how many bytes of the text it takes.
    Bad(&'static str, usize),
    /// The text holds no whole item.
    More,
    /// Nothing is left.
    End,
}

/// The first item of `text`; `last` says that nothing follows it.
pub fn next_item(text: &[u8], last: bool) -> Next {
    let mark = b"\xef\xbb\xbf";
    let plain = text.strip_prefix(mark).unwrap_or(text);
    let rest = skip_separators(plain);
    if rest.is_empty() || (!last && mark.starts_with(rest)) {
        return if last { Next::End } else { Next::More };
    }
    let (item, after) = next(rest);
    if after.is_empty() && !last && !matches!(item, Some(RawItem::Item(_))) {
        return Next::More;
    }
    let used = text.len() - after.len();
    match item {
        Some(RawItem::Item(item)) => Next::Item(used - item.len()..used),
        Some(RawItem::Bad(why)) => Next::Bad(why, used),
        None => Next::End,
    }
}

/// Blanks, commas and the brackets of top-level arrays: what lies between items.
pub fn is_separator(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b',' | b'[' | b']')
}

fn skip_separators(text: &[u8]) -> &[u8] {
    let start = text
        .iter()
        .position(|byte| !is_separator(byte))
        .unwrap_or(text.len());
    text.get(start..).unwrap_or_default()
}

/// The first item of `text`, which begins with neither blank nor separator, and what follows it.
fn next(text: &[u8]) -> (Option<RawItem<'_>>, &[u8]) {
    if text.first() == Some(&b'{') {
        return object(text);
    }
    // Not an object: everything up to the next line or separator is one bad item.
    let end = text
        .iter()
        .position(|byte| matches!(byte, b'\n' | b',' | b'{'))
        .unwrap_or(text.len())
        .max(1);
    (
        Some(RawItem::Bad("An item must be a JSON object")),
        text.get(end..).unwrap_or_default(),
    )
}

/// The object that `text` begins with, found by counting braces outside strings.
fn object(text: &[u8]) -> (Option<RawItem<'_>>, &[u8]) {
    let cut = (
        Some(RawItem::Bad("The item ends before its closing brace")),
        &[] as &[u8],
    );
    let (mut depth, mut deepest, mut index) = (0_usize, 0_usize, 0);
    while let Some(byte) = text.get(index) {
        index += 1;
        match byte {
            b'"' => match text.get(index..).and_then(string_length) {
                Some(length) => index += length,
                None => return cut,
            },
            b'{' | b'[' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    let (item, after) = text.split_at(index);
                    let item = if deepest > MAX_DEPTH {
                        RawItem::Bad("The item is nested more than 64 levels deep")
                    } else {
                        RawItem::Item(item)
                    };
                    return (Some(item), after);
                }
            }
            _ => {}
        }
    }
    cut
}

/// The bytes of a string up to and with its closing quote; `text` begins behind the opening one.
fn string_length(text: &[u8]) -> Option<usize> {
    let mut begin = 0;
    loop {
        let at = begin + memchr::memchr2(b'"', b'\\', text.get(begin..)?)?;
        if text.get(at) == Some(&b'"') {
            return Some(at + 1);
        }
        // The byte behind a backslash is no end of the string.
        begin = at + 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &str, expected: &[Result<&str, &str>]) {
        let (items, count) = split(body.as_bytes(), usize::MAX);
        let items: Vec<_> = items
            .into_iter()
            .map(|item| match item {
                RawItem::Item(text) => Ok(std::str::from_utf8(text).unwrap()),
                RawItem::Bad(why) => Err(why),
            })
            .collect();
        assert_eq!(items, expected, "{body}");
        assert_eq!(count, expected.len(), "{body}");
        let (first, count) = split(body.as_bytes(), 1);
        assert_eq!(
            (first.len(), count),
            (count.min(1), expected.len()),
            "{body}"
        );
    }

    #[test]
    fn the_mean_size_counts_whole_items() {
        assert_eq!(mean_size(br#"[{"a":1},{"a":2},{"a"#), Some(8));
        assert_eq!(mean_size(br#"[{"a":"#), None);
        assert_eq!(mean_size(b""), None);
    }

    #[test]
    fn arrays_single_objects_and_lines_are_all_items() {
        check(
            r#"[{"a":1},{"b":[2]}]"#,
            &[Ok(r#"{"a":1}"#), Ok(r#"{"b":[2]}"#)],
        );
        check(r#" {"a":1} "#, &[Ok(r#"{"a":1}"#)]);
        check(
            "{\"a\":1}\r\n{\"b\":2}\n",
            &[Ok(r#"{"a":1}"#), Ok(r#"{"b":2}"#)],
        );
        check("", &[]);
        check("[]", &[]);
        check("\u{feff}[{}]", &[Ok("{}")]);
    }

    #[test]
    fn braces_and_quotes_in_strings_do_not_count() {
        check(
            r#"[{"a":"}\"{"},{"b":"\\"}]"#,
            &[Ok(r#"{"a":"}\"{"}"#), Ok(r#"{"b":"\\"}"#)],
        );
    }

    #[test]
    fn an_array_on_a_line_among_lines_gives_its_items() {
        check(
            "{\"a\":1}\n[{\"b\":2}]",
            &[Ok(r#"{"a":1}"#), Ok(r#"{"b":2}"#)],
        );
    }

    #[test]
    fn what_is_no_object_is_one_bad_item() {
        check(
            "[1,{\"a\":1}]",
            &[Err("An item must be a JSON object"), Ok(r#"{"a":1}"#)],
        );
        check("hello", &[Err("An item must be a JSON object")]);
        check(
            "[{\"a\":1",
            &[Err("The item ends before its closing brace")],
        );
    }

    #[test]
    fn nesting_of_any_depth_is_refused_without_recursion() {
        let deep = format!("{{\"a\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
        check(&deep, &[Err("The item is nested more than 64 levels deep")]);
    }
}
