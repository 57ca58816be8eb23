//! What a question may carry, and what its reply tells beside the answer (`D3`, `D13`, `D17`, `D19`).

use super::*;
use serde_json::json;
use std::time::Duration;

/// Four requests of the shop.
async fn shop(change: impl FnOnce(&mut Settings)) -> Server {
    let server = Server::with(change).await;
    let item = |n: u32| {
        let data = json!({"id": format!("r{n}"), "name": "GET /", "duration": 10 * n, "responseCode": "200", "success": true});
        server.envelope("RequestData", data)
    };
    let items: Vec<Value> = (1..=4).map(item).collect();
    assert_eq!(server.track(json!(items).to_string()).await.status, 200);
    server
}

impl Server {
    /// A query by POST to a path under `/v1/`, with these headers besides.
    async fn post(&self, path: &str, headers: &[(&str, &str)], body: Value) -> Reply {
        let mut all = vec![("content-type", "application/json")];
        all.extend(headers);
        let path = format!("/v1/{path}");
        self.ask(Method::POST, &path, &all, body.to_string()).await
    }

    /// The header of a principal that may see every application.
    fn everyone(&self) -> String {
        let token = crate::app::read_token(&self.app.settings.data).unwrap();
        format!("Bearer {token}")
    }
}

fn inner(reply: &Reply) -> String {
    let error = &reply.json()["error"]["innererror"];
    error["message"].as_str().unwrap_or_default().to_owned()
}

/// `D3`: who may see one application learns nothing of others; who may see all is told that there is none.
#[tokio::test]
async fn applications_of_a_query_are_all_permitted_or_none_is_read() {
    let server = shop(|_| {}).await;
    let bank = create_app(server.app.store.catalogue(), "bank", server.app.now())
        .await
        .unwrap();
    let path = format!("apps/{}/query", server.shop.id);
    let ask = async |credential: (&str, &str), applications: Value| {
        let body = json!({"query": "requests | count", "applications": applications});
        server.post(&path, &[credential], body).await
    };
    let key = ("x-api-key", server.key.as_str());
    let everyone = server.everyone();
    let all = ("authorization", everyone.as_str());

    let known = ask(key, json!([bank.id.to_string()])).await;
    let unknown = ask(key, json!(["11111111-2222-3333-4444-555555555555"])).await;
    assert_eq!((known.status.as_u16(), unknown.status.as_u16()), (403, 403));
    let without_id = |reply: &Reply| {
        let mut value = reply.json();
        value["error"]["correlationId"] = Value::Null;
        value
    };
    assert_eq!(without_id(&known), without_id(&unknown));

    assert_eq!(
        ask(all, json!([bank.id.to_string(), "shop"])).await.status,
        200
    );
    let missing = ask(all, json!(["nobody"])).await;
    assert_eq!(missing.status, 404);
    assert!(inner(&missing).contains("'nobody'"), "{}", missing.json());

    // The limit is told before anything is looked up.
    let many: Vec<String> = (0..101).map(|n| format!("app {n}")).collect();
    for credential in [key, all] {
        let reply = ask(credential, json!(many)).await;
        assert_eq!(reply.status, 400);
        assert!(
            inner(&reply).contains("query.max_applications) is 100"),
            "{}",
            reply.json()
        );
    }
}

/// Timespans of URL and body intersect; a workspace has the same rows under its own names.
#[tokio::test]
async fn get_and_post_take_the_same() {
    let server = shop(|_| {}).await;
    let id = server.shop.id;
    let key = [("x-api-key", server.key.as_str())];
    let count = |reply: Reply| reply.json()["tables"][0]["rows"][0][0].clone();
    let query = "query?query=requests+%7C+count&timespan";
    assert_eq!(count(server.get(&format!("{query}=PT1H")).await), 4);
    let past = "2020-01-01T00:00:00Z/2020-01-02T00:00:00Z";
    assert_eq!(count(server.get(&format!("{query}={past}")).await), 0);
    let body = json!({"query": "requests | count", "timespan": past});
    let path = format!("apps/{id}/query?timespan=PT1H");
    assert_eq!(count(server.post(&path, &key, body).await), 0);
    let body = json!({"query": "AppRequests | count", "workspaces": null});
    let path = format!("workspaces/{id}/query");
    assert_eq!(count(server.post(&path, &key, body).await), 4);
    let body = json!({"query": "AppRequests | where Type == 'AppRequests' and Success | count"});
    let path = format!("workspaces/{id}/query");
    let all = json!({"query": "AppRequests | where Success in (true, false) | count"});
    assert!(
        count(server.post(&path, &key, body).await)
            .as_i64()
            .unwrap()
            > 0
    );
    assert_eq!(count(server.post(&path, &key, all).await), 4);
    let reply = server.get("query").await;
    assert_eq!(
        (reply.status.as_u16(), inner(&reply).as_str()),
        (400, "'query' property is required")
    );
}

#[tokio::test]
async fn statistics_are_of_this_run() {
    let server = shop(|_| {}).await;
    let path = format!("apps/{}/query", server.shop.id);
    let prefer = (
        "prefer",
        "include-statistics=true,include-render=true,include-dataSources=true",
    );
    let headers = [("x-api-key", server.key.as_str()), prefer];
    let body = json!({"query": "requests | summarize n = count() by id | render barchart with (title='Ids', ymin=0)"});
    let reply = server.post(&path, &headers, body).await.json();
    let query = &reply["statistics"]["query"];
    assert_eq!(
        query["inputDatasetStatistics"]["rows"]["scanned"], 4,
        "{query}"
    );
    assert_eq!(query["datasetStatistics"][0]["tableRowCount"], 4);
    assert!(query["datasetStatistics"][0]["tableSize"].as_u64().unwrap() > 0);
    assert!(query["executionTime"].as_f64().unwrap() > 0.0);
    assert!(
        query["resourceUsage"]["memory"]["peakPerNode"]
            .as_u64()
            .unwrap()
            > 0
    );
    let cpu = query["resourceUsage"]["cpu"]["totalCpu"].as_str().unwrap();
    assert!(cpu.starts_with("00:00:0"), "{cpu}");
    assert_eq!(
        reply["dataSources"],
        json!([{"resourceId": "/hindsight/apps/shop", "region": "local", "tables": ["requests"]}])
    );
    let render = &reply["render"];
    assert_eq!(
        (&render["visualization"], &render["title"], &render["yMin"]),
        (&json!("barchart"), &json!("Ids"), &json!("0"))
    );
}

/// `D19`: rows up to the limit, and an error beside them that names it, in both spellings.
#[tokio::test]
async fn truncated_results_are_reported() {
    let server = shop(|settings| settings.query_max_rows = 3).await;
    let thin = server.query("requests | project id").await;
    assert_eq!(thin.status, 200);
    let thin = thin.json();
    assert_eq!(thin["tables"][0]["rows"].as_array().unwrap().len(), 3);
    let error = &thin["error"];
    assert_eq!(error["code"], "PartialError");
    let message = &error["details"][0]["innererror"]["message"];
    assert!(
        message.as_str().unwrap().contains("record count limit 3"),
        "{message}"
    );
    let path = format!(
        "apps/{}/query?prefer=ai.response-thinning=false",
        server.shop.id
    );
    let key = [("x-api-key", server.key.as_str())];
    let full = server
        .post(&path, &key, json!({"query": "requests | project id"}))
        .await;
    let full = full.json();
    assert_eq!(full["Tables"][0]["Rows"].as_array().unwrap().len(), 3);
    assert_eq!(full["error"]["code"], "PartialError");
    let names: Vec<&Value> = full["Tables"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| &t["TableName"])
        .collect();
    assert_eq!(names, ["Table_0", "Table_1", "Table_2", "Table_3"]);
    let kinds = |row: &Value| (row[1].clone(), row[2].clone());
    let index: Vec<_> = full["Tables"][3]["Rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(kinds)
        .collect();
    let expected = [
        ("QueryResult", "PrimaryResult"),
        ("QueryProperties", "@ExtendedProperties"),
        ("QueryStatus", "QueryStatus"),
    ];
    assert_eq!(
        index,
        expected.map(|(kind, name)| (json!(kind), json!(name)))
    );
}

/// A client that goes away takes its query with it: the next one of the same principal need not wait for it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_query_is_cancelled_with_its_client() {
    use tokio::io::AsyncWriteExt;
    let server = shop(|settings| settings.query_concurrency = 1).await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = tokio::spawn(axum::serve(listener, server.router.clone()).into_future());
    let query = "range x from 1 to 4000000000 step 1 | summarize sum(x % 7)";
    let body = json!({ "query": query }).to_string();
    let request = format!(
        "POST /v1/apps/{}/query HTTP/1.1\r\nhost: h\r\nx-api-key: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        server.shop.id,
        server.key,
        body.len()
    );
    let mut client = tokio::net::TcpStream::connect(address).await.unwrap();
    client.write_all(request.as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(500)).await;
    let quick = server.query("requests | count");
    let waits = tokio::time::timeout(Duration::from_millis(300), quick).await;
    assert!(
        waits.is_err(),
        "the slow query did not hold the one place there is"
    );
    drop(client);
    let quick = server.query("requests | count");
    let reply = tokio::time::timeout(Duration::from_secs(20), quick).await;
    assert_eq!(reply.unwrap().status, 200);
    serving.abort();
}

/// Options and texts that cannot be meant end in 400 with the option, and the place in it (attack 37).
#[tokio::test]
async fn hostile_options_of_events_are_refused_with_their_place() {
    let server = shop(|_| {}).await;
    let deep = format!("{}true{}", "(".repeat(5_000), ")".repeat(5_000));
    for (query, target) in [
        (format!("$filter={deep}"), "$filter"),
        ("$filter=request/name%20eq%20'it's'".to_owned(), "$filter"),
        (
            "$filter=request/name%20eq%20'%5C''%20or%20true".to_owned(),
            "$filter",
        ),
        ("$top=-1".to_owned(), "$top"),
        ("$top=9223372036854775808".to_owned(), "$top"),
        ("$skip=99999999999999999999".to_owned(), "$skip"),
        ("$select=nothing".to_owned(), "$select"),
        (
            "$orderby=timestamp%20desc%20%7C%20take%201".to_owned(),
            "$orderby",
        ),
        ("$search=(a".to_owned(), "$search"),
        ("$apply=expand(details)".to_owned(), "$apply"),
        ("$count=maybe".to_owned(), "$count"),
        ("$format=xml".to_owned(), "$format"),
    ] {
        let reply = server.get(&format!("events/requests?{query}")).await;
        let shown: String = query.chars().take(60).collect();
        assert_eq!(reply.status, 400, "{shown}");
        let error = reply.json()["error"]["innererror"].clone();
        assert_eq!(error["target"], target, "{shown}: {error}");
        assert!(error["pos"].is_u64(), "{shown}: {error}");
    }
    for query in [
        "events/requests?$expand=request",
        "events/requests/x?$top=1",
    ] {
        let reply = server.get(query).await;
        assert_eq!(reply.status, 400, "{query}");
        assert!(
            inner(&reply).contains("is not supported here"),
            "{}",
            reply.json()
        );
    }
}
