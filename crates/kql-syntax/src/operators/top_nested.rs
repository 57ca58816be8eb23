//! `top-nested`.

use std::fmt::{self, Display, Formatter};

use crate::ast::{Commas, Direction, Expr, NamedExpr};
use crate::parser::Parser;
use crate::token::TokenKind;

/// `top-nested [n] of expr [with others=c] by agg [asc|desc], top-nested …`
#[derive(Debug, Clone, PartialEq)]
pub struct TopNestedOperator {
    /// The levels, outermost first.
    pub levels: Vec<TopNestedLevel>,
}

/// One level of `top-nested`.
#[derive(Debug, Clone, PartialEq)]
pub struct TopNestedLevel {
    /// The number of values; without it all.
    pub count: Option<Expr>,
    /// The value.
    pub of: NamedExpr,
    /// `with others = c`
    pub others: Option<Expr>,
    /// The aggregate that ranks the values.
    pub by: NamedExpr,
    /// The written direction.
    pub direction: Option<Direction>,
}

impl TopNestedOperator {
    /// Parses the operator after its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<TopNestedOperator> {
        let mut levels = vec![top_nested_level(p)?];
        while p.eat(TokenKind::Comma) {
            if !p.eat_joined("top-nested") {
                return p.fail();
            }
            levels.push(top_nested_level(p)?);
        }
        Some(TopNestedOperator { levels })
    }
}

impl Display for TopNestedOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Commas(&self.levels))
    }
}

/// Parses a level after its keyword.
fn top_nested_level(p: &mut Parser<'_>) -> Option<TopNestedLevel> {
    let count = if p.at_word("of") {
        None
    } else {
        Some(p.expr()?)
    };
    p.expect_word("of")?;
    let of = p.named_expr()?;
    let others = if p.eat_word("with") {
        p.expect_word("others")?;
        p.expect(TokenKind::Assign)?;
        Some(p.expr()?)
    } else {
        None
    };
    p.expect_word("by")?;
    let by = p.named_expr()?;
    let direction = p.direction();
    Some(TopNestedLevel {
        count,
        of,
        others,
        by,
        direction,
    })
}

impl Display for TopNestedLevel {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("top-nested")?;
        if let Some(count) = &self.count {
            write!(f, " {count}")?;
        }
        write!(f, " of {}", self.of)?;
        if let Some(others) = &self.others {
            write!(f, " with others = {others}")?;
        }
        write!(f, " by {}", self.by)?;
        match self.direction {
            Some(direction) => write!(f, " {direction}"),
            None => Ok(()),
        }
    }
}
