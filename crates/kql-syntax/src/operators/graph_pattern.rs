//! The patterns of `graph-match` and `graph-shortest-paths`.

use std::fmt::{self, Display, Formatter};

use crate::Span;
use crate::ast::{Expr, Name, NamedExpr, precedence, write_expr};
use crate::parser::Parser;
use crate::token::TokenKind;
use crate::token::TokenKind::{Greater, LeftBracket, Less, Minus, RightBracket};

/// `(a)-[e]->(b)<--(c)`
#[derive(Debug, Clone, PartialEq)]
pub struct GraphPattern {
    /// The first node.
    pub first: PatternNode,
    /// The edges, each with the node behind it.
    pub steps: Vec<(PatternEdge, PatternNode)>,
    /// Where.
    pub span: Span,
}

/// `(name)`
#[derive(Debug, Clone, PartialEq)]
pub struct PatternNode {
    /// The variable.
    pub name: Option<Name>,
}

/// `-[name*low..high]->`
#[derive(Debug, Clone, PartialEq)]
pub struct PatternEdge {
    /// The variable.
    pub name: Option<Name>,
    /// Where the edge leads.
    pub direction: EdgeDirection,
    /// How many edges it stands for; one edge without a range.
    pub range: Option<EdgeRange>,
    /// Where.
    pub span: Span,
}

/// Where the edge of a pattern leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EdgeDirection {
    /// `-->`: from the node before it to the node behind it.
    Forward,
    /// `<--`: from the node behind it to the node before it.
    Backward,
    /// `--`: either way.
    Undirected,
}

/// `*low..high`
#[derive(Debug, Clone, PartialEq)]
pub struct EdgeRange {
    /// The least number of edges.
    pub low: Expr,
    /// The most edges.
    pub high: Expr,
}

impl GraphPattern {
    /// Reads a pattern.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<GraphPattern> {
        let start = p.start();
        let first = node(p)?;
        let mut steps = Vec::new();
        while p.at(Minus) || p.at(Less) {
            steps.push((edge(p)?, node(p)?));
        }
        Some(GraphPattern {
            first,
            steps,
            span: p.since(start),
        })
    }
}

/// Reads `[where predicate] [project …]`.
pub(crate) fn graph_clauses(p: &mut Parser<'_>) -> Option<(Option<Expr>, Vec<NamedExpr>)> {
    let predicate = if p.eat_word("where") {
        Some(p.expr()?)
    } else {
        None
    };
    let columns = if p.eat_word("project") {
        p.comma_list(column)?
    } else {
        Vec::new()
    };
    Some((predicate, columns))
}

/// Reads `expr` or `name = expr`. The name may be any word, as in the documentation's `to = destination.station`.
fn column(p: &mut Parser<'_>) -> Option<NamedExpr> {
    let length = p.name_length(0);
    if !length.is_some_and(|length| p.kind(length) == TokenKind::Assign) {
        return p.named_expr();
    }
    let name = p.name()?;
    p.advance();
    Some(NamedExpr {
        names: vec![name],
        tuple: false,
        expr: p.expr()?,
    })
}

fn node(p: &mut Parser<'_>) -> Option<PatternNode> {
    p.expect(TokenKind::LeftParen)?;
    let name = variable(p)?;
    p.expect(TokenKind::RightParen)?;
    Some(PatternNode { name })
}

/// Reads the name of a variable if one stands here.
fn variable(p: &mut Parser<'_>) -> Option<Option<Name>> {
    match p.name_length(0) {
        Some(_) => Some(Some(p.defining_name()?)),
        None => Some(None),
    }
}

fn edge(p: &mut Parser<'_>) -> Option<PatternEdge> {
    let start = p.start();
    let bare = if p.eat_adjacent(&[Minus, Minus, Greater]) {
        Some(EdgeDirection::Forward)
    } else if p.eat_adjacent(&[Less, Minus, Minus]) {
        Some(EdgeDirection::Backward)
    } else if p.eat_adjacent(&[Minus, Minus]) {
        Some(EdgeDirection::Undirected)
    } else {
        None
    };
    if let Some(direction) = bare {
        return Some(PatternEdge {
            name: None,
            direction,
            range: None,
            span: p.since(start),
        });
    }
    let backward = p.eat_adjacent(&[Less, Minus, LeftBracket]);
    if !backward && !p.eat_adjacent(&[Minus, LeftBracket]) {
        return p.fail();
    }
    let name = variable(p)?;
    let range = if p.eat(TokenKind::Star) {
        Some(range(p)?)
    } else {
        None
    };
    let forward = !backward && p.eat_adjacent(&[RightBracket, Minus, Greater]);
    if !forward && !p.eat_adjacent(&[RightBracket, Minus]) {
        return p.fail();
    }
    let direction = match (backward, forward) {
        (true, _) => EdgeDirection::Backward,
        (_, true) => EdgeDirection::Forward,
        _ => EdgeDirection::Undirected,
    };
    Some(PatternEdge {
        name,
        direction,
        range,
        span: p.since(start),
    })
}

fn range(p: &mut Parser<'_>) -> Option<EdgeRange> {
    let low = p.nested(|p| p.postfix(false))?;
    p.expect(TokenKind::DotDot)?;
    let high = p.nested(|p| p.postfix(false))?;
    Some(EdgeRange { low, high })
}

impl Display for GraphPattern {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.first.fmt(f)?;
        for (edge, node) in &self.steps {
            write!(f, "{edge}{node}")?;
        }
        Ok(())
    }
}

impl Display for PatternNode {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "({name})"),
            None => f.write_str("()"),
        }
    }
}

impl Display for PatternEdge {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self.direction {
            EdgeDirection::Backward => "<-[",
            _ => "-[",
        })?;
        if let Some(name) = &self.name {
            name.fmt(f)?;
        }
        if let Some(range) = &self.range {
            f.write_str("*")?;
            write_expr(f, &range.low, precedence::POSTFIX)?;
            f.write_str("..")?;
            write_expr(f, &range.high, precedence::POSTFIX)?;
        }
        f.write_str(match self.direction {
            EdgeDirection::Forward => "]->",
            _ => "]-",
        })
    }
}
