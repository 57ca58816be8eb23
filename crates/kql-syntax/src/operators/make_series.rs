//! `make-series`.

use std::fmt::{self, Display, Formatter};

use crate::ast::{Commas, Expr, NamedExpr, OperatorParameter, Parameters, precedence, write_expr};
use crate::parser::Parser;
use crate::token::TokenKind;

/// `make-series [kind=nonempty] agg [default=v], … on axis [from a] [to b] step s [by …]`
#[derive(Debug, Clone, PartialEq)]
pub struct MakeSeriesOperator {
    /// `kind=…` and hints.
    pub parameters: Vec<OperatorParameter>,
    /// The series.
    pub aggregates: Vec<SeriesAggregate>,
    /// The axis.
    pub axis: NamedExpr,
    /// The bins of the axis.
    pub bins: SeriesBins,
    /// `by …`
    pub by: Vec<NamedExpr>,
}

/// `agg [default = v]`
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesAggregate {
    /// The aggregate.
    pub aggregate: NamedExpr,
    /// The value of bins without rows.
    pub default: Option<Expr>,
}

/// The bins of the axis.
#[derive(Debug, Clone, PartialEq)]
pub enum SeriesBins {
    /// `[from a] [to b] step s`
    FromToStep {
        /// First bin.
        from: Option<Expr>,
        /// End, exclusive.
        to: Option<Expr>,
        /// Width.
        step: Expr,
    },
    /// `in range(a, b, s)`: the older form, whose end is inclusive.
    InRange {
        /// First bin.
        from: Expr,
        /// End, inclusive.
        to: Expr,
        /// Width.
        step: Expr,
    },
}

impl MakeSeriesOperator {
    /// Parses the operator after its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<MakeSeriesOperator> {
        let parameters = p.parameters(&["kind"])?;
        let aggregates = p.comma_list(|p| {
            let aggregate = p.named_expr()?;
            let default = if p.at_word("default") && p.kind(1) == TokenKind::Assign {
                p.skip(2);
                Some(p.expr()?)
            } else {
                None
            };
            Some(SeriesAggregate { aggregate, default })
        })?;
        p.expect_word("on")?;
        let axis = p.named_additive()?;
        let bins = series_bins(p)?;
        let by = if p.eat_word("by") {
            p.named_exprs()?
        } else {
            Vec::new()
        };
        Some(MakeSeriesOperator {
            parameters,
            aggregates,
            axis,
            bins,
            by,
        })
    }
}

impl Display for MakeSeriesOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "make-series{} {}",
            Parameters(&self.parameters),
            Commas(&self.aggregates)
        )?;
        f.write_str(" on ")?;
        if let [name] = self.axis.names.as_slice() {
            write!(f, "{name} = ")?;
        }
        write_expr(f, &self.axis.expr, precedence::ADDITIVE)?;
        match &self.bins {
            SeriesBins::FromToStep { from, to, step } => {
                if let Some(from) = from {
                    write!(f, " from {from}")?;
                }
                if let Some(to) = to {
                    write!(f, " to {to}")?;
                }
                write!(f, " step {step}")?;
            }
            SeriesBins::InRange { from, to, step } => write!(f, " in range({from}, {to}, {step})")?,
        }
        if !self.by.is_empty() {
            write!(f, " by {}", Commas(&self.by))?;
        }
        Ok(())
    }
}

impl Display for SeriesAggregate {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.aggregate)?;
        match &self.default {
            Some(default) => write!(f, " default={default}"),
            None => Ok(()),
        }
    }
}

/// Parses `in range(a, b, s)` or `[from a] [to b] step s`.
fn series_bins(p: &mut Parser<'_>) -> Option<SeriesBins> {
    if p.eat_word("in") {
        p.expect_word("range")?;
        p.expect(TokenKind::LeftParen)?;
        let from = p.expr()?;
        p.expect(TokenKind::Comma)?;
        let to = p.expr()?;
        p.expect(TokenKind::Comma)?;
        let step = p.expr()?;
        p.expect(TokenKind::RightParen)?;
        return Some(SeriesBins::InRange { from, to, step });
    }
    let from = if p.eat_word("from") {
        Some(p.expr()?)
    } else {
        None
    };
    let to = if p.eat_word("to") {
        Some(p.expr()?)
    } else {
        None
    };
    p.expect_word("step")?;
    let step = p.expr()?;
    Some(SeriesBins::FromToStep { from, to, step })
}
