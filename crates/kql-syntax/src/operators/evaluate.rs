//! `evaluate`.

use std::fmt::{self, Display, Formatter};

use crate::ast::{Call, OperatorParameter, Parameters, TypeOf};
use crate::parser::Parser;
use crate::token::TokenKind;

/// `evaluate [hint.distribution=…] plugin(args) [: (schema)]`
#[derive(Debug, Clone, PartialEq)]
pub struct EvaluateOperator {
    /// Hints.
    pub parameters: Vec<OperatorParameter>,
    /// The plug-in and its arguments.
    pub plugin: Call,
    /// The declared schema of the result.
    pub schema: Option<TypeOf>,
}

impl EvaluateOperator {
    /// Parses the operator after its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<EvaluateOperator> {
        let parameters = p.parameters(&[])?;
        let name = p.name()?;
        let plugin = p.call(name)?;
        let schema = if p.eat(TokenKind::Colon) {
            Some(p.row_type()?)
        } else {
            None
        };
        Some(EvaluateOperator {
            parameters,
            plugin,
            schema,
        })
    }
}

impl Display for EvaluateOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "evaluate{} {}",
            Parameters(&self.parameters),
            self.plugin
        )?;
        match &self.schema {
            Some(schema) => write!(f, " : {schema}"),
            None => Ok(()),
        }
    }
}
