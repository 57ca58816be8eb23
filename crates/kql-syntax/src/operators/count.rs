//! `count`.

use std::fmt::{self, Display, Formatter};

use crate::ast::Name;
use crate::parser::Parser;

/// `count [as Name]`
#[derive(Debug, Clone, PartialEq)]
pub struct CountOperator {
    /// `as Name`
    pub name: Option<Name>,
}

impl CountOperator {
    /// Parses the operator after its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<CountOperator> {
        let name = if p.eat_word("as") {
            Some(p.defining_name()?)
        } else {
            None
        };
        Some(CountOperator { name })
    }
}

impl Display for CountOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "count as {name}"),
            None => f.write_str("count"),
        }
    }
}
