//! `ipv4_lookup` and `ipv6_lookup`: joins rows with a table of networks that contain the row's address.

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::{Call, Expr, Operator};

use super::args::Args;
use super::tree::{bare, name, named, run, run_with};
use crate::context::BindContext;
use crate::error::BindResult;
use crate::plan;
use crate::relation::Relation;

/// The address family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    /// `ipv4_lookup`: the source's columns come first.
    V4,
    /// `ipv6_lookup`: the lookup table's columns come first.
    V6,
}

pub(crate) fn bind(
    family: Family,
    call: &Call,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    plan::refuse_groups(&input, binder, span)?;
    let mut args = Args::new(call);
    let lookup = args.required("LookupTable", binder, span)?;
    let address = args.required("SourceKey", binder, span)?;
    let network = args.required("LookupKey", binder, span)?;
    let unmatched = match args.option("return_unmatched") {
        Some(expr) => binder.constant_bool(expr)?,
        None => false,
    };
    args.end(binder, span)?;
    let address = plan::column_named(address, &input, binder)?.name.clone();
    let lookup = binder.bind_tabular(lookup)?.relation.finish(span)?;
    let network = plan::column_named(network, &lookup, binder)?.name.clone();
    let own: Vec<String> = input.columns.iter().map(|c| c.name.clone()).collect();
    let found: Vec<String> = lookup.columns.iter().map(|c| c.name.clone()).collect();
    if own.iter().any(|c| found.contains(c)) {
        let message = "the lookup table and the source have columns with the same name";
        return Err(binder.unsupported(message, span));
    }
    let test = match family {
        Family::V4 => "ipv4_is_in_range",
        Family::V6 => "ipv6_is_in_range",
    };
    let order = match family {
        Family::V4 => [own, found].concat(),
        Family::V6 => [found, own].concat(),
    };
    let number = named("$row", Expr::call("row_number", []));
    let numbered = vec![Operator::serialize(vec![number])];
    let input = run(numbered, input, binder, span)?;
    let input = binder.materialize(input, span)?;
    let one = || Operator::extend(vec![named("$one", Expr::long(1))]);
    let all = Expr::pipeline(name("$lookup"), vec![one()]);
    let operators = vec![
        one(),
        Operator::join("inner", all, vec![name("$one")]),
        Operator::filter(Expr::call(test, [name(&address), name(&network)])),
    ];
    let tables = vec![("$lookup", lookup), ("$source", input.clone())];
    let mut matched = run_with(operators, input.clone(), tables, binder, span)?;
    if unmatched {
        matched = binder.materialize(matched, span)?;
        let tables = vec![("$source", input), ("$matched", matched.clone())];
        let unknown = Operator::join("leftanti", name("$matched"), vec![name("$row")]);
        let rest = Expr::pipeline(name("$source"), vec![unknown]);
        let both = vec![Operator::union(vec![rest])];
        matched = run_with(both, matched, tables, binder, span)?;
    }
    let columns = bare(&order).collect();
    run(vec![Operator::project(columns)], matched, binder, span)
}
