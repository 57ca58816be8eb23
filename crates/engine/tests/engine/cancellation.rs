//! A query that times out or is dropped is cancelled, also inside one batch that would take minutes.
//!
//! The bounds are generous, because tests run unoptimised and beside others. Each query would run for minutes, so only the
//! cancellation can end it.

use std::time::{Duration, Instant};

use hindsight_engine::EngineError;

use crate::support::Fixture;

/// A loop without a cancellation check exceeds this by far.
const SOON: Duration = Duration::from_secs(10);

async fn with_short_timeout() -> Fixture {
    Fixture::with(|config| config.timeout = Duration::from_secs(1)).await
}

/// Waits until no query runs.
async fn all_ended(f: &Fixture, query: &str) {
    let since = Instant::now();
    while f.engine.running_queries() > 0 {
        assert!(since.elapsed() < SOON, "still runs: {query}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// A graph with an edge between each two nodes.
fn complete_graph(nodes: usize) -> String {
    format!(
        "range a from 1 to {nodes} step 1 | mv-expand b = range(1, {nodes}) to typeof(long) | make-graph a --> b with_node_id=id"
    )
}

/// Queries of which each spends its time in another place.
fn long_queries() -> Vec<(&'static str, String)> {
    let series = "range(1, 200000)";
    vec![
        ("a source without end", "range x from 1 to 1000000000000000000 step 1 | summarize sum(x)".to_owned()),
        (
            "one list after the other, long ones",
            "range x from 1 to 100000 step 1 | extend a = range(1, 100000) | mv-expand a to typeof(long) | summarize sum(a)".to_owned(),
        ),
        (
            "a cross join",
            "range x from 1 to 1000000 step 1 | extend k = 1 | join kind=inner (range y from 1 to 1000000 step 1 | extend k = 1) on k | summarize sum(x + y)".to_owned(),
        ),
        ("a filter over one series", format!("print s = series_fir({series}, {series})")),
        ("a recursive filter", format!("print s = series_iir({series}, {series}, {series})")),
        (
            "a search in a long text for every row",
            "range x from 1 to 100000000 step 1 | extend t = strrep(tostring(x), 20000) | where t matches regex '1[^2]*2+c' | count".to_owned(),
        ),
        (
            "groups that take long to finish",
            "range x from 1 to 20 step 1 | extend a = range(1, 1000000) | summarize l = make_list(a) by x | mv-expand l | summarize count()".to_owned(),
        ),
        (
            "rows that are matched one by one",
            "range x from 1 to 1000000000 step 1 | serialize | scan declare (n: long = 0) with (step s: true => n = s.n + x;) | summarize max(n)".to_owned(),
        ),
        (
            "paths of a graph that match",
            format!("{} | graph-match (n)-[p*1..9]->(m) project m.id | summarize count()", complete_graph(60)),
        ),
        (
            "paths of a graph of which none matches",
            format!("{} | graph-match cycles=none (n)-[p*30..30]->(m) project m.id | summarize count()", complete_graph(25)),
        ),
        (
            "lists that an aggregate takes apart",
            "range x from 1 to 1000000 step 1 | extend a = range(1, 100000) | summarize s = make_set(a) by k = x % 7 | summarize sum(array_length(s))".to_owned(),
        ),
    ]
}

#[tokio::test]
async fn a_timed_out_query_is_cancelled() {
    let f = with_short_timeout().await;
    for (what, query) in long_queries() {
        let since = Instant::now();
        let result = f.run(&f.request(&query)).await;
        assert!(
            matches!(result, Err(EngineError::TimedOut { limit }) if limit.as_secs() == 1),
            "{what}: {result:?}"
        );
        // Queries run on threads of their own, so the error is on time whatever the query does.
        assert!(
            since.elapsed() < Duration::from_secs(5),
            "{what}: {:?}",
            since.elapsed()
        );
        all_ended(&f, what).await;
    }
}

/// The stream is not polled, so the deadline must be enforced by the query's own task.
#[tokio::test]
async fn a_timed_out_query_is_cancelled_while_its_stream_is_not_polled() {
    let f = with_short_timeout().await;
    let request = f.request("range x from 1 to 100000000 step 1 | extend t = tostring(x)");
    let prepared = f.engine.prepare(request).await.expect("it is permitted");
    let mut stream = f.engine.start(&prepared).await.expect("it begins");
    assert_eq!(f.engine.running_queries(), 1);
    tokio::time::sleep(Duration::from_millis(1100)).await;
    all_ended(&f, "a result that nobody takes").await;
    let error = loop {
        match stream.next().await {
            Ok(Some(_)) => {}
            Ok(None) => panic!("it ended as if it were whole"),
            Err(error) => break error,
        }
    };
    assert!(
        matches!(error, EngineError::TimedOut { limit } if limit.as_secs() == 1),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_dropped_query_is_cancelled() {
    let f = Fixture::new().await;
    for (what, query) in long_queries() {
        let request = f.request(&query);
        {
            let running = f.engine.query(&request);
            let dropped = tokio::time::timeout(Duration::from_millis(300), running).await;
            assert!(dropped.is_err(), "{what}: {dropped:?}");
        }
        all_ended(&f, what).await;
    }
}

#[tokio::test]
async fn other_queries_run_while_one_blocks_its_thread() {
    let f = Fixture::with(|config| config.timeout = Duration::from_secs(3)).await;
    let request = f.request("print s = series_fir(range(1, 200000), range(1, 200000))");
    let slow = f.run(&request);
    let quick = async {
        let mut answers = 0;
        for i in 0..20 {
            answers += f.rows(&format!("print {i}")).await.len();
        }
        answers
    };
    let (slow, quick) = tokio::join!(slow, quick);
    assert!(
        matches!(slow, Err(EngineError::TimedOut { limit }) if limit.as_secs() == 3),
        "{slow:?}"
    );
    assert_eq!(quick, 20);
}
