//! `current_principal()`, `current_principal_details()`, `current_principal_is_member_of(…)` and `current_cluster_endpoint()`
//! (`docs/semantics.md §12`).

use hindsight_kql_syntax::Code;
use hindsight_kql_syntax::ast::Expr;
use hindsight_kql_types::{Dynamic, ScalarType, Value};

use super::binder::Binder;
use crate::error::BindResult;
use crate::principal::{NULL_IDENTITY, PrincipalName};
use crate::relation::{Relation, Scalar};

/// The result of `current_cluster_endpoint()` for a query from within the process.
const LOCAL_ENDPOINT: &str = "localhost";

impl Binder<'_> {
    /// The host and port by which the client reaches the server.
    pub(crate) fn bind_endpoint(&self) -> Scalar {
        let endpoint = self.request.endpoint();
        Scalar::constant(Value::String(endpoint.unwrap_or(LOCAL_ENDPOINT).to_owned()))
    }

    /// The fully qualified name of the principal that sends the query.
    pub(crate) fn bind_principal(&self) -> Scalar {
        let principal = self.request.principal();
        let name = principal.map_or_else(|| NULL_IDENTITY.to_owned(), |p| p.qualified_name());
        Scalar::constant(Value::String(name))
    }

    /// A bag of what is known of the principal; null for a query without a principal.
    pub(crate) fn bind_principal_details(&self) -> Scalar {
        let principal = self.request.principal();
        Scalar::constant(principal.map_or_else(
            || Value::null(ScalarType::Dynamic),
            |p| Value::Dynamic(p.details()),
        ))
    }

    /// Whether one of the names is that of the principal. The arguments are constants: strings, or arrays of strings.
    pub(crate) fn bind_principal_is_member(
        &mut self,
        names: &[&Expr],
        input: &Relation,
    ) -> BindResult<Scalar> {
        let mut is_member = false;
        for argument in names {
            let constant = self.bind_scalar(argument, input)?.constant;
            let Some(texts) = constant.and_then(texts) else {
                let message = "current_principal_is_member_of(): each argument must be a string constant, or a constant array of strings";
                return Err(self.error(Code::Semantics, message, argument.span));
            };
            for text in &texts {
                let Some(name) = PrincipalName::parse(text) else {
                    let message = format!(
                        "current_principal_is_member_of(): '{text}' is not the name of a principal, such as 'aaduser=…' or 'aadapp=…;…'"
                    );
                    return Err(self.error(Code::Semantics, message, argument.span));
                };
                let principal = self.request.principal();
                is_member |= principal.is_some_and(|principal| principal.is(&name));
            }
        }
        Ok(Scalar::constant(Value::Bool(is_member)))
    }
}

/// The texts of a constant: itself, or the elements of an array. `None` for other values.
fn texts(constant: Value) -> Option<Vec<String>> {
    let text = |value: Dynamic| match value {
        Dynamic::String(text) => Some(text),
        _ => None,
    };
    match constant {
        Value::String(text) => Some(vec![text]),
        Value::Dynamic(bytes) => match Dynamic::decode(&bytes) {
            Dynamic::Array(values) => values.into_iter().map(text).collect(),
            single => text(single).map(|text| vec![text]),
        },
        _ => None,
    }
}
