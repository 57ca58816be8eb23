//! Queries that are addressed by a resource, by a workspace without a version, and several in a batch.

use super::*;
use serde_json::json;

const GROUP: &str = "/subscriptions/s/resourceGroups/g/providers";

impl Server {
    /// A server with a request in its shop.
    async fn with_request() -> Server {
        let server = Server::start().await;
        let item = server.envelope(
            "RequestData",
            json!({"ver": 2, "id": "r", "name": "GET /", "duration": "00:00:01", "responseCode": "200", "success": true}),
        );
        assert_eq!(server.track(item.to_string()).await.status, 200);
        server
    }

    async fn post_bearer(&self, path: &str, body: &Value) -> Reply {
        let bearer = format!("Bearer {}", self.key);
        let headers = [
            ("authorization", bearer.as_str()),
            ("cache-control", "no-cache"),
        ];
        self.ask(Method::POST, path, &headers, body.to_string())
            .await
    }

    /// The ids by which the shop is addressed as a resource.
    fn resources(&self) -> Vec<String> {
        vec![
            format!("{GROUP}/microsoft.insights/components/shop"),
            format!("{GROUP}/Microsoft.Insights/Components/{}", self.shop.id),
            "/subscriptions/s/resourcegroups/g/providers/microsoft.operationalinsights/workspaces/shop".to_owned(),
            "/hindsight/apps/shop".to_owned(),
        ]
    }
}

#[tokio::test]
async fn a_resource_is_queried_with_and_without_version() {
    let server = Server::with_request().await;
    let body = json!({"query": "requests | project name, resultCode"});
    for before in ["/v1", "/v1/", "", "/"] {
        for resource in server.resources() {
            let path = format!("{before}{resource}/query");
            let reply = server.post_bearer(&path, &body).await;
            assert_eq!(reply.status, 200, "{path}");
            assert_eq!(
                reply.json()["tables"][0]["rows"],
                json!([["GET /", "200"]]),
                "{path}"
            );
            let by_get = format!("{path}?query=requests%20%7C%20count&api_key={}", server.key);
            let reply = server.ask(Method::GET, &by_get, &[], Body::empty()).await;
            assert_eq!(reply.json()["tables"][0]["rows"], json!([[1]]), "{path}");
        }
    }
    // The capitalised form of the other version.
    let path = format!("/beta{}/query", server.resources()[0]);
    assert!(server.post_bearer(&path, &body).await.json()["Tables"].is_array());
}

/// The `_ResourceId` of a row addresses its application.
#[tokio::test]
async fn rows_carry_an_id_that_answers() {
    let server = Server::with_request().await;
    let reply = server.query("requests | project _ResourceId").await.json();
    let id = reply["tables"][0]["rows"][0][0].as_str().unwrap();
    let reply = server
        .post_bearer(
            &format!("/v1{id}/query"),
            &json!({"query": "requests | count"}),
        )
        .await;
    assert_eq!(reply.json()["tables"][0]["rows"], json!([[1]]));
}

#[tokio::test]
async fn a_resource_is_described_by_its_type() {
    let server = Server::with_request().await;
    for before in ["/v1", "/v1/", "", "/"] {
        for resource in server.resources() {
            let path = format!("{before}{resource}/metadata");
            let get = server
                .ask(
                    Method::GET,
                    &path,
                    &[("x-api-key", &server.key)],
                    Body::empty(),
                )
                .await;
            assert_eq!(get.status, 200, "{path}");
            let (list, table) = if resource.contains("workspaces") {
                ("workspaces", "t/AppRequests")
            } else {
                ("applications", "t/requests")
            };
            assert_eq!(get.json()[list][0]["name"], "shop", "{path}");
            let tables = get.json()["tables"].as_array().unwrap().clone();
            assert!(tables.iter().any(|found| found["id"] == table), "{path}");
            assert_eq!(
                server.post_bearer(&path, &json!({})).await.json(),
                get.json()
            );
        }
    }
    for path in ["/workspaces/shop/metadata", "/v1/workspaces/shop/metadata"] {
        assert_eq!(
            server.post_bearer(path, &json!({})).await.status,
            200,
            "{path}"
        );
    }
}

#[tokio::test]
async fn what_is_no_resource_of_ours_is_refused() {
    let server = Server::with_request().await;
    let body = json!({"query": "print 1"});
    let check = async |path: &str, status: u16| {
        assert_eq!(
            server.post_bearer(path, &body).await.status,
            status,
            "{path}"
        );
    };
    check(
        &format!("/v1{GROUP}/microsoft.insights/workspaces/shop/query"),
        404,
    )
    .await;
    check(
        &format!("/v1{GROUP}/microsoft.compute/components/shop/query"),
        404,
    )
    .await;
    check(
        "/v1/subscriptions/s/groups/g/providers/microsoft.insights/components/shop/query",
        404,
    )
    .await;
    check(
        &format!("/v2{GROUP}/microsoft.insights/components/shop/query"),
        404,
    )
    .await;
    // Another name is answered as everywhere (`D3`).
    check(
        &format!("/v1{GROUP}/microsoft.insights/components/other/query"),
        403,
    )
    .await;
    check("/v1/hindsight/apps/other/query", 403).await;
    check("/v1/workspaces/other/query", 403).await;
    check("/workspaces/shop/query", 200).await;
    let path = format!("/v1{GROUP}/microsoft.insights/components/shop/query");
    let reply = server.ask(Method::POST, &path, &[], body.to_string()).await;
    assert_eq!(reply.status, 401);
}

/// Dashboards name several resources, and their time range twice.
#[tokio::test]
async fn a_body_names_resources_and_a_time_range() {
    let server = Server::with_request().await;
    let path = "/v1/apps/shop/query";
    let resource = format!("{GROUP}/microsoft.insights/components/shop");
    let check = async |change: Value, status: u16, expected: &str| {
        let mut body = json!({"query": "requests | count"});
        for (name, value) in change.as_object().unwrap() {
            body[name] = value.clone();
        }
        let reply = server.post_bearer(path, &body).await;
        assert_eq!(reply.status, status, "{change}");
        let text = reply.json().to_string();
        assert!(text.contains(expected), "{change}: {text}");
    };
    check(json!({"resources": [resource]}), 200, "[[1]]").await;
    check(
        json!({"workspaces": [resource], "applications": [resource]}),
        200,
        "[[1]]",
    )
    .await;
    check(
        json!({"resources": ["/hindsight/apps/other"]}),
        403,
        "InsufficientAccessError",
    )
    .await;
    let machine = format!("{GROUP}/microsoft.compute/virtualMachines/shop");
    check(
        json!({"resources": [machine]}),
        400,
        "is not the id of an application",
    )
    .await;
    let past = |column: &str| {
        json!({"query_datetimescope_from": "2020-01-01T00:00:00Z", "query_datetimescope_to": "2020-01-02T00:00:00Z",
            "query_datetimescope_column": column})
    };
    check(past("TimeGenerated"), 200, "[[0]]").await;
    check(past("timestamp"), 200, "[[0]]").await;
    check(past(""), 200, "[[0]]").await;
    check(
        past("started"),
        400,
        "A time range of the column 'started' is not supported",
    )
    .await;
    check(
        json!({"query_datetimescope_from": "2020-01-01T00:00:00Z"}),
        400,
        "a start and an end",
    )
    .await;
}

fn member(id: Value, workspace: &str, query: &str) -> Value {
    json!({"id": id, "workspace": workspace, "path": "/query", "method": "POST", "headers": {"Prefer": ""},
        "body": {"query": query, "timespan": null, "workspaces": null}})
}

#[tokio::test]
async fn the_members_of_a_batch_are_answered_in_their_order() {
    let server = Server::with_request().await;
    let id = server.shop.id.to_string();
    let mut preferring = member(json!("d"), &id, "print x = 4");
    preferring["headers"] = json!({"Prefer": "wait=7, include-statistics=true"});
    let mut elsewhere = member(json!("e"), &id, "print 5");
    elsewhere["path"] = json!("/metadata");
    let resource = format!("{GROUP}/microsoft.operationalinsights/workspaces/shop");
    let mut unnamed = member(json!("g"), &resource, "print 7");
    unnamed["headers"] = json!(null);
    let requests = json!([
        member(json!("a"), &id, "AppRequests | project Name, ResultCode"),
        member(json!(2), "shop", "requests | foobar"),
        member(json!("c"), "other", "print 1"),
        preferring,
        elsewhere,
        member(json!("a"), &id, "print 6"),
        unnamed,
        json!({"id": "h", "workspace": id}),
    ]);
    for path in ["/v1/$batch", "/$batch"] {
        let reply = server
            .post_bearer(path, &json!({ "requests": requests }))
            .await;
        assert_eq!(reply.status, 200);
        let replies = reply.json()["responses"].as_array().unwrap().clone();
        let told: Vec<Value> = replies
            .iter()
            .map(|reply| json!([reply["id"], reply["status"]]))
            .collect();
        let expected = json!([
            ["a", 200],
            [2, 400],
            ["c", 403],
            ["d", 200],
            ["e", 400],
            ["a", 400],
            ["g", 200],
            ["h", 400]
        ]);
        assert_eq!(json!(told), expected);
        assert_eq!(
            replies[0]["body"]["tables"][0]["rows"],
            json!([["GET /", "200"]])
        );
        assert_eq!(replies[6]["body"]["tables"][0]["rows"], json!([[7]]));
        assert_eq!(replies[3]["headers"]["preference-applied"], "wait=7");
        assert!(replies[3]["body"]["statistics"].is_object());
        assert_eq!(
            replies[1]["body"]["error"]["innererror"]["code"],
            "SyntaxError"
        );
        for reply in &replies {
            let id = reply["headers"]["x-ms-request-id"].as_str().unwrap();
            assert!(uuid::Uuid::parse_str(id).is_ok());
            let error = &reply["body"]["error"];
            assert!(error.is_null() || error["correlationId"] == id, "{reply}");
            let media = reply["headers"]["content-type"].as_str().unwrap();
            assert!(media.starts_with("application/json"), "{reply}");
        }
    }
}

#[tokio::test]
async fn a_batch_that_is_wrong_as_a_whole_is_refused() {
    let server = Server::start().await;
    let check = async |body: &Value, status: u16| {
        let reply = server.post_bearer("/v1/$batch", body).await;
        assert_eq!(reply.status, status, "{}", reply.json());
    };
    check(&json!({"requests": []}), 200).await;
    check(&json!({}), 400).await;
    check(&json!([]), 400).await;
    let many: Vec<Value> = (0..101)
        .map(|n| member(json!(n), "shop", "print 1"))
        .collect();
    check(&json!({"requests": many}), 400).await;
    assert_eq!(
        server
            .post_bearer("/v3/$batch", &json!({"requests": []}))
            .await
            .status,
        404
    );
    let reply = server.ask(Method::POST, "/v1/$batch", &[], "{}").await;
    assert_eq!(reply.status, 401);
}

/// A batch holds no memory of bodies once it is answered, and its members wait for the limits of their principal.
#[tokio::test]
async fn the_members_of_a_batch_are_limited_as_single_queries() {
    let server = Server::with(|settings| {
        settings.query_concurrency = 1;
        settings.query_rate = 1000;
    })
    .await;
    let requests: Vec<Value> = (0..40)
        .map(|n| member(json!(n), "shop", &format!("print {n}")))
        .collect();
    let reply = server
        .post_bearer("/v1/$batch", &json!({ "requests": requests }))
        .await;
    let replies = reply.json()["responses"].as_array().unwrap().clone();
    for (n, reply) in replies.iter().enumerate() {
        assert_eq!(reply["body"]["tables"][0]["rows"], json!([[n]]), "{reply}");
    }
    assert_eq!(replies.len(), 40);
}

/// A key that is sent as a token is judged as a key; one that is mistyped is no token either.
#[tokio::test]
async fn a_key_is_accepted_as_a_token() {
    let server = Server::start().await;
    let path = format!("/v1/apps/{}/query?query=print%201", server.shop.id);
    let check = async |token: &str, path: &str, status: u16| {
        let bearer = format!("Bearer {token}");
        let headers = [("authorization", bearer.as_str())];
        let reply = server.ask(Method::GET, path, &headers, Body::empty()).await;
        assert_eq!(reply.status, status, "{token}");
    };
    check(&server.key, &path, 200).await;
    check(&server.key, "/v1/apps/other/query?query=print%201", 403).await;
    let mut mistyped = server.key.clone();
    mistyped.pop();
    check(&mistyped, &path, 401).await;
    let other = hindsight_identity::api_key::generate().unwrap();
    check(&other.text, &path, 403).await;
}
