//! A request for events as KQL.

use hindsight_kql_syntax::ast::{
    BinaryOp, CountOperator, Expr, ExprKind, Operator, OperatorKind, OrderedExpr, Query,
};

use super::apply::{Applied, Scope, ordered};
use super::source::Source;
use super::{apply, limits, paths, search};
use crate::error::EngineError;
use crate::odata::{self, Fault};
use crate::request::{EventParameters, EventsParameters};
use crate::time::parse_period;

/// What to run for a request for events, and how to read its rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct EventsPlan {
    /// The rows: all columns of the event type's tables, or what `$apply` makes of them.
    pub(crate) query: Query,
    /// `$count=true`: one row with the number of matches before `$top` and `$skip`.
    pub(crate) count: Option<Query>,
    /// What was added to the request: `(code, message)`.
    pub(crate) messages: Vec<(String, String)>,
    /// How many of the first rows are not of the reply: KQL has no operator for that.
    pub(crate) skip: usize,
    /// `$select`: the paths, and groups of paths, that the reply shows. Everything where there is none.
    pub(crate) select: Option<Vec<String>>,
    /// The rows are no events: `$apply` aggregated them.
    pub(crate) applied: bool,
    /// Properties that `$apply` adds to events, and their columns.
    pub(crate) computed: Vec<(String, String)>,
}

/// The plan of a request at `now` (ticks).
///
/// # Errors
/// [`EngineError::NotFound`] for an event type that does not exist; [`EngineError::BadParameter`] with the place for every
/// other fault.
pub(crate) fn plan(parameters: &EventsParameters, now: i64) -> Result<EventsPlan, EngineError> {
    let source = Source::find(&parameters.event_type)?;
    let applied = match &parameters.apply {
        Some(text) => Some(apply::translate(text, source).map_err(|fault| fault.of("$apply"))?),
        None => None,
    };
    let events = Scope::events(source);
    let scope = applied.as_ref().map_or(&events, |applied| &applied.scope);
    let mut messages = Vec::new();
    let matches = matches(
        parameters,
        source,
        applied.as_ref(),
        scope,
        now,
        &mut messages,
    )?;
    let rows = limits::rows(parameters, &mut messages)?;
    let order = applied.as_ref().and_then(|applied| applied.order.clone());
    let sort = sort(parameters.orderby.as_deref(), scope, order)?;
    let select = select(parameters.select.as_deref(), source, scope)?;
    let counted = parameters
        .count
        .as_deref()
        .map_or(Ok(false), odata::flag)
        .map_err(|fault| fault.of("$count"))?;

    let count = counted.then(|| {
        let mut operators = matches.clone();
        operators.push(Operator::synthetic(OperatorKind::Count(CountOperator {
            name: None,
        })));
        Query::of(Expr::pipeline(source.to_kql(), operators))
    });
    let mut operators = matches;
    operators.push(sort);
    operators.push(take(rows.skip + rows.top));
    if let (true, Some(paths)) = (scope.aggregated, &select) {
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        operators.push(apply::project(&paths));
    }
    Ok(EventsPlan {
        query: Query::of(Expr::pipeline(source.to_kql(), operators)),
        count,
        messages,
        skip: rows.skip,
        select,
        applied: scope.aggregated,
        computed: if scope.aggregated {
            Vec::new()
        } else {
            scope.made_columns()
        },
    })
}

/// The plan for one event. Without a timespan all of time is searched.
///
/// # Errors
/// As [`plan`].
pub(crate) fn event_plan(
    parameters: &EventParameters,
    now: i64,
) -> Result<EventsPlan, EngineError> {
    let source = Source::find(&parameters.event_type)?;
    let mut operators = Vec::new();
    if let Some(text) = &parameters.timespan {
        operators.push(Operator::filter(parse_period(text)?.resolve(now).to_kql()));
    }
    operators.push(Operator::filter(Expr::binary(
        BinaryOp::Equal,
        Expr::name("itemId"),
        Expr::string(&parameters.id),
    )));
    operators.push(take(1));
    let query = Query::of(Expr::pipeline(source.to_kql(), operators));
    Ok(EventsPlan {
        query,
        count: None,
        messages: Vec::new(),
        skip: 0,
        select: None,
        applied: false,
        computed: Vec::new(),
    })
}

/// The operators that choose rows, and make new ones of them: time first, since it rules out the most for the least, then
/// `$apply`, which comes before all other options, then `$filter` and `$search`.
///
/// A condition of `$filter` on nothing but properties of other event types does not apply to these events. It is left out and
/// said to be: clients filter a list of event types by one text, and expect events of each.
fn matches(
    parameters: &EventsParameters,
    source: Source,
    applied: Option<&Applied>,
    scope: &Scope,
    now: i64,
    messages: &mut Vec<(String, String)>,
) -> Result<Vec<Operator>, EngineError> {
    let of_filter = |fault: Fault| fault.of("$filter");
    let node = parameters
        .filter
        .as_deref()
        .map(odata::parse)
        .transpose()
        .map_err(of_filter)?;
    let filter_has_time = !scope.aggregated
        && node
            .as_ref()
            .is_some_and(|node| odata::mentions(node, "timestamp"));
    let bounded = filter_has_time || applied.is_some_and(|applied| applied.bounds_time);
    let (mut operators, mut predicates) = (Vec::new(), Vec::new());
    if let Some(range) = limits::time(parameters.timespan.as_deref(), bounded, now, messages)? {
        operators.push(Operator::filter(range.to_kql()));
    }
    operators.extend(applied.iter().flat_map(|applied| applied.operators.clone()));
    for condition in node.into_iter().flat_map(odata::conjuncts) {
        let predicate = odata::predicate(&condition, &|path| scope.resolve(path));
        let predicate = predicate.map_err(of_filter)?;
        let paths = odata::paths_of(&condition);
        let foreign = |path: &&str| !scope.aggregated && paths::is_of_others(source, path);
        if !paths.is_empty() && paths.iter().all(foreign) {
            messages.push(limits::not_applicable(&parameters.event_type, &paths));
        } else {
            predicates.push(predicate);
        }
    }
    operators.extend(odata::filters(predicates));
    if let Some(text) = &parameters.search {
        let of_search = |fault: Fault| fault.of("$search");
        if scope.aggregated {
            let message = "$search looks at events, and $apply has aggregated them; use Operator::filter(contains(…)) before that.";
            return Err(of_search(Fault::new(0, message)));
        }
        let tree = odata::parse_search(text).map_err(of_search)?;
        operators.push(Operator::filter(search::to_kql(source, &tree)));
    }
    Ok(operators)
}

/// The order of the rows: where the request says nothing, that of `$apply`, or newest first. What is definite of a row comes
/// last, so that equal keys do not change places between the pages of `$skip`.
fn sort(
    orderby: Option<&str>,
    scope: &Scope,
    order: Option<Vec<OrderedExpr>>,
) -> Result<Operator, EngineError> {
    let fault = |fault: Fault| fault.of("$orderby");
    let mut by = Vec::new();
    match orderby {
        None => match order {
            Some(order) => return Ok(apply::sort(order)),
            None if scope.aggregated => {}
            None => by.push(ordered(Expr::name("timestamp"), true)),
        },
        Some(text) => {
            for key in odata::order_by(text).map_err(fault)? {
                let expr =
                    odata::sort_key(&key.expr, &|path| scope.resolve(path)).map_err(fault)?;
                // What is the same in every row, as an absent property is, orders nothing.
                if !matches!(expr.kind, ExprKind::Literal(_)) {
                    by.push(ordered(expr, key.descending));
                }
            }
        }
    }
    by.extend(scope.tie_breakers());
    Ok(apply::sort(by))
}

fn select(
    text: Option<&str>,
    source: Source,
    scope: &Scope,
) -> Result<Option<Vec<String>>, EngineError> {
    let fault = |fault: Fault| fault.of("$select");
    let Some(text) = text else { return Ok(None) };
    let listed = odata::paths(text).map_err(fault)?;
    for (path, at) in &listed {
        match scope.resolve(path) {
            Ok(_) => {}
            Err(message) if scope.aggregated => return Err(fault(Fault::new(*at, message))),
            Err(_) => paths::check_selected(source, path, *at).map_err(fault)?,
        }
    }
    let mut chosen: Vec<String> = Vec::new();
    for (path, _) in listed {
        if !chosen.contains(&path) {
            chosen.push(path);
        }
    }
    Ok((!chosen.is_empty()).then_some(chosen))
}

fn take(rows: usize) -> Operator {
    apply::take(i64::try_from(rows).unwrap_or(i64::MAX))
}
