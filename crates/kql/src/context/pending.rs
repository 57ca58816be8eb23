//! Calls inside an operator's expressions that the operator's input must compute first.

use crate::relation::Relation;
use crate::window::WindowCall;

/// Calls that are bound to fields which do not exist yet; [`crate::window::absorb`] adds the fields.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    /// Calls of window functions.
    pub(crate) windows: Vec<WindowCall>,
    /// Values of subtables (`toscalar` inside `partition`): a row for each subtable.
    pub(crate) subtable_values: Vec<Relation>,
}
