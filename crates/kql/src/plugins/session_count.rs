//! `session_count`: the number of sessions of each window of a timeline (`docs/semantics.md §24`).
//!
//! An event continues the session of its id if it comes at most the lookback after the id's previous event; otherwise it
//! begins a new session. A session counts in every window in which it has an event. So an event adds a session to its
//! window if it begins one, or if it is the first event of its id in the window.

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::{Call, Direction, Operator, OrderedExpr};

use super::args::Args;
use super::timeline::Timeline;
use super::tree::{columns_of, greater, keyed, name, named, names, of, run, subtract};
use super::windows::columns;
use crate::context::BindContext;
use crate::error::BindResult;
use crate::relation::Relation;

/// `session_count(id, axis, start, end, bin, lookback [, dimensions…])`
pub(crate) fn bind(
    call: &Call,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let mut args = Args::new(call);
    let timeline = Timeline::read(&mut args, &input, binder, span)?;
    let (width, _) = timeline.width(&mut args, "Bin", binder, span)?;
    let (lookback, _) = timeline.width(&mut args, "LookBackWindow", binder, span)?;
    let dimensions = columns(args.rest(), &input, binder)?;
    args.end(binder, span)?;
    let Timeline { id, axis, .. } = &timeline;
    let order = names(&[id], &dimensions).into_iter().chain([name(axis)]);
    let order = order.map(|key| OrderedExpr::new(key, Direction::Asc));
    let gap = subtract(name(axis), of("prev", axis));
    let begins_group = Timeline::begins_group(names(&[id, "$bin"], &dimensions));
    let adds = begins_group.or(greater(gap, lookback));
    let sessions = named("count_sessions", of("countif", "$adds"));
    let mut shown = keyed(named(axis, name("$bin")), &dimensions);
    shown.extend(columns_of(&["count_sessions"], &[]));
    let mut operators = timeline.windows(&width);
    operators.extend([
        Operator::sort(order.collect()),
        Operator::extend(vec![named("$adds", adds)]),
        Operator::summarize(vec![sessions], columns_of(&["$bin"], &dimensions)),
        Operator::project(shown),
    ]);
    run(operators, input, binder, span)
}
