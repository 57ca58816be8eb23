//! `punycode_*`: RFC 3492, for whole strings and for the labels of domain names.

use idna::punycode;

use crate::functions::prelude::*;

pub(crate) static FROM_STRING: ScalarFunction = function(
    &["punycode_from_string(string: string) -> string"],
    "The text encoded in Punycode.",
    ResultName::None,
    &[example(
        "print s = punycode_from_string('mañana')",
        "s:string\nmaana-pta",
    )],
    |args| map(args, punycode::encode_str),
);

pub(crate) static TO_STRING: ScalarFunction = function(
    &["punycode_to_string(string: string) -> string"],
    "The text decoded from Punycode; empty if the input is not valid.",
    ResultName::None,
    &[example(
        "print s = punycode_to_string('maana-pta')",
        "s:string\nmañana",
    )],
    |args| map(args, punycode::decode_to_string),
);

pub(crate) static DOMAIN_FROM_STRING: ScalarFunction = function(
    &["punycode_domain_from_string(string: string) -> string"],
    "A domain name with its labels in Punycode decoded.",
    ResultName::None,
    &[example(
        "print s = punycode_domain_from_string('xn--maana-pta.example')",
        "s:string\nmañana.example",
    )],
    |args| map(args, |text| labels(text, decode_label)),
);

pub(crate) static DOMAIN_TO_STRING: ScalarFunction = function(
    &["punycode_domain_to_string(string: string) -> string"],
    "A domain name with its labels beyond ASCII in Punycode.",
    ResultName::None,
    &[example(
        "print s = punycode_domain_to_string('mañana.example')",
        "s:string\nxn--maana-pta.example",
    )],
    |args| map(args, |text| labels(text, encode_label)),
);

fn map(args: &KernelArgs<'_>, f: fn(&str) -> Option<String>) -> KernelResult {
    let text = args.strings(0)?;
    Ok(args.collect_strings(|row| f(text.get(row)).map(Cow::Owned)))
}

/// Converts each label separately; the three full stops of East Asian scripts separate labels too.
fn labels(text: &str, f: fn(&str) -> Option<String>) -> Option<String> {
    let labels: Option<Vec<String>> = text.split(['.', '。', '．', '｡']).map(f).collect();
    labels.map(|labels| labels.join("."))
}

fn decode_label(label: &str) -> Option<String> {
    match label.strip_prefix("xn--") {
        Some(encoded) => punycode::decode_to_string(encoded),
        None => Some(label.to_owned()),
    }
}

fn encode_label(label: &str) -> Option<String> {
    if label.is_ascii() {
        Some(label.to_owned())
    } else {
        punycode::encode_str(label).map(|encoded| format!("xn--{encoded}"))
    }
}
