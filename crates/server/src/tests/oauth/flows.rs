//! The three flows of the specification, step by step, with every field.

use super::*;

#[tokio::test]
async fn authorization_code_flow_of_version_1() {
    let issuer = Issuer::start().await;
    // Step 1: the person signs in and is sent back.
    let path = issuer.authorize_path("", &[("state", "s t&u")]);
    let reply = issuer.sign_in_at(&path, PASSWORD).await;
    assert!(
        reply
            .header("location")
            .starts_with(&format!("{CALLBACK}?"))
    );
    let answer = told(&reply);
    let names: Vec<&str> = answer.keys().map(String::as_str).collect();
    assert_eq!(names, ["code", "iss", "session_state", "state"]);
    assert!(uuid::Uuid::parse_str(&answer["session_state"]).is_ok());
    assert_eq!(answer["state"], "s t&u");

    // Step 2: the client redeems the code.
    let reply = issuer.redeem(&answer["code"], &[]).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert_eq!(reply.header("cache-control"), "no-store");
    let body = reply.json();
    let all = [
        "access_token",
        "expires_in",
        "ext_expires_in",
        "id_token",
        "not_before",
        "refresh_token",
        "resource",
        "scope",
        "token_type",
    ];
    for name in all {
        assert!(body[name].is_string(), "{name}: {body}");
    }
    assert_eq!(body["expires_in"], "3600");
    assert_eq!(body["scope"], "Data.Read");
    assert_eq!(body["token_type"], "bearer");
    assert_eq!(body["resource"], RESOURCE);
    let begins: i64 = body["not_before"].as_str().unwrap().parse().unwrap();
    let ends: i64 = body["expires_on"].as_str().unwrap().parse().unwrap();
    assert_eq!(ends - begins, 3600);

    // The token says what was granted, and opens the shop.
    let token = body["access_token"].as_str().unwrap();
    let said = claims(token);
    let expected = serde_json::json!({"aud": RESOURCE, "scp": "Data.Read", "appid": issuer.client, "oid": issuer.user,
        "tid": issuer.server.app.issuer.tenant(), "upn": "ada", "ver": "1.0", "nbf": begins, "exp": ends});
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&said[name], value, "{name}");
    }
    assert_eq!(issuer.ask_with(token).await, 200);
    let id = claims(body["id_token"].as_str().unwrap());
    assert_eq!(
        (&id["aud"], &id["name"]),
        (&Value::from(issuer.client.as_str()), &Value::from("ada"))
    );
}

#[tokio::test]
async fn refresh_gives_new_tokens_and_uses_the_old_one_up() {
    let issuer = Issuer::start().await;
    let first = issuer.redeem(&issuer.code(&[]).await, &[]).await.json();
    let refresh = first["refresh_token"].as_str().unwrap();
    let fields = [
        ("grant_type", "refresh_token"),
        ("refresh_token", refresh),
        ("resource", RESOURCE),
    ];
    let reply = issuer.token(&fields).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    let body = reply.json();
    for name in [
        "token_type",
        "expires_in",
        "expires_on",
        "resource",
        "access_token",
        "refresh_token",
    ] {
        assert!(body[name].is_string(), "{name}: {body}");
    }
    assert_eq!(body["token_type"], "Bearer");
    assert_ne!(body["refresh_token"], first["refresh_token"]);
    assert_ne!(body["access_token"], first["access_token"]);
    assert_eq!(
        issuer
            .ask_with(body["access_token"].as_str().unwrap())
            .await,
        200
    );
}

#[tokio::test]
async fn implicit_flow_answers_in_the_fragment() {
    let issuer = Issuer::start().await;
    let path = issuer.authorize_path("", &[("response_type", "token"), ("state", "x")]);
    let reply = issuer.sign_in_at(&path, PASSWORD).await;
    assert!(
        reply
            .header("location")
            .starts_with(&format!("{CALLBACK}#"))
    );
    let answer = told(&reply);
    assert_eq!(
        (answer["token_type"].as_str(), answer["expires_in"].as_str()),
        ("Bearer", "3600")
    );
    assert!(uuid::Uuid::parse_str(&answer["session_state"]).is_ok());
    assert!(!answer.contains_key("refresh_token"));
    assert_eq!(answer["state"], "x");
    assert_eq!(issuer.ask_with(&answer["access_token"]).await, 200);
}

#[tokio::test]
async fn the_implicit_flow_is_for_loopback_unless_a_setting_says_otherwise() {
    let there = "https://app.example/cb";
    for (value, loopback, elsewhere) in [
        ("off", false, false),
        ("loopback", true, false),
        ("on", true, true),
    ] {
        let issuer = Issuer::with(|settings| settings.set("auth.implicit", value).unwrap()).await;
        let other = uuid::Uuid::new_v4().to_string();
        issuer.add_client(&other, "", true, there).await;
        let here = issuer.authorize_path("", &[("response_type", "token")]);
        let away = issuer.authorize_path(
            "",
            &[
                ("response_type", "token"),
                ("client_id", &other),
                ("redirect_uri", there),
            ],
        );
        for (path, offered) in [(here, loopback), (away, elsewhere)] {
            let reply = issuer.get(&path, "").await;
            if offered {
                assert_eq!(reply.status, 200, "{value} {path}");
            } else {
                assert_eq!(
                    told(&reply)["error"],
                    "unsupported_response_type",
                    "{value} {path}"
                );
            }
        }
    }
}

#[tokio::test]
async fn client_credentials_in_both_versions() {
    let issuer = Issuer::start().await;
    let body = issuer
        .token(&[("grant_type", "client_credentials"), ("resource", RESOURCE)])
        .await
        .json();
    assert_eq!(body["expires_in"], "3600");
    assert!(body.get("refresh_token").is_none(), "RFC 6749 §4.4.3");
    let token = body["access_token"].as_str().unwrap();
    assert_eq!(claims(token)["roles"], serde_json::json!(["Data.Read"]));
    assert_eq!(issuer.ask_with(token).await, 200);

    let scope = format!("{RESOURCE}/.default");
    let fields = [
        ("grant_type", "client_credentials"),
        ("scope", scope.as_str()),
        ("client_id", issuer.client.as_str()),
        ("client_secret", issuer.secret.as_str()),
    ];
    let reply = issuer
        .post(&issuer.path("oauth2/v2.0/token"), "", &fields)
        .await;
    let body = reply.json();
    assert_eq!(
        (&body["token_type"], &body["expires_in"]),
        (&"Bearer".into(), &3600.into()),
        "{body}"
    );
    assert_eq!(
        issuer
            .ask_with(body["access_token"].as_str().unwrap())
            .await,
        200
    );
}

#[tokio::test]
async fn a_client_may_show_its_secret_in_the_header() {
    use base64::Engine as _;
    let issuer = Issuer::start().await;
    let text = format!("{}:{}", issuer.client, issuer.secret);
    let basic = format!(
        "Basic {}",
        base64::engine::general_purpose::STANDARD.encode(text)
    );
    let ask = async |form: &[(&str, &str)]| {
        let headers = [
            ("content-type", "application/x-www-form-urlencoded"),
            ("authorization", basic.as_str()),
        ];
        issuer
            .server
            .ask(
                Method::POST,
                &issuer.path("oauth2/token"),
                &headers,
                encoded(form),
            )
            .await
    };
    let form = [("grant_type", "client_credentials"), ("resource", RESOURCE)];
    assert_eq!(ask(&form).await.status, 200);
    let both = [form[0], form[1], ("client_secret", issuer.secret.as_str())];
    assert_eq!(
        ask(&both).await.json()["error"],
        "invalid_request",
        "RFC 6749 §2.3"
    );
    let named = issuer.client.to_uppercase();
    let same = [form[0], form[1], ("client_id", named.as_str())];
    assert_eq!(ask(&same).await.status, 200);
    let other = [form[0], form[1], ("client_id", "another")];
    assert_eq!(ask(&other).await.json()["error"], "invalid_request");
}

#[tokio::test]
async fn version_2_with_pkce_by_a_client_without_a_secret() {
    use base64::Engine as _;
    use sha2::Digest as _;
    let issuer = Issuer::start().await;
    let native = uuid::Uuid::new_v4().to_string();
    issuer
        .add_client(&native, "", true, "http://localhost")
        .await;
    let back = "http://localhost:51234";
    let plain = issuer.authorize_path("v2.0/", &[("client_id", &native), ("redirect_uri", back)]);
    let refused = told(&issuer.get(&plain, "").await);
    assert_eq!(
        refused["error"], "invalid_request",
        "no challenge: {refused:?}"
    );

    let verifier = "v".repeat(43);
    let challenge =
        base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(sha2::Sha256::digest(&verifier));
    let change = [
        ("client_id", native.as_str()),
        ("redirect_uri", back),
        ("nonce", "n-1"),
        ("code_challenge", challenge.as_str()),
        ("code_challenge_method", "S256"),
    ];
    let answer = told(
        &issuer
            .sign_in_at(&issuer.authorize_path("v2.0/", &change), PASSWORD)
            .await,
    );
    assert_eq!(
        answer["iss"],
        issuer
            .server
            .app
            .issuer
            .name(hindsight_identity::issuer::Version::V2)
    );
    let fields = [
        ("grant_type", "authorization_code"),
        ("client_id", native.as_str()),
        ("code", answer["code"].as_str()),
        ("redirect_uri", back),
        ("code_verifier", verifier.as_str()),
        ("client_info", "1"),
    ];
    let body = issuer
        .post(&issuer.path("oauth2/v2.0/token"), "", &fields)
        .await
        .json();
    assert_eq!(body["expires_in"], 3600, "{body}");
    assert!(
        body["scope"]
            .as_str()
            .unwrap()
            .contains("https://api.applicationinsights.io/Data.Read")
    );
    assert!(body["refresh_token"].is_string() && body["client_info"].is_string());
    let id = claims(body["id_token"].as_str().unwrap());
    assert_eq!(
        (&id["nonce"], &id["ver"], &id["iss"]),
        (&"n-1".into(), &"2.0".into(), &answer["iss"].as_str().into())
    );
    assert_eq!(
        issuer
            .ask_with(body["access_token"].as_str().unwrap())
            .await,
        200
    );
}

#[tokio::test]
async fn errors_have_the_directorys_shape() {
    let issuer = Issuer::start().await;
    let reply = issuer
        .token(&[("grant_type", "refresh_token"), ("refresh_token", "x")])
        .await;
    assert_eq!(reply.status, 400);
    let body = reply.json();
    assert_eq!(body["error"], "invalid_grant");
    assert_eq!(body["error_codes"], serde_json::json!([70002, 70008]));
    assert!(
        body["error_description"]
            .as_str()
            .unwrap()
            .starts_with("AADSTS70002: Error validating credentials. AADSTS70008: ")
    );
    for name in ["timestamp", "trace_id", "correlation_id"] {
        assert!(body[name].is_string(), "{name}");
    }
    let check = async |fields: &[(&str, &str)], status: u16, error: &str| {
        let reply = issuer.token(fields).await;
        assert_eq!(
            (reply.status.as_u16(), &reply.json()["error"]),
            (status, &error.into()),
            "{fields:?}"
        );
    };
    check(&[], 400, "invalid_request").await;
    check(&[("grant_type", "password")], 400, "unsupported_grant_type").await;
    check(
        &[
            ("grant_type", "client_credentials"),
            ("client_secret", "wrong"),
        ],
        401,
        "invalid_client",
    )
    .await;
    check(
        &[("grant_type", "client_credentials"), ("client_secret", "")],
        401,
        "invalid_client",
    )
    .await;
    check(
        &[
            ("grant_type", "client_credentials"),
            ("client_id", "nobody"),
        ],
        401,
        "invalid_client",
    )
    .await;
    check(
        &[
            ("grant_type", "client_credentials"),
            ("resource", "https://other"),
        ],
        400,
        "invalid_resource",
    )
    .await;
    check(
        &[("grant_type", "client_credentials")],
        400,
        "invalid_request",
    )
    .await;
    check(
        &[
            ("grant_type", "client_credentials"),
            ("resource", RESOURCE),
            ("resource", RESOURCE),
        ],
        400,
        "invalid_request",
    )
    .await;
    let wrong_tenant = format!("/{}/oauth2/token", uuid::Uuid::new_v4());
    let body = issuer
        .post(&wrong_tenant, "", &[("grant_type", "client_credentials")])
        .await
        .json();
    assert_eq!(body["error_codes"], serde_json::json!([90002]));
}

#[tokio::test]
async fn a_token_tells_who_its_person_is() {
    let issuer = Issuer::start().await;
    let path = issuer.path("openid/userinfo");
    let ask = async |token: &str| {
        let bearer = format!("Bearer {token}");
        issuer
            .server
            .ask(
                Method::GET,
                &path,
                &[("authorization", &bearer)],
                Body::empty(),
            )
            .await
    };
    // Somebody who only wants to know who signed in gets a token that opens nothing else.
    let answer = told(
        &issuer
            .sign_in_at(
                &issuer.authorize_path("v2.0/", &[("scope", "openid")]),
                PASSWORD,
            )
            .await,
    );
    let body = issuer
        .redeem(&answer["code"], &[("resource", "")])
        .await
        .json();
    let token = body["access_token"].as_str().unwrap();
    let told = ask(token).await.json();
    assert_eq!(
        (&told["name"], &told["sub"]),
        (&"ada".into(), &issuer.user.as_str().into())
    );
    assert_eq!(issuer.ask_with(token).await, 401, "another audience");
    assert_eq!(ask("nonsense").await.status, 401);
    let program = issuer
        .token(&[("grant_type", "client_credentials"), ("resource", RESOURCE)])
        .await
        .json();
    assert_eq!(
        ask(program["access_token"].as_str().unwrap()).await.status,
        401,
        "no person"
    );
    issuer
        .server
        .app
        .store
        .catalogue()
        .delete_user(&issuer.user)
        .await
        .unwrap();
    assert_eq!(ask(token).await.status, 401, "gone");
}

#[tokio::test]
async fn a_client_may_ask_for_a_sign_in_that_is_not_old() {
    let issuer = Issuer::start().await;
    let reply = issuer
        .sign_in_at(&issuer.authorize_path("", &[]), PASSWORD)
        .await;
    let session = reply
        .header("set-cookie")
        .split(';')
        .next()
        .unwrap()
        .to_owned();
    let status = async |age: &str| {
        issuer
            .get(&issuer.authorize_path("", &[("max_age", age)]), &session)
            .await
    };
    assert_eq!(status("3600").await.status, 303);
    tokio::time::sleep(std::time::Duration::from_millis(2100)).await;
    assert_eq!(status("1").await.status, 200, "asked again");
    assert_eq!(told(&status("soon").await)["error"], "invalid_request");
}
