//! The scope of the part of a query that is being bound.

use std::sync::Arc;

use hindsight_kql_syntax::{Code, Diagnostic, Span};

use super::names::{Entry, Env};
use crate::relation::{Relation, Scalar};

/// The state of one place of a query. It is replaced when binding leaves the place.
#[derive(Debug, Clone, Default)]
pub(crate) struct Frame {
    /// The names in scope.
    pub(crate) names: Env,
    /// The keyword of the current operator, for messages.
    pub(crate) operator: Option<Arc<str>>,
    /// The number of enclosing pipelines; the values of a row are visible only in their own pipeline.
    pub(crate) level: usize,
    /// The number of enclosing function calls.
    pub(crate) call_depth: usize,
    /// Inside `mv-apply` and `partition`: one row for each subtable with the subtable keys.
    pub(crate) subtables: Option<Arc<Relation>>,
}

impl Frame {
    /// This frame with other names in scope.
    pub(crate) fn with_names(&self, names: Env) -> Frame {
        Frame {
            names,
            ..self.clone()
        }
    }

    /// This frame with one more name in a block of its own; the following statements form the next block.
    pub(crate) fn with_name(&self, name: &str, entry: Entry) -> Frame {
        self.with_names(self.names.block().with(name, entry).block())
    }

    /// This frame outside of any operator.
    pub(crate) fn outside_operators(&self) -> Frame {
        Frame {
            operator: None,
            ..self.clone()
        }
    }

    /// This frame inside the subtables that the rows of `subtables` identify.
    pub(crate) fn in_subtables(&self, subtables: Relation) -> Frame {
        Frame {
            subtables: Some(Arc::new(subtables)),
            ..self.clone()
        }
    }

    /// The entry of a name for a scalar that is bound in this frame.
    pub(crate) fn value(&self, scalar: Scalar) -> Entry {
        Entry::Value {
            scalar,
            level: self.level,
        }
    }

    /// A diagnostic whose message begins with the operator being bound.
    pub(crate) fn error(&self, code: Code, message: impl AsRef<str>, span: Span) -> Diagnostic {
        match &self.operator {
            Some(operator) => Diagnostic::new(
                code,
                format!("'{operator}' operator: {}", message.as_ref()),
                span,
            ),
            None => Diagnostic::new(code, message.as_ref(), span),
        }
    }

    /// The diagnostic of a KQL construct that is not implemented.
    pub(crate) fn unsupported(&self, what: impl std::fmt::Display, span: Span) -> Diagnostic {
        self.error(Code::Semantics, format!("{what} is not supported"), span)
    }
}
