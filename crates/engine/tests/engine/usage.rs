//! The table `Usage`: items and bytes by application, table and hour of ingestion.

use hindsight_store::Table;

use crate::support::{Fixture, row};

#[tokio::test]
async fn usage_counts_what_was_ingested() {
    let f = Fixture::new().await;
    let requests = [
        row!["09:00", name: "GET /", duration: 10.0],
        row!["2025-03-01T10:00:00Z", name: "GET /cart", duration: 30.0],
    ];
    let text = "Usage | project TimeGenerated, StartTime, EndTime, DataType, QuantityUnit, Items, IsBillable, ResourceUri, Type \
                | sort by DataType asc";
    let hour =
        "2025-03-06T12:00:00.0000000Z|2025-03-06T12:00:00.0000000Z|2025-03-06T13:00:00.0000000Z";
    assert_eq!(f.rows(text).await, Vec::<String>::new());
    f.put(Table::Requests, &requests).await;
    f.put(Table::Traces, &[row!["10:00", message: "hello"]])
        .await;
    let expected = [
        format!("{hour}|AppRequests|MBytes|2|True|shop|Usage"),
        format!("{hour}|AppTraces|MBytes|1|True|shop|Usage"),
    ];
    assert_eq!(f.rows(text).await, expected, "in memory");
    let bytes = "Usage | project DataType, Bytes, same = Quantity == Bytes / 1000000.0 | sort by DataType asc";
    let before = f.rows(bytes).await;
    f.store.seal_all().await.unwrap();
    assert_eq!(f.rows(text).await, expected, "in segments");
    assert_eq!(f.rows(bytes).await, before);

    // As the function of the language counts the table's rows, but for the other form of dynamic values, of which there are none here.
    let estimated = "traces | summarize tostring(sum(estimate_data_size(*)))";
    let counted = "Usage | where DataType == 'AppTraces' | project tostring(Bytes)";
    assert_eq!(f.rows(counted).await, f.rows(estimated).await);

    f.put(Table::Requests, &requests[..1]).await;
    let total = "Usage | summarize sum(Items) by DataType | where DataType == 'AppRequests'";
    assert_eq!(f.rows(total).await, ["AppRequests|3"]);
}

#[tokio::test]
async fn usage_is_that_of_the_applications_that_the_query_reads() {
    let f = Fixture::new().await;
    let one = [row!["09:00", name: "GET /"]];
    f.put(Table::Requests, &one).await;
    f.put_for(f.bank, Table::Requests, &one).await;
    let project = "project ResourceUri, Items | sort by ResourceUri asc";
    let own = f.rows(&format!("Usage | {project}")).await;
    assert_eq!(own, ["shop|1"]);
    let both = format!("union Usage, app('bank').Usage | {project}");
    assert_eq!(f.rows(&both).await, ["bank|1", "shop|1"]);
}

/// `union *` and `search` have the columns of telemetry, as recorded.
#[tokio::test]
async fn wildcards_do_not_find_usage() {
    let f = Fixture::new().await;
    f.put(Table::Requests, &[row!["09:00", name: "GET /"]])
        .await;
    assert_eq!(f.rows("union * | count").await, ["1"]);
    assert_eq!(f.rows("search 'AppRequests' | count").await, ["0"]);
}
