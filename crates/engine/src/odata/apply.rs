//! `$apply`: transformations one after the other (OData Data Aggregation 4.0 §3, `D14`).
//!
//! `filter`, `groupby`, `aggregate`, `compute` and `topcount` are understood. Others are refused by their names.

use super::Fault;
use super::ast::{Node, NodeKind};
use super::lexer::TokenKind;
use super::parser::Parser;

/// How many transformations there may be.
const MOST_TRANSFORMATIONS: usize = 20;
/// How many expressions one transformation may have.
const MOST_EXPRESSIONS: usize = 50;

/// A step of `$apply`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Transformation {
    /// `filter(condition)`
    Filter(Node),
    /// `groupby((a,b),aggregate(…))`
    GroupBy {
        /// Paths with their places, at least one.
        paths: Vec<(String, usize)>,
        /// What is computed of each group; distinct values alone where there is nothing.
        aggregates: Vec<Aggregate>,
    },
    /// `aggregate(…)` of everything
    Aggregate(Vec<Aggregate>),
    /// `compute(expression as alias,…)`
    Compute(Vec<Computed>),
    /// `topcount(n,expression)`
    TopCount {
        /// How many.
        count: i64,
        /// The greatest of these come first.
        by: Node,
    },
}

/// `value with method as alias`, or `$count as alias`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Aggregate {
    /// The value, none for `$count`.
    pub(crate) value: Option<Node>,
    /// How values are combined.
    pub(crate) method: Method,
    /// The name of the result.
    pub(crate) alias: Alias,
}

/// `expression as alias`
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Computed {
    /// The value.
    pub(crate) value: Node,
    /// Its name.
    pub(crate) alias: Alias,
}

/// A name that the request gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Alias {
    /// The name.
    pub(crate) name: String,
    /// Where it stands.
    pub(crate) at: usize,
}

/// How values are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    /// `sum`
    Sum,
    /// `min`
    Min,
    /// `max`
    Max,
    /// `average`
    Average,
    /// `countdistinct`
    CountDistinct,
    /// `$count`
    Count,
}

const METHODS: &[(&str, Method)] = &[
    ("sum", Method::Sum),
    ("min", Method::Min),
    ("max", Method::Max),
    ("average", Method::Average),
    ("countdistinct", Method::CountDistinct),
];

/// Reads the value of `$apply`.
pub(crate) fn parse_apply(text: &str) -> Result<Vec<Transformation>, Fault> {
    let mut parser = Parser::new(text)?;
    let mut steps = Vec::new();
    loop {
        let at = parser.at();
        steps.push(transformation(&mut parser)?);
        if steps.len() > MOST_TRANSFORMATIONS {
            return Err(Fault::new(
                at,
                format!("$apply takes at most {MOST_TRANSFORMATIONS} transformations."),
            ));
        }
        if !parser.eat(&TokenKind::Slash) {
            break;
        }
    }
    parser.end().map_err(|fault| {
        Fault::new(
            fault.at,
            "'/' and a further transformation, or the end, is expected here.",
        )
    })?;
    Ok(steps)
}

fn transformation(parser: &mut Parser) -> Result<Transformation, Fault> {
    let Some((name, at)) = parser.word() else {
        return Err(Fault::new(
            parser.at(),
            "A transformation such as filter(…), groupby(…) or aggregate(…) is expected here.",
        ));
    };
    let read = match name.as_str() {
        "filter" => filter,
        "groupby" => group_by,
        "aggregate" => aggregate,
        "compute" => compute,
        "topcount" => top_count,
        _ => {
            return Err(Fault::new(
                at,
                format!(
                    "The transformation '{name}' is not supported. Those that are: filter, groupby, aggregate, compute and topcount."
                ),
            ));
        }
    };
    open(parser)?;
    let step = read(parser)?;
    close(parser)?;
    Ok(step)
}

fn open(parser: &mut Parser) -> Result<(), Fault> {
    parser.expect(&TokenKind::Open, "(")
}

fn close(parser: &mut Parser) -> Result<(), Fault> {
    parser.expect(&TokenKind::Close, ")")
}

fn filter(parser: &mut Parser) -> Result<Transformation, Fault> {
    parser.expression().map(Transformation::Filter)
}

fn aggregate(parser: &mut Parser) -> Result<Transformation, Fault> {
    listed(parser, one_aggregate).map(Transformation::Aggregate)
}

fn compute(parser: &mut Parser) -> Result<Transformation, Fault> {
    let one = |parser: &mut Parser| {
        let value = parser.expression()?;
        let alias = alias(parser)?;
        Ok(Computed { value, alias })
    };
    listed(parser, one).map(Transformation::Compute)
}

fn group_by(parser: &mut Parser) -> Result<Transformation, Fault> {
    open(parser)?;
    let paths = listed(parser, path)?;
    close(parser)?;
    let mut aggregates = Vec::new();
    if parser.eat_comma() {
        let at = parser.at();
        // Nothing else may stand here, so nothing nests.
        if !parser.eat_word("aggregate") {
            return Err(Fault::new(
                at,
                "Only aggregate(…) is supported inside groupby; other transformations go before or after it.",
            ));
        }
        open(parser)?;
        aggregates = listed(parser, one_aggregate)?;
        close(parser)?;
        if parser.eat(&TokenKind::Slash) {
            return Err(Fault::new(
                parser.at(),
                "Several transformations inside groupby are not supported; write them after it.",
            ));
        }
    }
    Ok(Transformation::GroupBy { paths, aggregates })
}

fn top_count(parser: &mut Parser) -> Result<Transformation, Fault> {
    let count = parser.expression()?;
    let NodeKind::Whole(n @ 1..) = count.kind else {
        return Err(Fault::new(
            count.at,
            "The first argument of topcount is a whole number of at least 1.",
        ));
    };
    parser.expect(&TokenKind::Comma, ",")?;
    let by = parser.expression()?;
    Ok(Transformation::TopCount { count: n, by })
}

/// One or more, with commas between them.
fn listed<T>(
    parser: &mut Parser,
    one: impl Fn(&mut Parser) -> Result<T, Fault>,
) -> Result<Vec<T>, Fault> {
    let mut list = vec![one(parser)?];
    while parser.eat_comma() {
        if list.len() == MOST_EXPRESSIONS {
            return Err(Fault::new(
                parser.at(),
                format!("A transformation takes at most {MOST_EXPRESSIONS} expressions."),
            ));
        }
        list.push(one(parser)?);
    }
    Ok(list)
}

fn path(parser: &mut Parser) -> Result<(String, usize), Fault> {
    match parser.expression()? {
        Node {
            kind: NodeKind::Path(path),
            at,
            ..
        } => Ok((path, at)),
        other => Err(Fault::new(
            other.at,
            "groupby takes properties such as request/name; compute(…) gives a name to an expression.",
        )),
    }
}

fn one_aggregate(parser: &mut Parser) -> Result<Aggregate, Fault> {
    if parser.eat_word("$count") {
        return Ok(Aggregate {
            value: None,
            method: Method::Count,
            alias: alias(parser)?,
        });
    }
    let value = parser.expression()?;
    let at = parser.at();
    if !parser.eat_word("with") {
        return Err(Fault::new(
            at,
            "'with' and a method is expected here, as in request/duration with average as mean.",
        ));
    }
    let (name, at) = parser.word().unwrap_or((String::new(), parser.at()));
    let method = METHODS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, method)| *method)
        .ok_or_else(|| {
            Fault::new(
                at,
                format!(
                    "'{name}' is not a method that is supported. Those that are: sum, min, max, average and countdistinct, and $count alone."
                ),
            )
        })?;
    Ok(Aggregate {
        value: Some(value),
        method,
        alias: alias(parser)?,
    })
}

/// `as name`
fn alias(parser: &mut Parser) -> Result<Alias, Fault> {
    let expected = |at: usize| Fault::new(at, "'as' and a name of the result is expected here.");
    let at = parser.at();
    if !parser.eat_word("as") {
        return Err(expected(at));
    }
    let (name, at) = parser.word().ok_or_else(|| expected(parser.at()))?;
    let plain = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    if plain {
        Ok(Alias { name, at })
    } else {
        Err(Fault::new(
            at,
            format!("'{name}' is not a plain name of letters, digits and '_'."),
        ))
    }
}
