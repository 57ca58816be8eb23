//! Tests that loops over one large value end when the query is cancelled.

use std::sync::Arc;

use datafusion::execution::memory_pool::UnboundedMemoryPool;

use super::TestCatalog;
use crate::work::Work;

/// Cancels the query from another thread while it blocks this one, and returns the error.
async fn cancelled_while(query: &str) -> String {
    let work = Work::new(Arc::new(UnboundedMemoryPool::default()));
    let other = work.clone();
    let canceller = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(200));
        other.cancel();
    });
    let parsed = hindsight_kql_syntax::parse(query);
    let context = crate::session::context().expect("DataFusion has the rules");
    let result = work.clone().run(async {
        let options = crate::BindOptions::default();
        let bound =
            crate::run::bind_with_rows(&parsed.query, &TestCatalog, options, &context).await;
        crate::run::collect(bound.expect("it binds"), &context).await
    });
    let error = result
        .await
        .err()
        .map_or_else(String::new, |e| e.to_string());
    assert!(canceller.join().is_ok());
    assert!(work.checks_after_cancellation() > 0, "{query}");
    error
}

/// The queries read only constants, so this thread never yields; each would take minutes.
#[tokio::test]
async fn loops_over_one_value_end_when_the_query_is_cancelled() {
    for query in [
        "print s = series_fir(range(1, 300000), range(1, 300000))",
        "print s = series_iir(range(1, 300000), range(1, 300000), range(1, 300000))",
        "range x from 1 to 100000 step 1 | extend a = range(1, 1000000) | mv-expand a | count",
        "range x from 1 to 1000000 step 1 | summarize make_set(range(x, x + 100000)) by x % 3",
    ] {
        let error = cancelled_while(query).await;
        assert!(error.contains("cancelled"), "{query}: {error}");
    }
}
