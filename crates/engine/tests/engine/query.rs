//! KQL queries: scope, time, limits and errors (`docs/api-facts.md §2`, `D3`, `D17`, `D19`).

use std::sync::Arc;
use std::time::Duration;

use hindsight_engine::{AddressDatabase, EngineError, Notice};
use hindsight_store::Table;

use crate::support::{Fixture, row, rows};

async fn shop_and_bank() -> Fixture {
    let f = Fixture::new().await;
    let requests = [
        row!["09:00", name: "GET /", success: "True", duration: 10.0, operation_Id: "a"],
        row!["10:00", name: "GET /cart", success: "False", duration: 30.0, operation_Id: "b"],
        row!["11:00", name: "GET /", success: "True", duration: 20.0, operation_Id: "c"],
    ];
    f.put(Table::Requests, &requests).await;
    let traces = [
        row!["10:00:01", message: "cart is empty", severityLevel: 2, operation_Id: "b"],
        row!["11:00:01", message: "welcome", severityLevel: 1, operation_Id: "c"],
    ];
    f.put(Table::Traces, &traces).await;
    let other = [row!["10:30", name: "POST /transfer", success: "True", duration: 5.0]];
    f.put_for(f.bank, Table::Requests, &other).await;
    f
}

#[tokio::test]
async fn tables_of_one_application_are_joined_and_united() {
    let f = shop_and_bank().await;
    for (query, expected) in [
        (
            "requests | summarize count() by name | order by name asc",
            vec!["GET /|2", "GET /cart|1"],
        ),
        (
            "requests | join kind=inner traces on operation_Id | project name, message | order by name asc",
            vec!["GET /|welcome", "GET /cart|cart is empty"],
        ),
        (
            "union requests, traces | summarize count() by itemType | order by itemType asc",
            vec!["request|3", "trace|2"],
        ),
        ("requests | where timestamp > ago(90m) | count", vec!["1"]),
        ("print now()", vec!["2025-03-06T12:00:00.0000000Z"]),
        ("exceptions | count", vec!["0"]),
    ] {
        assert_eq!(f.rows(query).await, expected, "{query}");
    }
}

#[tokio::test]
async fn several_statements_give_several_tables() {
    let f = shop_and_bank().await;
    let result = f
        .run(&f.request("requests | count; traces | count"))
        .await
        .unwrap();
    let tables: Vec<_> = result
        .tables
        .iter()
        .map(|t| (t.name.as_str(), rows(t)))
        .collect();
    assert_eq!(
        tables,
        [
            ("PrimaryResult", vec!["3".to_owned()]),
            ("Table_1", vec!["2".to_owned()])
        ]
    );
}

#[tokio::test]
async fn getschema_names_its_table_and_render_is_returned() {
    let f = shop_and_bank().await;
    let schema = f
        .run(&f.request("requests | project name, duration | getschema"))
        .await
        .unwrap();
    assert_eq!(schema.tables[0].name, "getschema");
    assert_eq!(schema.tables[0].rows(), 2);
    assert_eq!(schema.render.visualization, "table");
    let chart = f
        .run(&f.request("requests | summarize count() by bin(timestamp, 1h) | render timechart with (title='Load')"))
        .await
        .unwrap();
    assert_eq!(chart.render.visualization, "timechart");
    assert_eq!(
        chart.render.properties,
        [("title".to_owned(), "Load".to_owned())]
    );
}

#[tokio::test]
async fn timespans_of_url_and_body_intersect() {
    let f = shop_and_bank().await;
    let span = "2025-03-06T09:30:00Z/2025-03-06T10:30:00Z";
    for (timespans, expected) in [
        (vec![], "3"),
        (vec!["PT2H30M"], "2"),
        (vec![span], "1"),
        (vec!["PT1H30M", span], "0"),
        (vec!["2025-03-06T09:00:00Z/2025-03-06T11:00:00Z"], "2"),
        (vec!["P1D", "2025-03-06T09:30:00/PT1H"], "1"),
    ] {
        let mut request = f.request("requests | count");
        request.timespans = timespans.iter().map(|t| (*t).to_owned()).collect();
        assert_eq!(f.rows_of(&request).await, [expected], "{timespans:?}");
    }
    let mut request = f.request("requests | count");
    request.timespans = vec!["a while".to_owned()];
    assert!(matches!(
        f.run(&request).await,
        Err(EngineError::BadParameter { parameter, .. }) if parameter == "timespan"
    ));
}

#[tokio::test]
async fn applications_of_the_body_add_to_that_of_the_url() {
    let f = shop_and_bank().await;
    let id = f.bank.to_string();
    let upper = id.to_uppercase();
    let resource = format!(
        "/subscriptions/x/providers/microsoft.insights/components/{}",
        "bank"
    );
    for (applications, expected) in [
        (vec!["bank"], "4"),
        (vec![id.as_str()], "4"),
        (vec![upper.as_str()], "4"),
        (vec![resource.as_str(), "bank", "shop"], "4"),
        (vec!["shop"], "3"),
    ] {
        let mut request = f.request("requests | count");
        request.applications = applications.iter().map(|t| (*t).to_owned()).collect();
        assert_eq!(f.rows_of(&request).await, [expected], "{applications:?}");
    }
}

#[tokio::test]
async fn another_application_is_read_by_name_in_the_text() {
    let f = shop_and_bank().await;
    for (query, expected) in [
        (
            "app('bank').requests | project name",
            vec!["POST /transfer"],
        ),
        ("union requests, app('bank').requests | count", vec!["4"]),
        (
            "workspace('bank').AppRequests | project Name",
            vec!["POST /transfer"],
        ),
    ] {
        assert_eq!(f.rows(query).await, expected, "{query}");
    }
}

/// `D3`: one target out of reach refuses the whole query, and an unknown one is refused in the same way.
#[tokio::test]
async fn a_target_out_of_reach_refuses_the_whole_query() {
    let f = shop_and_bank().await;
    for (query, applications) in [
        ("requests | count", vec!["bank"]),
        ("requests | count", vec!["nobody"]),
        ("app('bank').requests | count", vec![]),
        ("app('nobody').requests | count", vec![]),
        ("union requests, app('bank').requests | count", vec![]),
        (
            "union isfuzzy=true requests, app('bank').requests | count",
            vec![],
        ),
        ("resource('bank').requests | count", vec![]),
        (
            "let other = app('bank').requests; requests | count; other | count",
            vec![],
        ),
    ] {
        let mut request = f.request(query);
        request.caller = f.shopkeeper();
        request.applications = applications.iter().map(|t| (*t).to_owned()).collect();
        let found = f.run(&request).await;
        assert!(
            matches!(found, Err(EngineError::Forbidden)),
            "{query} {applications:?}: {found:?}"
        );
    }
    let mut own = f.request("app('shop').requests | count");
    own.caller = f.shopkeeper();
    assert_eq!(f.rows_of(&own).await, ["3"]);
}

#[tokio::test]
async fn too_many_applications_name_the_limit() {
    let f = Fixture::with(|config| config.max_applications = 1).await;
    let mut request = f.request("requests | count");
    request.applications = vec!["bank".to_owned()];
    let error = f.run(&request).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "The query names 2 applications; the limit (query.max_applications) is 1."
    );
    // Before any of them is looked up: who may see one learns nothing of the others.
    request.caller = f.shopkeeper();
    request.applications = vec!["nobody".to_owned(), "bank".to_owned()];
    let error = f.run(&request).await.unwrap_err().to_string();
    assert!(error.contains("limit"), "{error}");
}

/// `D3`: who may see all applications is told that one does not exist.
#[tokio::test]
async fn an_unknown_application_is_named_to_principals_that_see_all() {
    let f = shop_and_bank().await;
    let mut request = f.request("requests | count");
    request.applications = vec!["nobody".to_owned()];
    match f.run(&request).await {
        Err(EngineError::NotFound(message)) => assert!(message.contains("'nobody'"), "{message}"),
        other => panic!("{other:?}"),
    }
    match f.run(&f.request("app('nobody').requests | count")).await {
        Err(EngineError::Query { diagnostics, .. }) => {
            let message = &diagnostics.first().unwrap().message;
            assert!(message.contains("'nobody'"), "{message}");
        }
        other => panic!("{other:?}"),
    }
}

/// `D17`: a workspace shows the same rows under its own names.
#[tokio::test]
async fn workspace_names_show_the_same_rows() {
    let f = shop_and_bank().await;
    for (query, expected) in [
        (
            "AppRequests | where Success == false | project TimeGenerated, Name, DurationMs, OperationId",
            vec!["2025-03-06T10:00:00.0000000Z|GET /cart|30.0|b"],
        ),
        (
            "AppRequests | getschema | where ColumnName == 'Success' | project ColumnType",
            vec!["bool"],
        ),
        (
            "AppTraces | order by TimeGenerated asc | project Message",
            vec!["cart is empty", "welcome"],
        ),
        ("union App* | count", vec!["5"]),
    ] {
        let mut request = f.request(query);
        request.workspace_names = true;
        assert_eq!(f.rows_of(&request).await, expected, "{query}");
    }
    let mut request = f.request("AppRequests | count");
    request.workspace_names = true;
    request.timespans = vec!["PT2H30M".to_owned()];
    assert_eq!(
        f.rows_of(&request).await,
        ["2"],
        "the timespan bounds TimeGenerated"
    );
}

/// `D19`: what is too much is cut and said.
#[tokio::test]
async fn a_result_over_the_row_limit_is_cut() {
    let f = Fixture::with(|config| config.max_rows = 10).await;
    for (query, expected, cut) in [
        ("range x from 1 to 9 step 1", 9, false),
        ("range x from 1 to 10 step 1", 10, false),
        ("range x from 1 to 11 step 1", 10, true),
        ("range x from 1 to 50000 step 1", 10, true),
        (
            "set truncationmaxrecords=5; range x from 1 to 9 step 1",
            5,
            true,
        ),
        ("range x from 1 to 50000 step 1 | count", 1, false),
    ] {
        let result = f.run(&f.request(query)).await.unwrap();
        assert_eq!(result.tables[0].rows(), expected, "{query}");
        assert_eq!(result.partial.is_some(), cut, "{query}");
    }
    let result = f
        .run(&f.request("range x from 1 to 11 step 1"))
        .await
        .unwrap();
    assert_eq!(
        result.partial.as_ref().unwrap().message,
        "Query result set has exceeded the internal record count limit 10 (E_QUERY_RESULT_SET_TOO_LARGE; see https://aka.ms/kustoquerylimits)"
    );
}

#[tokio::test]
async fn a_result_over_the_byte_limit_is_cut_at_the_limit() {
    let f = Fixture::with(|config| config.max_bytes = 800).await;
    let result = f
        .run(&f.request("range x from 1 to 1000 step 1"))
        .await
        .unwrap();
    assert_eq!(result.tables[0].rows(), 100);
    assert!(
        result
            .partial
            .as_ref()
            .unwrap()
            .message
            .contains("data size limit 800")
    );
    let whole = f
        .run(&f.request("range x from 1 to 100 step 1"))
        .await
        .unwrap();
    assert_eq!(whole.partial, None);
}

#[tokio::test]
async fn a_query_that_runs_too_long_is_stopped() {
    let f = Fixture::with(|config| {
        config.timeout = Duration::from_secs(1);
        config.max_wait = Duration::from_secs(2);
    })
    .await;
    let long = "range x from 1 to 200000000 step 1 | summarize sum(x * 2 % 7)";
    for (wait, seconds) in [(None, 1), (Some(0), 0), (Some(100), 2)] {
        let mut request = f.request(long);
        request.caller.wait = wait;
        let error = f.run(&request).await.unwrap_err();
        assert!(
            matches!(error, EngineError::TimedOut { limit } if limit.as_secs() == seconds),
            "{wait:?}: {error:?}"
        );
    }
}

#[tokio::test]
async fn errors_carry_code_and_place() {
    let f = shop_and_bank().await;
    for (query, code, at) in [
        ("union * | foobar", "SYN0002", Some("foobar")),
        ("requests | where nothing == 1", "SEM0100", Some("nothing")),
        ("nothing | count", "SEM0100", Some("nothing")),
    ] {
        match f.run(&f.request(query)).await {
            Err(EngineError::Query { text, diagnostics }) => {
                let first = &diagnostics[0];
                assert_eq!(first.code.as_str(), code, "{query}: {first:?}");
                let token = text.get(first.span.start as usize..first.span.end as usize);
                assert_eq!(token, at, "{query}: {first:?}");
            }
            other => panic!("{query}: {other:?}"),
        }
    }
}

/// What only the rows show to be wrong is the caller's fault, and not ours.
#[tokio::test]
async fn a_failure_that_the_query_asked_for_is_its_own() {
    let f = shop_and_bank().await;
    let query = "requests | extend long = strrep(name, tolong(duration) * 1000000) | project long";
    let error = f.run(&f.request(query)).await.unwrap_err();
    assert!(
        matches!(&error, EngineError::Failed(message) if message.contains("more than 16777216 bytes")),
        "{error:?}"
    );
}

#[tokio::test]
async fn statistics_count_the_rows_read() {
    let f = shop_and_bank().await;
    let result = f
        .run(&f.request("requests | where name == 'GET /' | count"))
        .await
        .unwrap();
    assert!(result.statistics.execution_time > Duration::ZERO);
    assert!(
        (2..=3).contains(&result.statistics.rows_scanned),
        "{:?}",
        result.statistics
    );
}

/// What lies in memory, in segments and in both is one table.
#[tokio::test]
async fn sealed_and_fresh_rows_are_one_table() {
    let f = shop_and_bank().await;
    f.store.seal_all().await.unwrap();
    f.put(
        Table::Requests,
        &[row!["11:30", name: "GET /new", itemId: "new"]],
    )
    .await;
    assert_eq!(
        f.rows("requests | order by timestamp asc | project name")
            .await,
        ["GET /", "GET /cart", "GET /", "GET /new"]
    );
    assert_eq!(
        f.rows("requests | where name startswith 'GET /c' | count")
            .await,
        ["1"]
    );
}

/// Without a database every address is unknown, and the result says so once; with one the documented properties are there.
#[tokio::test]
async fn addresses_are_looked_up_in_the_configured_database() {
    let query =
        "requests | take 2 | project d = tostring(geo_info_from_ip_address('20.53.203.50'))";
    let without = shop_and_bank().await;
    let result = without.run(&without.request(query)).await.unwrap();
    assert_eq!(result.notices, [Notice::NoAddressDatabase]);
    assert_eq!(without.rows(query).await, ["{}", "{}"]);
    let other = without.run(&without.request("requests | count")).await;
    assert_eq!(other.unwrap().notices, []);

    let content = include_bytes!("../../../../conformance/data/addresses.mmdb").to_vec();
    let database = AddressDatabase::from_bytes(content).unwrap();
    let with = Fixture::with(|config| config.addresses = Some(Arc::new(database))).await;
    let query = "print d = tostring(geo_info_from_ip_address('20.53.203.50'))";
    let result = with.run(&with.request(query)).await.unwrap();
    assert_eq!(result.notices, []);
    let sydney = r#"{"country":"Australia","state":"New South Wales","city":"Sydney","latitude":-33.8672,"longitude":151.1997}"#;
    assert_eq!(with.rows(query).await, [sydney]);
}
