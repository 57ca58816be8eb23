//! Lists of named expressions: their columns and the names of those (`docs/semantics.md §13.1, §13.2`).

use std::collections::HashSet;

use hindsight_kql_syntax::ast::{Expr, ExprKind, Name, NamedExpr};
use hindsight_kql_syntax::{Code, Span};

use super::binder::Binder;
use super::result_name::result_name;
use crate::context::{BoundColumn, NamingMode, wildcard_matches};
use crate::error::BindResult;
use crate::relation::{ColumnRole, Relation, Scalar};

/// The origin of a target's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// `Name = …`
    Written(String),
    /// A plain column.
    Plain(String),
    /// A name that is derived from the argument of a call or from a path.
    Generated(String),
    /// No name: the column is numbered.
    Unnamed,
}

impl Target {
    /// The target of an item without an explicit name.
    pub(crate) fn of(expr: &Expr) -> Target {
        match (&expr.unparenthesised().kind, result_name(expr)) {
            (ExprKind::Name(name), _) => Target::Plain(name.text.clone()),
            (_, Some(name)) => Target::Generated(name),
            (_, None) => Target::Unnamed,
        }
    }

    fn spelled(&self) -> Option<&str> {
        match self {
            Target::Written(name) | Target::Plain(name) => Some(name),
            _ => None,
        }
    }
}

/// Assigns names to the targets of one operator, from left to right.
pub(crate) struct Namer {
    mode: NamingMode,
    input: HashSet<String>,
    spelled: HashSet<String>,
    used: HashSet<String>,
    spelled_used: HashSet<String>,
    number: usize,
    position: usize,
}

impl Namer {
    /// Creates a namer for an operator over `input` that has exactly these `targets`.
    pub(crate) fn new<'t>(
        mode: NamingMode,
        input: &Relation,
        targets: impl IntoIterator<Item = &'t Target>,
    ) -> Namer {
        Namer {
            mode,
            input: input.columns.iter().map(|c| c.name.clone()).collect(),
            spelled: targets
                .into_iter()
                .filter_map(|t| t.spelled().map(str::to_owned))
                .collect(),
            used: HashSet::new(),
            spelled_used: HashSet::new(),
            number: 0,
            position: 0,
        }
    }

    /// Returns the name of the next target.
    pub(crate) fn name(
        &mut self,
        binder: &Binder<'_>,
        target: &Target,
        span: Span,
    ) -> BindResult<String> {
        let position = self.position;
        self.position += 1;
        let duplicate = |name: &str| {
            binder.error(
                Code::DuplicateColumn,
                format!("duplicate column name '{name}'"),
                span,
            )
        };
        let name = match target {
            Target::Written(name) | Target::Plain(name) => {
                let taken = match self.mode {
                    NamingMode::Extend => self.used.contains(name),
                    _ => self.spelled_used.contains(name),
                };
                if taken {
                    return Err(duplicate(name));
                }
                self.spelled_used.insert(name.clone());
                self.free(name, false)
            }
            Target::Generated(name) if self.mode == NamingMode::Extend => {
                if self.used.contains(name) {
                    return Err(duplicate(name));
                }
                name.clone()
            }
            Target::Generated(name) if self.spelled.contains(name) => self.suffixed(name, true),
            Target::Generated(name) => self.free(name, true),
            Target::Unnamed if self.mode == NamingMode::Print => {
                self.free(&format!("print_{position}"), false)
            }
            Target::Unnamed => {
                let name = self.numbered();
                self.free(&name, false)
            }
        };
        self.used.insert(name.clone());
        Ok(name)
    }

    /// Records that `name` is assigned to `target`.
    pub(crate) fn take(&mut self, target: &Target, name: &str) {
        self.used.insert(name.to_owned());
        match target {
            Target::Written(_) | Target::Plain(_) => {
                self.spelled_used.insert(name.to_owned());
            }
            Target::Unnamed => self.number += 1,
            Target::Generated(_) => {}
        }
    }

    /// The next `ColumnN`. If the columns of the input stay visible, their names are skipped.
    fn numbered(&mut self) -> String {
        loop {
            self.number += 1;
            let name = format!("Column{}", self.number);
            let skip = matches!(self.mode, NamingMode::Extend | NamingMode::Summarize)
                && self.input.contains(&name);
            if !skip {
                return name;
            }
        }
    }

    fn free(&self, name: &str, avoid_spelled: bool) -> String {
        if self.used.contains(name) {
            self.suffixed(name, avoid_spelled)
        } else {
            name.to_owned()
        }
    }

    fn suffixed(&self, name: &str, avoid_spelled: bool) -> String {
        (1..)
            .map(|n: usize| format!("{name}{n}"))
            .find(|n| !(self.used.contains(n) || avoid_spelled && self.spelled.contains(n)))
            .unwrap_or_default()
    }
}

impl Binder<'_> {
    /// Binds the items of `project`, `extend`, `print`, keys of `summarize`, … against `input` and names them.
    pub(crate) fn bind_projection(
        &mut self,
        items: &[NamedExpr],
        input: &Relation,
        mode: NamingMode,
    ) -> BindResult<Vec<BoundColumn>> {
        let mut bound: Vec<(Target, Scalar, Span)> = Vec::with_capacity(items.len());
        let mut failure = None;
        for item in items {
            match self.bind_item(item, input, mode) {
                Ok(columns) => bound.extend(
                    columns
                        .into_iter()
                        .map(|(target, scalar)| (target, scalar, item.expr.span)),
                ),
                Err(error) => {
                    self.report_item(item, error.clone())?;
                    failure.get_or_insert(error);
                }
            }
        }
        // The operators after this one are bound over the columns without an error, if there are any.
        if let (true, Some(error)) = (bound.is_empty(), failure) {
            return Err(error);
        }
        let mut namer = Namer::new(mode, input, bound.iter().map(|(t, _, _)| t));
        let columns = bound.into_iter();
        self.each(columns, |binder, (target, scalar, span)| {
            Ok(BoundColumn {
                name: namer.name(binder, &target, span)?,
                scalar,
                explicit: target.spelled().is_some(),
            })
        })
    }

    /// The columns of one item: one, or several for `*` and for a call that returns several columns.
    fn bind_item(
        &mut self,
        item: &NamedExpr,
        input: &Relation,
        mode: NamingMode,
    ) -> BindResult<Vec<(Target, Scalar)>> {
        if let ExprKind::Wildcard(pattern) = &item.expr.kind {
            let columns = self.matching_columns(pattern, input, item.expr.span)?;
            return Ok(columns
                .into_iter()
                .map(|c| (Target::Plain(c.name.clone()), c.scalar()))
                .collect());
        }
        if let Some(columns) = self.bind_columns_call(&item.expr, input)? {
            return Ok(self.named_columns(item, columns));
        }
        let scalar = self.bind_scalar(&item.expr, input)?;
        let target = match item.names.as_slice() {
            // Only columns keep their names, and `print` numbers its unnamed columns.
            [] if mode == NamingMode::Print => Target::Unnamed,
            [] => Target::of(&item.expr),
            [name] => Target::Written(name.text.clone()),
            [_, second, ..] => {
                return Err(self.error(
                    Code::Semantics,
                    "the expression has one column and more names were given",
                    second.span(),
                ));
            }
        };
        Ok(vec![(target, scalar)])
    }

    /// Assigns the explicit names to the columns in order; the remaining columns keep their names. A single name without
    /// parentheses applies to the first column only.
    pub(crate) fn named_columns(
        &self,
        item: &NamedExpr,
        columns: Vec<(String, Scalar)>,
    ) -> Vec<(Target, Scalar)> {
        let written = |name: &Name| Target::Written(name.text.clone());
        let kept = match item.names.len() {
            1 => 1,
            _ => columns.len(),
        };
        columns
            .into_iter()
            .take(kept)
            .enumerate()
            .map(|(i, (name, scalar))| {
                let target = item.names.get(i).map_or(Target::Generated(name), written);
                (target, scalar)
            })
            .collect()
    }

    /// The columns of `input` whose names match a pattern with `*`; an error if none matches.
    pub(crate) fn matching_columns(
        &self,
        pattern: &str,
        input: &Relation,
        span: Span,
    ) -> BindResult<Vec<crate::relation::Column>> {
        let mut matches: Vec<_> = input
            .columns
            .iter()
            .filter(|c| wildcard_matches(pattern, &c.name))
            .cloned()
            .collect();
        if matches.is_empty() {
            return Err(self.error(
                Code::UnresolvedName,
                format!("Failed to resolve column name pattern '{pattern}'"),
                span,
            ));
        }
        matches.retain(|c| c.role == ColumnRole::Visible);
        Ok(matches)
    }
}
