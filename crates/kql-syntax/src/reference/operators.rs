//! The tabular operators.

use super::{Item, item};

/// The tabular operators and the sources of rows, by name (`docs/semantics.md §15–§24`).
pub static OPERATORS: &[Item] = &[
    item(
        "as",
        "as name",
        "Names the rows, so that later parts of the query can refer to them.",
    ),
    item(
        "assert-schema",
        "assert-schema (name:type, …)",
        "Returns the rows if they have exactly these columns; refuses the query otherwise.",
    ),
    item("consume", "consume", "Reads the rows and returns none."),
    item("count", "count", "The number of rows."),
    item(
        "datatable",
        "datatable (name:type, …) [ value, … ]",
        "A table of literal values.",
    ),
    item(
        "distinct",
        "distinct * | expression, …",
        "The distinct combinations of values.",
    ),
    item(
        "evaluate",
        "evaluate plugin(arguments) [: (name:type, …)]",
        "Calls a plug-in.",
    ),
    item(
        "extend",
        "extend [name =] expression, …",
        "Adds columns; a column of the same name is replaced in its place.",
    ),
    item(
        "facet",
        "facet by column, … [with (pipeline)]",
        "A table of counts for each column, and the result of the pipeline for each.",
    ),
    item(
        "find",
        "find [withsource=name] [in (table, …)] where predicate [project-smart | project column, …] [project-away …]",
        "The rows of several tables for which the predicate is true, with the name of the table.",
    ),
    item(
        "fork",
        "fork [name=] (pipeline) …",
        "Runs several pipelines over the same rows; each has a result.",
    ),
    item(
        "getschema",
        "getschema",
        "A row for each column: name, position and types.",
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
        "Calls a function with the rows as its first argument.",
    ),
    item(
        "join",
        "join [kind=kind] (right) on name | $left.a == $right.b, …",
        "Pairs the rows of two tables with equal keys; the default kind is innerunique.",
    ),
    item(
        "lookup",
        "lookup [kind=leftouter | inner] (right) on key, …",
        "Adds the columns of a table to the rows with equal keys.",
    ),
    item(
        "macro-expand",
        "macro-expand [kind=kind] [isfuzzy=true] group as name (body)",
        "The union of the body's results for each entity of a group.",
    ),
    item(
        "make-graph",
        "make-graph source --> target [with table on id, … | with_node_id=name] [partitioned-by column (pipeline)]",
        "A graph whose edges are the rows; graph operators follow.",
    ),
    item(
        "make-series",
        "make-series [kind=nonempty] [name =] aggregate [default=value], … on axis [from a] [to b] step s [by key, …]",
        "Arrays of an aggregate over equal bins of an axis.",
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
        "Adds columns extracted from a text by a pattern; rows without a match are kept.",
    ),
    item(
        "parse-kv",
        "parse-kv text as (key:type, …) [with (pair_delimiter='…', kv_delimiter='…', quote='…', escape='…', greedy=true | regex='…')]",
        "Adds columns extracted from the key-value pairs of a text.",
    ),
    item(
        "parse-where",
        "parse-where [kind=simple | regex] [flags=letters] text with [*] 'literal' column[:type] …",
        "As parse; rows without a match are dropped.",
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
        "The columns named by strings, in this order.",
    ),
    item(
        "project-keep",
        "project-keep name | pattern, …",
        "These columns, in the order of the input.",
    ),
    item(
        "project-rename",
        "project-rename new = old, …",
        "Renames columns.",
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
        "Groups of similar texts as patterns, with * for the parts that vary. Implements R. Vaarandi's algorithm for event \
         logs and may differ from the cloud in detail: a word that the threshold of the rows have at one position is kept, \
         a word with a digit always varies, and smaller groups become 'others'.",
    ),
    item(
        "render",
        "render kind [with (property=value, …)]",
        "The visualization of the result; the rows are unchanged.",
    ),
    item("sample", "sample n", "Up to n random rows."),
    item(
        "sample-distinct",
        "sample-distinct n of expression",
        "Up to n random distinct values.",
    ),
    item(
        "scan",
        "scan [with_match_id=name] [declare (name:type [= default], …)] with (step name [output=all | last | none] : \
         condition [=> column = expression, …]; …)",
        "Matches sequences of rows by steps with state.",
    ),
    item(
        "search",
        "search [kind=case_sensitive | case_insensitive] [in (table, …)] predicate",
        "The rows with a term in any column, with the name of the table.",
    ),
    item(
        "serialize",
        "serialize [name =] expression, …",
        "Marks the order of the rows as fixed, which window functions require.",
    ),
    item(
        "sort",
        "sort by expression [asc | desc] [nulls first | last], …",
        "Sorts the rows, by default in descending order.",
    ),
    item(
        "summarize",
        "summarize [name =] aggregate, … [by [name =] expression, …]",
        "A row for each group of rows.",
    ),
    item("take", "take n", "Up to n arbitrary rows."),
    item(
        "top",
        "top n by expression [asc | desc] [nulls first | last]",
        "The first n rows in an order.",
    ),
    item(
        "top-hitters",
        "top-hitters n of expression [by summand]",
        "The n values with the most rows, or with the largest sum.",
    ),
    item(
        "top-nested",
        "top-nested [n] of [name =] expression [with others = value] by [name =] aggregate [asc | desc], …",
        "The largest groups, and within each the largest groups of the next level.",
    ),
    item(
        "union",
        "union [kind=outer | inner] [withsource=name] [isfuzzy=true] table | pattern | (query), …",
        "The rows of several tables; columns are matched by name.",
    ),
    item(
        "where",
        "where predicate",
        "The rows for which the predicate is true.",
    ),
];
