//! Statements and operators: every form is parsed and printed in one spelling, which parses to an equal tree.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail by panicking, in helper functions too"
)]

use hindsight_kql_syntax::parse;

/// Checks that `text` prints as `expected`, and that this parses to an equal tree.
#[track_caller]
fn check(text: &str, expected: &str) {
    let parsed = parse(text);
    assert_eq!(parsed.diagnostics, [], "{text}");
    let printed = parsed.query.to_string();
    assert_eq!(printed, expected, "{text}");
    let again = parse(&printed);
    assert_eq!(again.diagnostics, [], "{printed}");
    assert_eq!(again.query, parsed.query, "{printed}");
}

/// Checks a query that is already in the printed spelling.
#[track_caller]
fn same(text: &str) {
    check(text, text);
}

#[test]
fn statements() {
    check("T", "T");
    check("let a=1;;T|count;", "let a = 1;\nT | count");
    check(
        "set notruncation; set query_now=datetime(2020-01-01); T",
        "set notruncation;\nset query_now=datetime(2020-01-01);\nT",
    );
    same("declare query_parameters(p:long = 5, q:string);\nT");
    same("alias database A = cluster(\"c\").database(\"d\");\nT");
    same("restrict access to (V, database(\"d\").T*);\nT");
    same("declare pattern P;\nP(\"x\")");
    check(
        "declare pattern P=(a:string)[p:string]{('x').['y']={let n=1;T|take n;};('x').[\"z\"]={U}};P('x').y",
        "declare pattern P = (a:string)[p:string] { (\"x\").[\"y\"] = { let n = 1;\nT | take n }; (\"x\").[\"z\"] = { U }; };\nP(\"x\").y",
    );
    check(
        "let f=(T:(*),n:long=5){let m=n+1;T|take m;};f(X)",
        "let f = (T:(*), n:long = 5) { let m = n + 1;\nT | take m };\nf(X)",
    );
    same("let v = view () { print 1 };\nunion v, w*");
    same("let f = (T:(a:long, ['b c']:string)) { T };\nf(X)");
    same(
        "let g = entity_group [database(\"a\"), cluster(\"c\").database(\"d\")];\nmacro-expand g as s (s.T | count)",
    );
    check("print 1; print 2", "print 1;\nprint 2");
    check(
        "let let = 1; print set = 2",
        "let ['let'] = 1;\nprint ['set'] = 2",
    );
}

#[test]
fn simple_operators() {
    check("T | filter a>1 | limit 5", "T | where a > 1 | take 5");
    check(
        "T | order by a, b asc nulls last",
        "T | sort by a, b asc nulls last",
    );
    same("T | top 5 by a + b desc nulls first");
    same("T | project a, b = x + 1, (c, d) = f(x) | extend e = a");
    same("T | project-away a*, *_id, b | project-keep c, * | project-rename n = o");
    same(
        "T | project-reorder a, b* asc, c* granny-desc | project-by-names \"a\", dynamic([\"b\"])",
    );
    same("T | distinct * | distinct a, bin(b, 1h)");
    same("T | count | count as Rows");
    same("T | getschema | as hint.materialized=true Name | consume decodeblocks=true");
    same("T | invoke f(1, x=2) | assert-schema (a:long, b:string)");
    same("T | sample 5 | sample-distinct 3 of x | serialize | serialize n = row_number()");
    same("T | where * has \"x\" and not(* !contains \"y\")");
    same("range x from 1 to 10 step 2 | where x in (range(1, 5))");
    check("print range(1,2,1)", "print range(1, 2, 1)");
}

#[test]
fn aggregation_and_series() {
    same("T | summarize by a, b = bin(t, 1h)");
    same("T | summarize hint.strategy=shuffle n = count(), avg(v), arg_max(t, *) by a");
    same("T | summarize");
    same(
        "T | make-series kind=nonempty n = count() default=-1, avg(v) on t from ago(1d) to now() step 1h by a",
    );
    same("T | make-series count() on t in range(1, 10, 2)");
    same("T | make-series sum(v) default=long(null) on t step 5");
    same(
        "T | top-nested 2 of a with others = \"rest\" by n = count() asc, top-nested of b by sum(v)",
    );
    same("T | top-hitters 3 of a by v | top-hitters 2 of b");
    same("T | reduce kind=source by m with threshold=0.2, characters=\"-\"");
}

#[test]
fn joins_and_unions() {
    same("T | join kind=inner hint.strategy=broadcast (U | where x > 1) on a, $left.b == $right.c");
    same("T | join U on ['a b']");
    same("T | lookup kind=leftouter U on a");
    same("union kind=outer withsource=Source isfuzzy=true A, (B | take 1), C*, database(\"d\").T*");
    same("T | union (range x from 1 to 2 step 1), datatable(a:long) [1]");
    same("union * | count");
}

#[test]
fn expansion_and_text() {
    check(
        "T | mvexpand kind=array a, b=c to typeof(long) limit 5",
        "T | mv-expand kind=array a, b = c to typeof(long) limit 5",
    );
    same("T | mv-expand bagexpansion=array with_itemindex=i d.items");
    check(
        "T | mvapply x=a to typeof(real) limit 3 on (top 1 by x | extend y=x)",
        "T | mv-apply x = a to typeof(real) limit 3 on (top 1 by x | extend y = x)",
    );
    same("T | parse kind=regex flags=Ui m with * \"a=\" a:long \";\" b *");
    same("T | parse-where m with a \"-\" b:datetime");
    same(
        "T | parse-kv m as (a:long, ['b c']:string) with (pair_delimiter=\";\", kv_delimiter=\"=\", greedy=true)",
    );
    same("T | evaluate hint.distribution=single bag_unpack(d, \"p_\") : (*, a:long)");
    same("evaluate schema_merge() | count");
}

#[test]
fn branches_and_search() {
    same("T | partition hint.strategy=native by a (top 1 by b | project c)");
    same("T | partition by a { let k = 1;\nU | take k }");
    same("T | fork (where a > 1) named = (count | extend x = 1)");
    same("T | facet by a, b with (take 5 | count)");
    same("search kind=case_sensitive in (A, B*) \"x\" and (c:\"y\" or d == 1) and not(e:\"z*\")");
    check("T | search * | count", "T | search * | count");
    check(
        "find withsource=S in (A, B) where x == 1 project a, b:long, pack(*) project-away c",
        "find withsource=S in (A, B) where x == 1 project a, b:long, pack(*) project-away c",
    );
    check("find in (A) \"x\" project-smart", "find in (A) where \"x\"");
    same(
        "macro-expand isfuzzy=true entity_group [database(\"a\")] as s (let n = 1;\ns.T | take n)",
    );
}

#[test]
fn scan_and_render() {
    same(
        "T | scan with_match_id=id declare (n:long = 0, s:string) with ( step a output=none : x > 1; step b optional : true => n = a.n + 1, s = \"q\"; )",
    );
    same("T | scan order by t asc partition by u with ( step a : true; )");
    check(
        "T | render timechart with (title='a b', ycolumns=x, y, series=z)",
        "T | render timechart with (title=\"a b\", ycolumns=x, y, series=z)",
    );
    check(
        "T | render barchart kind=stacked title=\"t\"",
        "T | render barchart with (kind=stacked, title=\"t\")",
    );
    same("T | render 3Dchart");
}

#[test]
fn sources_with_values() {
    check(
        "datatable (a:int64, b:date) [-5, datetime(2020-01-01), -9223372036854775808, null_free,]"
            .replace("null_free", "datetime(null)")
            .as_str(),
        "datatable(a:long, b:datetime) [-5, datetime(2020-01-01), -9223372036854775808, datetime(null)]",
    );
    same("datatable(a:long) []");
    same(
        "externaldata(a:string) [\"file:///x.csv\"] with (format=\"csv\", ignoreFirstRecord=true)",
    );
}

#[test]
fn graphs() {
    check(
        "E|make-graph a-->b with N on id,(M|take 1)on ['the id']|graph-to-table nodes",
        "E | make-graph a --> b with N on id, (M | take 1) on ['the id'] | graph-to-table nodes",
    );
    same("E | make-graph a -- b with_node_id = id");
    check(
        "G | graph-match cycles=none (a)-->(b)<--()--(c), (c)-[e]->(a)<-[*0..2]-(d)-[['p']*lo..3]-(e) where a.x==1 project a.x,to=e",
        "G | graph-match cycles=none (a)-[]->(b)<-[]-()-[]-(c), (c)-[e]->(a)<-[*0..2]-(d)-[p*lo..3]-(e) where a.x == 1 project a.x, ['to'] = e",
    );
    same("G | graph-match (a)");
    same("G | graph-shortest-paths output=all (a)-[p*1..5]->(b) where a.x == 1 project a.x, p");
    same("E | make-graph a --> b partitioned-by t (graph-to-table edges | count)");
    same(
        "G | graph-to-table nodes as N with_node_id=n, edges as E with_source_id=s with_target_id=t",
    );
}

#[test]
fn names_that_are_words_of_the_language() {
    check(
        "T | project count, order, group, table, select, from, value, id, by=1",
        "T | project count, order, group, table, select, from, value, id, ['by'] = 1",
    );
    check(
        "T | extend ['where'] = 1, [\"a\\\"b\"] = 2",
        "T | extend ['where'] = 1, ['a\"b'] = 2",
    );
    check(
        "union | where search == 1 and print > 2",
        "['union'] | where ['search'] == 1 and ['print'] > 2",
    );
}
