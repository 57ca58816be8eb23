//! Signatures in a readable notation: `substring(source: text, start: long, [length: long]) -> string`.
//!
//! Signatures are parsed once when the registry is built. The binder resolves overloads with them, and the reference prints
//! them.

use hindsight_kql_types::ScalarType;

/// The types that a parameter accepts, and the type that the kernel receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterKind {
    /// Exactly this type; `int` widens to `long`, and integers widen to `real` for a `real` parameter.
    Exact(ScalarType),
    /// `int`, `long`, `real` or `decimal`, unconverted.
    Number,
    /// `int` or `long`, unconverted.
    Integer,
    /// `datetime` or `timespan`, unconverted.
    Time,
    /// Any ordered type, that is all except `dynamic` and `guid`, unconverted.
    Orderable,
    /// Any type, unconverted.
    Any,
    /// Any type, converted to its text (`tostring`, `docs/semantics.md §8.5, §9.5`).
    Text,
    /// All parameters of this kind are converted to a common type.
    Common,
}

/// The type of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultKind {
    /// A fixed type.
    Exact(ScalarType),
    /// The type of the argument at this 0-based position (`$1` in the notation is position 0).
    Argument(usize),
    /// The common type of the `common` parameters, or of all numeric parameters (`widest`).
    Common,
}

/// One parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParameterSignature {
    /// Its name, for messages, named arguments and the reference.
    pub name: String,
    /// The types that it accepts.
    pub kind: ParameterKind,
    /// The argument must be a constant (`const string`).
    pub constant: bool,
    /// The argument is optional (`[…]`).
    pub optional: bool,
    /// The argument repeats one or more times (`any...`); only the last parameter can.
    pub repeated: bool,
}

/// One overload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// The parameters in order.
    pub parameters: Vec<ParameterSignature>,
    /// The result type.
    pub result: ResultKind,
}

impl Signature {
    /// Parses `name(a: string, [b: const long], c: any...) -> long`. Signatures are written in the source, so an error is a
    /// programming mistake that the registry's test reports.
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

    /// The minimum number of arguments.
    pub fn min_arguments(&self) -> usize {
        self.parameters.iter().filter(|p| !p.optional).count()
    }

    /// The maximum number of arguments; `None` if the last parameter repeats.
    pub fn max_arguments(&self) -> Option<usize> {
        if self.parameters.last().is_some_and(|p| p.repeated) {
            None
        } else {
            Some(self.parameters.len())
        }
    }

    /// The parameter for argument `index`.
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
