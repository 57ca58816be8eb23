//! Plug-ins that count who is active in the windows of a timeline: `activity_counts_metrics`, `activity_metrics`,
//! `new_activity_metrics`, `activity_engagement` and `active_users_count` (`semantics.md §24`).
//!
//! Windows are aligned to the start of the timeline; rows outside of it are ignored. Each plug-in says in the language
//! itself what it counts. Distinct counts are exact.

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::{Call, Expr};
use hindsight_kql_types::ScalarType;

use super::args::Args;
use super::rewrite::{rewrite, rewrite_with};
use super::windows::{column, columns, constant, ticks, written};
use crate::context::BindContext;
use crate::error::BindResult;
use crate::plan;
use crate::relation::Relation;

/// A window is cut into at most so many smaller ones.
const MAX_WINDOWS: i64 = 10_000;

/// The arguments that all of these plug-ins begin with, as the language writes them.
struct Timeline {
    id: String,
    axis: String,
    kind: ScalarType,
    start: String,
    end: String,
}

impl Timeline {
    fn read(
        args: &mut Args<'_>,
        input: &Relation,
        binder: &mut dyn BindContext,
        span: Span,
    ) -> BindResult<Timeline> {
        let id = column(args.required("IdColumn", binder, span)?, input, binder)?;
        let axis = args.required("TimelineColumn", binder, span)?;
        let kind = plan::column_named(axis, input, binder)?.kind;
        let axis = column(axis, input, binder)?;
        let start = constant(args.required("Start", binder, span)?, kind, binder)?;
        let end = constant(args.required("End", binder, span)?, kind, binder)?;
        Ok(Timeline {
            id,
            axis,
            kind,
            start: written(&start),
            end: written(&end),
        })
    }

    /// A width on the axis: its text and its units.
    fn width(
        &self,
        args: &mut Args<'_>,
        what: &str,
        binder: &mut dyn BindContext,
        span: Span,
    ) -> BindResult<(String, i64)> {
        let expr = args.required(what, binder, span)?;
        let kind = match self.kind {
            ScalarType::DateTime => ScalarType::TimeSpan,
            other => other,
        };
        let value = constant(expr, kind, binder)?;
        match ticks(&value).filter(|units| *units > 0) {
            Some(units) => Ok((written(&value), units)),
            None => Err(binder.error("SEM0001", format!("{what} must be greater than zero"), span)),
        }
    }

    /// The rows of the timeline with the start of their window.
    fn windows(&self, width: &str) -> String {
        let Timeline {
            axis, start, end, ..
        } = self;
        format!(
            "where {axis} >= {start} and {axis} <= {end} | extend ['$bin'] = bin_at({axis}, {width}, {start})"
        )
    }

    /// The ids of each window, once each.
    fn ids(&self, width: &str, by: &str) -> String {
        format!(
            "{} | summarize by ['$bin'], {}{by}",
            self.windows(width),
            self.id
        )
    }
}

/// Dimensions behind a comma each.
fn list(dimensions: &[String]) -> String {
    dimensions.iter().map(|d| format!(", {d}")).collect()
}

/// What `text` gives over `input`, computed once.
fn once(
    text: &str,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let rows = rewrite(text, input, binder, span)?;
    binder.materialize(rows, span)
}

/// `activity_counts_metrics(id, axis, start, end, window [, dimensions…])`: each window compared with all before it.
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
    let (by, Timeline { id, axis, .. }) = (list(&dimensions), &timeline);
    let rows = once(&timeline.windows(&width), input, binder, span)?;
    let order: String = dimensions.iter().map(|d| format!("{d} asc, ")).collect();
    let restart: Vec<String> = dimensions
        .iter()
        .map(|d| format!("{d} != prev({d})"))
        .collect();
    let restart = if restart.is_empty() {
        String::new()
    } else {
        format!(", {}", restart.join(" or "))
    };
    let text = format!(
        "summarize ['count'] = count(), dcount = count_distinct({id}) by ['$bin']{by} \
         | join kind=leftouter (['$rows'] | summarize ['$bin'] = min(['$bin']) by {id}{by} \
             | summarize ['$new'] = count() by ['$bin']{by}) on ['$bin']{by} \
         | extend new_dcount = coalesce(['$new'], 0) \
         | sort by {order}['$bin'] asc \
         | extend aggregated_dcount = row_cumsum(new_dcount{restart}) \
         | project {axis} = ['$bin']{by}, ['count'], dcount, new_dcount, aggregated_dcount"
    );
    rewrite_with(&text, rows.clone(), vec![("$rows", rows)], binder, span)
}

/// `activity_metrics(id, axis, start, end, window [, dimensions…])`: each window compared with the one before it. Where
/// nobody was there before, nobody was lost: the rates are 1 and 0, as recorded for the first window.
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
    let (by, Timeline { id, axis, .. }) = (list(&dimensions), &timeline);
    let ids = once(&timeline.ids(&width, &by), input, binder, span)?;
    let text = format!(
        "join kind=leftouter (['$ids'] | project ['$bin'] = ['$bin'] + {width}, {id}{by}, ['$seen'] = true) \
             on ['$bin'], {id}{by} \
         | summarize dcount_values = count(), ['$kept'] = countif(['$seen']) by ['$bin']{by} \
         | join kind=leftouter (['$ids'] | summarize ['$before'] = count() by ['$bin']{by} \
             | extend ['$bin'] = ['$bin'] + {width}) on ['$bin']{by} \
         | extend dcount_newvalues = dcount_values - ['$kept'], \
             retention_rate = iff(['$before'] > 0, toreal(['$kept']) / ['$before'], 1.0) \
         | project {axis} = ['$bin'], dcount_values, dcount_newvalues, retention_rate, \
             churn_rate = 1.0 - retention_rate{by}"
    );
    rewrite_with(&text, ids.clone(), vec![("$ids", ids)], binder, span)
}

/// `new_activity_metrics(id, axis, start, end, window [, cohort] [, dimensions…] [, lookback])`: what became of those
/// who came first in a window. A window in which nobody came first has a row too, with rates that are no numbers.
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
            Some(written(&constant(rest.remove(0), timeline.kind, binder)?))
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
    let by = list(&dimensions);
    let Timeline {
        id,
        axis,
        kind,
        start,
        end,
    } = &timeline;
    let ids = once(&timeline.ids(&width, &by), input, binder, span)?;
    let mut tables = vec![("$ids", ids.clone())];
    let mut firsts = format!("summarize ['$from'] = min(['$bin']) by {id}{by}");
    if let Some(lookback) = lookback {
        firsts.push_str(&format!(" | join kind=leftanti (['$lookback']) on {id}"));
        tables.push(("$lookback", lookback));
    }
    let firsts = rewrite_with(&firsts, ids, tables.clone(), binder, span)?;
    let firsts = binder.materialize(firsts, span)?;
    tables.push(("$firsts", firsts.clone()));
    // How many of those who came first in one window are there in another.
    let found = format!(
        "join kind=inner (['$ids']) on {id}{by} \
         | summarize ['$found'] = count() by ['$to'] = ['$bin'], ['$first'] = ['$from']{by}"
    );
    let found = rewrite_with(&found, firsts.clone(), tables, binder, span)?;
    let found = binder.materialize(found, span)?;
    let cohort = cohort.map_or(String::new(), |c| format!("| where ['$from'] == {c} "));
    let name = |prefix: &str| super::rewrite::name(&format!("{prefix}_{}", bare(axis)));
    let (from_name, to_name) = (name("from"), name("to"));
    let text = format!(
        "summarize by ['$one'] = 1{by} \
         | mv-expand ['$from'] = range({start}, {end}, {width}) to typeof({kind}) {cohort}\
         | join kind=leftouter (['$firsts'] | summarize ['$size'] = count() by ['$from']{by}) on ['$from']{by} \
         | extend ['$size'] = coalesce(['$size'], 0) \
         | mv-expand ['$to'] = range(['$from'], {end}, {width}) to typeof({kind}) \
         | join kind=leftouter (['$found']) on ['$to']{by} \
         | summarize ['$new'] = sumif(['$found'], ['$first'] > ['$from'] or ['$first'] == ['$to']), \
             ['$kept'] = sumif(['$found'], ['$first'] == ['$from']) by ['$from'], ['$to'], ['$size']{by} \
         | project {from_name} = ['$from'], {to_name} = ['$to'], dcount_new_values = ['$new'], \
             dcount_retained_values = ['$kept'], dcount_churn_values = ['$size'] - ['$kept'], \
             retention_rate = toreal(['$kept']) / ['$size'], \
             churn_rate = toreal(['$size'] - ['$kept']) / ['$size']{by}"
    );
    let tables = vec![("$found", found), ("$firsts", firsts.clone())];
    rewrite_with(&text, firsts, tables, binder, span)
}

/// The name that the language's text of a column stands for.
fn bare(written: &str) -> &str {
    let inner = written
        .strip_prefix("['")
        .and_then(|w| w.strip_suffix("']"));
    inner.unwrap_or(written)
}

/// `activity_engagement(id, axis, start, end, inner, outer [, dimensions…])`: who is active in a small window beside
/// who was in the large one that ends with it.
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
        return Err(binder.error("SEM0001", message, span));
    }
    let by = list(&dimensions);
    let Timeline { id, axis, end, .. } = &timeline;
    let text = format!(
        "{} | mv-expand ['$n'] = range(0, {last}) to typeof(long) \
         | extend ['$window'] = ['$bin'] + ['$n'] * {inner} \
         | where ['$window'] <= {end} \
         | summarize dcount_activities_inner = count_distinctif({id}, ['$n'] == 0), \
             dcount_activities_outer = count_distinct({id}) by ['$window']{by} \
         | project {axis} = ['$window'], dcount_activities_inner, dcount_activities_outer, \
             activity_ratio = toreal(dcount_activities_inner) / dcount_activities_outer{by}",
        timeline.ids(&inner, &by)
    );
    rewrite(&text, input, binder, span)
}

/// `active_users_count(id, axis, start, end, lookback, period, count, bin [, dimensions…])`: those who, when they appear,
/// have been there in enough periods of the time before.
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
    let by = list(&dimensions);
    let Timeline {
        id,
        axis,
        start,
        end,
        ..
    } = &timeline;
    let times = format!(
        "where {axis} > {start} - {lookback} and {axis} <= {end} | summarize by {id}, ['$time'] = {axis}{by}"
    );
    let times = once(&times, input, binder, span)?;
    let text = format!(
        "where ['$time'] >= {start} \
         | join kind=inner (['$times'] | project {id}{by}, ['$before'] = ['$time']) on {id}{by} \
         | where ['$before'] <= ['$time'] and ['$before'] > ['$time'] - {lookback} \
         | summarize ['$periods'] = count_distinct(bin_at(['$before'], {period}, {start})) by {id}, ['$time']{by} \
         | where ['$periods'] >= {least} \
         | summarize dcount = count_distinct({id}) by {axis} = bin_at(['$time'], {bin}, {start}){by}"
    );
    rewrite_with(&text, times.clone(), vec![("$times", times)], binder, span)
}
