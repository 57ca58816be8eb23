//! Which tables an event type reads.

use hindsight_kql_syntax::ast::{Expr, ExprKind, Operator, OperatorKind, UnionOperator};
use hindsight_store::{Column, Table};

use crate::error::EngineError;

/// The event type that means every table.
const ALL: &str = "$all";

/// The rows that an event type names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// One table.
    One(Table),
    /// `$all`
    All,
}

impl Source {
    /// The source of an event type. Its name is exact, as the paths of a URL are.
    pub(super) fn find(event_type: &str) -> Result<Source, EngineError> {
        if event_type == ALL {
            return Ok(Source::All);
        }
        Table::from_name(event_type)
            .map(Source::One)
            .ok_or_else(|| {
                let known: Vec<_> = Table::ALL.iter().map(|table| table.name()).collect();
                EngineError::NotFound(format!(
                    "'{event_type}' is not an event type. The event types are {} and {ALL}.",
                    known.join(", ")
                ))
            })
    }

    /// The tables in their order.
    pub(super) fn tables(self) -> &'static [Table] {
        const TABLES: [Table; 10] = Table::ALL;
        match self {
            Source::All => &TABLES,
            Source::One(table) => TABLES
                .iter()
                .find(|t| **t == table)
                .map_or(&[], std::slice::from_ref),
        }
    }

    /// Every column of the tables once. Columns of one name have one type in all tables.
    pub(super) fn columns(self) -> Vec<&'static Column> {
        let mut columns: Vec<&'static Column> = Vec::new();
        for column in self.tables().iter().flat_map(|table| table.columns()) {
            if !columns.iter().any(|known| known.name == column.name) {
                columns.push(column);
            }
        }
        columns
    }

    /// The table, or the union of all.
    pub(super) fn to_kql(self) -> Expr {
        match self {
            Source::One(table) => Expr::name(table.name()),
            Source::All => {
                let tables = self
                    .tables()
                    .iter()
                    .map(|table| Expr::name(table.name()))
                    .collect();
                let union = UnionOperator {
                    parameters: Vec::new(),
                    tables,
                };
                Expr::synthetic(ExprKind::Source(Box::new(Operator::synthetic(
                    OperatorKind::Union(union),
                ))))
            }
        }
    }
}
