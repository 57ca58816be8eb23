//! `diffpatterns`: patterns that tell two sets of rows apart (`docs/semantics.md §24`).

use hindsight_kql_syntax::ast::Call;
use hindsight_kql_syntax::{Code, Span};

use super::args::Args;
use super::patterns::{Mining, Rule, positive, share, weight, wildcards};
use super::windows::column;
use crate::context::BindContext;
use crate::error::BindResult;
use crate::relation::Relation;

/// `diffpatterns(split, a, b [, weight] [, threshold] [, dimensions] [, wildcard…])`
pub(crate) fn bind(
    call: &Call,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let mut args = Args::new(call);
    let split = column(args.required("SplitColumn", binder, span)?, &input, binder)?;
    let first = binder.constant_string(args.required("SplitValueA", binder, span)?)?;
    let second = binder.constant_string(args.required("SplitValueB", binder, span)?)?;
    let weight = weight(&mut args, &input, binder)?;
    let threshold = share(&mut args, 0.015, 0.05, binder)?;
    let dimensions = positive(&mut args, usize::MAX, binder)?;
    let wildcards = wildcards(&mut args, binder)?;
    args.end(binder, span)?;
    if first == second {
        let message = "the two sets must have different values of the split column";
        return Err(binder.error(Code::Semantics, message, span));
    }
    let mining = Mining {
        rule: Rule::Difference {
            threshold,
            dimensions,
        },
        weight,
        split: Some((split, [first, second])),
        wildcards,
    };
    mining.run(input, binder, span)
}
