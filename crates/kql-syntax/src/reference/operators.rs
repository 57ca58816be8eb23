//! The tabular operators.

use super::{Item, item};

/// The tabular operators and the sources of rows, by name (`docs/semantics.md §15–§24`).
pub static OPERATORS: &[Item] = &[
    item(
        "as",
        "as name",
        "Names the rows for what follows in the same query.",
    ),
    item(
        "assert-schema",
        "assert-schema (name:type, …)",
        "Passes the rows on if their columns are these; refuses the query otherwise.",
    ),
    item("consume", "consume", "Reads the rows and returns none."),
    item("count", "count", "The number of rows."),
    item(
        "datatable",
        "datatable (name:type, …) [ value, … ]",
        "Rows that are written out.",
    ),
    item(
        "distinct",
        "distinct * | expression, …",
        "Each combination of values once.",
    ),
    item(
        "evaluate",
        "evaluate plugin(arguments) [: (name:type, …)]",
        "Calls a plug-in.",
    ),
    item(
        "extend",
        "extend [name =] expression, …",
        "Adds columns, or replaces those of the same name in their places.",
    ),
    item(
        "facet",
        "facet by column, … [with (pipeline)]",
        "A table of counts for each column, and one of the pipeline.",
    ),
    item(
        "find",
        "find [withsource=name] [in (table, …)] where predicate [project-smart | project column, …] [project-away …]",
        "Rows of several tables, with the table that each came from.",
    ),
    item(
        "fork",
        "fork [name=] (pipeline) …",
        "A result for each pipeline over the same rows.",
    ),
    item(
        "getschema",
        "getschema",
        "A row for each column: name, place and types.",
    ),
    item(
        "graph-mark-components",
        "graph-mark-components [kind=weak | strong] [with_component_id=name]",
        "Adds the number of its component to every node.",
    ),
    item(
        "graph-match",
        "graph-match [cycles=all | none | unique_edges] pattern, … [where predicate] project [name =] expression, …",
        "A row for each place of the graph that has the form of the patterns, such as (a)-[e]->(b)<-[path*1..3]-(c).",
    ),
    item(
        "graph-shortest-paths",
        "graph-shortest-paths [output=any | all] pattern [where predicate] project [name =] expression, …",
        "The shortest paths between the first and the last node of a pattern.",
    ),
    item(
        "graph-to-table",
        "graph-to-table nodes [as name] [with_node_id=id], edges [as name] [with_source_id=id] [with_target_id=id]",
        "The nodes or the edges of a graph as rows, or both as two results.",
    ),
    item(
        "graph-where-edges",
        "graph-where-edges predicate",
        "The graph with the edges for which the predicate is true; all nodes stay.",
    ),
    item(
        "graph-where-nodes",
        "graph-where-nodes predicate",
        "The graph with the nodes for which the predicate is true, and the edges between them.",
    ),
    item(
        "invoke",
        "invoke function(arguments)",
        "Calls a function of a table with the rows.",
    ),
    item(
        "join",
        "join [kind=kind] (right) on name | $left.a == $right.b, …",
        "Pairs rows of two tables by equal keys; innerunique where no kind is written.",
    ),
    item(
        "lookup",
        "lookup [kind=leftouter | inner] (right) on key, …",
        "Adds the columns of a table to each row by equal keys.",
    ),
    item(
        "macro-expand",
        "macro-expand [kind=kind] [isfuzzy=true] group as name (body)",
        "The body once for each entity of a group, united.",
    ),
    item(
        "make-graph",
        "make-graph source --> target [with table on id, … | with_node_id=name] [partitioned-by column (pipeline)]",
        "A graph whose edges are the rows; graph operators follow.",
    ),
    item(
        "make-series",
        "make-series [kind=nonempty] [name =] aggregate [default=value], … on axis [from a] [to b] step s [by key, …]",
        "Arrays of an aggregate over even steps of an axis.",
    ),
    item(
        "mv-apply",
        "mv-apply [with_itemindex=name] [name =] array [to typeof(type)], … [limit n] on (pipeline)",
        "Runs a pipeline over the elements of each row's arrays.",
    ),
    item(
        "mv-expand",
        "mv-expand [kind=bag | array] [with_itemindex=name] [name =] array [to typeof(type)], … [limit n]",
        "A row for each element of an array or property of a bag.",
    ),
    item(
        "parse",
        "parse [kind=simple | relaxed | regex] [flags=letters] text with [*] 'literal' column[:type] …",
        "Adds the columns that a pattern finds in a text; rows without a match stay.",
    ),
    item(
        "parse-kv",
        "parse-kv text as (key:type, …) [with (pair_delimiter='…', kv_delimiter='…', quote='…', escape='…', greedy=true | regex='…')]",
        "Adds the columns of named values in a text.",
    ),
    item(
        "parse-where",
        "parse-where [kind=simple | regex] [flags=letters] text with [*] 'literal' column[:type] …",
        "As parse, without the rows that do not match.",
    ),
    item(
        "partition",
        "partition [hint.strategy=legacy | native | shuffle] by column (pipeline) | { query }",
        "Runs a pipeline over the rows of each value of a column.",
    ),
    item(
        "print",
        "print [name =] expression, …",
        "One row of computed values.",
    ),
    item(
        "project",
        "project [name =] expression, …",
        "These columns, in this order.",
    ),
    item(
        "project-away",
        "project-away name | pattern, …",
        "All columns but these.",
    ),
    item(
        "project-by-names",
        "project-by-names 'name' | array, …",
        "The columns that are named by texts, in their order.",
    ),
    item(
        "project-keep",
        "project-keep name | pattern, …",
        "These columns, in the order of the input.",
    ),
    item(
        "project-rename",
        "project-rename new = old, …",
        "Other names for columns, in their places.",
    ),
    item(
        "project-reorder",
        "project-reorder name | pattern [asc | desc | granny-asc | granny-desc], …",
        "These columns first.",
    ),
    item(
        "range",
        "range name from a to b step s",
        "A row for each value from a to b.",
    ),
    item(
        "reduce",
        "reduce [kind=source] by text [with threshold=n, characters='…']",
        "Texts that look alike as patterns, with * for what varies. The grouping is our own reading of R. Vaarandi's algorithm \
         for event logs and may differ from the cloud's in detail: words that threshold of the rows have at the same place \
         stay, words with a digit always vary, and what fewer rows share is 'others'.",
    ),
    item(
        "render",
        "render kind [with (property=value, …)]",
        "How the result wants to be drawn; the rows stay as they are.",
    ),
    item("sample", "sample n", "Any n rows."),
    item(
        "sample-distinct",
        "sample-distinct n of expression",
        "Any n different values.",
    ),
    item(
        "scan",
        "scan [with_match_id=name] [declare (name:type [= default], …)] with (step name [output=all | last | none] : \
         condition [=> column = expression, …]; …)",
        "Follows sequences of rows through steps that carry state.",
    ),
    item(
        "search",
        "search [kind=case_sensitive | case_insensitive] [in (table, …)] predicate",
        "Rows with a term in any column, with the table that each came from.",
    ),
    item(
        "serialize",
        "serialize [name =] expression, …",
        "Fixes the order of the rows, so that functions of neighbouring rows may follow.",
    ),
    item(
        "sort",
        "sort by expression [asc | desc] [nulls first | last], …",
        "Orders the rows; the largest first unless asked otherwise.",
    ),
    item(
        "summarize",
        "summarize [name =] aggregate, … [by [name =] expression, …]",
        "A row for each group of rows.",
    ),
    item("take", "take n", "Any n rows."),
    item(
        "top",
        "top n by expression [asc | desc] [nulls first | last]",
        "The n first rows of an order.",
    ),
    item(
        "top-hitters",
        "top-hitters n of expression [by summand]",
        "The n values with the most rows or the largest sum.",
    ),
    item(
        "top-nested",
        "top-nested [n] of [name =] expression [with others = value] by [name =] aggregate [asc | desc], …",
        "The largest groups, and within each the largest of the next level.",
    ),
    item(
        "union",
        "union [kind=outer | inner] [withsource=name] [isfuzzy=true] table | pattern | (query), …",
        "The rows of several tables, columns by name.",
    ),
    item(
        "where",
        "where predicate",
        "The rows for which the predicate is true.",
    ),
];
