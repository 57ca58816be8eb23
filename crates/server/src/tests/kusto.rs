//! The Kusto protocol.

use super::*;
use serde_json::json;

/// Every type, with what is null, not finite, or has digits that a form could lose.
const TYPES: &str = "print b = true, i = int(5), l = 9223372036854775807, r = 3.0, n = real(nan), f = real(-inf), \
    d = decimal(1.5), s = 'a\"b', t = datetime(2024-01-02T03:04:05.1234567Z), p = 1d + 2h + 3tick, \
    g = guid(74be27de-1e4e-49d9-b579-fe0b331d3642), y = dynamic({'a': [1, 'x', null]}), z = int(null)";

async fn post(server: &Server, path: &str, body: &Value) -> Reply {
    let authorization = format!("Bearer {}", server.key);
    let headers = [
        ("authorization", authorization.as_str()),
        ("content-type", "application/json"),
        ("x-ms-client-request-id", "KPC.execute;1"),
    ];
    server
        .ask(Method::POST, path, &headers, body.to_string())
        .await
}

/// A query with options.
async fn v2(server: &Server, csl: &str, options: Value) -> Value {
    let body = json!({ "db": "shop", "csl": csl, "properties": { "Options": options } });
    let reply = post(server, "/v2/rest/query", &body).await;
    assert_eq!(reply.status, 200, "{}", reply.json());
    reply.json()
}

/// The table of a management command: its columns with their types, and its rows.
async fn command(server: &Server, csl: &str) -> (Vec<String>, Vec<Value>) {
    let body = json!({ "db": "shop", "csl": csl });
    let reply = post(server, "/v1/rest/mgmt", &body).await;
    assert_eq!(reply.status, 200, "{csl}: {}", reply.json());
    let [table] = reply.json()["Tables"]
        .as_array()
        .unwrap()
        .clone()
        .try_into()
        .unwrap();
    let columns = table["Columns"].as_array().unwrap().iter();
    let columns = columns.map(|column| column["ColumnName"].as_str().unwrap().to_owned());
    let rows = table["Rows"].as_array().unwrap().clone();
    let columns: Vec<String> = columns.collect();
    for row in &rows {
        assert_eq!(row.as_array().unwrap().len(), columns.len(), "{csl}");
    }
    (columns, rows)
}

fn frame_types(frames: &Value) -> Vec<&str> {
    let frames = frames.as_array().unwrap().iter();
    frames
        .map(|frame| frame["FrameType"].as_str().unwrap())
        .collect()
}

async fn with_requests(count: usize) -> Server {
    let server = Server::start().await;
    let item = |i: usize| {
        let data = json!({ "id": format!("r{i}"), "duration": 10, "responseCode": "200", "success": true });
        server.envelope("RequestData", data)
    };
    let items: Vec<Value> = (0..count).map(item).collect();
    assert_eq!(server.track(json!(items).to_string()).await.status, 200);
    server
}

#[tokio::test]
async fn a_data_set_of_version_2_is_frames() {
    let server = Server::start().await;
    let frames = v2(&server, TYPES, json!({})).await;
    let expected = [
        "DataSetHeader",
        "DataTable",
        "DataTable",
        "DataTable",
        "DataSetCompletion",
    ];
    assert_eq!(frame_types(&frames), expected);
    let header = json!({ "FrameType": "DataSetHeader", "IsProgressive": false, "Version": "v2.0" });
    assert_eq!(frames[0], header);
    assert_eq!(frames[1]["TableKind"], "QueryProperties");
    assert_eq!(frames[1]["Rows"][0][0], 1);
    assert_eq!(
        (&frames[2]["TableId"], &frames[2]["TableName"]),
        (&json!(1), &json!("PrimaryResult"))
    );
    let types: Vec<&str> = frames[2]["Columns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|column| column["ColumnType"].as_str().unwrap())
        .collect();
    let expected = [
        "bool", "int", "long", "real", "real", "real", "decimal", "string", "datetime", "timespan",
        "guid", "dynamic", "int",
    ];
    assert_eq!(types, expected);
    let row = json!([true, 5, 9_223_372_036_854_775_807_i64, 3.0, "NaN", "-Infinity", "1.5", "a\"b",
        "2024-01-02T03:04:05.1234567Z", "1.02:00:00.0000003", "74be27de-1e4e-49d9-b579-fe0b331d3642",
        { "a": [1, "x", null] }, null]);
    assert_eq!(frames[2]["Rows"], json!([row]));
    let status = &frames[3]["Rows"][0];
    assert_eq!(
        (&status[1], &status[5]),
        (&json!("KPC.execute;1"), &json!(4))
    );
    assert_eq!(
        frames[4],
        json!({ "FrameType": "DataSetCompletion", "HasErrors": false, "Cancelled": false })
    );
}

#[tokio::test]
async fn a_data_set_of_version_1_is_tables_with_an_index() {
    let server = Server::start().await;
    let body = json!({ "db": server.shop.id.to_string(), "csl": format!("{TYPES}; print x = 1 | render piechart") });
    let reply = post(&server, "/v1/rest/query", &body).await;
    assert_eq!(reply.header("x-ms-client-request-id"), "KPC.execute;1");
    assert_eq!(
        reply.header("x-ms-activity-id"),
        reply.header("x-ms-request-id")
    );
    let tables = reply.json()["Tables"].clone();
    assert_eq!(tables.as_array().unwrap().len(), 5);
    let types: Vec<&str> = tables[0]["Columns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|column| column["DataType"].as_str().unwrap())
        .collect();
    let expected = [
        "SByte",
        "Int32",
        "Int64",
        "Double",
        "Double",
        "Double",
        "SqlDecimal",
        "String",
        "DateTime",
        "TimeSpan",
        "Guid",
        "Object",
        "Int32",
    ];
    assert_eq!(types, expected);
    assert_eq!(tables[0]["Rows"][0][0], true);
    assert_eq!(tables[1]["Rows"], json!([[1]]));
    let shown: Value = serde_json::from_str(tables[2]["Rows"][1][0].as_str().unwrap()).unwrap();
    assert_eq!(shown["Visualization"], "piechart");
    assert_eq!(tables[3]["Rows"][0][2], "Info");
    let kinds: Vec<&Value> = (0..4).map(|row| &tables[4]["Rows"][row][1]).collect();
    assert_eq!(
        kinds,
        [
            "QueryResult",
            "QueryResult",
            "QueryProperties",
            "QueryStatus"
        ]
    );
}

#[tokio::test]
async fn progressive_data_sets_have_the_same_rows() {
    let server = Server::start().await;
    let csl = "range x from 1 to 20000 step 1 | extend text = strcat('row ', x); print y = 1";
    let plain = v2(&server, csl, json!({})).await;
    let progressive = v2(&server, csl, json!({ "results_progressive_enabled": true })).await;
    assert_eq!(progressive[0]["IsProgressive"], true);
    for (id, table) in [(1, &plain[2]), (2, &plain[3])] {
        let frames: Vec<&Value> = progressive
            .as_array()
            .unwrap()
            .iter()
            .filter(|frame| frame["TableId"] == id)
            .collect();
        let types: Vec<&Value> = frames.iter().map(|frame| &frame["FrameType"]).collect();
        let fragments = &frames[1..frames.len() - 2];
        assert_eq!(types[0], "TableHeader");
        assert_eq!(
            types[types.len() - 2..],
            ["TableProgress", "TableCompletion"]
        );
        assert_eq!(frames[0]["Columns"], table["Columns"]);
        let rows = fragments.iter().flat_map(|frame| {
            assert_eq!(frame["TableFragmentType"], "DataAppend");
            frame["Rows"].as_array().unwrap().clone()
        });
        let rows: Vec<Value> = rows.collect();
        assert_eq!(json!(rows), table["Rows"]);
        assert_eq!(frames[frames.len() - 1]["RowCount"], rows.len());
        assert!(id != 1 || fragments.len() > 1, "{}", fragments.len());
    }
    let newlines = json!({ "results_v2_newlines_between_frames": true, "results_v2_fragment_primary_tables": true,
        "results_error_reporting_placement": "end_of_table" });
    let body = json!({ "db": "shop", "csl": csl, "properties": { "Options": newlines } });
    let reply = post(&server, "/v2/rest/query", &body).await;
    let text = String::from_utf8(reply.bytes.clone()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let frames = reply.json();
    assert_eq!(lines.len(), frames.as_array().unwrap().len() + 1);
    assert_eq!(frames[0]["IsFragmented"], true);
    let completed = frames.as_array().unwrap().iter();
    let completed = completed.filter(|frame| frame["FrameType"] == "TableCompletion");
    assert!(
        completed
            .clone()
            .all(|frame| frame["OneApiErrors"] == json!([]))
            && completed.count() == 2
    );
}

#[tokio::test]
async fn a_result_that_is_cut_is_an_error_or_a_message() {
    let server = Server::start().await;
    let csl = "range x from 1 to 9 step 1";
    let failed = v2(&server, csl, json!({ "truncationmaxrecords": 5 })).await;
    let expected = [
        "DataSetHeader",
        "DataTable",
        "DataTable",
        "DataSetCompletion",
    ];
    assert_eq!(frame_types(&failed), expected);
    let rows = failed[2]["Rows"].as_array().unwrap();
    assert_eq!(rows.len(), 6);
    let error = &rows[5]["OneApiErrors"][0]["error"];
    assert_eq!(error["code"], "LimitsExceeded");
    assert!(
        error["@message"].as_str().unwrap().contains("limit 5"),
        "{error}"
    );
    assert_eq!(failed[3]["HasErrors"], true);
    assert_eq!(failed[3]["OneApiErrors"][0]["error"], *error);
    let deferred = json!({ "truncationmaxrecords": "5", "deferpartialqueryfailures": true });
    let deferred = v2(&server, csl, deferred).await;
    assert_eq!(deferred[2]["Rows"].as_array().unwrap().len(), 5);
    assert_eq!(deferred[3]["Rows"][0][7], -2_133_196_797);
    assert_eq!(deferred[4]["HasErrors"], false);
    let at_end =
        json!({ "truncationmaxrecords": 5, "results_error_reporting_placement": "end_of_dataset" });
    let at_end = v2(&server, csl, at_end).await;
    assert_eq!(at_end[2]["Rows"].as_array().unwrap().len(), 5);
    assert_eq!(at_end[3]["HasErrors"], true);
    let body = json!({ "db": "shop", "csl": csl, "properties": { "Options": { "truncationmaxrecords": 5 } } });
    let first = post(&server, "/v1/rest/query", &body).await.json();
    let sentence = &first["Exceptions"][0];
    assert_eq!(first["Tables"][0]["Rows"][5]["Exceptions"][0], *sentence);
    assert!(sentence.as_str().unwrap().contains("limit 5"), "{sentence}");
}

#[tokio::test]
async fn properties_reach_the_query() {
    let server = with_requests(3).await;
    let csl = "declare query_parameters(n:long, word:string = 'x'); print n + 1, word";
    let body = json!({ "db": "shop", "csl": csl, "properties": json!({ "Parameters": { "n": 41, "word": "'it''s'" } }).to_string() });
    let first = post(&server, "/v2/rest/query", &body).await.json();
    assert_eq!(first[2]["Rows"][0][0], 42);
    // The value of a parameter is part of what a cached reply answers.
    let body = json!({ "db": "shop", "csl": csl, "properties": { "Parameters": { "n": "1" } } });
    let second = post(&server, "/v2/rest/query", &body).await.json();
    assert_eq!(second[2]["Rows"], json!([[2, "x"]]));
    let old =
        json!({ "query_datetimescope_from": "2000-01-01", "query_datetimescope_to": "2000-01-02" });
    let count = "requests | count";
    assert_eq!(v2(&server, count, old).await[2]["Rows"], json!([[0]]));
    assert_eq!(v2(&server, count, json!({})).await[2]["Rows"], json!([[3]]));
    let elsewhere = "database('shop').requests | count";
    assert_eq!(
        v2(&server, elsewhere, json!({})).await[2]["Rows"],
        json!([[3]])
    );
    let body = json!({ "db": "shop", "csl": count, "properties": { "Options": { "query_now": "2024-01-01" } } });
    let refused = post(&server, "/v2/rest/query", &body).await;
    let error = &refused.json()["error"];
    assert_eq!(refused.status, 400);
    assert!(
        error["@message"].as_str().unwrap().contains("query_now"),
        "{error}"
    );
}

#[tokio::test]
async fn errors_have_the_form_of_the_protocol() {
    let server = Server::start().await;
    let ask = |csl: &str, db: &str| json!({ "db": db, "csl": csl });
    let reply = post(&server, "/v2/rest/query", &ask("requests | oops", "shop")).await;
    let error = reply.json()["error"].clone();
    assert_eq!(
        (reply.status.as_u16(), &error["code"]),
        (400, &json!("General_BadRequest"))
    );
    assert_eq!(
        (&error["@permanent"], &error["innererror"]["@token"]),
        (&json!(true), &json!("oops"))
    );
    assert_eq!(error["@context"]["clientRequestId"], "KPC.execute;1");
    assert_eq!(
        error["@context"]["activityId"],
        reply.header("x-ms-activity-id")
    );
    let reply = post(
        &server,
        "/v1/rest/query",
        &ask("requests | project nothing", "shop"),
    )
    .await;
    let error = reply.json()["error"].clone();
    assert!(
        error["@message"]
            .as_str()
            .unwrap()
            .contains("Semantic error: SEM"),
        "{error}"
    );
    create_app(server.app.store.catalogue(), "other", server.app.now())
        .await
        .unwrap();
    let denied = post(&server, "/v2/rest/query", &ask("requests", "other")).await;
    let unknown = post(&server, "/v2/rest/query", &ask("requests", "nowhere")).await;
    assert_eq!(
        (denied.status, unknown.status),
        (StatusCode::FORBIDDEN, StatusCode::FORBIDDEN)
    );
    assert_eq!(denied.json()["error"]["code"], "Forbidden");
    let cross = post(
        &server,
        "/v2/rest/query",
        &ask("database('other').requests", "shop"),
    )
    .await;
    assert_eq!(cross.status, StatusCode::FORBIDDEN);
    let body = ask("requests", "shop").to_string();
    let without = server.ask(Method::POST, "/v2/rest/query", &[], body).await;
    assert_eq!(
        (without.status.as_u16(), &without.json()["error"]["code"]),
        (401, &json!("Unauthorized"))
    );
    let refused = post(
        &server,
        "/v1/rest/mgmt",
        &ask(".drop table requests", "shop"),
    )
    .await;
    let error = refused.json()["error"].clone();
    assert_eq!(refused.status, 400);
    assert!(
        error["@message"]
            .as_str()
            .unwrap()
            .contains(".drop table requests"),
        "{error}"
    );
}

#[tokio::test]
async fn commands_describe_the_databases_that_may_be_read() {
    let server = with_requests(3).await;
    create_app(server.app.store.catalogue(), "other", server.app.now())
        .await
        .unwrap();
    let (columns, rows) = command(&server, ".show databases").await;
    assert_eq!((columns[0].as_str(), rows.len()), ("DatabaseName", 1));
    assert_eq!((&rows[0][0], &rows[0][3]), (&json!("shop"), &json!(true)));
    assert_eq!(rows[0][7], server.shop.id.to_string());
    let (_, rows) = command(&server, ".show databases schema as json").await;
    let schema: Value = serde_json::from_str(rows[0][0].as_str().unwrap()).unwrap();
    let databases = schema["Databases"].as_object().unwrap();
    assert_eq!(databases.keys().collect::<Vec<_>>(), ["shop"]);
    let columns = &databases["shop"]["Tables"]["requests"]["OrderedColumns"];
    let first = json!({ "Name": "timestamp", "Type": "System.DateTime", "CslType": "datetime" });
    assert_eq!(columns[0], first);
    for same in [
        ".show schema as json",
        ".show database schema as json",
        ".show database shop schema as json",
    ] {
        assert_eq!(command(&server, same).await.1, rows, "{same}");
    }
    let (_, rows) = command(&server, ".show database schema").await;
    assert_eq!(rows[0][7], "v1.0");
    assert!(rows.contains(&json!([
        "shop",
        "traces",
        "message",
        "System.String",
        false,
        false,
        "",
        null,
        "",
        ""
    ])));
    let (_, rows) = command(&server, ".show database shop schema as csl script").await;
    assert_eq!(rows.len(), 10);
    assert!(
        rows[0][0]
            .as_str()
            .unwrap()
            .starts_with(".create-merge table "),
        "{}",
        rows[0]
    );
    assert_eq!(command(&server, ".show tables").await.1.len(), 10);
    let (columns, rows) = command(&server, ".show tables (requests, traces) details").await;
    let count = columns
        .iter()
        .position(|name| name == "TotalRowCount")
        .unwrap();
    assert_eq!((&rows[0][count], &rows[1][count]), (&json!(3), &json!(0)));
    let (_, rows) = command(&server, ".show table requests cslschema").await;
    assert!(
        rows[0][1]
            .as_str()
            .unwrap()
            .starts_with("timestamp:datetime,"),
        "{}",
        rows[0]
    );
    let (_, rows) = command(&server, ".show table requests schema as json").await;
    let table: Value = serde_json::from_str(rows[0][1].as_str().unwrap()).unwrap();
    assert_eq!(table["OrderedColumns"], *columns_of(&schema));
    assert_eq!(command(&server, ".show version").await.1[0][2], "Engine");
    assert_eq!(command(&server, ".show cluster").await.1.len(), 1);
    for none in [
        ".show functions",
        ".show external tables",
        ".show materialized-views",
    ] {
        assert_eq!(command(&server, none).await.1.len(), 0, "{none}");
    }
    // Grafana tests a data source with a command at the path of queries, and asks for the schema without a database.
    let body = json!({ "csl": ".show databases schema", "properties": null });
    let reply = post(&server, "/v1/rest/query", &body).await;
    assert_eq!(reply.json()["Tables"][0]["Rows"][0][0], "shop");
}

fn columns_of(schema: &Value) -> &Value {
    schema
        .pointer("/Databases/shop/Tables/requests/OrderedColumns")
        .unwrap()
}

#[tokio::test]
async fn a_request_without_a_database_is_about_the_only_one() {
    let server = with_requests(2).await;
    for db in [json!(null), json!(""), json!("NetDefaultDB")] {
        let body = json!({ "db": db, "csl": "requests | count" });
        let reply = post(&server, "/v2/rest/query", &body).await;
        assert_eq!(reply.json()[2]["Rows"], json!([[2]]), "{db}");
    }
    let token = crate::app::read_token(&server.app.settings.data).unwrap();
    let authorization = format!("Bearer {token}");
    let headers = [("authorization", authorization.as_str())];
    create_app(server.app.store.catalogue(), "other", server.app.now())
        .await
        .unwrap();
    let ask = |db: &str| json!({ "db": db, "csl": "requests | count" }).to_string();
    let path = "/v2/rest/query";
    let ambiguous = server.ask(Method::POST, path, &headers, ask("")).await;
    assert_eq!(ambiguous.status, 400);
    let unknown = server
        .ask(Method::POST, path, &headers, ask("nowhere"))
        .await;
    let error = unknown.json()["error"].clone();
    assert!(
        error["@message"].as_str().unwrap().contains("nowhere"),
        "{error}"
    );
}

#[tokio::test]
async fn large_results_are_streamed_in_both_versions() {
    let streamed = Server::with(|settings| settings.cache_max_reply_bytes = 100).await;
    let csl = "range x from 1 to 30000 step 1 | extend text = strcat('row ', x)";
    let body = json!({ "db": "shop", "csl": csl });
    for path in ["/v1/rest/query", "/v2/rest/query"] {
        let reply = post(&streamed, path, &body).await;
        assert!(reply.header("etag").is_empty(), "{path}");
        let reply = reply.json();
        let rows = reply.pointer("/Tables/0/Rows").or(reply.pointer("/2/Rows"));
        assert_eq!(rows.unwrap().as_array().unwrap().len(), 30_000, "{path}");
    }
}

/// A query that fails when rows were sent: the status is 200, and the data set says that it failed.
#[tokio::test]
async fn a_late_failure_is_in_the_data_set() {
    let server = Server::with(|settings| settings.cache_max_reply_bytes = 100).await;
    let csl = "range x from 1 to 300000 step 1 | serialize | extend a = repeat(1, iff(x < 299000, 1, 100000000))";
    let body = json!({ "db": "shop", "csl": csl });
    let reply = post(&server, "/v2/rest/query", &body).await;
    assert_eq!(reply.status, 200);
    let frames = reply.json();
    let last = frames.as_array().unwrap().last().unwrap();
    let error = &last["OneApiErrors"][0]["error"];
    assert_eq!(
        (&last["FrameType"], &last["HasErrors"]),
        (&json!("DataSetCompletion"), &json!(true))
    );
    assert!(
        error["@message"].as_str().unwrap().contains("repeat()"),
        "{error}"
    );
    let reply = post(&server, "/v1/rest/query", &body).await.json();
    assert!(
        reply["Exceptions"][0]
            .as_str()
            .unwrap()
            .contains("repeat()"),
        "{}",
        reply["Exceptions"]
    );
}

#[tokio::test]
async fn clients_learn_where_to_sign_in() {
    let server = Server::start().await;
    let headers = [("host", "telemetry.example:8080")];
    let reply = server
        .ask(
            Method::GET,
            "/v1/rest/auth/metadata",
            &headers,
            Body::empty(),
        )
        .await;
    let addresses = reply.json()["AzureAD"].clone();
    assert_eq!(addresses["LoginEndpoint"], "http://telemetry.example:8080");
    assert_eq!(
        addresses["KustoServiceResourceId"],
        addresses["LoginEndpoint"]
    );
}
