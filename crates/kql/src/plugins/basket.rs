//! `basket`: all frequent patterns of the rows (`docs/semantics.md §24`).

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::Call;

use super::args::Args;
use super::patterns::{Mining, Rule, positive, share, weight, wildcards};
use crate::context::BindContext;
use crate::error::BindResult;
use crate::relation::Relation;

/// `basket([threshold] [, weight] [, dimensions] [, wildcard…])`
pub(crate) fn bind(
    call: &Call,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let mut args = Args::new(call);
    let threshold = share(&mut args, 0.015, 0.05, binder)?;
    let weight = weight(&mut args, &input, binder)?;
    let dimensions = positive(&mut args, 5, binder)?;
    let wildcards = wildcards(&mut args, binder)?;
    args.end(binder, span)?;
    let mining = Mining {
        rule: Rule::Basket {
            threshold,
            dimensions,
        },
        weight,
        split: None,
        wildcards,
    };
    mining.run(input, binder, span)
}
