//! Property paths as keys: `$.a.b` or `$['a']['b']`.

use hindsight_kql_types::{DynamicRef, Encoder};

/// The keys from the outermost bag to the innermost.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Path {
    keys: Vec<String>,
}

impl Path {
    /// Parses a path. Text that does not start with `$`, or is not a valid path, is a single key.
    pub(crate) fn parse(text: &str) -> Path {
        let keys = text.strip_prefix('$').and_then(steps);
        Path {
            keys: keys.unwrap_or_else(|| vec![text.to_owned()]),
        }
    }

    /// The value at the path.
    pub(crate) fn find<'a>(&self, bag: DynamicRef<'a>) -> Option<DynamicRef<'a>> {
        self.keys
            .iter()
            .try_fold(bag, |value, key| value.get_key(key))
    }

    /// Writes `bag` without the properties at `paths`.
    pub(crate) fn write_without(bag: DynamicRef<'_>, paths: &[&[String]], encoder: &mut Encoder) {
        encoder.begin_bag();
        for (key, value) in bag.iter_bag() {
            let mine: Vec<&[String]> = paths
                .iter()
                .filter_map(|path| path.split_first().filter(|(k, _)| *k == key))
                .map(|(_, rest)| rest)
                .collect();
            if mine.iter().any(|rest| rest.is_empty()) {
                continue;
            }
            encoder.key(key);
            if mine.is_empty() || value.kind() != hindsight_kql_types::dynamic::Kind::Bag {
                encoder.dynamic(value);
            } else {
                Path::write_without(value, &mine, encoder);
            }
        }
        encoder.end();
    }

    /// Writes `bag` with the value that `write` writes at `path`; a new key comes last in its bag.
    pub(crate) fn write_with(
        bag: DynamicRef<'_>,
        path: &[String],
        encoder: &mut Encoder,
        write: &mut dyn FnMut(&mut Encoder),
    ) {
        let Some((first, rest)) = path.split_first() else {
            return write(encoder);
        };
        encoder.begin_bag();
        for (key, value) in bag.iter_bag().filter(|(key, _)| key != first) {
            encoder.key(key);
            encoder.dynamic(value);
        }
        encoder.key(first);
        let inner = bag.get_key(first).unwrap_or(DynamicRef::NULL);
        Path::write_with(inner, rest, encoder, write);
        encoder.end();
    }

    /// The keys.
    pub(crate) fn keys(&self) -> &[String] {
        &self.keys
    }
}

fn steps(mut rest: &str) -> Option<Vec<String>> {
    let mut keys = Vec::new();
    while !rest.is_empty() {
        if let Some(tail) = rest.strip_prefix('.') {
            let end = tail.find(['.', '[']).unwrap_or(tail.len());
            let (key, tail) = tail.split_at(end);
            keys.push((!key.is_empty()).then(|| key.to_owned())?);
            rest = tail;
        } else {
            let tail = rest.strip_prefix('[')?;
            let quote = tail.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
            let (key, tail) = tail.get(1..)?.split_once(quote)?;
            keys.push(key.to_owned());
            rest = tail.strip_prefix(']')?;
        }
    }
    (!keys.is_empty()).then_some(keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, keys: &[&str]) {
        assert_eq!(Path::parse(text).keys(), keys);
    }

    #[test]
    fn parses_only_valid_paths() {
        check("a.b", &["a.b"]);
        check("$.a.b", &["a", "b"]);
        check("$['a b'].c", &["a b", "c"]);
        check("$", &["$"]);
        check("$x", &["$x"]);
    }
}
