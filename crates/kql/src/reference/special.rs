//! The functions that the binder implements by name, because they depend on more than the values of their arguments.

/// A function without a kernel.
pub(super) struct Special {
    /// The signature.
    pub(super) form: &'static str,
    /// The summary, one sentence.
    pub(super) summary: &'static str,
}

impl Special {
    /// The function's name.
    pub(super) fn name(&self) -> &'static str {
        self.form.split('(').next().unwrap_or_default()
    }
}

/// The numbers of arguments of the scalar function `name`: the least, and the most if there is one. `None` if it is no function of this
/// page.
pub(crate) fn argument_counts(name: &str) -> Option<(usize, Option<usize>)> {
    let special = SCALAR.iter().find(|special| special.name() == name)?;
    let (_, list) = special.form.split_once('(')?;
    let (list, _) = list.split_once(')')?;
    let (repeated, named): (Vec<&str>, Vec<&str>) = list
        .split(',')
        .map(str::trim)
        .filter(|parameter| !parameter.is_empty())
        .partition(|parameter| *parameter == "…");
    let required = named.iter().filter(|p| !p.starts_with('['));
    let most = repeated.is_empty().then_some(named.len());
    Some((required.count(), most))
}

const fn special(form: &'static str, summary: &'static str) -> Special {
    Special { form, summary }
}

/// Functions of the columns of the input and of adjacent rows.
pub(super) static SCALAR: &[Special] = &[
    special(
        "bag_pack_columns(column, …) -> dynamic",
        "A bag of columns under their names.",
    ),
    special(
        "bin_auto(value: any) -> $1",
        "As bin, with the size and fixed point of the options query_bin_auto_size and query_bin_auto_at.",
    ),
    special(
        "column_ifexists(name: const string, default: any) -> $2",
        "The column of this name, or the default if there is none.",
    ),
    special(
        "column_names_of(T) -> dynamic",
        "The names of a table's columns as an array.",
    ),
    special(
        "current_cluster_endpoint() -> string",
        "The host and port by which the client reaches the server.",
    ),
    special(
        "current_database() -> string",
        "The name of the first application of the request.",
    ),
    special(
        "iscolumnexists(name: const string) -> bool",
        "Whether the input has a column of this name.",
    ),
    special(
        "next(value: any, [offset: const long], [default: const any]) -> $1",
        "The value of a later row; the rows must be serialized.",
    ),
    special(
        "pack_all([ignore_null_empty: const bool]) -> dynamic",
        "A bag of all columns.",
    ),
    special(
        "prev(value: any, [offset: const long], [default: const any]) -> $1",
        "The value of an earlier row; the rows must be serialized.",
    ),
    special(
        "row_cumsum(term: number, [restart: bool]) -> $1",
        "The running sum; the rows must be serialized.",
    ),
    special(
        "row_number([start: const long], [restart: bool]) -> long",
        "The number of the row; the rows must be serialized.",
    ),
    special(
        "row_rank_dense(term: any, [restart: bool]) -> long",
        "The rank, which increases by one when the value changes; the rows must be serialized.",
    ),
    special(
        "row_rank_min(term: any, [restart: bool]) -> long",
        "The rank, which equal adjacent rows share; the rows must be serialized.",
    ),
    special(
        "row_window_session(time: datetime, max_from_first: const timespan, max_between: const timespan, [restart: bool]) -> datetime",
        "The start of the row's session; the rows must be serialized.",
    ),
    special(
        "toscalar(table | scalar) -> any",
        "The first column of the first row, computed once for the query.",
    ),
];

/// Functions of the nodes and edges of a pattern, in `graph-match` and `graph-shortest-paths`.
pub(super) static GRAPH: &[Special] = &[
    special(
        "all(edge | inner_nodes(edge), predicate: bool) -> bool",
        "Whether the predicate is true for every edge, or every inner node, of a path.",
    ),
    special(
        "any(edge | inner_nodes(edge), predicate: bool) -> bool",
        "Whether the predicate is true for an edge, or an inner node, of a path.",
    ),
    special(
        "inner_nodes(edge)",
        "The nodes between the edges of a path, as the first argument of all, any and map.",
    ),
    special(
        "labels(node | edge) -> dynamic",
        "The labels of a node or an edge: an empty array.",
    ),
    special(
        "map(edge | inner_nodes(edge), value: any) -> dynamic",
        "The value of each edge, or of each inner node, of a path as an array.",
    ),
    special(
        "node_degree_in(node) -> long",
        "The number of edges that lead to a node.",
    ),
    special(
        "node_degree_out(node) -> long",
        "The number of edges that lead from a node.",
    ),
    special("node_id(node) -> string", "The id of a node as text."),
];

/// Functions whose value is a table.
pub(super) static TABULAR: &[Special] = &[
    special("app('name or id').table", "A table of another application."),
    special(
        "database('name').table",
        "A table of the application itself.",
    ),
    special(
        "materialize(table)",
        "The rows, computed once for the query.",
    ),
    special(
        "resource('id').table",
        "A table of the application with this resource id.",
    ),
    special("table('name')", "The table of this name."),
    special(
        "workspace('name or id').table",
        "A table of another workspace.",
    ),
];

#[cfg(test)]
mod tests {
    use super::argument_counts;

    #[test]
    fn forms_tell_the_numbers_of_arguments() {
        for (name, counts) in [
            ("bag_pack_columns", Some((1, None))),
            ("column_ifexists", Some((2, Some(2)))),
            ("current_database", Some((0, Some(0)))),
            ("pack_all", Some((0, Some(1)))),
            ("prev", Some((1, Some(3)))),
            ("row_window_session", Some((3, Some(4)))),
            ("strlen", None),
        ] {
            assert_eq!(argument_counts(name), counts, "{name}");
        }
    }
}
