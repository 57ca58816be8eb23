//! `scan`.

use std::fmt::{self, Display, Formatter};

use crate::ast::{Commas, Expr, Name, OperatorParameter, OrderedExpr, Parameter, Parameters};
use crate::parser::Parser;
use crate::token::TokenKind;

/// `scan [with_match_id=id] [declare (…)] with ( step … ; )`
#[derive(Debug, Clone, PartialEq)]
pub struct ScanOperator {
    /// `with_match_id=…`, `kind=…`
    pub parameters: Vec<OperatorParameter>,
    /// `order by …` inside, `partition by …` inside.
    pub order_by: Vec<OrderedExpr>,
    /// `partition by …`
    pub partition_by: Vec<Expr>,
    /// `declare (…)`
    pub declare: Vec<Parameter>,
    /// The steps.
    pub steps: Vec<ScanStep>,
}

/// `step name [optional] [output=all|last|none] : condition [=> a = x, …];`
#[derive(Debug, Clone, PartialEq)]
pub struct ScanStep {
    /// The step.
    pub name: Name,
    /// `optional`
    pub optional: bool,
    /// `output=…`
    pub output: Option<Name>,
    /// The condition.
    pub condition: Expr,
    /// The assignments.
    pub assignments: Vec<(Name, Expr)>,
}

impl ScanOperator {
    /// Parses the operator after its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<ScanOperator> {
        let parameters = p.parameters(&["with_match_id", "kind"])?;
        let order_by = if p.eat_word("order") {
            p.expect_word("by")?;
            p.comma_list(Parser::ordered_expr)?
        } else {
            Vec::new()
        };
        let partition_by = if p.eat_word("partition") {
            p.expect_word("by")?;
            p.comma_list(Parser::expr)?
        } else {
            Vec::new()
        };
        let declare = if p.eat_word("declare") {
            p.parameter_declarations()?
        } else {
            Vec::new()
        };
        p.expect_word("with")?;
        p.expect(TokenKind::LeftParen)?;
        let mut steps = Vec::new();
        while steps.is_empty() || !p.at(TokenKind::RightParen) {
            steps.push(scan_step(p)?);
            if !p.eat(TokenKind::Semicolon) {
                break;
            }
        }
        p.expect(TokenKind::RightParen)?;
        Some(ScanOperator {
            parameters,
            order_by,
            partition_by,
            declare,
            steps,
        })
    }
}

impl Display for ScanOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "scan{}", Parameters(&self.parameters))?;
        if !self.order_by.is_empty() {
            write!(f, " order by {}", Commas(&self.order_by))?;
        }
        if !self.partition_by.is_empty() {
            write!(f, " partition by {}", Commas(&self.partition_by))?;
        }
        if !self.declare.is_empty() {
            write!(f, " declare ({})", Commas(&self.declare))?;
        }
        f.write_str(" with (")?;
        self.steps
            .iter()
            .try_for_each(|step| write!(f, " {step};"))?;
        f.write_str(" )")
    }
}

/// Parses `step name [optional] [output=…] : condition [=> a = x, …]`.
fn scan_step(p: &mut Parser<'_>) -> Option<ScanStep> {
    p.expect_word("step")?;
    let name = p.defining_name()?;
    let optional = p.eat_word("optional");
    let output = if p.at_word("output") {
        p.advance();
        p.expect(TokenKind::Assign)?;
        Some(p.name()?)
    } else {
        None
    };
    p.expect(TokenKind::Colon)?;
    let condition = p.expr()?;
    let assignments = if p.eat(TokenKind::Arrow) {
        p.comma_list(|p| {
            let name = p.defining_name()?;
            p.expect(TokenKind::Assign)?;
            Some((name, p.expr()?))
        })?
    } else {
        Vec::new()
    };
    Some(ScanStep {
        name,
        optional,
        output,
        condition,
        assignments,
    })
}

impl Display for ScanStep {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "step {}", self.name)?;
        if self.optional {
            f.write_str(" optional")?;
        }
        if let Some(output) = &self.output {
            write!(f, " output={}", output.text)?;
        }
        write!(f, " : {}", self.condition)?;
        for (index, (name, value)) in self.assignments.iter().enumerate() {
            write!(
                f,
                "{}{name} = {value}",
                if index == 0 { " => " } else { ", " }
            )?;
        }
        Ok(())
    }
}
