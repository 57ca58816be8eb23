//! `dcount_intersect`: how many values the first sets of a row have in common (`semantics.md §24`).
//!
//! The states of `hll` can be joined but not cut, so that a cut is counted by inclusion and exclusion of unions. While
//! the sets are small enough to be exact, the answer is exact too.

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::Call;

use super::args::Args;
use super::rewrite::rewrite;
use super::windows::columns;
use crate::context::BindContext;
use crate::error::BindResult;
use crate::relation::Relation;

/// The unions double with every set.
const MOST_SETS: usize = 8;

/// `dcount_intersect(hll, hll, …)`: `s0` counts the first set, `s1` what it shares with the second, ….
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
        return Err(binder.error("SEM0219", message, span));
    }
    let counts: Vec<String> = (0..sets.len())
        .map(|last| {
            format!(
                "s{last} = {}",
                shared(sets.get(..=last).unwrap_or_default())
            )
        })
        .collect();
    rewrite(
        &format!("project {}", counts.join(", ")),
        input,
        binder,
        span,
    )
}

/// The formula of how many values all of `sets` have.
fn shared(sets: &[String]) -> String {
    let mut formula = String::new();
    for choice in 1_u32..1 << sets.len() {
        let chosen: Vec<&str> = (0..)
            .zip(sets)
            .filter(|(bit, _)| choice >> bit & 1 == 1)
            .map(|(_, set)| set.as_str())
            .collect();
        formula.push_str(match (formula.is_empty(), chosen.len() % 2) {
            (true, _) => "",
            (false, 0) => " - ",
            (false, _) => " + ",
        });
        let union = match chosen.as_slice() {
            [one] => (*one).to_owned(),
            several => format!("hll_merge({})", several.join(", ")),
        };
        formula.push_str(&format!("dcount_hll({union})"));
    }
    formula
}
