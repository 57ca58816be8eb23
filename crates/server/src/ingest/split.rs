//! Cutting a body into items without parsing them: a JSON array, one object, or objects one after another (NDJSON).
//!
//! Each item is then parsed alone, so that one that is broken costs itself and not its neighbours.

/// One item's text, or why it is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RawItem<'a> {
    /// The text of a JSON object.
    Item(&'a [u8]),
    /// Something that is no object, or is nested too deeply.
    Bad(&'static str),
}

/// Nesting that an item may have. An envelope of an SDK has less than ten levels.
const MAX_DEPTH: usize = 64;

/// The items of a body in order.
pub(crate) fn split(body: &[u8]) -> Vec<RawItem<'_>> {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let mut items = Vec::new();
    let mut rest = skip_separators(body);
    while !rest.is_empty() {
        let (item, after) = next(rest);
        items.extend(item);
        rest = skip_separators(after);
    }
    items
}

/// How many items a body has.
pub(super) fn count(body: &[u8]) -> usize {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let (mut items, mut rest) = (0, skip_separators(body));
    while !rest.is_empty() {
        let (item, after) = next(rest);
        items += usize::from(item.is_some());
        rest = skip_separators(after);
    }
    items
}

/// What comes next in a text of which more may follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Next {
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
pub(crate) fn next_item(text: &[u8], last: bool) -> Next {
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
pub(crate) fn is_separator(byte: &u8) -> bool {
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
    let (mut depth, mut deepest, mut in_string, mut escaped) = (0_usize, 0_usize, false, false);
    for (index, byte) in text.iter().enumerate() {
        match (in_string, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (true, b'"') => in_string = false,
            (true, _) => {}
            (false, b'"') => in_string = true,
            (false, b'{' | b'[') => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            (false, b'}' | b']') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    let (item, after) = text.split_at(index + 1);
                    let item = if deepest > MAX_DEPTH {
                        RawItem::Bad("The item is nested more than 64 levels deep")
                    } else {
                        RawItem::Item(item)
                    };
                    return (Some(item), after);
                }
            }
            (false, _) => {}
        }
    }
    (
        Some(RawItem::Bad("The item ends before its closing brace")),
        &[],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &str, expected: &[Result<&str, &str>]) {
        let items: Vec<_> = split(body.as_bytes())
            .into_iter()
            .map(|item| match item {
                RawItem::Item(text) => Ok(std::str::from_utf8(text).unwrap()),
                RawItem::Bad(why) => Err(why),
            })
            .collect();
        assert_eq!(items, expected, "{body}");
        assert_eq!(count(body.as_bytes()), expected.len(), "{body}");
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
