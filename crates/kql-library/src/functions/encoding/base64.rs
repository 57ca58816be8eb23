//! `base64_*`.

use ::base64::Engine;
use ::base64::engine::general_purpose::STANDARD;
use arrow::array::FixedSizeBinaryBuilder;
use hindsight_kql_types::DynamicRef;
use hindsight_kql_types::dynamic::Kind;

use crate::functions::prelude::*;

pub(crate) static ENCODE_TOSTRING: ScalarFunction = function(
    &["base64_encode_tostring(string: string) -> string"],
    "The text's UTF-8 bytes encoded in base64.",
    ResultName::None,
    &[example(
        "print s = base64_encode_tostring('hello')",
        "s:string\naGVsbG8=",
    )],
    |args| {
        let text = args.strings(0)?;
        Ok(args.collect_strings(|row| Some(Cow::Owned(STANDARD.encode(text.get(row))))))
    },
)
.with_aliases(&["base64_encodestring"]);

pub(crate) static DECODE_TOSTRING: ScalarFunction = function(
    &["base64_decode_tostring(base64_string: string) -> string"],
    "The UTF-8 text decoded from base64; empty if the input is not valid.",
    ResultName::None,
    &[example(
        "print s = base64_decode_tostring('aGVsbG8=')",
        "s:string\nhello",
    )],
    |args| {
        let text = args.strings(0)?;
        Ok(args.collect_strings(|row| {
            let bytes = decode(text.get(row))?;
            String::from_utf8(bytes).ok().map(Cow::Owned)
        }))
    },
)
.with_aliases(&["base64_decodestring"]);

pub(crate) static DECODE_TOARRAY: ScalarFunction = function(
    &["base64_decode_toarray(base64_string: string) -> dynamic"],
    "The bytes decoded from base64, as an array of numbers.",
    ResultName::None,
    &[example(
        "print d = base64_decode_toarray('aGk=')",
        "d:dynamic\n[104,105]",
    )],
    |args| {
        let text = args.strings(0)?;
        let mut encoder = encoder();
        Ok(args.collect_dynamics(|row, out| {
            let Some(bytes) = decode(text.get(row)) else {
                return false;
            };
            encoder.begin_array();
            bytes.iter().for_each(|byte| encoder.long(i64::from(*byte)));
            encoder.end();
            encoder.finish_into(out);
            true
        }))
    },
);

pub(crate) static ENCODE_FROMARRAY: ScalarFunction = function(
    &["base64_encode_fromarray(base64_string_decoded_as_array: array) -> string"],
    "An array of bytes encoded in base64; empty if the argument is not such an array.",
    ResultName::None,
    &[example(
        "print s = base64_encode_fromarray(dynamic([104, 105]))",
        "s:string\naGk=",
    )],
    |args| {
        let value = args.dynamics(0)?;
        Ok(args.collect_strings(|row| {
            let value = DynamicRef::new(value.get(row)?);
            let byte = |item: DynamicRef<'_>| match item.kind() {
                Kind::Long => u8::try_from(item.as_i64()?).ok(),
                _ => None,
            };
            let bytes: Option<Vec<u8>> = value.iter_array().map(byte).collect();
            Some(Cow::Owned(STANDARD.encode(bytes?)))
        }))
    },
);

pub(crate) static DECODE_TOGUID: ScalarFunction = function(
    &["base64_decode_toguid(base64_string: string) -> guid"],
    "The guid whose bytes are decoded from base64; the first three groups are little-endian.",
    ResultName::None,
    &[example(
        "print g = base64_decode_toguid('8jMxriJurkmwahbmqbIS6w==')",
        "g:guid\nae3133f2-6e22-49ae-b06a-16e6a9b212eb",
    )],
    |args| {
        let text = args.strings(0)?;
        let mut out = FixedSizeBinaryBuilder::with_capacity(args.rows(), 16);
        for row in 0..args.rows() {
            match decode(text.get(row)).and_then(|bytes| <[u8; 16]>::try_from(bytes).ok()) {
                Some(bytes) => out.append_value(mixed_endian(bytes))?,
                None => out.append_null(),
            }
        }
        Ok(Arc::new(out.finish()))
    },
);

pub(crate) static ENCODE_FROMGUID: ScalarFunction = function(
    &["base64_encode_fromguid(guid: guid) -> string"],
    "A guid's bytes encoded in base64; the first three groups are little-endian.",
    ResultName::None,
    &[example(
        "print s = base64_encode_fromguid(toguid('ae3133f2-6e22-49ae-b06a-16e6a9b212eb'))",
        "s:string\n8jMxriJurkmwahbmqbIS6w==",
    )],
    |args| {
        let guid = args.guids(0)?;
        Ok(args.collect_strings(|row| {
            let bytes = <[u8; 16]>::try_from(guid.get(row)?).ok()?;
            Some(Cow::Owned(STANDARD.encode(mixed_endian(bytes))))
        }))
    },
);

/// The bytes of base 64 text.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}

/// The bytes of a guid in .NET's order for those of its text, and the reverse.
fn mixed_endian(bytes: [u8; 16]) -> [u8; 16] {
    let [a, b, c, d, e, f, g, h, rest @ ..] = bytes;
    let [i, j, k, l, m, n, o, p] = rest;
    [d, c, b, a, f, e, h, g, i, j, k, l, m, n, o, p]
}
