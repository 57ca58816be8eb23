//! `parse_url` and `parse_urlquery`. The parts are neither decoded nor case-folded.

use std::collections::BTreeMap;

use hindsight_kql_types::Encoder;

use crate::functions::prelude::*;

pub(crate) static PARSE_URL: ScalarFunction = function(
    &["parse_url(url: string) -> dynamic"],
    "The parts of a URL.",
    ResultName::None,
    &[
        example(
            "print s = tostring(parse_url('https://a.example:81/x?k=v#f').Port)",
            "s:string\n81",
        ),
        example(
            "print s = tostring(parse_url('https://a.example/x?k=v')['Query Parameters'].k)",
            "s:string\nv",
        ),
    ],
    |args| {
        let text = args.strings(0)?;
        let mut encoder = encoder();
        Ok(args.collect_dynamics(|row, out| {
            Url::parse(text.get(row)).write(&mut encoder);
            encoder.finish_into(out);
            true
        }))
    },
)
.with_aliases(&["parseurl"]);

pub(crate) static PARSE_URLQUERY: ScalarFunction = function(
    &["parse_urlquery(query: string) -> dynamic"],
    "The parameters of a URL's query.",
    ResultName::None,
    &[example(
        "print d = parse_urlquery('b=2&a=1&b=3')",
        "d:dynamic\n{\"Query Parameters\":{\"a\":\"1\",\"b\":[\"2\",\"3\"]}}",
    )],
    |args| {
        let text = args.strings(0)?;
        let mut encoder = encoder();
        Ok(args.collect_dynamics(|row, out| {
            let query = text.get(row);
            encoder.begin_bag();
            write_query(query.strip_prefix('?').unwrap_or(query), &mut encoder);
            encoder.end();
            encoder.finish_into(out);
            true
        }))
    },
)
.with_aliases(&["parseurlquery"]);

#[derive(Debug, Default, PartialEq, Eq)]
struct Url<'a> {
    scheme: &'a str,
    host: &'a str,
    port: &'a str,
    path: &'a str,
    username: &'a str,
    password: &'a str,
    query: &'a str,
    fragment: &'a str,
}

impl<'a> Url<'a> {
    /// The parts; all are empty if the text is not a URL.
    fn parse(text: &'a str) -> Url<'a> {
        let Some((scheme, rest)) = text
            .split_once("://")
            .filter(|(scheme, _)| is_scheme(scheme))
        else {
            return Url::default();
        };
        let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
        let (rest, query) = rest
            .split_once('?')
            .map_or((rest, None), |(r, q)| (r, Some(q)));
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        // A single slash at the very end is not a path.
        let ends_here = query.is_none() && fragment.is_empty();
        let path = if path == "/" && ends_here { "" } else { path };
        let (user, address) = authority.rsplit_once('@').unwrap_or(("", authority));
        let (username, password) = user.split_once(':').unwrap_or(("", ""));
        let (host, port) = host_and_port(address);
        Url {
            scheme,
            host,
            port,
            path,
            username,
            password,
            query: query.unwrap_or(""),
            fragment,
        }
    }

    fn write(&self, encoder: &mut Encoder) {
        let before = [
            ("Scheme", self.scheme),
            ("Host", self.host),
            ("Port", self.port),
            ("Path", self.path),
            ("Username", self.username),
            ("Password", self.password),
        ];
        encoder.begin_bag();
        for (key, value) in before {
            encoder.key(key);
            encoder.string(value);
        }
        write_query(self.query, encoder);
        encoder.key("Fragment");
        encoder.string(self.fragment);
        encoder.end();
    }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
}

fn host_and_port(address: &str) -> (&str, &str) {
    let after_bracket = address.rfind(']').map_or(0, |at| at + 1);
    match address.get(after_bracket..).and_then(|rest| rest.find(':')) {
        Some(colon) => {
            let at = after_bracket + colon;
            (
                address.get(..at).unwrap_or(""),
                address.get(at + 1..).unwrap_or(""),
            )
        }
        None => (address, ""),
    }
}

/// The member `Query Parameters`: keys are sorted, a repeated key's values form an array, empty keys and values are dropped.
fn write_query(query: &str, encoder: &mut Encoder) {
    let mut parameters: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (key, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
        if !key.is_empty() && !value.is_empty() {
            parameters.entry(key).or_default().push(value);
        }
    }
    encoder.key("Query Parameters");
    encoder.begin_bag();
    for (key, values) in &parameters {
        encoder.key(key);
        match values.as_slice() {
            [only] => encoder.string(only),
            several => {
                encoder.begin_array();
                several.iter().for_each(|value| encoder.string(value));
                encoder.end();
            }
        }
    }
    encoder.end();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_urls_into_parts() {
        let check = |text: &str, expected: &str| {
            let mut encoder = Encoder::new();
            Url::parse(text).write(&mut encoder);
            let bytes = encoder.finish();
            let json = hindsight_kql_types::DynamicRef::new(&bytes).to_json();
            assert_eq!(json, expected, "{text}");
        };
        check(
            "s://u:p@h:1/a/b?y=2&x=1&y=3&z=#f",
            r#"{"Scheme":"s","Host":"h","Port":"1","Path":"/a/b","Username":"u","Password":"p","Query Parameters":{"x":"1","y":["2","3"]},"Fragment":"f"}"#,
        );
        check(
            "http://[::1]:80/",
            r#"{"Scheme":"http","Host":"[::1]","Port":"80","Path":"","Username":"","Password":"","Query Parameters":{},"Fragment":""}"#,
        );
        check(
            "not a url",
            r#"{"Scheme":"","Host":"","Port":"","Path":"","Username":"","Password":"","Query Parameters":{},"Fragment":""}"#,
        );
    }
}
