//! Prepares the arguments of each window function.

use std::vec::IntoIter;

use hindsight_kql_syntax::{Code, Diagnostic, Span};
use hindsight_kql_types::{ScalarType, Value};

use super::call::WindowCall;
use super::rows::WindowFunction;
use crate::context::BindContext;
use crate::convert::convert;
use crate::error::BindResult;
use crate::real_key::as_key;
use crate::relation::Scalar;

/// Prepares a call of the window function `name`.
pub(super) fn prepare(
    name: &str,
    args: Vec<Scalar>,
    binder: &dyn BindContext,
    span: Span,
) -> BindResult<WindowCall> {
    let args = Arguments {
        name,
        count: args.len(),
        rest: args.into_iter(),
        binder,
        span,
    };
    match name {
        "row_number" => row_number(args),
        "prev" | "next" => neighbour(args),
        "row_cumsum" => cumulative_sum(args),
        // `row_rank` is the older name of the dense one.
        "row_rank" | "row_rank_dense" => rank(args, true),
        "row_rank_min" => rank(args, false),
        "row_window_session" => session(args),
        other => Err(binder.unsupported(format_args!("the function '{other}'"), span)),
    }
}

/// The arguments of a call that are not read yet.
struct Arguments<'a> {
    name: &'a str,
    count: usize,
    rest: IntoIter<Scalar>,
    binder: &'a dyn BindContext,
    span: Span,
}

impl Arguments<'_> {
    fn error(&self, code: Code, message: impl AsRef<str>) -> Diagnostic {
        self.binder.error(code, message, self.span)
    }

    /// Refuses a call with a different number of arguments.
    fn expect(&self, min: usize, max: usize) -> BindResult<()> {
        if (min..=max).contains(&self.count) {
            Ok(())
        } else {
            let name = self.name;
            let message = format!("{name}(): function expects [{min}..{max}] argument(s).");
            Err(self.error(Code::ArgumentCount, message))
        }
    }

    fn next(&mut self) -> Option<Scalar> {
        self.rest.next()
    }

    /// A constant integer; `default` if it is omitted.
    fn long(&self, scalar: Option<&Scalar>, default: i64) -> BindResult<i64> {
        match scalar.map(|scalar| &scalar.constant) {
            None => Ok(default),
            Some(Some(Value::Long(v))) => Ok(*v),
            Some(Some(Value::Int(v))) => Ok(i64::from(*v)),
            Some(_) => Err(self.error(
                Code::NotConstant,
                format!("{}(): the argument must be a constant integer", self.name),
            )),
        }
    }

    /// A constant timespan, in ticks.
    fn ticks(&self, scalar: &Scalar) -> BindResult<i64> {
        match &scalar.constant {
            Some(Value::TimeSpan(v)) => Ok(*v),
            _ => Err(self.error(
                Code::NotConstant,
                format!("{}(): the argument must be a constant timespan", self.name),
            )),
        }
    }

    /// The condition that restarts the function.
    fn restart(&self, scalar: Option<Scalar>) -> BindResult<Option<Scalar>> {
        match scalar {
            None => Ok(None),
            Some(scalar) if scalar.kind == ScalarType::Bool => Ok(Some(scalar)),
            Some(_) => {
                let message = format!("{}(): restart must be a bool", self.name);
                Err(self.error(Code::Semantics, message))
            }
        }
    }

    fn call(
        &self,
        function: WindowFunction,
        args: [Option<Scalar>; 2],
        kind: ScalarType,
    ) -> WindowCall {
        WindowCall {
            function,
            args: args.into_iter().flatten().collect(),
            kind,
            span: self.span,
        }
    }
}

/// `row_number([start, [restart]])`
fn row_number(mut args: Arguments<'_>) -> BindResult<WindowCall> {
    args.expect(0, 2)?;
    let (start, restart) = (args.next(), args.next());
    let start = args.long(start.as_ref(), 1)?;
    let restart = args.restart(restart)?;
    let function = WindowFunction::RowNumber { start };
    Ok(args.call(function, [restart, None], ScalarType::Long))
}

/// `prev(value, [distance, [default]])`, `next(…)`
fn neighbour(mut args: Arguments<'_>) -> BindResult<WindowCall> {
    args.expect(1, 3)?;
    let name = args.name;
    let Some(value) = args.next() else {
        return Err(args.error(
            Code::ArgumentCount,
            format!("{name}(): function expects at least 1 argument(s)."),
        ));
    };
    let (distance, default) = (args.next(), args.next());
    let distance = args.long(distance.as_ref(), 1)?;
    let distance = usize::try_from(distance).ok().filter(|d| *d > 0);
    let distance = distance.ok_or_else(|| {
        let message = format!("{name}(): the distance must be 1 or more");
        args.error(Code::Semantics, message)
    })?;
    let kind = value.kind;
    let default = match default {
        None => Value::null(kind),
        Some(scalar) => convert(scalar, kind).constant.ok_or_else(|| {
            let message = format!("{name}(): the default must be a constant");
            args.error(Code::NotConstant, message)
        })?,
    };
    let function = match name {
        "prev" => WindowFunction::Prev { distance, default },
        _ => WindowFunction::Next { distance, default },
    };
    Ok(args.call(function, [Some(value), None], kind))
}

/// `row_cumsum(value, [restart])`
fn cumulative_sum(mut args: Arguments<'_>) -> BindResult<WindowCall> {
    args.expect(1, 2)?;
    let value = args.next();
    let kind = value.as_ref().map_or(ScalarType::Long, |v| v.kind);
    if !matches!(
        kind,
        ScalarType::Int
            | ScalarType::Long
            | ScalarType::Real
            | ScalarType::Decimal
            | ScalarType::TimeSpan
    ) {
        return Err(args.error(Code::Semantics, format!("row_cumsum() cannot add {kind}")));
    }
    let restart = args.next();
    let restart = args.restart(restart)?;
    Ok(args.call(WindowFunction::CumulativeSum, [value, restart], kind))
}

/// `row_rank_dense(value, [restart])`, `row_rank_min(…)`
fn rank(mut args: Arguments<'_>, dense: bool) -> BindResult<WindowCall> {
    args.expect(1, 2)?;
    let ranked = args.next().map(|v| Scalar {
        expr: as_key(v.expr, v.kind),
        ..v
    });
    let restart = args.next();
    let restart = args.restart(restart)?;
    let function = WindowFunction::Rank { dense };
    Ok(args.call(function, [ranked, restart], ScalarType::Long))
}

/// `row_window_session(time, longest, between, [restart])`
fn session(mut args: Arguments<'_>) -> BindResult<WindowCall> {
    let time = args.next().filter(|v| v.kind == ScalarType::DateTime);
    let (Some(time), Some(from_first), Some(between)) = (time, args.next(), args.next()) else {
        let message = "row_window_session(): the arguments must be a datetime and two timespans";
        return Err(args.error(Code::ArgumentCount, message));
    };
    let function = WindowFunction::Session {
        from_first: args.ticks(&from_first)?,
        between: args.ticks(&between)?,
    };
    let restart = args.next();
    let restart = args.restart(restart)?;
    Ok(args.call(function, [Some(time), restart], ScalarType::DateTime))
}
