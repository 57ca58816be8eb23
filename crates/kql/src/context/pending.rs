//! Calls inside an operator's expressions that must be computed over the operator's input first.

use crate::relation::Relation;
use crate::window::WindowCall;

/// Calls that are bound to fields that do not exist yet; [`crate::window::absorb`] adds the fields.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    /// Calls of window functions.
    pub(crate) windows: Vec<WindowCall>,
    /// Values of subtables (`toscalar` inside `partition`): one row for each subtable.
    pub(crate) subtable_values: Vec<Relation>,
}
