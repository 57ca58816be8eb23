//! `project-reorder`.

use std::fmt::{self, Display, Formatter};

use crate::ast::{Commas, Expr};
use crate::parser::Parser;

/// `project-reorder a, b* desc`
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectReorderOperator {
    /// Names and wildcards with an order for what a wildcard matches.
    pub columns: Vec<ReorderColumn>,
}

/// `name-or-pattern [asc|desc|granny-asc|granny-desc]`
#[derive(Debug, Clone, PartialEq)]
pub struct ReorderColumn {
    /// A name or wildcard.
    pub column: Expr,
    /// How the matches of a wildcard are ordered.
    pub order: Option<ReorderOrder>,
}

/// The order of a wildcard's matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReorderOrder {
    /// `asc`
    Asc,
    /// `desc`
    Desc,
    /// `granny-asc`: digits as numbers.
    GrannyAsc,
    /// `granny-desc`
    GrannyDesc,
}

impl ProjectReorderOperator {
    /// Parses the operator after its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<ProjectReorderOperator> {
        let columns = p.comma_list(|p| {
            let column = p.name_or_pattern()?;
            let order = reorder_order(p);
            Some(ReorderColumn { column, order })
        })?;
        Some(ProjectReorderOperator { columns })
    }
}

impl Display for ProjectReorderOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "project-reorder {}", Commas(&self.columns))
    }
}

/// Parses the order of a wildcard's matches if one is written.
fn reorder_order(p: &mut Parser<'_>) -> Option<ReorderOrder> {
    if p.eat_joined("granny-asc") {
        return Some(ReorderOrder::GrannyAsc);
    }
    if p.eat_joined("granny-desc") {
        return Some(ReorderOrder::GrannyDesc);
    }
    p.direction().map(|direction| match direction {
        crate::ast::Direction::Asc => ReorderOrder::Asc,
        crate::ast::Direction::Desc => ReorderOrder::Desc,
    })
}

impl Display for ReorderColumn {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.column)?;
        f.write_str(match self.order {
            None => "",
            Some(ReorderOrder::Asc) => " asc",
            Some(ReorderOrder::Desc) => " desc",
            Some(ReorderOrder::GrannyAsc) => " granny-asc",
            Some(ReorderOrder::GrannyDesc) => " granny-desc",
        })
    }
}
