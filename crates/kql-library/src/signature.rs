//! Signatures as readable strings: `substring(source: text, start: long, [length: long]) -> string`.
//!
//! Parsed once when the registry is built; the binder resolves overloads with them, the reference prints them.

use hindsight_kql_types::ScalarType;

/// What a parameter accepts, and what the kernel then gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterKind {
    /// Exactly this type; `int` widens to `long`, integers widen to `real` where that is asked for.
    Exact(ScalarType),
    /// `int`, `long`, `real` or `decimal`, as it is.
    Number,
    /// `int` or `long`, as it is.
    Integer,
    /// `datetime` or `timespan`, as it is.
    Time,
    /// Any type that has an order: all but `dynamic` and `guid`, as it is.
    Orderable,
    /// Any type, as it is.
    Any,
    /// Any type, given to the kernel as its text (`tostring`, `semantics.md §8.5, §9.5`).
    Text,
    /// All parameters of this kind are converted to one common type.
    Common,
}

/// The type of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultKind {
    /// Always this type.
    Exact(ScalarType),
    /// The type of the argument at this position, from 0 (`$1` in the text is position 0).
    Argument(usize),
    /// The common type of the `common` parameters, or of all numbers (`widest`).
    Common,
}

/// One parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParameterSignature {
    /// Its name, for messages, named arguments and the reference.
    pub name: String,
    /// What it accepts.
    pub kind: ParameterKind,
    /// The argument must be a constant (`const string`).
    pub constant: bool,
    /// May be left out (`[…]`).
    pub optional: bool,
    /// May be repeated one or more times (`any...`); only the last.
    pub repeated: bool,
}

/// One overload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// The parameters in order.
    pub parameters: Vec<ParameterSignature>,
    /// The result.
    pub result: ResultKind,
}

impl Signature {
    /// Reads `name(a: string, [b: const long], c: any...) -> long`. The text is ours, so an error is a programming
    /// mistake that the registry's test reports.
    pub fn parse(text: &str) -> Result<Signature, String> {
        let fail = |what: &str| format!("signature `{text}`: {what}");
        let (call, result) = text.rsplit_once("->").ok_or_else(|| fail("no `->`"))?;
        let (_, rest) = call.trim().split_once('(').ok_or_else(|| fail("no `(`"))?;
        let list = rest
            .trim_end()
            .strip_suffix(')')
            .ok_or_else(|| fail("no `)`"))?;
        let parameters = list
            .split(',')
            .map(str::trim)
            .filter(|p| !p.is_empty())
            .map(|p| parse_parameter(p).ok_or_else(|| fail(p)))
            .collect::<Result<Vec<_>, _>>()?;
        let result = parse_result(result.trim()).ok_or_else(|| fail("unknown result type"))?;
        Ok(Signature { parameters, result })
    }

    /// The fewest arguments.
    pub fn min_arguments(&self) -> usize {
        self.parameters.iter().filter(|p| !p.optional).count()
    }

    /// The most arguments; none where the last is repeated.
    pub fn max_arguments(&self) -> Option<usize> {
        if self.parameters.last().is_some_and(|p| p.repeated) {
            None
        } else {
            Some(self.parameters.len())
        }
    }

    /// The parameter that takes argument `index`.
    pub fn parameter(&self, index: usize) -> Option<&ParameterSignature> {
        self.parameters
            .get(index)
            .or_else(|| self.parameters.last().filter(|p| p.repeated))
    }
}

fn parse_parameter(text: &str) -> Option<ParameterSignature> {
    let (text, optional) = match text.strip_prefix('[') {
        Some(inner) => (inner.strip_suffix(']')?, true),
        None => (text, false),
    };
    let (name, kind) = text.split_once(':')?;
    let kind = kind.trim();
    let (kind, repeated) = kind
        .strip_suffix("...")
        .map_or((kind, false), |k| (k.trim(), true));
    let (kind, constant) = kind
        .strip_prefix("const ")
        .map_or((kind, false), |k| (k.trim(), true));
    Some(ParameterSignature {
        name: name.trim().to_owned(),
        kind: parse_kind(kind)?,
        constant,
        optional,
        repeated,
    })
}

fn parse_kind(text: &str) -> Option<ParameterKind> {
    Some(match text {
        "number" => ParameterKind::Number,
        "integer" => ParameterKind::Integer,
        "time" => ParameterKind::Time,
        "orderable" => ParameterKind::Orderable,
        "any" => ParameterKind::Any,
        "text" => ParameterKind::Text,
        "common" => ParameterKind::Common,
        "array" | "bag" => ParameterKind::Exact(ScalarType::Dynamic),
        exact => ParameterKind::Exact(ScalarType::parse(exact)?),
    })
}

fn parse_result(text: &str) -> Option<ResultKind> {
    if let Some(position) = text.strip_prefix('$') {
        return Some(ResultKind::Argument(
            position.parse::<usize>().ok()?.checked_sub(1)?,
        ));
    }
    Some(match text {
        "common" | "widest" => ResultKind::Common,
        "array" | "bag" => ResultKind::Exact(ScalarType::Dynamic),
        exact => ResultKind::Exact(ScalarType::parse(exact)?),
    })
}
