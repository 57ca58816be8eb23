//! `autocluster`: a few patterns that many rows have in common (`docs/semantics.md §24`).

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::Call;

use super::args::Args;
use super::patterns::{Mining, Rule, positive, share, weight, wildcards};
use crate::context::BindContext;
use crate::error::BindResult;
use crate::relation::Relation;

/// `autocluster([size weight] [, weight] [, seeds] [, wildcard…])`
pub(crate) fn bind(
    call: &Call,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let mut args = Args::new(call);
    let size = share(&mut args, 0.0, 0.5, binder)?;
    let weight = weight(&mut args, &input, binder)?;
    let seeds = positive(&mut args, 25, binder)?;
    let wildcards = wildcards(&mut args, binder)?;
    args.end(binder, span)?;
    let mining = Mining {
        rule: Rule::AutoCluster { size, seeds },
        weight,
        split: None,
        wildcards,
    };
    mining.run(input, binder, span)
}
