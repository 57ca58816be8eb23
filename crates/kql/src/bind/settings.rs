//! `set` statements (`docs/semantics.md §14.1`).

use hindsight_kql_syntax::ast::{ExprKind, Query, Statement};
use hindsight_kql_syntax::{Code, Diagnostic};
use hindsight_kql_types::Value;

use super::binder::Binder;
use super::request::Request;
use crate::context::BindContext;

impl<'a> Request<'a> {
    /// Returns the request with the `set` statements of `query`. They apply to the whole query, whatever their position.
    pub(crate) fn with_settings(mut self, query: &Query) -> Result<Request<'a>, Diagnostic> {
        for statement in &query.statements {
            let Statement::Set { name, value } = statement else {
                continue;
            };
            let value = match value.as_ref().map(|v| (&v.kind, v)) {
                None => Value::Bool(true),
                Some((ExprKind::Name(word), _)) => Value::String(word.text.clone()),
                Some((_, expr)) => Binder::new(&self).bind_constant(expr)?,
            };
            if name.text == "query_now" {
                let Value::DateTime(ticks) = value else {
                    let message = "the value of the option 'query_now' must be a datetime literal";
                    return Err(Diagnostic::new(Code::BadOption, message, name.span()));
                };
                self.set_now_ticks(ticks);
            }
            self.settings.insert(&name.text, value);
        }
        Ok(self)
    }
}
