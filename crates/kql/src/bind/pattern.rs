//! `declare pattern`: names that select a tabular expression by the constant arguments of a call (`docs/semantics.md §14.1`).

use std::sync::Arc;

use hindsight_kql_syntax::ast::{
    Expr, ExprKind, Literal, PatternDeclaration, PatternMapping, PatternRule,
};
use hindsight_kql_syntax::{Code, Span};
use hindsight_kql_types::ScalarType;

use super::binder::Binder;
use crate::context::{BindContext, Bound, Entry, Invocation};
use crate::error::BindResult;

impl Binder<'_> {
    /// Adds a declaration to the scope.
    pub(super) fn bind_pattern_declaration(
        &mut self,
        pattern: &PatternDeclaration,
    ) -> BindResult<()> {
        let name = &pattern.name;
        if self.frame.names.defined_here(&name.text) {
            let message = "Let with the same name was already used in current context";
            return Err(self.error(Code::DuplicateLet, message, name.span()));
        }
        if let Some(mapping) = &pattern.mapping {
            self.check_mapping(mapping)?;
        }
        let entry = Entry::Pattern(Arc::new(pattern.clone()));
        self.frame.names = self.frame.names.with(&name.text, entry);
        Ok(())
    }

    fn check_mapping(&self, mapping: &PatternMapping) -> BindResult<()> {
        let parameters = mapping.parameters.iter().chain(&mapping.path);
        for parameter in parameters {
            if parameter.kind != ScalarType::String {
                let message = "the arguments and the path of a pattern must be of type string";
                return Err(self.error(Code::Semantics, message, parameter.name.span()));
            }
        }
        for rule in &mapping.rules {
            let fits = rule.arguments.len() == mapping.parameters.len()
                && rule.path.is_some() == mapping.path.is_some();
            let values = rule.arguments.iter().chain(&rule.path);
            let is_text = |e: &Expr| matches!(e.kind, ExprKind::Literal(Literal::String(_)));
            let span = rule.arguments.first().map_or(Span::default(), |a| a.span);
            if !fits {
                let message = "the rule must have a value for each argument and path that the pattern declares";
                return Err(self.error(Code::Semantics, message, span));
            }
            if let Some(other) = values.into_iter().find(|v| !is_text(v)) {
                let message = "the values of a pattern must be string literals";
                return Err(self.error(Code::Semantics, message, other.span));
            }
        }
        Ok(())
    }

    /// The rows of the tabular expression that a call of a pattern selects.
    pub(super) fn bind_invocation(
        &mut self,
        invocation: &Invocation<'_>,
        span: Span,
    ) -> BindResult<Bound> {
        let mut arguments = Vec::new();
        for argument in &invocation.call.arguments {
            arguments.push(self.constant_string(&argument.value)?);
        }
        let found = self.frame.names.find(&invocation.call.function.text);
        let Some((Entry::Pattern(pattern), seen)) = found else {
            return Err(self.error(
                Code::UnresolvedName,
                "Failed to resolve table expression",
                span,
            ));
        };
        let (pattern, seen) = (Arc::clone(pattern), seen.clone());
        let mapping = pattern.mapping.as_ref();
        let rule = mapping.and_then(|m| {
            m.rules
                .iter()
                .find(|r| holds(r, &arguments, invocation.path))
        });
        let Some(rule) = rule else {
            let message = format!(
                "One or more pattern references were not declared. Detected pattern references: [\"{}\"]",
                reference(&pattern.name.text, &arguments, invocation.path)
            );
            return Err(self.error(Code::UndeclaredPattern, message, span));
        };
        self.with_names(seen.block(), |binder| {
            binder.bind_statements(&rule.body, span)
        })
    }
}

fn holds(rule: &PatternRule, arguments: &[String], path: Option<&str>) -> bool {
    let is = |expr: &Expr, text: &str| matches!(&expr.kind, ExprKind::Literal(Literal::String(own)) if own == text);
    let path_holds = match (&rule.path, path) {
        (Some(own), Some(path)) => is(own, path),
        (None, None) => true,
        _ => false,
    };
    path_holds
        && rule.arguments.len() == arguments.len()
        && rule
            .arguments
            .iter()
            .zip(arguments)
            .all(|(own, text)| is(own, text))
}

/// A call in the notation of the error for missing patterns: `app('x').['path']`.
fn reference(name: &str, arguments: &[String], path: Option<&str>) -> String {
    let arguments: Vec<String> = arguments.iter().map(|a| format!("'{a}'")).collect();
    let path = path.map_or(String::new(), |path| format!(".['{path}']"));
    format!("{name}({}){path}", arguments.join(","))
}
