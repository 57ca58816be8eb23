//! `ipv4_lookup` and `ipv6_lookup`: the rows of a table whose network holds a row's address.

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::Call;

use super::args::Args;
use super::rewrite::{name, rewrite};
use crate::bind::{BindResult, Binder, Entry};
use crate::plan;
use crate::relation::Relation;

/// Which addresses.
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
    binder: &mut Binder<'_>,
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
    let lookup = binder.bind_tabular(lookup)?.finish(span)?;
    let network = plan::column_named(network, &lookup, binder)?.name.clone();
    let own: Vec<String> = input.columns.iter().map(|c| name(&c.name)).collect();
    let found: Vec<String> = lookup.columns.iter().map(|c| name(&c.name)).collect();
    if own.iter().any(|c| found.contains(c)) {
        let message = "the lookup table and the source have columns of one name";
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
    let input = rewrite("serialize ['$row'] = row_number()", input, binder, span)?;
    let input = binder.materialize(input, span)?;
    let env = binder.env.clone();
    binder.env = env
        .with("$lookup", Entry::Relation(lookup))
        .with("$source", Entry::Relation(input.clone()));
    let operators = format!(
        "extend ['$one'] = 1 | join kind=inner (['$lookup'] | extend ['$one'] = 1) on ['$one'] \
         | where {test}({}, {})",
        name(&address),
        name(&network)
    );
    let result = rewrite(&operators, input, binder, span).and_then(|matched| {
        let matched = match unmatched {
            false => matched,
            true => {
                let matched = binder.materialize(matched, span)?;
                binder.env = binder
                    .env
                    .with("$matched", Entry::Relation(matched.clone()));
                let rest = "union (['$source'] | join kind=leftanti (['$matched']) on ['$row'])";
                rewrite(rest, matched, binder, span)?
            }
        };
        let last = format!("project {}", order.join(", "));
        rewrite(&last, matched, binder, span)
    });
    binder.env = env;
    result
}
