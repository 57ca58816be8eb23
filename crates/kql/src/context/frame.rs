//! The place in a query that is being bound.

use std::sync::Arc;

use hindsight_kql_syntax::{Code, Diagnostic, Span};

use super::names::{Entry, Env};
use crate::relation::{Relation, Scalar};

/// What holds at one place of a query, and no longer than binding stays there.
#[derive(Debug, Clone, Default)]
pub(crate) struct Frame {
    /// The names that are visible.
    pub(crate) names: Env,
    /// The keyword of the operator being bound, for messages.
    pub(crate) operator: Option<Arc<str>>,
    /// How many pipelines enclose this place; a row's values are visible only in their own.
    pub(crate) level: usize,
    /// How many calls of functions enclose this place.
    pub(crate) call_depth: usize,
    /// Inside `mv-apply` and `partition`: a row for each subtable, of the columns that tell them apart.
    pub(crate) subtables: Option<Arc<Relation>>,
}

impl Frame {
    /// This place with other names.
    pub(crate) fn with_names(&self, names: Env) -> Frame {
        Frame {
            names,
            ..self.clone()
        }
    }

    /// This place with one more name, which belongs to a block of its own, as what follows does.
    pub(crate) fn with_name(&self, name: &str, entry: Entry) -> Frame {
        self.with_names(self.names.block().with(name, entry).block())
    }

    /// This place outside of any operator.
    pub(crate) fn outside_operators(&self) -> Frame {
        Frame {
            operator: None,
            ..self.clone()
        }
    }

    /// This place inside the subtables that the rows of `subtables` tell apart.
    pub(crate) fn in_subtables(&self, subtables: Relation) -> Frame {
        Frame {
            subtables: Some(Arc::new(subtables)),
            ..self.clone()
        }
    }

    /// A scalar that is bound here, as the entry of a name.
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

    /// The diagnostic of a construct that the language has and this service has not.
    pub(crate) fn unsupported(&self, what: impl std::fmt::Display, span: Span) -> Diagnostic {
        self.error(Code::Semantics, format!("{what} is not supported"), span)
    }
}
