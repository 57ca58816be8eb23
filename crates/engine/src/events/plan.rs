//! A request for events as KQL.

use hindsight_kql_syntax::ast::{
    BinaryOp, CountOperator, Direction, Expr, ExprKind, Operator, OperatorKind, OrderedExpr, Query,
    SortOperator, TakeOperator,
};

use super::source::Source;
use super::{limits, paths, search};
use crate::error::EngineError;
use crate::odata::{self, Fault};
use crate::request::{EventParameters, EventsParameters};
use crate::time::parse_period;
use crate::tree::{binary, filter, long, name, operator, pipe, query, string, within};

/// What to run for a request for events, and how to read its rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct EventsPlan {
    /// The rows: all columns of the event type's tables.
    pub(crate) query: Query,
    /// `$count=true`: one row with the number of matches before `$top` and `$skip`.
    pub(crate) count: Option<Query>,
    /// What was added to the request: `(code, message)`.
    pub(crate) messages: Vec<(String, String)>,
    /// How many of the first rows are not of the reply: KQL has no operator for that.
    pub(crate) skip: usize,
    /// `$select`: the paths, and groups of paths, that the reply shows. Everything where there is none.
    pub(crate) select: Option<Vec<String>>,
}

/// The plan of a request at `now` (ticks).
///
/// # Errors
/// [`EngineError::NotFound`] for an event type that does not exist; [`EngineError::BadParameter`] with the place for every
/// other fault.
pub(crate) fn plan(parameters: &EventsParameters, now: i64) -> Result<EventsPlan, EngineError> {
    let source = Source::find(&parameters.event_type)?;
    if parameters.apply.is_some() {
        return Err(Fault::new(
            0,
            "$apply is not supported; the query operation can summarize.",
        )
        .of("$apply"));
    }
    let mut messages = Vec::new();
    let predicates = predicates(parameters, source, now, &mut messages)?;
    let rows = limits::rows(parameters, &mut messages)?;
    let sort = sort(parameters.orderby.as_deref(), source)?;
    let select = select(parameters.select.as_deref(), source)?;
    let counted = parameters
        .count
        .as_deref()
        .map_or(Ok(false), odata::flag)
        .map_err(|fault| fault.of("$count"))?;

    let count = counted.then(|| {
        let mut operators = predicates.clone();
        operators.push(operator(OperatorKind::Count(CountOperator { name: None })));
        query(pipe(source.to_kql(), operators))
    });
    let mut operators = predicates;
    operators.push(sort);
    operators.push(take(rows.skip + rows.top));
    Ok(EventsPlan {
        query: query(pipe(source.to_kql(), operators)),
        count,
        messages,
        skip: rows.skip,
        select,
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
        operators.push(filter(within(parse_period(text)?.resolve(now))));
    }
    operators.push(filter(binary(
        BinaryOp::Equal,
        name("itemId"),
        string(&parameters.id),
    )));
    operators.push(take(1));
    let query = query(pipe(source.to_kql(), operators));
    Ok(EventsPlan {
        query,
        count: None,
        messages: Vec::new(),
        skip: 0,
        select: None,
    })
}

/// `where` operators of the time, `$filter` and `$search`: time first, since it rules out the most for the least.
fn predicates(
    parameters: &EventsParameters,
    source: Source,
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
    let filter_has_time = node
        .as_ref()
        .is_some_and(|node| odata::mentions(node, "timestamp"));
    let mut operators = Vec::new();
    if let Some(range) = limits::time(
        parameters.timespan.as_deref(),
        filter_has_time,
        now,
        messages,
    )? {
        operators.push(filter(within(range)));
    }
    if let Some(node) = &node {
        operators.push(filter(
            odata::predicate(node, &|path| paths::resolve(source, path)).map_err(of_filter)?,
        ));
    }
    if let Some(text) = &parameters.search {
        let tree = odata::parse_search(text).map_err(|fault| fault.of("$search"))?;
        operators.push(filter(search::to_kql(source, &tree)));
    }
    Ok(operators)
}

/// The order of the rows: newest first where the request says nothing. The id comes last, so that equal keys do not change
/// places between the pages of `$skip`.
fn sort(orderby: Option<&str>, source: Source) -> Result<Operator, EngineError> {
    let fault = |fault: Fault| fault.of("$orderby");
    let mut by = Vec::new();
    match orderby {
        None => by.push(ordered(name("timestamp"), true)),
        Some(text) => {
            for key in odata::order_by(text).map_err(fault)? {
                let expr = odata::sort_key(&key.expr, &|path| paths::resolve(source, path))
                    .map_err(fault)?;
                // What is the same in every row, as an absent property is, orders nothing.
                if !matches!(expr.kind, ExprKind::Literal(_)) {
                    by.push(ordered(expr, key.descending));
                }
            }
        }
    }
    by.push(ordered(name("itemId"), false));
    Ok(operator(OperatorKind::Sort(SortOperator {
        parameters: Vec::new(),
        by,
    })))
}

fn ordered(expr: Expr, descending: bool) -> OrderedExpr {
    let direction = if descending {
        Direction::Desc
    } else {
        Direction::Asc
    };
    OrderedExpr {
        expr,
        direction: Some(direction),
        nulls: None,
    }
}

fn select(text: Option<&str>, source: Source) -> Result<Option<Vec<String>>, EngineError> {
    let fault = |fault: Fault| fault.of("$select");
    let Some(text) = text else { return Ok(None) };
    let listed = odata::paths(text).map_err(fault)?;
    for (path, at) in &listed {
        paths::check_selected(source, path, *at).map_err(fault)?;
    }
    Ok((!listed.is_empty()).then(|| listed.into_iter().map(|(path, _)| path).collect()))
}

fn take(rows: usize) -> Operator {
    let count = long(i64::try_from(rows).unwrap_or(i64::MAX));
    operator(OperatorKind::Take(TakeOperator {
        parameters: Vec::new(),
        count,
    }))
}
