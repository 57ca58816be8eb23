//! `dcount_intersect`: the number of values that the first sets of a row have in common (`docs/semantics.md §24`).
//!
//! The states of `hll` can be merged but not intersected, so an intersection is counted by inclusion and exclusion over
//! unions. While the sets are small enough to be exact, the answer is exact, too.

use hindsight_kql_syntax::ast::{Call, Expr, Operator};
use hindsight_kql_syntax::{Code, Span};

use super::args::Args;
use super::tree::{add, name, named, run, subtract};
use super::windows::columns;
use crate::context::BindContext;
use crate::error::BindResult;
use crate::relation::Relation;

/// The number of unions doubles with every set.
const MOST_SETS: usize = 8;

/// `dcount_intersect(hll, hll, …)`: the columns of the input, then `s0`, which counts the first set, `s1`, its intersection with
/// the second, ….
pub(crate) fn bind(
    call: &Call,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let mut args = Args::new(call);
    let sets = columns(args.rest(), &input, binder)?;
    args.end(binder, span)?;
    if !(2..=MOST_SETS).contains(&sets.len()) {
        let message = format!("dcount_intersect() takes 2 to {MOST_SETS} columns");
        return Err(binder.error(Code::ArgumentCount, message, span));
    }
    let count = |last: usize| {
        let sets = sets.get(..=last).unwrap_or_default();
        named(&format!("s{last}"), shared(sets))
    };
    let counts = (0..sets.len()).map(count).collect();
    run(vec![Operator::extend(counts)], input, binder, span)
}

/// The expression that counts the intersection of all `sets`.
fn shared(sets: &[String]) -> Expr {
    let counts = (1_u32..1 << sets.len()).map(|choice| {
        let chosen: Vec<Expr> = (0..)
            .zip(sets)
            .filter(|(bit, _)| choice >> bit & 1 == 1)
            .map(|(_, set)| name(set))
            .collect();
        let even = chosen.len().is_multiple_of(2);
        let union = match <[Expr; 1]>::try_from(chosen) {
            Ok([one]) => one,
            Err(chosen) => Expr::call("hll_merge", chosen),
        };
        (even, Expr::call("dcount_hll", [union]))
    });
    // The first combination has one set, whose count is added.
    let formula = counts.reduce(|(_, formula), (even, count)| {
        if even {
            (even, subtract(formula, count))
        } else {
            (even, add(formula, count))
        }
    });
    formula.map_or_else(|| Expr::long(0), |(_, formula)| formula)
}
