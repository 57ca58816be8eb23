//! `geo_from_wkt`: shapes from well-known text (OGC 06-103r4, §7; `docs/semantics.md §27`).

use hindsight_kql_types::Encoder;

use crate::dynamic::rows::each;
use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = function(
    &["geo_from_wkt(wkt: string) -> dynamic"],
    "The GeoJSON shape of a well-known text; null if the text is not valid.",
    ResultName::None,
    &[
        example(
            "print p = geo_from_wkt('POINT (1 2)')",
            "p:dynamic\n{\"type\":\"Point\",\"coordinates\":[1.0,2.0]}",
        ),
        example("print p = geo_from_wkt('LINESTRING')", "p:dynamic\nnull"),
    ],
    |args| {
        let texts = args.texts(0)?;
        each(args, |row, encoder| {
            let mut text = Text(texts.get(row.number()));
            shape(&mut text, encoder, MAX_DEPTH)?;
            text.0.trim_start().is_empty().then_some(())
        })
    },
);

/// The deepest nesting of collections.
const MAX_DEPTH: usize = 32;

/// The kinds of shapes: the name in the text, that in GeoJSON, and how deep the pairs are nested.
const KINDS: [(&str, &str, Nesting); 6] = [
    ("POINT", "Point", Nesting::Pair),
    ("LINESTRING", "LineString", Nesting::Lists(1)),
    ("POLYGON", "Polygon", Nesting::Lists(2)),
    ("MULTIPOINT", "MultiPoint", Nesting::Points),
    ("MULTILINESTRING", "MultiLineString", Nesting::Lists(2)),
    ("MULTIPOLYGON", "MultiPolygon", Nesting::Lists(3)),
];

/// The form of coordinates.
#[derive(Debug, Clone, Copy)]
enum Nesting {
    /// One pair in parentheses.
    Pair,
    /// A list of pairs, each with or without parentheses of its own.
    Points,
    /// Lists of lists of pairs.
    Lists(usize),
}

/// The rest of a text.
struct Text<'a>(&'a str);

impl Text<'_> {
    fn take(&mut self, symbol: char) -> Option<()> {
        self.0 = self.0.trim_start().strip_prefix(symbol)?;
        Some(())
    }

    fn word(&mut self) -> String {
        self.0 = self.0.trim_start();
        let end = self.0.find(|c: char| !c.is_ascii_alphabetic());
        let (word, rest) = self.0.split_at(end.unwrap_or(self.0.len()));
        self.0 = rest;
        word.to_ascii_uppercase()
    }

    fn number(&mut self) -> Option<f64> {
        self.0 = self.0.trim_start();
        let end = self
            .0
            .find(|c: char| !(c.is_ascii_digit() || "+-.eE".contains(c)));
        let (number, rest) = self.0.split_at(end.unwrap_or(self.0.len()));
        self.0 = rest;
        number.parse().ok().filter(|n: &f64| n.is_finite())
    }
}

fn shape(text: &mut Text<'_>, encoder: &mut Encoder, depth: usize) -> Option<()> {
    let word = text.word();
    encoder.begin_bag();
    encoder.key("type");
    if word == "GEOMETRYCOLLECTION" {
        encoder.string("GeometryCollection");
        encoder.key("geometries");
        let depth = depth.checked_sub(1)?;
        list(text, encoder, |text, encoder| shape(text, encoder, depth))?;
    } else {
        let (_, kind, nesting) = KINDS.iter().find(|(name, _, _)| *name == word)?;
        encoder.string(kind);
        encoder.key("coordinates");
        coordinates(text, encoder, *nesting)?;
    }
    encoder.end();
    Some(())
}

fn coordinates(text: &mut Text<'_>, encoder: &mut Encoder, nesting: Nesting) -> Option<()> {
    match nesting {
        Nesting::Pair => {
            text.take('(')?;
            pair(text, encoder)?;
            text.take(')')
        }
        Nesting::Points => list(text, encoder, |text, encoder| {
            if text.take('(').is_some() {
                pair(text, encoder)?;
                text.take(')')
            } else {
                pair(text, encoder)
            }
        }),
        Nesting::Lists(1) => list(text, encoder, pair),
        Nesting::Lists(depth) => list(text, encoder, |text, encoder| {
            coordinates(text, encoder, Nesting::Lists(depth - 1))
        }),
    }
}

/// Elements in parentheses.
fn list(
    text: &mut Text<'_>,
    encoder: &mut Encoder,
    mut element: impl FnMut(&mut Text<'_>, &mut Encoder) -> Option<()>,
) -> Option<()> {
    text.take('(')?;
    encoder.begin_array();
    element(text, encoder)?;
    while text.take(',').is_some() {
        element(text, encoder)?;
    }
    encoder.end();
    text.take(')')
}

fn pair(text: &mut Text<'_>, encoder: &mut Encoder) -> Option<()> {
    encoder.begin_array();
    encoder.real(text.number()?);
    encoder.real(text.number()?);
    encoder.end();
    Some(())
}
