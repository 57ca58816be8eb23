//! `render`.

use std::fmt::{self, Display, Formatter};

use crate::ast::{Commas, Expr, Name};
use crate::parser::Parser;
use crate::token::TokenKind;

/// `render kind [with (property=value, …)] [by a, …]`
#[derive(Debug, Clone, PartialEq)]
pub struct RenderOperator {
    /// The visualisation.
    pub kind: Name,
    /// `with (…)`, or the properties of the older form without parentheses.
    pub properties: Vec<RenderProperty>,
    /// `by a, …`, an older form of `series=`.
    pub by: Vec<Name>,
}

/// `name = value`; `ycolumns=a, b` lists several values.
#[derive(Debug, Clone, PartialEq)]
pub struct RenderProperty {
    /// The property.
    pub name: Name,
    /// Its values: literals or names.
    pub values: Vec<Expr>,
}

impl RenderOperator {
    /// Parses the operator after its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<RenderOperator> {
        let kind = p.name()?;
        let properties = if p.eat_word("with") {
            p.expect(TokenKind::LeftParen)?;
            let properties = render_properties(p)?;
            p.expect(TokenKind::RightParen)?;
            properties
        } else {
            render_properties(p)?
        };
        let by = if p.eat_word("by") {
            p.comma_list(Parser::name)?
        } else {
            Vec::new()
        };
        Some(RenderOperator {
            kind,
            properties,
            by,
        })
    }
}

impl Display for RenderOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("render ")?;
        f.write_str(&self.kind.text)?;
        if !self.properties.is_empty() {
            write!(f, " with ({})", Commas(&self.properties))?;
        }
        if self.by.is_empty() {
            Ok(())
        } else {
            write!(f, " by {}", Commas(&self.by))
        }
    }
}

/// Parses `name=value, value name=value …`: commas between properties are optional.
fn render_properties(p: &mut Parser<'_>) -> Option<Vec<RenderProperty>> {
    let mut properties: Vec<RenderProperty> = Vec::new();
    while p.at(TokenKind::Name) && p.kind(1) == TokenKind::Assign {
        let name = p.name()?;
        p.advance();
        let mut values = vec![p.parameter_value()?];
        while p.eat(TokenKind::Comma) {
            if p.kind(1) == TokenKind::Assign {
                break;
            }
            values.push(p.parameter_value()?);
        }
        properties.push(RenderProperty { name, values });
    }
    Some(properties)
}
