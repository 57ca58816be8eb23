//! Messages about names that cannot be resolved, with a hint at a close name that can.

use hindsight_kql_syntax::suggest::with_hint;

/// The message about a name that denotes no column and no scalar; `known` are the names that do.
pub(crate) fn unknown_column<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> String {
    let message = format!("Failed to resolve column or scalar expression named '{name}'");
    with_hint(message, name, known)
}

/// The message about a name that denotes no table; `known` are the tables that the query may read.
pub(crate) fn unknown_table<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> String {
    let message = format!("Failed to resolve table or column expression named '{name}'");
    with_hint(message, name, known)
}

/// The message about a call of an unknown function; `known` are the functions that can be called in its place.
pub(crate) fn unknown_function<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> String {
    with_hint(format!("Unknown function: '{name}'."), name, known)
}
