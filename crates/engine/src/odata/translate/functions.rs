//! The functions of OData in KQL (4.01 part 2 §5.1.1.5–§5.1.1.10).

use hindsight_kql_syntax::ast::{BinaryOp, Expr, Literal};
use hindsight_kql_types::ticks::{TICKS_PER_DAY, TICKS_PER_MINUTE, TICKS_PER_SECOND};

use super::convert::{of_kind, text};
use super::{Kind, Operand, Translator};
use crate::odata::Fault;
use crate::odata::ast::Node;

/// The functions with how many arguments they take.
const FUNCTIONS: &[(&str, usize, usize)] = &[
    ("contains", 2, 2),
    ("startswith", 2, 2),
    ("endswith", 2, 2),
    ("length", 1, 1),
    ("indexof", 2, 2),
    ("substring", 2, 3),
    ("tolower", 1, 1),
    ("toupper", 1, 1),
    ("trim", 1, 1),
    ("concat", 2, 2),
    ("year", 1, 1),
    ("month", 1, 1),
    ("day", 1, 1),
    ("hour", 1, 1),
    ("minute", 1, 1),
    ("second", 1, 1),
    ("fractionalseconds", 1, 1),
    ("date", 1, 1),
    ("time", 1, 1),
    ("totalseconds", 1, 1),
    ("now", 0, 0),
    ("round", 1, 1),
    ("floor", 1, 1),
    ("ceiling", 1, 1),
];

/// The KQL of a call.
pub(super) fn call_of(
    t: &Translator<'_>,
    name: &str,
    arguments: &[Node],
    at: usize,
) -> Result<Operand, Fault> {
    let Some((_, least, most)) = FUNCTIONS.iter().find(|(known, _, _)| *known == name) else {
        return Err(Fault::new(at, unknown(name)));
    };
    if !(*least..=*most).contains(&arguments.len()) {
        let expected = if least == most {
            least.to_string()
        } else {
            format!("{least} or {most}")
        };
        return Err(Fault::new(
            at,
            format!(
                "'{name}' takes {expected} argument(s), and {} are written.",
                arguments.len()
            ),
        ));
    }
    let operands = arguments
        .iter()
        .map(|argument| t.value(argument))
        .collect::<Result<Vec<_>, _>>()?;
    let (expr, kind, nullable) = match name {
        "contains" | "startswith" | "endswith" | "concat" | "indexof" => {
            of_two_texts(name, operands)?
        }
        "length" | "tolower" | "toupper" | "trim" => of_text(name, operands)?,
        "substring" => substring(operands)?,
        "now" => (Expr::call("now", Vec::new()), Kind::Moment, false),
        "round" | "floor" | "ceiling" => of_number(name, operands)?,
        "totalseconds" => total_seconds(operands)?,
        _ => of_moment(name, operands)?,
    };
    Ok(Operand {
        expr,
        kind,
        nullable,
        at,
    })
}

/// A result with its kind and whether it may be null.
type Value = (Expr, Kind, bool);

fn unknown(name: &str) -> String {
    let names = || {
        FUNCTIONS
            .iter()
            .map(|(known, _, _)| *known)
            .collect::<Vec<_>>()
            .join(", ")
    };
    match name {
        "cast" | "isof" => format!("'{name}' is not supported: properties have one type."),
        _ => format!(
            "'{name}' is not a function that is supported. The functions are {}.",
            names()
        ),
    }
}

/// The only operand; `call_of` has counted them.
fn first(operands: Vec<Operand>) -> Result<Operand, Fault> {
    operands
        .into_iter()
        .next()
        .ok_or_else(|| Fault::new(0, "An argument is missing."))
}

/// Text is compared with its case, as OData says.
fn of_two_texts(name: &str, operands: Vec<Operand>) -> Result<Value, Fault> {
    let mut texts = operands
        .into_iter()
        .map(|operand| text(operand, name))
        .collect::<Result<Vec<_>, _>>()?;
    let op = match name {
        "contains" => BinaryOp::ContainsCs,
        "startswith" => BinaryOp::StartsWithCs,
        "endswith" => BinaryOp::EndsWithCs,
        "indexof" => return Ok((Expr::call("indexof", texts), Kind::Number, false)),
        _ => return Ok((Expr::call("strcat", texts), Kind::Text, false)),
    };
    match (texts.pop(), texts.pop()) {
        (Some(right), Some(left)) => Ok((Expr::binary(op, left, right), Kind::Bool, false)),
        _ => Err(Fault::new(0, "An argument is missing.")),
    }
}

fn of_text(name: &str, operands: Vec<Operand>) -> Result<Value, Fault> {
    let argument = text(first(operands)?, name)?;
    Ok(match name {
        "length" => (Expr::call("strlen", vec![argument]), Kind::Number, false),
        "trim" => (
            Expr::call("trim", vec![Expr::string("\\s+"), argument]),
            Kind::Text,
            false,
        ),
        _ => (Expr::call(name, vec![argument]), Kind::Text, false),
    })
}

fn substring(operands: Vec<Operand>) -> Result<Value, Fault> {
    let mut arguments = Vec::new();
    for (index, operand) in operands.into_iter().enumerate() {
        arguments.push(if index == 0 {
            text(operand, "substring")?
        } else {
            whole(operand)?
        });
    }
    Ok((Expr::call("substring", arguments), Kind::Text, false))
}

/// Places in text are whole numbers.
fn whole(operand: Operand) -> Result<Expr, Fault> {
    let is_long = matches!(
        &operand.expr.kind,
        hindsight_kql_syntax::ast::ExprKind::Literal(Literal::Long(_))
    );
    let number = of_kind(operand, Kind::Number, "substring")?;
    Ok(if is_long {
        number.expr
    } else {
        Expr::call("tolong", vec![number.expr])
    })
}

fn of_number(name: &str, operands: Vec<Operand>) -> Result<Value, Fault> {
    let Operand { expr, nullable, .. } = of_kind(first(operands)?, Kind::Number, name)?;
    let expr = match name {
        "floor" => Expr::call("floor", vec![expr, Expr::long(1)]),
        _ => Expr::call(name, vec![Expr::call("todouble", vec![expr])]),
    };
    Ok((expr, Kind::Number, nullable))
}

fn total_seconds(operands: Vec<Operand>) -> Result<Value, Fault> {
    let Operand { expr, nullable, .. } = of_kind(first(operands)?, Kind::Span, "totalseconds")?;
    Ok((
        Expr::binary(BinaryOp::Divide, expr, span(TICKS_PER_SECOND)),
        Kind::Number,
        nullable,
    ))
}

fn of_moment(name: &str, operands: Vec<Operand>) -> Result<Value, Fault> {
    let Operand { expr, nullable, .. } = of_kind(first(operands)?, Kind::Moment, name)?;
    Ok(match name {
        "second" => (
            Expr::call(
                "tolong",
                vec![Expr::binary(
                    BinaryOp::Divide,
                    since(expr, TICKS_PER_MINUTE),
                    span(TICKS_PER_SECOND),
                )],
            ),
            Kind::Number,
            nullable,
        ),
        "fractionalseconds" => (
            Expr::binary(
                BinaryOp::Divide,
                since(expr, TICKS_PER_SECOND),
                span(TICKS_PER_SECOND),
            ),
            Kind::Number,
            nullable,
        ),
        "date" => (Expr::call("startofday", vec![expr]), Kind::Moment, nullable),
        "time" => (since(expr, TICKS_PER_DAY), Kind::Span, nullable),
        part => (
            Expr::call("datetime_part", vec![Expr::string(part), expr]),
            Kind::Number,
            nullable,
        ),
    })
}

/// The time since the last multiple of `ticks`. The moment stands here once: nested calls would double it at each level.
fn since(moment: Expr, ticks: i64) -> Expr {
    Expr::binary(BinaryOp::Modulo, moment, span(ticks))
}

fn span(ticks: i64) -> Expr {
    Expr::literal(Literal::TimeSpan(ticks))
}
