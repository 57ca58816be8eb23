//! The state of one translation.

use std::cell::RefCell;

use hindsight_kql_syntax::ast::Operator;

use super::operand::Resolver;

/// What translators of nodes share: the meaning of paths, and the columns that lambdas add.
pub(super) struct Translator<'a> {
    pub(super) resolver: &'a Resolver<'a>,
    /// The columns that lambdas need and the operators that add them; none where there can be no lambda.
    pub(super) lambdas: Option<RefCell<Vec<(String, Operator)>>>,
}

impl<'a> Translator<'a> {
    /// A translator where lambdas are not allowed: outside of conditions of filters.
    pub(super) fn plain(resolver: &'a Resolver<'a>) -> Translator<'a> {
        Translator {
            resolver,
            lambdas: None,
        }
    }
}
