//! Plug-ins that count active ids in the windows of a timeline: `activity_counts_metrics`, `activity_metrics`,
//! `new_activity_metrics`, `activity_engagement` and `active_users_count` (`docs/semantics.md §24`).
//!
//! Windows are aligned to the start of the timeline; rows outside of the timeline are ignored. Each plug-in is a pipeline of
//! KQL operators. Distinct counts are exact.

use hindsight_kql_syntax::ast::{
    BinaryOp, Call, Direction, Expr, NamedExpr, Operator, OrderedExpr,
};
use hindsight_kql_syntax::{Code, Span};

use super::args::Args;
use super::timeline::Timeline;
use super::tree::{
    add, bare, columns_of, count, divide, equal, evaluated_once, greater, keyed, multiply, name,
    named, names, of, op, over, run, run_with, subtract,
};
use super::windows::{columns, constant, literal, numbers};
use crate::context::BindContext;
use crate::error::BindResult;
use crate::relation::Relation;

/// The maximum number of smaller windows in a window.
const MAX_WINDOWS: i64 = 10_000;

/// `activity_counts_metrics(id, axis, start, end, window [, dimensions…])`: compares each window with all earlier ones.
pub(crate) fn counts_metrics(
    call: &Call,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let mut args = Args::new(call);
    let timeline = Timeline::read(&mut args, &input, binder, span)?;
    let (width, _) = timeline.width(&mut args, "Step", binder, span)?;
    let dimensions = columns(args.rest(), &input, binder)?;
    args.end(binder, span)?;
    let Timeline { id, axis, .. } = &timeline;
    let rows = evaluated_once(timeline.windows(&width), input, binder, span)?;
    let by = || columns_of(&["$bin"], &dimensions);
    let firsts = over(
        "$rows",
        [
            Operator::summarize(
                vec![named("$bin", of("min", "$bin"))],
                columns_of(&[id], &dimensions),
            ),
            Operator::summarize(vec![named("$new", count())], by()),
        ],
    );
    let new = Expr::call("coalesce", [name("$new"), Expr::long(0)]);
    let ascending = |column| OrderedExpr::new(column, Direction::Asc);
    let order = dimensions.iter().map(|d| name(d)).chain([name("$bin")]);
    let changes = |d: &String| op(BinaryOp::NotEqual, name(d), of("prev", d));
    let restart = dimensions.iter().map(changes).reduce(Expr::or);
    let total = Expr::call(
        "row_cumsum",
        [name("new_dcount")].into_iter().chain(restart),
    );
    let mut shown = keyed(named(axis, name("$bin")), &dimensions);
    let counts = ["count", "dcount", "new_dcount", "aggregated_dcount"];
    shown.extend(columns_of(&counts, &[]));
    let operators = vec![
        Operator::summarize(
            vec![
                named("count", count()),
                named("dcount", of("count_distinct", id)),
            ],
            by(),
        ),
        Operator::join("leftouter", firsts, names(&["$bin"], &dimensions)),
        Operator::extend(vec![named("new_dcount", new)]),
        Operator::sort(order.map(ascending).collect()),
        Operator::extend(vec![named("aggregated_dcount", total)]),
        Operator::project(shown),
    ];
    run_with(operators, rows.clone(), vec![("$rows", rows)], binder, span)
}

/// `activity_metrics(id, axis, start, end, window [, dimensions…])`: compares each window with the previous one. If the
/// previous window has no ids, the retention rate is 1 and the churn rate is 0, as recorded for the first window.
pub(crate) fn metrics(
    call: &Call,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let mut args = Args::new(call);
    let timeline = Timeline::read(&mut args, &input, binder, span)?;
    let (width, _) = timeline.width(&mut args, "Window", binder, span)?;
    let dimensions = columns(args.rest(), &input, binder)?;
    args.end(binder, span)?;
    let Timeline { id, axis, .. } = &timeline;
    let ids = evaluated_once(timeline.ids(&width, &dimensions), input, binder, span)?;
    let next = || named("$bin", add(name("$bin"), width.clone()));
    let mut seen = vec![next()];
    seen.extend(columns_of(&[id], &dimensions));
    seen.push(named("$seen", Expr::bool(true)));
    let by = || columns_of(&["$bin"], &dimensions);
    let before = over(
        "$ids",
        [
            Operator::summarize(vec![named("$before", count())], by()),
            Operator::extend(vec![next()]),
        ],
    );
    let rate = divide(of("toreal", "$kept"), name("$before"));
    let known = greater(name("$before"), Expr::long(0));
    let rate = Expr::call("iff", [known, rate, Expr::real(1.0)]);
    let fresh = subtract(name("dcount_values"), name("$kept"));
    let churn = subtract(Expr::real(1.0), name("retention_rate"));
    let mut shown = vec![named(axis, name("$bin"))];
    let rates = ["dcount_values", "dcount_newvalues", "retention_rate"];
    shown.extend(columns_of(&rates, &[]));
    shown.extend(keyed(named("churn_rate", churn), &dimensions));
    let operators = vec![
        Operator::join(
            "leftouter",
            over("$ids", [Operator::project(seen)]),
            names(&["$bin", id], &dimensions),
        ),
        Operator::summarize(
            vec![
                named("dcount_values", count()),
                named("$kept", of("countif", "$seen")),
            ],
            by(),
        ),
        Operator::join("leftouter", before, names(&["$bin"], &dimensions)),
        Operator::extend(vec![
            named("dcount_newvalues", fresh),
            named("retention_rate", rate),
        ]),
        Operator::project(shown),
    ];
    run_with(operators, ids.clone(), vec![("$ids", ids)], binder, span)
}

/// `new_activity_metrics(id, axis, start, end, window [, cohort] [, dimensions…] [, lookback])`: the retention of the ids
/// that are new in a window. A window without new ids has a row, too, whose rates are NaN.
pub(crate) fn new_metrics(
    call: &Call,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let mut args = Args::new(call);
    let timeline = Timeline::read(&mut args, &input, binder, span)?;
    let (width, _) = timeline.width(&mut args, "Window", binder, span)?;
    let is_column = |expr: &Expr| expr.as_name().is_some_and(|n| input.column(n).is_some());
    let mut rest = args.rest();
    args.end(binder, span)?;
    let cohort = match rest.first() {
        Some(first) if !is_column(first) && !binder.is_tabular(first, Some(&input)) => {
            Some(literal(&constant(rest.remove(0), timeline.kind, binder)?))
        }
        _ => None,
    };
    let lookback = match rest.last() {
        Some(last) if !is_column(last) => {
            let rows = binder.bind_tabular(last)?.relation;
            rest.pop();
            Some(rows)
        }
        _ => None,
    };
    let dimensions = columns(rest, &input, binder)?;
    let id = timeline.id.as_str();
    let ids = evaluated_once(timeline.ids(&width, &dimensions), input, binder, span)?;
    let mut tables = vec![("$ids", ids.clone())];
    let first = named("$from", of("min", "$bin"));
    let mut firsts = vec![Operator::summarize(
        vec![first],
        columns_of(&[id], &dimensions),
    )];
    if let Some(lookback) = lookback {
        firsts.push(Operator::join(
            "leftanti",
            name("$lookback"),
            vec![name(id)],
        ));
        tables.push(("$lookback", lookback));
    }
    let firsts = run_with(firsts, ids, tables.clone(), binder, span)?;
    let firsts = binder.materialize(firsts, span)?;
    tables.push(("$firsts", firsts.clone()));
    // The number of ids that are new in one window and active in another.
    let mut windows = vec![named("$to", name("$bin")), named("$first", name("$from"))];
    windows.extend(bare(&dimensions));
    let found = vec![
        Operator::join("inner", name("$ids"), names(&[id], &dimensions)),
        Operator::summarize(vec![named("$found", count())], windows),
    ];
    let found = run_with(found, firsts.clone(), tables, binder, span)?;
    let found = binder.materialize(found, span)?;
    let operators = pairs_of_windows(&timeline, &width, cohort, &dimensions);
    let tables = vec![("$found", found), ("$firsts", firsts.clone())];
    run_with(operators, firsts, tables, binder, span)
}

/// A row for each window and each later window including itself, over the new ids and the active ids.
fn pairs_of_windows(
    timeline: &Timeline,
    width: &Expr,
    cohort: Option<Expr>,
    dimensions: &[String],
) -> Vec<Operator> {
    let range = |from: Expr| Expr::call("range", [from, timeline.end.clone(), width.clone()]);
    let expand = |column: &str, from: Expr| {
        Operator::mv_expand(named(column, range(from)), Some(timeline.kind))
    };
    let one = keyed(named("$one", Expr::long(1)), dimensions);
    let size = Operator::summarize(
        vec![named("$size", count())],
        columns_of(&["$from"], dimensions),
    );
    let known_size = Expr::call("coalesce", [name("$size"), Expr::long(0)]);
    let of_window = equal(name("$first"), name("$from"));
    let later = greater(name("$first"), name("$from"));
    let new = later.or(equal(name("$first"), name("$to")));
    let found = |condition| Expr::call("sumif", [name("$found"), condition]);
    let lost = || subtract(name("$size"), name("$kept"));
    let rate = |part: Expr| divide(Expr::call("toreal", [part]), name("$size"));
    let axis = &timeline.axis;
    let mut operators = vec![
        Operator::summarize(Vec::new(), one),
        expand("$from", timeline.start.clone()),
    ];
    let cohort = cohort.map(|cohort| Operator::filter(equal(name("$from"), cohort)));
    operators.extend(cohort);
    operators.extend([
        Operator::join(
            "leftouter",
            over("$firsts", [size]),
            names(&["$from"], dimensions),
        ),
        Operator::extend(vec![named("$size", known_size)]),
        expand("$to", name("$from")),
        Operator::join("leftouter", name("$found"), names(&["$to"], dimensions)),
        Operator::summarize(
            vec![named("$new", found(new)), named("$kept", found(of_window))],
            columns_of(&["$from", "$to", "$size"], dimensions),
        ),
    ]);
    let mut shown = vec![
        named(&format!("from_{axis}"), name("$from")),
        named(&format!("to_{axis}"), name("$to")),
        named("dcount_new_values", name("$new")),
        named("dcount_retained_values", name("$kept")),
        named("dcount_churn_values", lost()),
        named("retention_rate", rate(name("$kept"))),
        named("churn_rate", rate(lost())),
    ];
    shown.extend(bare(dimensions));
    operators.push(Operator::project(shown));
    operators
}

/// `activity_engagement(id, axis, start, end, inner, outer [, dimensions…])`: the number of active ids of each inner window,
/// compared with that of the outer window that ends with it.
pub(crate) fn engagement(
    call: &Call,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let mut args = Args::new(call);
    let timeline = Timeline::read(&mut args, &input, binder, span)?;
    let (inner, inner_units) = timeline.width(&mut args, "InnerActivityWindow", binder, span)?;
    let (_, outer_units) = timeline.width(&mut args, "OuterActivityWindow", binder, span)?;
    let dimensions = columns(args.rest(), &input, binder)?;
    args.end(binder, span)?;
    let last = outer_units / inner_units - 1;
    if outer_units % inner_units != 0 || !(0..MAX_WINDOWS).contains(&last) {
        let message = format!("the outer window must be 1 to {MAX_WINDOWS} times the inner one");
        return Err(binder.error(Code::Semantics, message, span));
    }
    let Timeline { id, axis, end, .. } = &timeline;
    let window = || name("$window");
    let moved = add(name("$bin"), multiply(name("$n"), inner.clone()));
    let is_own = equal(name("$n"), Expr::long(0));
    let own = Expr::call("count_distinctif", [name(id), is_own]);
    let (small, large) = ("dcount_activities_inner", "dcount_activities_outer");
    let ratio = divide(of("toreal", small), name(large));
    let mut shown = vec![named(axis, window())];
    shown.extend(columns_of(&[small, large], &[]));
    shown.extend(keyed(named("activity_ratio", ratio), &dimensions));
    let mut operators = timeline.ids(&inner, &dimensions);
    operators.extend([
        numbers(last),
        Operator::extend(vec![named("$window", moved)]),
        Operator::filter(op(BinaryOp::LessOrEqual, window(), end.clone())),
        Operator::summarize(
            vec![named(small, own), named(large, of("count_distinct", id))],
            columns_of(&["$window"], &dimensions),
        ),
        Operator::project(shown),
    ]);
    run(operators, input, binder, span)
}

/// `active_users_count(id, axis, start, end, lookback, period, count, bin [, dimensions…])`: the ids of a bin that were
/// active in at least `count` periods of the lookback before.
pub(crate) fn users_count(
    call: &Call,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let mut args = Args::new(call);
    let timeline = Timeline::read(&mut args, &input, binder, span)?;
    let (lookback, _) = timeline.width(&mut args, "LookbackWindow", binder, span)?;
    let (period, _) = timeline.width(&mut args, "Period", binder, span)?;
    let least = binder.constant_long(args.required("ActivePeriodsCount", binder, span)?)?;
    let (bin, _) = timeline.width(&mut args, "Bin", binder, span)?;
    let dimensions = columns(args.rest(), &input, binder)?;
    args.end(binder, span)?;
    let Timeline {
        id,
        axis,
        start,
        end,
        ..
    } = &timeline;
    let (at, time, before) = (name(axis), name("$time"), name("$before"));
    let earliest = subtract(start.clone(), lookback.clone());
    let reached =
        greater(at.clone(), earliest).and(op(BinaryOp::LessOrEqual, at.clone(), end.clone()));
    let mut keys = vec![NamedExpr::bare(name(id)), named("$time", at)];
    keys.extend(bare(&dimensions));
    let times = vec![
        Operator::filter(reached),
        Operator::summarize(Vec::new(), keys),
    ];
    let times = evaluated_once(times, input, binder, span)?;
    let mut earlier = columns_of(&[id], &dimensions);
    earlier.push(named("$before", time.clone()));
    let no_later = op(BinaryOp::LessOrEqual, before.clone(), time.clone());
    let recent = greater(before.clone(), subtract(time.clone(), lookback));
    let periods = Expr::call("count_distinct", [timeline.window_of(before, &period)]);
    let enough = op(
        BinaryOp::GreaterOrEqual,
        name("$periods"),
        Expr::long(least),
    );
    let window = named(axis, timeline.window_of(time.clone(), &bin));
    let operators = vec![
        Operator::filter(op(BinaryOp::GreaterOrEqual, time, start.clone())),
        Operator::join(
            "inner",
            over("$times", [Operator::project(earlier)]),
            names(&[id], &dimensions),
        ),
        Operator::filter(no_later.and(recent)),
        Operator::summarize(
            vec![named("$periods", periods)],
            columns_of(&[id, "$time"], &dimensions),
        ),
        Operator::filter(enough),
        Operator::summarize(
            vec![named("dcount", of("count_distinct", id))],
            keyed(window, &dimensions),
        ),
    ];
    run_with(
        operators,
        times.clone(),
        vec![("$times", times)],
        binder,
        span,
    )
}
