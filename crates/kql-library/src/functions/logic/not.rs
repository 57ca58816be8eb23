//! `not`.

use arrow::datatypes::DataType;
use datafusion::logical_expr::{cast, lit};
use hindsight_kql_syntax::Code;

use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = ScalarFunction {
    signatures: &[
        "not(expression: bool) -> bool",
        "not(expression: long) -> bool",
    ],
    aliases: &[],
    summary: "The negation of a bool; null stays null.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[
        example("print b = not(1 > 2)", "b:bool\ntrue"),
        example("print b = not(1)", "b:bool\nfalse"),
        example("print b = not(bool(null))", "b:bool\nnull"),
    ],
    eval: Eval::Rewrite(|call| match call.args {
        [value] if value.kind.is_integer() => {
            Ok(cast(value.expr.clone(), DataType::Int64).eq(lit(0i64)))
        }
        [value] => Ok(Expr::Not(Box::new(value.expr.clone()))),
        _ => Err(refuse(
            call,
            Code::ArgumentCount,
            "not(): function expects 1 argument(s)",
        )),
    }),
};
