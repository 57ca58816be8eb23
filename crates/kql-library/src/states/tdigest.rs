//! The states of `tdigest` as values: the ranks of a column's values, stored as an opaque string in a dynamic (`docs/semantics.md
//! §16.7`).

use arrow::datatypes::{Decimal128Type, Float64Type, Int64Type};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hindsight_kql_types::{DynamicRef, Encoder, ScalarType, Value};

use super::quantile::Ranks;
use super::ranked::Ranked;
use super::sketch::Sketch;

/// The prefix that identifies the text of a state.
const PREFIX: &str = "tdigest:";

/// The ranked values of one state, by their storage type.
pub(crate) enum Digests {
    /// Longs, datetimes and timespans.
    Long(Ranks<Int64Type>),
    Real(Ranks<Float64Type>),
    Decimal(Ranks<Decimal128Type>),
}

/// A state: the type of its values, and the values.
pub(crate) struct Tdigest {
    kind: ScalarType,
    digests: Digests,
}

/// The types that support states, with their type letters in the text form.
const TYPE_LETTERS: [(ScalarType, char); 5] = [
    (ScalarType::Long, 'l'),
    (ScalarType::Real, 'r'),
    (ScalarType::Decimal, 'm'),
    (ScalarType::DateTime, 't'),
    (ScalarType::TimeSpan, 's'),
];

impl Tdigest {
    /// An empty set of values of type `kind`.
    pub(crate) fn new(kind: ScalarType) -> Tdigest {
        let digests = match kind {
            ScalarType::Real => Digests::Real(Ranks::new()),
            ScalarType::Decimal => Digests::Decimal(Ranks::new()),
            _ => Digests::Long(Ranks::new()),
        };
        Tdigest { kind, digests }
    }

    /// The type of its values.
    pub(crate) fn kind(&self) -> ScalarType {
        self.kind
    }

    /// Decodes a state from its dynamic form; `None` if the value is not a state.
    pub(crate) fn read(state: DynamicRef<'_>) -> Option<Tdigest> {
        let text = state.as_str()?.strip_prefix(PREFIX)?;
        let letter = text.chars().next()?;
        let (kind, _) = TYPE_LETTERS
            .into_iter()
            .find(|(_, known)| *known == letter)?;
        let bytes = BASE64_STANDARD.decode(text.get(1..)?).ok()?;
        let mut state = Tdigest::new(kind);
        state.merge_bytes(&bytes);
        Some(state)
    }

    /// Writes the state in its dynamic form.
    pub(crate) fn write(&self, encoder: &mut Encoder) {
        let mut bytes = Vec::new();
        self.encode(&mut bytes);
        encoder.string(&text(self.kind, &bytes));
    }

    /// Merges another state of the same type; `false` if the types differ.
    #[must_use]
    pub(crate) fn merge(&mut self, other: &Tdigest) -> bool {
        if self.kind != other.kind {
            return false;
        }
        let mut bytes = Vec::new();
        other.encode(&mut bytes);
        self.merge_bytes(&bytes);
        true
    }

    /// The values at these percentages.
    pub(crate) fn percentiles(&mut self, percents: &[f64]) -> Vec<Option<Value>> {
        let kind = self.kind;
        let long = |value: i64| match kind {
            ScalarType::DateTime => Value::DateTime(value),
            ScalarType::TimeSpan => Value::TimeSpan(value),
            _ => Value::Long(value),
        };
        match &mut self.digests {
            Digests::Long(ranks) => values(ranks, percents, long),
            Digests::Real(ranks) => values(ranks, percents, Value::Real),
            Digests::Decimal(ranks) => values(ranks, percents, Value::Decimal),
        }
    }

    /// The number of values, and the number of values not greater than `value`; `None` if `value` has a different type.
    pub(crate) fn rank(&mut self, value: &Value) -> Option<(f64, f64)> {
        match (&mut self.digests, value.convert(self.kind)) {
            (
                Digests::Long(ranks),
                Value::Long(value) | Value::DateTime(value) | Value::TimeSpan(value),
            ) => Some((ranks.weight(), ranks.weight_up_to(value))),
            (Digests::Real(ranks), Value::Real(value)) => {
                Some((ranks.weight(), ranks.weight_up_to(value)))
            }
            (Digests::Decimal(ranks), Value::Decimal(value)) => {
                Some((ranks.weight(), ranks.weight_up_to(value)))
            }
            _ => None,
        }
    }

    fn merge_bytes(&mut self, bytes: &[u8]) {
        match &mut self.digests {
            Digests::Long(ranks) => ranks.merge(bytes),
            Digests::Real(ranks) => ranks.merge(bytes),
            Digests::Decimal(ranks) => ranks.merge(bytes),
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match &self.digests {
            Digests::Long(ranks) => ranks.encode(out),
            Digests::Real(ranks) => ranks.encode(out),
            Digests::Decimal(ranks) => ranks.encode(out),
        }
    }
}

fn values<T: Ranked>(
    ranks: &mut Ranks<T>,
    percents: &[f64],
    value: impl Fn(T::Native) -> Value,
) -> Vec<Option<Value>> {
    let found = ranks.at(percents);
    found.into_iter().map(|v| v.map(&value)).collect()
}

/// The dynamic form of encoded ranks.
pub(crate) fn text(kind: ScalarType, bytes: &[u8]) -> String {
    let letter = TYPE_LETTERS.into_iter().find(|(known, _)| *known == kind);
    let mut text = PREFIX.to_owned();
    text.push(letter.map_or('l', |(_, letter)| letter));
    BASE64_STANDARD.encode_string(bytes, &mut text);
    text
}

/// A state that is allocated on the first insert, which determines the type of its values.
pub(crate) struct MaybeTdigest(pub(crate) Option<Tdigest>);

impl Sketch for MaybeTdigest {
    fn heap(&self) -> usize {
        match self.0.as_ref().map(|state| &state.digests) {
            None => 0,
            Some(Digests::Long(ranks)) => ranks.heap(),
            Some(Digests::Real(ranks)) => ranks.heap(),
            Some(Digests::Decimal(ranks)) => ranks.heap(),
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        if let Some(state) = &self.0 {
            let mut bytes = Vec::new();
            state.encode(&mut bytes);
            out.extend(text(state.kind, &bytes).into_bytes());
        }
    }

    fn merge(&mut self, bytes: &[u8]) {
        let mut encoder = Encoder::new();
        let Ok(text) = std::str::from_utf8(bytes) else {
            return;
        };
        encoder.string(text);
        let encoded = encoder.finish();
        if let Some(other) = Tdigest::read(DynamicRef::new(&encoded)) {
            // States of one column have one type: `update` rejects others.
            let state = self.0.get_or_insert_with(|| Tdigest::new(other.kind));
            let _ = state.merge(&other);
        }
    }
}
