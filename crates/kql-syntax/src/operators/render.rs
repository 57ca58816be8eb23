//! `render`.

use crate::ast::{Expr, Name};

/// `render kind [with (property=value, …)]`
#[derive(Debug, Clone, PartialEq)]
pub struct RenderOperator {
    /// The visualisation.
    pub kind: Name,
    /// `with (…)`, or the properties of the older form without parentheses.
    pub properties: Vec<RenderProperty>,
}

/// `name = value`; `ycolumns=a, b` lists several values.
#[derive(Debug, Clone, PartialEq)]
pub struct RenderProperty {
    /// The property.
    pub name: Name,
    /// Its values: literals or names.
    pub values: Vec<Expr>,
}
