//! The OData 4.01 expressions of `$filter`, `$orderby`, `$select`, `$search` and `$apply`, and their meaning in KQL (`D14`, `D15`).
//!
//! Text becomes a tree ([`ast`]) that knows positions; the tree becomes KQL with the help of a resolver, which knows what a
//! path stands for. Nothing here knows tables.

mod apply;
mod ast;
mod lexer;
mod lists;
mod literal;
mod parser;
mod search;
#[cfg(test)]
mod tests;
mod translate;

use hindsight_kql_syntax::ast::Expr;

use crate::error::EngineError;

pub(crate) use apply::{Aggregate, Method, Transformation, parse_apply};
pub(crate) use lists::{flag, order_by, paths, whole_number};
pub(crate) use parser::{conjuncts, mentions, parse, paths_of};
pub(crate) use search::{Search, parse_search};
pub(crate) use translate::{
    Kind, Resolved, Resolver, balanced, computed, filters, measure, predicate, sort_key,
};

/// What is wrong with a text, and at which character.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// A sentence that says what is wrong and what would be right.
    pub(crate) message: String,
    /// Characters from 0.
    pub(crate) at: usize,
}

impl Fault {
    /// A fault at a character.
    pub(crate) fn new(at: usize, message: impl Into<String>) -> Fault {
        Fault {
            message: message.into(),
            at,
        }
    }

    /// The error that a caller of `parameter` sees.
    pub(crate) fn of(self, parameter: &str) -> EngineError {
        EngineError::BadParameter {
            parameter: parameter.to_owned(),
            message: self.message,
            position: Some(self.at),
        }
    }
}

/// The predicate of a metric's `filter`: its paths are dimensions, which are text. `resolve` gives the KQL of a dimension,
/// or a sentence that says why it is not one.
///
/// Numbers and bools are compared with a dimension as its text or its value reads: see [`Kind::Loose`].
pub(crate) fn dimension_filter(
    text: &str,
    resolve: &dyn Fn(&str) -> Result<Expr, String>,
) -> Result<Expr, EngineError> {
    let resolver = |path: &str| {
        resolve(path).map(|expr| Resolved {
            expr,
            kind: Kind::Loose,
        })
    };
    // Dimensions are no lists, so nothing goes before the condition.
    parse(text)
        .and_then(|node| predicate(&node, &resolver))
        .map(|predicate| predicate.expr)
        .map_err(|fault| fault.of("filter"))
}
