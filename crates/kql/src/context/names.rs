//! The names of `let`, parameters and `as`: a persistent list, so a function captures the names in scope at its definition.

use std::sync::Arc;

use hindsight_kql_syntax::ast::{Expr, FunctionDeclaration, PatternDeclaration};

use super::access::Access;
use crate::catalog::TableScope;
use crate::graph::Graph;
use crate::relation::{Relation, Scalar};

/// The meaning of a name.
#[derive(Debug, Clone)]
pub(crate) enum Entry {
    /// A scalar `let`: each use binds it again, with the names in scope at its definition.
    Macro(Arc<Expr>),
    /// A tabular `let`: each use binds it again.
    Tabular(Arc<Expr>),
    /// A bound scalar: an argument. `level` identifies the pipeline whose row it may read.
    Value {
        /// The scalar.
        scalar: Scalar,
        /// The [`super::Frame::level`] at which it was bound.
        level: usize,
    },
    /// Bound rows: a tabular argument, `materialize`, `as`.
    Relation(Relation),
    /// A bound graph: `materialize`.
    Graph(Graph),
    /// A function.
    Function(Arc<UserFunction>),
    /// `entity_group [ … ]`
    EntityGroup(Arc<Vec<Expr>>),
    /// `declare pattern`
    Pattern(Arc<PatternDeclaration>),
    /// `alias database`, stored under [`alias_name`], because `database('name')` looks it up.
    Alias(TableScope),
    /// `restrict access to (…)`: tables and tabular names defined before it are visible only if it permits them.
    Access(Arc<Access>),
    /// A scalar parameter of a function whose body is only being classified.
    ScalarMarker,
    /// A tabular parameter of a function whose body is only being classified.
    TabularMarker,
}

/// A user-defined function.
#[derive(Debug)]
pub(crate) struct UserFunction {
    /// Its definition in the syntax tree.
    pub(crate) declaration: FunctionDeclaration,
    /// Whether it is tabular, with the names in scope at its definition.
    pub(crate) tabular: bool,
}

#[derive(Debug)]
struct Node {
    name: String,
    entry: Entry,
    /// The block that defined the name: two lets of one name in one block are refused.
    block: usize,
    parent: Env,
}

/// The names in scope, newest first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Env {
    head: Option<Arc<Node>>,
    block: usize,
}

impl Env {
    /// This environment with one more name.
    pub(crate) fn with(&self, name: impl Into<String>, entry: Entry) -> Env {
        Env {
            head: Some(Arc::new(Node {
                name: name.into(),
                entry,
                block: self.block,
                parent: self.clone(),
            })),
            block: self.block,
        }
    }

    /// This environment with a new block, in which all names may be redefined.
    pub(crate) fn block(&self) -> Env {
        Env {
            head: self.head.clone(),
            block: self.block + 1,
        }
    }

    /// The entry of `name`, and the names in scope at its definition.
    pub(crate) fn find(&self, name: &str) -> Option<(&Entry, &Env)> {
        self.node(name).map(|node| (&node.entry, &node.parent))
    }

    /// Whether `name` is defined in the current block.
    pub(crate) fn defined_here(&self, name: &str) -> bool {
        self.node(name).is_some_and(|node| node.block == self.block)
    }

    /// The names of every visible entry that `select` accepts, oldest first, each once.
    pub(crate) fn names(&self, select: impl Fn(&Entry) -> bool) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        let mut next = self.head.as_deref();
        while let Some(node) = next {
            let visible = select(&node.entry) && self.node(&node.name).is_some();
            if visible && !names.contains(&node.name) {
                names.push(node.name.clone());
            }
            next = node.parent.head.as_deref();
        }
        names.reverse();
        names
    }

    /// The restrictions in force, newest first.
    pub(crate) fn accesses(&self) -> Vec<Arc<Access>> {
        let mut accesses = Vec::new();
        let mut next = self.head.as_deref();
        while let Some(node) = next {
            if let Entry::Access(access) = &node.entry {
                accesses.push(Arc::clone(access));
            }
            next = node.parent.head.as_deref();
        }
        accesses
    }

    fn node(&self, name: &str) -> Option<&Node> {
        let mut next = self.head.as_deref();
        let mut hidden = false;
        while let Some(node) = next {
            if let Entry::Access(access) = &node.entry {
                hidden |= !access.permits_name(name);
            } else if node.name == name {
                return if hidden && is_restricted(node) {
                    None
                } else {
                    Some(node)
                };
            }
            next = node.parent.head.as_deref();
        }
        None
    }
}

/// The name under which an alias of a database is stored; no query can write it.
pub(crate) fn alias_name(database: &str) -> String {
    format!("\0alias.{database}")
}

/// The name of a restriction; no query can write it.
pub(crate) const ACCESS: &str = "\0access";

/// Whether `restrict access` hides an entry that it does not name: tabular entries and patterns, but not scalars.
fn is_restricted(node: &Node) -> bool {
    match &node.entry {
        Entry::Tabular(_) | Entry::Relation(_) | Entry::Graph(_) | Entry::Pattern(_) => true,
        Entry::Function(function) => function.tabular,
        _ => false,
    }
}

impl Drop for Node {
    /// Drops a long list iteratively.
    fn drop(&mut self) {
        let mut next = self.parent.head.take();
        while let Some(node) = next {
            next = match Arc::try_unwrap(node) {
                Ok(mut node) => node.parent.head.take(),
                Err(_) => None,
            };
        }
    }
}
