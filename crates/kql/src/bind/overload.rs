//! Overload resolution: the signature that a call matches, and the conversion of the arguments to it (`docs/semantics.md §28.4`).

use hindsight_kql_syntax::{Code, Diagnostic, Span};
use hindsight_kql_types::{ScalarType, Value};

use super::binder::Binder;
use crate::context::argument_count;
use crate::convert::{convert, widest};
use crate::error::BindResult;
use crate::functions::registry;
use crate::relation::Scalar;
use crate::signature::{ParameterKind, ResultKind, Signature};

/// Other names of functions that the engine replaces by the main name before it counts the arguments
/// (`docs/semantics.md §10.2`). The messages of other aliases have the alias.
const COUNTED_AS_MAIN_NAME: &[&str] = &["floor"];

/// The arguments of a call, converted for the resolved overload.
pub(crate) struct Resolved {
    /// The converted arguments.
    pub(crate) args: Vec<Scalar>,
    /// The result's type.
    pub(crate) result: ScalarType,
}

/// Why an overload does not accept the arguments. Indexes are 0-based positions of arguments.
enum Mismatch {
    /// The argument has another type than the parameter.
    Type {
        index: usize,
        actual: ScalarType,
        expected: ParameterKind,
    },
    /// The parameter takes a constant and the argument is none.
    NotConstant { index: usize },
    /// The parameter takes a literal and the argument is no constant.
    NotLiteral {
        index: usize,
        expected: ParameterKind,
    },
    /// The `common` arguments have no common type: the one of those before, and the one that does not fit.
    NoCommonType(ScalarType, ScalarType),
}

impl Binder<'_> {
    /// Returns the first overload that accepts the arguments, with the arguments converted.
    pub(crate) fn resolve_overload(
        &self,
        name: &str,
        signatures: &[Signature],
        args: Vec<Scalar>,
        span: Span,
    ) -> BindResult<Resolved> {
        let fits_count = |s: &&Signature| {
            args.len() >= s.min_arguments() && s.max_arguments().is_none_or(|max| args.len() <= max)
        };
        let by_count: Vec<&Signature> = signatures.iter().filter(fits_count).collect();
        // An overload with the exact types takes precedence over one that widens an argument: a decimal is not converted to a
        // real if both overloads exist.
        let exact = |s: &&Signature| {
            let mut kinds = args.iter().enumerate();
            kinds.all(|(i, arg)| {
                let parameter = s.parameter(i).map(|p| p.kind);
                parameter == Some(ParameterKind::Exact(arg.kind))
            })
        };
        let (first, rest): (Vec<_>, Vec<_>) = by_count.into_iter().partition(exact);
        let mut mismatches = Vec::new();
        for signature in first.into_iter().chain(rest) {
            match try_overload(signature, &args) {
                Ok(resolved) => return Ok(resolved),
                Err(mismatch) => mismatches.push(mismatch),
            }
        }
        Err(self.no_overload(name, signatures, &mismatches, span))
    }

    /// The diagnostic of a call that matches no overload. The first overload determines the code. A message about types
    /// names the argument up to which an overload matches, and all types that the overloads take there.
    fn no_overload(
        &self,
        name: &str,
        signatures: &[Signature],
        mismatches: &[Mismatch],
        span: Span,
    ) -> Diagnostic {
        match mismatches.first() {
            None => self.wrong_count(name, signatures, span),
            Some(Mismatch::NotConstant { index }) => {
                let position = index + 1;
                let message =
                    format!("{name}(): failed to cast argument {position} to scalar constant");
                self.error(Code::NotConstant, message, span)
            }
            Some(Mismatch::NotLiteral { index, expected }) => {
                let (position, kind) = (index + 1, accepted(&[*expected]));
                let message = format!("{name}(): argument {position} must be a {kind} literal");
                self.error(Code::NotStringLiteral, message, span)
            }
            Some(Mismatch::NoCommonType(one, other)) => {
                let message =
                    format!("{name}(): the arguments have no common type ({one} and {other})");
                self.error(Code::NoCommonType, message, span)
            }
            Some(Mismatch::Type { expected, .. }) => {
                let message = wrong_type(name, mismatches);
                self.error(code_of(name, *expected), message, span)
            }
        }
    }

    /// The diagnostic of a wrong number of arguments.
    fn wrong_count(&self, name: &str, signatures: &[Signature], span: Span) -> Diagnostic {
        let name = match registry().find(name) {
            Some((function, _)) if COUNTED_AS_MAIN_NAME.contains(&name) => function.name(),
            _ => name,
        };
        let min = signatures
            .iter()
            .map(Signature::min_arguments)
            .min()
            .unwrap_or(0);
        let max = signatures
            .iter()
            .map(Signature::max_arguments)
            .try_fold(0, |most, max| max.map(|max| most.max(max)));
        argument_count(&self.frame, name, min, max, span)
    }
}

fn try_overload(signature: &Signature, args: &[Scalar]) -> Result<Resolved, Mismatch> {
    let kinds: Vec<ParameterKind> = (0..args.len())
        .map(|i| {
            signature
                .parameter(i)
                .map_or(ParameterKind::Any, |p| p.kind)
        })
        .collect();
    let common = common_kind(&kinds, args)?;
    let text = ParameterKind::Exact(ScalarType::String);
    let mut converted = Vec::with_capacity(args.len());
    for (index, (arg, kind)) in args.iter().zip(&kinds).enumerate() {
        let constant = signature.parameter(index).is_some_and(|p| p.constant);
        if constant && arg.constant.is_none() {
            let literal = signature.parameter(index).is_some_and(|p| p.literal);
            return Err(if literal {
                let expected = *kind;
                Mismatch::NotLiteral { index, expected }
            } else {
                Mismatch::NotConstant { index }
            });
        }
        // A constant is of the parameter's own type.
        let is_text = constant && arg.kind == ScalarType::Dynamic && *kind == text;
        let Some(target) = target_kind(*kind, arg, common).filter(|_| !is_text) else {
            return Err(Mismatch::Type {
                index,
                actual: arg.kind,
                expected: *kind,
            });
        };
        converted.push(convert(arg.clone(), target));
    }
    let result = match signature.result {
        ResultKind::Exact(kind) => kind,
        ResultKind::Argument(index) => converted.get(index).map_or(ScalarType::Dynamic, |a| a.kind),
        ResultKind::Common => match common {
            Some(kind) => kind,
            None => converted
                .iter()
                .map(|a| a.kind)
                .filter(|k| k.is_number())
                .reduce(|a, b| widest(a, b).unwrap_or(a))
                .or_else(|| converted.first().map(|a| a.kind))
                .unwrap_or(ScalarType::Dynamic),
        },
    };
    Ok(Resolved {
        args: converted,
        result,
    })
}

/// The common type of all `common` arguments.
fn common_kind(kinds: &[ParameterKind], args: &[Scalar]) -> Result<Option<ScalarType>, Mismatch> {
    let mut common = None;
    for (arg, _) in args
        .iter()
        .zip(kinds)
        .filter(|(_, k)| **k == ParameterKind::Common)
    {
        common = match common {
            None => Some(arg.kind),
            Some(kind) if kind == arg.kind => Some(kind),
            Some(kind) => match widest(kind, arg.kind) {
                Some(kind) => Some(kind),
                None => return Err(Mismatch::NoCommonType(kind, arg.kind)),
            },
        };
    }
    Ok(common)
}

/// The code of an argument that does not have the expected type. The engine numbers that of `format_datetime` separately
/// (`docs/semantics.md §10.7`).
fn code_of(function: &str, expected: ParameterKind) -> Code {
    match expected {
        ParameterKind::Exact(ScalarType::DateTime) if function == "format_datetime" => {
            Code::FormatValue
        }
        ParameterKind::Number | ParameterKind::Exact(ScalarType::Real) => Code::OperandType,
        ParameterKind::OneOf(kinds) if kinds.contains(ScalarType::Real) => Code::OperandType,
        _ => Code::ArgumentType,
    }
}

/// `abs(): argument 1 is string and must be a number, bool or timespan`
fn wrong_type(name: &str, mismatches: &[Mismatch]) -> String {
    let types = || {
        mismatches.iter().filter_map(|mismatch| match mismatch {
            Mismatch::Type {
                index,
                actual,
                expected,
            } => Some((*index, *actual, *expected)),
            _ => None,
        })
    };
    let Some((furthest, actual, _)) = types().max_by_key(|(index, ..)| *index) else {
        return format!("{name}(): an argument has a wrong type");
    };
    let expected: Vec<ParameterKind> = types()
        .filter(|(index, ..)| *index == furthest)
        .map(|(_, _, expected)| expected)
        .collect();
    let accepted = accepted(&expected);
    let position = furthest + 1;
    format!("{name}(): argument {position} is {actual} and must be {accepted}")
}

/// The types that any of the parameters takes, as a phrase: `a number, bool or timespan`. Numbers come first, and `a number` includes
/// integers and decimals.
fn accepted(parameters: &[ParameterKind]) -> String {
    let mut phrases: Vec<String> = Vec::new();
    for phrase in parameters
        .iter()
        .flat_map(|parameter| phrases_of(*parameter))
    {
        if !phrases.contains(&phrase) {
            phrases.push(phrase);
        }
    }
    if phrases.iter().any(|phrase| phrase == NUMBER) {
        phrases.retain(|phrase| phrase != INTEGER && phrase != ScalarType::Decimal.name());
    }
    phrases.sort_by_key(|phrase| phrase != NUMBER && phrase != INTEGER);
    match phrases.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

const NUMBER: &str = "a number";
const INTEGER: &str = "an integer";

fn phrases_of(parameter: ParameterKind) -> Vec<String> {
    let one = |phrase: &str| vec![phrase.to_owned()];
    match parameter {
        ParameterKind::Number | ParameterKind::Exact(ScalarType::Real) => one(NUMBER),
        ParameterKind::Integer | ParameterKind::Exact(ScalarType::Long) => one(INTEGER),
        ParameterKind::Time => [ScalarType::DateTime, ScalarType::TimeSpan]
            .map(|kind| kind.to_string())
            .to_vec(),
        ParameterKind::Orderable => one("of a type that has an order"),
        ParameterKind::Exact(kind) => vec![kind.to_string()],
        ParameterKind::OneOf(kinds) => kinds.words(),
        ParameterKind::TypeLiteral => one("a type literal such as typeof(long)"),
        ParameterKind::Any | ParameterKind::Text | ParameterKind::Common => one("of another type"),
    }
}

/// The type that an argument is converted to for a parameter; `None` if it does not match.
fn target_kind(
    parameter: ParameterKind,
    arg: &Scalar,
    common: Option<ScalarType>,
) -> Option<ScalarType> {
    let kind = arg.kind;
    match parameter {
        ParameterKind::Any => Some(kind),
        ParameterKind::OneOf(kinds) => kinds.contains(kind).then_some(kind),
        // Kernels convert arguments to text themselves, because the conversion depends on the argument's type.
        ParameterKind::Text => Some(ScalarType::String),
        ParameterKind::Common => common,
        ParameterKind::TypeLiteral => None,
        ParameterKind::Number => kind.is_number().then_some(kind),
        ParameterKind::Integer => kind.is_integer().then_some(kind),
        ParameterKind::Time => {
            matches!(kind, ScalarType::DateTime | ScalarType::TimeSpan).then_some(kind)
        }
        ParameterKind::Orderable => {
            (!matches!(kind, ScalarType::Dynamic | ScalarType::Guid)).then_some(kind)
        }
        ParameterKind::Exact(to) if to == kind => Some(to),
        ParameterKind::Exact(to) => {
            let widens = matches!(
                (kind, to),
                (ScalarType::Int, ScalarType::Long)
                    | (
                        ScalarType::Int | ScalarType::Long | ScalarType::Decimal,
                        ScalarType::Real
                    )
                    | (ScalarType::Int | ScalarType::Long, ScalarType::Decimal)
                    | (ScalarType::Dynamic, ScalarType::String)
            );
            // A bare `dynamic(null)` and a narrowing of a constant int match if the value does.
            let narrows = matches!((&arg.constant, to), (Some(Value::Long(v)), ScalarType::Int) if i32::try_from(*v).is_ok());
            (widens || narrows).then_some(to)
        }
    }
}
