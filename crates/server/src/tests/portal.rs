//! The portal: its pages, signing in by a link and by its client, and its endpoints.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hindsight_identity::secret;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::oauth::{encoded, told};
use super::*;

const SAME_ORIGIN: (&str, &str) = ("sec-fetch-site", "same-origin");
const HOST: (&str, &str) = ("host", "127.0.0.1:2020");
const ORIGIN: &str = "http://127.0.0.1:2020";
/// How long after a change of the catalogue every request knows of it.
const FOLLOWED: Duration = Duration::from_millis(500);

/// A server, and a session of the owner of this machine.
struct Portal {
    server: Server,
    cookie: String,
}

impl Portal {
    async fn start() -> Portal {
        let server = Server::start().await;
        let link = server.app.issuer.new_link().unwrap();
        let reply = redeem(&server, &link, &[SAME_ORIGIN]).await;
        assert_eq!(reply.status, 204, "{}", reply.text());
        let cookie = reply.header("set-cookie").split(';').next().unwrap();
        let cookie = cookie.to_owned();
        Portal { server, cookie }
    }

    /// Asks the issuer without a page for a person.
    async fn authorize(&self, redirect: &str, scope: &str, verifier: &str) -> Reply {
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier));
        let query = encoded(&[
            ("client_id", "hindsight-portal"),
            ("response_type", "code"),
            ("redirect_uri", redirect),
            ("scope", scope),
            ("prompt", "none"),
            ("state", "s"),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
        ]);
        let path = format!("/common/oauth2/v2.0/authorize?{query}");
        let headers = [HOST, ("cookie", self.cookie.as_str())];
        self.server
            .ask(Method::GET, &path, &headers, Body::empty())
            .await
    }

    /// The tokens that the page gets.
    async fn tokens(&self) -> Value {
        let verifier = secret::random().unwrap();
        let scope = format!(
            "openid offline_access {ORIGIN}/Data.Read {ORIGIN}/Data.Write {ORIGIN}/Data.Manage"
        );
        let redirect = format!("{ORIGIN}/portal/");
        let answer = told(&self.authorize(&redirect, &scope, &verifier).await);
        let form = encoded(&[
            ("client_id", "hindsight-portal"),
            ("grant_type", "authorization_code"),
            ("code", &answer["code"]),
            ("redirect_uri", &redirect),
            ("code_verifier", &verifier),
        ]);
        let headers = [HOST, ("content-type", "application/x-www-form-urlencoded")];
        let path = "/common/oauth2/v2.0/token";
        let reply = self.server.ask(Method::POST, path, &headers, form).await;
        assert_eq!(reply.status, 200, "{}", reply.text());
        reply.json()
    }

    async fn bearer(&self) -> String {
        let tokens = self.tokens().await;
        format!("Bearer {}", tokens["access_token"].as_str().unwrap())
    }

    async fn ask(&self, bearer: &str, method: Method, path: &str, body: &Value) -> Reply {
        self.ask_with(bearer, method, path, &[], body).await
    }

    async fn ask_with(
        &self,
        bearer: &str,
        method: Method,
        path: &str,
        more: &[(&str, &str)],
        body: &Value,
    ) -> Reply {
        let mut headers = vec![HOST, ("authorization", bearer)];
        headers.extend(more);
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        self.server.ask(method, path, &headers, body).await
    }
}

async fn redeem(server: &Server, link: &str, headers: &[(&str, &str)]) -> Reply {
    let body = json!({ "token": link }).to_string();
    server
        .ask(Method::POST, "/portal/session", headers, body)
        .await
}

#[tokio::test]
async fn browsers_find_the_portal_and_others_get_json() {
    let server = Server::start().await;
    let get = async |path: &str, accept: &str| {
        let headers = [("accept", accept)];
        server.ask(Method::GET, path, &headers, Body::empty()).await
    };
    let html = "text/html,application/xhtml+xml,*/*;q=0.8";
    let reply = get("/", html).await;
    assert_eq!(
        (reply.status.as_u16(), reply.header("location")),
        (303, "/portal/")
    );
    for accept in ["application/json", "*/*"] {
        let reply = get("/", accept).await;
        assert_eq!(reply.status, 404);
        assert_eq!(reply.json()["error"]["code"], "PathNotFoundError");
    }
    for path in ["/portal/", "/portal/shop/logs", "/docs"] {
        let page = get(path, html).await;
        assert_eq!(page.status, 200, "{path}");
        assert!(page.header("content-type").starts_with("text/html"));
        let policy = page.header("content-security-policy");
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"));
        let tag = page.header("etag").to_owned();
        let headers = [("if-none-match", tag.as_str())];
        let again = server.ask(Method::GET, path, &headers, Body::empty()).await;
        assert_eq!((again.status.as_u16(), again.bytes.len()), (304, 0));
    }
    let missing = get("/portal/api/nothing", html).await;
    assert_eq!(missing.status, 404);
}

#[tokio::test]
async fn files_are_kept_for_ever_at_the_address_of_their_hash() {
    let server = Server::start().await;
    let base = hindsight_portal::base();
    let get = async |path: &str, encoding: &str| {
        let headers = [("accept-encoding", encoding)];
        server.ask(Method::GET, path, &headers, Body::empty()).await
    };
    for (path, _) in hindsight_portal::files() {
        let file = get(&format!("{base}/{path}"), "gzip, br").await;
        assert_eq!(file.status, 200, "{path}");
        assert_eq!(file.header("content-encoding"), "gzip", "{path}");
        assert!(file.header("cache-control").contains("immutable"));
        assert!(!file.header("content-security-policy").is_empty());
    }
    let plain = get(&format!("{base}/main.js"), "identity").await;
    assert_eq!(plain.header("content-encoding"), "");
    assert!(plain.text().contains("import"));
    for path in [
        "/portal/-/0/main.js",
        "/portal/-/main.js",
        &format!("{base}/none.js"),
    ] {
        assert_eq!(get(path, "gzip").await.status, 404, "{path}");
    }
    let licences = get("/portal/licences", "identity").await;
    assert!(
        licences.text().contains("MIT License"),
        "{}",
        licences.status
    );
}

/// What of Logs is the editor, for which the portal's budget has limits of its own.
const EDITOR: &[&str] = &[
    "kql/editor.js",
    "kql/highlight.js",
    "kql/theme.js",
    "vendor/codemirror.js",
];

/// The portal's budget for its first page, whatever screen that shows: all but the editor, compressed.
#[test]
fn the_first_load_is_small() {
    let files: Vec<(&str, usize)> = hindsight_portal::files().collect();
    let screens = files.iter().filter_map(|(path, _)| {
        let name = path.strip_prefix("screens/")?.strip_suffix(".js")?;
        (name != "list").then_some(name)
    });
    let base = hindsight_portal::base();
    let mut checked = 0;
    for screen in screens {
        let page = hindsight_portal::page("index.html", screen).unwrap();
        let named = |path: &str| page.contains(&format!("\"{base}/{path}\""));
        assert!(named(&format!("screens/{screen}.js")), "{page}");
        let first: Vec<&(&str, usize)> = files
            .iter()
            .filter(|(path, _)| named(path) && !EDITOR.contains(path))
            .collect();
        let bytes: usize = first.iter().map(|(_, bytes)| bytes).sum();
        assert!(first.len() > 10, "{first:?}");
        assert!(
            bytes <= 300_000 && first.len() <= 60,
            "{screen}: {bytes} bytes: {first:?}"
        );
        checked += 1;
    }
    assert_eq!(checked, 15);
}

#[tokio::test]
async fn a_page_names_the_modules_of_the_screen_that_it_shows() {
    let server = Server::start().await;
    for (path, screen) in [
        ("/portal/", "overview"),
        ("/portal/shop", "overview"),
        ("/portal/shop/", "overview"),
        ("/portal/shop/logs?q=print+1", "logs"),
        ("/portal/applications", "applications"),
    ] {
        let reply = server.ask(Method::GET, path, &[], Body::empty()).await;
        let page = reply.text();
        let modules: Vec<&str> = page
            .lines()
            .filter(|line| line.contains("/screens/"))
            .collect();
        let named = |name: &str| {
            modules
                .iter()
                .any(|line| line.contains(&format!("/{name}.js\"")))
        };
        // The page itself begins with the list of screens.
        assert!(named(screen) && named("list"), "{path}: {modules:?}");
        assert_eq!(modules.len(), 2, "{path}: {modules:?}");
    }
}

#[tokio::test]
async fn a_link_signs_in_once_and_only_from_the_page_itself() {
    let server = Server::start().await;
    let link = server.app.issuer.new_link().unwrap();
    for site in ["cross-site", "same-site", "none"] {
        let reply = redeem(&server, &link, &[("sec-fetch-site", site)]).await;
        assert_eq!(reply.status, 403, "{site}");
    }
    assert_eq!(redeem(&server, &link, &[]).await.status, 403);
    assert_eq!(redeem(&server, "x", &[SAME_ORIGIN]).await.status, 400);
    assert_eq!(redeem(&server, &link, &[SAME_ORIGIN]).await.status, 204);
    let again = redeem(&server, &link, &[SAME_ORIGIN]).await;
    assert_eq!(again.status, 400);
    assert!(again.text().contains("was used"), "{}", again.text());
}

#[tokio::test]
async fn links_are_not_offered_where_the_setting_forbids_them() {
    let server = Server::with(|settings| settings.set("portal.sign_in", "false").unwrap()).await;
    let link = server.app.issuer.new_link().unwrap();
    assert_eq!(redeem(&server, &link, &[SAME_ORIGIN]).await.status, 403);
}

#[tokio::test]
async fn without_the_portal_there_is_none_of_it() {
    let server = Server::with(|settings| settings.set("portal.enabled", "false").unwrap()).await;
    let headers = [("accept", "text/html"), ("x-api-key", server.key.as_str())];
    for path in ["/", "/portal/", "/portal/api/me", "/docs"] {
        let reply = server.ask(Method::GET, path, &headers, Body::empty()).await;
        assert_eq!(reply.status, 404, "{path}");
    }
    let document = server
        .ask(Method::GET, "/openapi.json", &[], Body::empty())
        .await;
    assert!(!document.text().contains("/portal/"));
    let query = "client_id=hindsight-portal&response_type=code&redirect_uri=http://x/portal/";
    let path = format!("/common/oauth2/v2.0/authorize?{query}");
    let reply = server.ask(Method::GET, &path, &[], Body::empty()).await;
    assert_eq!(reply.status, 401, "there is no such client");
}

#[tokio::test]
async fn codes_go_to_the_own_origin_alone() {
    let portal = Portal::start().await;
    let scope = format!("openid {ORIGIN}/Data.Read");
    for redirect in [
        "http://127.0.0.1:2021/portal/",
        "http://localhost:2020/portal/",
        "http://evil.example/portal/",
        "http://127.0.0.1:2020/portal/x",
        "http://127.0.0.1:2020/",
        "http://127.0.0.1:2020.evil.example/portal/",
    ] {
        let reply = portal.authorize(redirect, &scope, "v").await;
        assert_eq!(reply.status, 400, "{redirect}");
        assert_eq!(reply.header("location"), "");
    }
    let good = portal
        .authorize(&format!("{ORIGIN}/portal/"), &scope, "v")
        .await;
    assert!(told(&good).contains_key("code"));
}

#[tokio::test]
async fn the_page_knows_who_it_is_and_signs_out() {
    let portal = Portal::start().await;
    let bearer = portal.bearer().await;
    let me = portal
        .ask(&bearer, Method::GET, "/portal/api/me", &Value::Null)
        .await;
    assert_eq!(me.header("cache-control"), "no-store");
    assert_eq!(me.json()["name"], "local owner");
    assert_eq!(me.json()["rights"], json!(["read", "ingest", "admin"]));
    let path = "/portal/api/sign-out";
    let cookie = [SAME_ORIGIN, ("cookie", portal.cookie.as_str())];
    let out = portal
        .ask_with(&bearer, Method::POST, path, &cookie, &Value::Null)
        .await;
    assert_eq!(out.status, 204, "{}", out.text());
    tokio::time::sleep(FOLLOWED).await;
    let me = portal
        .ask(&bearer, Method::GET, "/portal/api/me", &Value::Null)
        .await;
    assert_eq!(me.status, 401, "the tokens are revoked");
    let scope = format!("openid {ORIGIN}/Data.Read");
    let again = portal
        .authorize(&format!("{ORIGIN}/portal/"), &scope, "v")
        .await;
    assert_eq!(told(&again)["error"], "login_required");
}

#[tokio::test]
async fn keys_are_made_listed_and_deleted_by_administrators() {
    let portal = Portal::start().await;
    let bearer = portal.bearer().await;
    let keys = format!("/portal/api/apps/{}/keys", portal.server.shop.id);
    let new = json!({ "name": "ci", "rights": ["read"], "expires": null });
    let made = portal.ask(&bearer, Method::POST, &keys, &new).await;
    assert_eq!(made.status, 200, "{}", made.text());
    let (id, key) = (made.json()["id"].clone(), made.json()["key"].clone());
    let (id, key) = (id.as_str().unwrap(), key.as_str().unwrap());
    let path = format!("/v1/apps/{}/query?query=print+1", portal.server.shop.id);
    let with_key = [("x-api-key", key)];
    let read = async || {
        let server = &portal.server;
        server
            .ask(Method::GET, &path, &with_key, Body::empty())
            .await
            .status
    };
    assert_eq!(read().await, 200);
    let listed = portal.ask(&bearer, Method::GET, &keys, &Value::Null).await;
    assert!(!listed.text().contains(key), "the key is shown once");
    let listed = listed.json();
    let of = |id: &str| {
        let all = listed["keys"].as_array().unwrap().iter();
        all.clone().find(|key| key["id"] == id).unwrap().clone()
    };
    assert_eq!(of(id)["creator"], "local owner");
    assert_eq!(of(&portal.server.key_id)["creator"], Value::Null);
    // A key that reads may do none of this.
    let headers = [("x-api-key", portal.server.key.as_str())];
    for method in [Method::GET, Method::POST] {
        let body = new.to_string();
        let reply = portal.server.ask(method, &keys, &headers, body).await;
        assert_eq!(reply.status, 403);
    }
    for (wrong, message) in [
        (json!({ "name": "", "rights": ["read"] }), "1 to 128"),
        (json!({ "name": "x", "rights": [] }), "at least one right"),
        (json!({ "name": "x", "rights": ["write"] }), "'write'"),
        (
            json!({ "name": "x", "rights": ["read"], "expires": "2001-01-01" }),
            "future",
        ),
        (
            json!({ "name": "x", "rights": ["read"], "more": 1 }),
            "unknown field",
        ),
    ] {
        let reply = portal.ask(&bearer, Method::POST, &keys, &wrong).await;
        assert_eq!(reply.status, 400, "{wrong}");
        assert!(reply.text().contains(message), "{}", reply.text());
    }
    let one = format!("{keys}/{id}");
    let deleted = portal
        .ask(&bearer, Method::DELETE, &one, &Value::Null)
        .await;
    assert_eq!(deleted.status, 204);
    tokio::time::sleep(FOLLOWED).await;
    assert_eq!(read().await, 403);
    let again = portal
        .ask(&bearer, Method::DELETE, &one, &Value::Null)
        .await;
    assert_eq!(again.status, 404);
}

#[tokio::test]
async fn applications_are_listed_created_and_limited() {
    let portal = Portal::start().await;
    let bearer = portal.bearer().await;
    let apps = "/portal/api/apps";
    let made = portal
        .ask(&bearer, Method::POST, apps, &json!({ "name": "second" }))
        .await;
    assert_eq!(made.status, 200, "{}", made.text());
    for name in ["second", "a/b", ""] {
        let reply = portal
            .ask(&bearer, Method::POST, apps, &json!({ "name": name }))
            .await;
        assert_eq!(reply.status, 400, "{name}: {}", reply.text());
    }
    let one = format!("{apps}/second");
    let limits = json!({ "tier": "basic", "dailyCapBytes": 5_000_000, "retentionDays": 7 });
    let changed = portal.ask(&bearer, Method::PUT, &one, &limits).await.json();
    for (name, value) in limits.as_object().unwrap() {
        assert_eq!(&changed[name], value);
    }
    for wrong in [
        json!({ "tier": "gold" }),
        json!({ "tier": "free", "retentionDays": 0 }),
    ] {
        assert_eq!(
            portal.ask(&bearer, Method::PUT, &one, &wrong).await.status,
            400
        );
    }
    let listed = portal
        .ask(&bearer, Method::GET, apps, &Value::Null)
        .await
        .json();
    assert_eq!(listed["applications"].as_array().unwrap().len(), 2);
    // A key sees its own application alone.
    let headers = [("x-api-key", portal.server.key.as_str())];
    let own = portal
        .server
        .ask(Method::GET, apps, &headers, Body::empty())
        .await;
    let own = own.json();
    assert_eq!(own["applications"].as_array().unwrap().len(), 1);
    assert_eq!(own["applications"][0]["rights"], json!(["read"]));
    let create = json!({ "name": "third" }).to_string();
    let refused = portal
        .server
        .ask(Method::POST, apps, &headers, create)
        .await;
    assert_eq!(refused.status, 403);
}

#[tokio::test]
async fn saved_queries_are_changed_by_version() {
    let server = Server::start().await;
    let list = format!("/portal/api/apps/{}/queries", server.shop.id);
    let one = format!("{list}/Slow%20requests");
    let put = async |condition: (&str, &str), text: &str| {
        let headers = [("x-api-key", server.key.as_str()), condition];
        let body = json!({ "text": text, "range": "PT1H" }).to_string();
        server.ask(Method::PUT, &one, &headers, body).await
    };
    let new = ("if-none-match", "*");
    let first = put(new, "requests").await;
    assert_eq!(first.status, 200, "{}", first.text());
    assert_eq!(first.json()["etag"], "\"1\"");
    assert_eq!(put(new, "traces").await.status, 412, "it is there");
    let second = put(("if-match", "\"1\""), "traces").await.json();
    assert_eq!(
        (&second["etag"], &second["text"]),
        (&json!("\"2\""), &json!("traces"))
    );
    assert_eq!(
        put(("if-match", "\"1\""), "x").await.status,
        412,
        "it is old"
    );
    assert_eq!(put(("accept", "*/*"), "x").await.status, 400, "no version");
    let key = ("x-api-key", server.key.as_str());
    let listed = server
        .ask(Method::GET, &list, &[key], Body::empty())
        .await
        .json();
    assert_eq!(listed["queries"][0]["name"], "Slow requests");
    assert_eq!(listed["queries"][0]["range"], "PT1H");
    let delete = async |tag: &str| {
        let headers = [key, ("if-match", tag)];
        server
            .ask(Method::DELETE, &one, &headers, Body::empty())
            .await
            .status
    };
    assert_eq!(delete("\"1\"").await, 412);
    assert_eq!(delete("\"2\"").await, 204);
    assert_eq!(delete("\"2\"").await, 412);
}

#[tokio::test]
async fn workbooks_are_listed_without_and_read_with_their_documents() {
    let server = Server::start().await;
    let list = format!("/portal/api/apps/{}/workbooks", server.shop.id);
    let one = format!("{list}/Shop");
    let key = ("x-api-key", server.key.as_str());
    let put = async |condition: (&str, &str), text: &str| {
        let body = json!({ "text": text, "range": null }).to_string();
        server
            .ask(Method::PUT, &one, &[key, condition], body)
            .await
            .status
    };
    let get = async |path: &str| server.ask(Method::GET, path, &[key], Body::empty()).await;
    assert_eq!(get(&one).await.status, 404);
    let document = r#"{"version":"Notebook/1.0","items":[]}"#;
    assert_eq!(put(("if-none-match", "*"), document).await, 200);
    assert_eq!(put(("if-none-match", "*"), document).await, 412);
    let long = "x".repeat((1 << 20) + 1);
    assert_eq!(put(("if-match", "\"1\""), &long).await, 413);
    let listed = get(&list).await.json();
    assert_eq!(listed["workbooks"][0]["name"], "Shop");
    assert_eq!(listed["workbooks"][0].get("text"), None);
    assert_eq!(get(&one).await.json()["text"], document);
    let queries = format!("/portal/api/apps/{}/queries", server.shop.id);
    assert_eq!(
        get(&queries).await.json()["queries"],
        json!([]),
        "another kind"
    );
    let tag = ("if-match", "\"1\"");
    let deleted = server
        .ask(Method::DELETE, &one, &[key, tag], Body::empty())
        .await;
    assert_eq!(deleted.status, 204);
    assert_eq!(get(&one).await.status, 404);
}

#[tokio::test]
async fn a_check_tells_the_errors_or_the_columns() {
    let server = Server::start().await;
    let check = async |query: &str| {
        let path = format!("/portal/api/apps/{}/check", server.shop.id);
        let headers = [("x-api-key", server.key.as_str())];
        let body = json!({ "query": query, "timespan": "PT1H" }).to_string();
        server.ask(Method::POST, &path, &headers, body).await.json()
    };
    let good = check("requests | project name, duration").await;
    let columns =
        json!([{ "name": "name", "type": "string" }, { "name": "duration", "type": "real" }]);
    assert_eq!(good, json!({ "diagnostics": [], "columns": columns }));
    // The place counts code units of UTF-16: the sign before it has two.
    let wrong = check("print '\u{1f600}', nothing").await;
    assert_eq!(wrong["columns"], Value::Null);
    let first = &wrong["diagnostics"][0];
    assert_eq!(
        (&first["start"], &first["length"]),
        (&json!(12), &json!(7)),
        "{first}"
    );
    assert_eq!(first["token"], "nothing");
    let syntax = check("requests | wher x").await;
    assert!(!syntax["diagnostics"].as_array().unwrap().is_empty());
    let by_rows = check("requests | evaluate bag_unpack(customDimensions)").await;
    assert_eq!(by_rows, json!({ "diagnostics": [], "columns": null }));
    assert_eq!(server.app.engine.running_queries(), 0);
}

#[tokio::test]
async fn the_language_names_what_is_supported_and_refused() {
    let server = Server::start().await;
    let headers = [("x-api-key", server.key.as_str())];
    let path = "/portal/api/language";
    let language = server
        .ask(Method::GET, path, &headers, Body::empty())
        .await
        .json();
    let has = |list: &str, name: &str| {
        let all = language[list].as_array().unwrap();
        assert!(
            all.iter().any(|entry| entry["name"] == name),
            "{list}: {name}"
        );
    };
    has("functions", "strlen");
    has("functions", "row_number");
    has("aggregates", "dcount");
    has("plugins", "bag_unpack");
    has("operators", "summarize");
    has("statements", "let");
    has("refused", "cluster");
    assert!(
        language["renderKinds"]
            .as_array()
            .unwrap()
            .contains(&json!("timechart"))
    );
}

#[tokio::test]
async fn a_tail_shows_each_item_once_in_the_order_of_arrival() {
    let server = Server::start().await;
    let path = format!("/portal/api/apps/{}/tail", server.shop.id);
    let ask = async |body: Value| {
        let request = Request::builder()
            .method(Method::POST)
            .uri(&path)
            .header("x-api-key", &server.key)
            .body(Body::from(body.to_string()))
            .unwrap();
        server.router.clone().oneshot(request).await.unwrap()
    };
    let refused = ask(json!({ "filter": "nothing == 1" })).await;
    assert_eq!(refused.status(), 400);
    assert_eq!(ask(json!({ "tables": ["nothing"] })).await.status(), 400);
    let response = ask(json!({ "filter": "message startswith 'shown'" })).await;
    assert_eq!(response.status(), 200);
    let mut body = response.into_body();
    let mut found: Vec<String> = Vec::new();
    for round in 0..3 {
        for name in ["shown", "hidden"] {
            let item = server.envelope(
                "MessageData",
                json!({ "message": format!("{name} {round}") }),
            );
            assert_eq!(server.track(item.to_string()).await.status, 200);
        }
        let expected = format!("shown {round}");
        while !found.contains(&expected) {
            let frame = http_body_util::BodyExt::frame(&mut body);
            let frame = tokio::time::timeout(Duration::from_secs(30), frame).await;
            let data = frame.unwrap().unwrap().unwrap().into_data().unwrap();
            let text = String::from_utf8(data.to_vec()).unwrap();
            for line in text.lines().filter(|line| !line.is_empty()) {
                let line: Value = serde_json::from_str(line).unwrap();
                found.push(line["item"]["message"].as_str().unwrap().to_owned());
            }
        }
    }
    assert_eq!(found, ["shown 0", "shown 1", "shown 2"]);
}
