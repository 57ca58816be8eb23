//! Signatures in a readable notation: `substring(source: text, start: long, [length: long]) -> string`.
//!
//! Signatures are parsed once when the registry is built. The binder resolves overloads with them, and the reference prints
//! them.

use hindsight_kql_types::ScalarType;

/// The types that a parameter accepts, and the type that the kernel receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterKind {
    /// Exactly this type. `int` widens to `long`, integers and decimals to `real`, and a dynamic is converted to its text for a `string`
    /// parameter.
    Exact(ScalarType),
    /// `int`, `long`, `real` or `decimal`, unconverted.
    Number,
    /// `int` or `long`, unconverted.
    Integer,
    /// `datetime` or `timespan`, unconverted.
    Time,
    /// Any ordered type, that is all except `dynamic` and `guid`, unconverted.
    Orderable,
    /// One of several types, unconverted (`string|dynamic`).
    OneOf(Kinds),
    /// Any type, unconverted.
    Any,
    /// Any type, converted to its text (`tostring`, `docs/semantics.md §8.5, §9.5`).
    Text,
    /// All parameters of this kind are converted to a common type.
    Common,
    /// A type (`typeof(long)`), which no scalar is.
    TypeLiteral,
}

/// A set of scalar types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kinds(u16);

impl Kinds {
    const ALL: [ScalarType; 10] = [
        ScalarType::Bool,
        ScalarType::Int,
        ScalarType::Long,
        ScalarType::Real,
        ScalarType::Decimal,
        ScalarType::String,
        ScalarType::DateTime,
        ScalarType::TimeSpan,
        ScalarType::Guid,
        ScalarType::Dynamic,
    ];

    fn where_true(test: impl Fn(ScalarType) -> bool) -> Kinds {
        let bits = Kinds::ALL.into_iter().filter(|kind| test(*kind));
        Kinds(bits.fold(0, |bits, kind| bits | Kinds::bit(kind)))
    }

    fn bit(kind: ScalarType) -> u16 {
        let position = Kinds::ALL.iter().position(|other| *other == kind);
        position.map_or(0, |position| 1 << position)
    }

    /// The types of one word of the notation.
    fn parse(word: &str) -> Option<Kinds> {
        Some(match word {
            "number" => Kinds::where_true(ScalarType::is_number),
            "integer" => Kinds::where_true(ScalarType::is_integer),
            "time" => Kinds::where_true(|kind| {
                matches!(kind, ScalarType::DateTime | ScalarType::TimeSpan)
            }),
            exact => Kinds(Kinds::bit(ScalarType::parse(exact)?)),
        })
    }

    /// The types in words: `a number`, `dynamic`.
    pub fn words(self) -> Vec<String> {
        let has = |kinds: &[ScalarType]| kinds.iter().all(|kind| self.contains(*kind));
        let mut words = Vec::new();
        let mut named = Vec::new();
        if has(&Kinds::ALL[1..4]) {
            // The few parameters that take no decimal do not say so.
            words.push("a number".to_owned());
            named.extend_from_slice(&Kinds::ALL[1..5]);
        } else if has(&Kinds::ALL[1..3]) {
            words.push("an integer".to_owned());
            named.extend_from_slice(&Kinds::ALL[1..3]);
        }
        let others = Kinds::ALL.into_iter();
        let others = others.filter(|kind| self.contains(*kind) && !named.contains(kind));
        words.extend(others.map(|kind| kind.to_string()));
        words
    }

    /// Whether the set has `kind`.
    pub fn contains(self, kind: ScalarType) -> bool {
        self.0 & Kinds::bit(kind) != 0
    }
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
    /// The argument must be a constant (`const string`, `literal string`).
    pub constant: bool,
    /// The error of an argument that is not a constant is that of a literal (`literal string`).
    pub literal: bool,
    /// The argument is optional (`[…]`).
    pub optional: bool,
    /// The argument repeats one or more times (`any...`), at most as often as a number after it says (`any...63`); only the last
    /// parameter can.
    pub repeated: Option<Repeated>,
}

/// How often the last argument may be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeated {
    /// Any number of times.
    Any,
    /// The maximum number of repetitions.
    AtMost(usize),
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
        match self.parameters.last().and_then(|p| p.repeated) {
            None => Some(self.parameters.len()),
            Some(Repeated::AtMost(times)) => Some(self.parameters.len() - 1 + times),
            Some(Repeated::Any) => None,
        }
    }

    /// The parameter for argument `index`.
    pub fn parameter(&self, index: usize) -> Option<&ParameterSignature> {
        self.parameters
            .get(index)
            .or_else(|| self.parameters.last().filter(|p| p.repeated.is_some()))
    }
}

fn parse_parameter(text: &str) -> Option<ParameterSignature> {
    let (text, optional) = match text.strip_prefix('[') {
        Some(inner) => (inner.strip_suffix(']')?, true),
        None => (text, false),
    };
    let (name, kind) = text.split_once(':')?;
    let kind = kind.trim();
    let (kind, repeated) = match kind.split_once("...") {
        None => (kind, None),
        Some((kind, "")) => (kind.trim(), Some(Repeated::Any)),
        Some((kind, times)) => (kind.trim(), Some(Repeated::AtMost(times.parse().ok()?))),
    };
    let (kind, literal) = without_word(kind, "literal ");
    let (kind, constant) = without_word(kind, "const ");
    Some(ParameterSignature {
        name: name.trim().to_owned(),
        kind: parse_kind(kind)?,
        constant: constant || literal,
        literal,
        optional,
        repeated,
    })
}

/// The text behind a word, and whether it begins with the word.
fn without_word<'t>(text: &'t str, word: &str) -> (&'t str, bool) {
    text.strip_prefix(word)
        .map_or((text, false), |rest| (rest.trim(), true))
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
        "type" => ParameterKind::TypeLiteral,
        "array" | "bag" => ParameterKind::Exact(ScalarType::Dynamic),
        // Any type that a set or a hash table can hold.
        "hashable" => ParameterKind::OneOf(Kinds::where_true(|kind| kind != ScalarType::Dynamic)),
        several if several.contains('|') => {
            let mut kinds = several.split('|').map(|word| Kinds::parse(word.trim()));
            let union = kinds.try_fold(0, |bits, kinds| Some(bits | kinds?.0))?;
            ParameterKind::OneOf(Kinds(union))
        }
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
