//! Codes, refresh tokens and redirect addresses under attack (`attacks.md` 8, 10 to 13).

use super::*;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::Digest as _;

fn encoded_part(value: &Value) -> String {
    URL_SAFE_NO_PAD.encode(value.to_string())
}

#[tokio::test]
async fn a_code_is_good_once_and_a_second_use_revokes_what_the_first_gave() {
    let issuer = Issuer::start().await;
    let code = issuer.code(&[]).await;
    let first = issuer.redeem(&code, &[]).await.json();
    let token = first["access_token"].as_str().unwrap();
    assert_eq!(issuer.ask_with(token).await, 200);
    let second = issuer.redeem(&code, &[]).await;
    assert_eq!(
        (second.status.as_u16(), &second.json()["error"]),
        (400, &"invalid_grant".into())
    );
    tokio::time::sleep(std::time::Duration::from_millis(900)).await;
    assert_eq!(
        issuer.ask_with(token).await,
        401,
        "the access token of the first use"
    );
    let refresh = first["refresh_token"].as_str().unwrap();
    let reply = issuer
        .token(&[("grant_type", "refresh_token"), ("refresh_token", refresh)])
        .await;
    assert_eq!(reply.json()["error"], "invalid_grant", "its refresh token");
}

/// The second use may come while the first one is being answered: its tokens are revoked all the same.
#[tokio::test]
async fn a_code_shown_twice_at_once_gives_nothing_that_lasts() {
    let issuer = Issuer::start().await;
    for _ in 0..5 {
        let code = issuer.code(&[]).await;
        let uses = (0..8).map(|_| issuer.redeem(&code, &[]));
        let replies = futures::future::join_all(uses).await;
        let given = replies.iter().filter(|reply| reply.status == 200);
        let tokens: Vec<Value> = given.map(|reply| reply.json()).collect();
        assert!(tokens.len() <= 1);
        tokio::time::sleep(std::time::Duration::from_millis(900)).await;
        for reply in tokens {
            let token = reply["access_token"].as_str().unwrap();
            assert_eq!(issuer.ask_with(token).await, 401);
        }
    }
}

#[tokio::test]
async fn a_code_is_bound_to_its_client_address_and_challenge() {
    let issuer = Issuer::start().await;
    let (other, secret) = (uuid::Uuid::new_v4().to_string(), secret::random().unwrap());
    issuer.add_client(&other, &secret, false, CALLBACK).await;
    let verifier = "v".repeat(64);
    let challenge = URL_SAFE_NO_PAD.encode(sha2::Sha256::digest(&verifier));
    let pkce = [
        ("code_challenge", challenge.as_str()),
        ("code_challenge_method", "S256"),
    ];
    let wrong = "w".repeat(64);
    type Change<'c> = &'c [(&'c str, &'c str)];
    let cases: [(&str, Change, Change); 6] = [
        (
            "another client",
            &[],
            &[("client_id", &other), ("client_secret", &secret)],
        ),
        (
            "another address",
            &[],
            &[("redirect_uri", "http://localhost:8400/other")],
        ),
        ("no address", &[], &[("redirect_uri", "")]),
        ("another verifier", &pkce, &[("code_verifier", &wrong)]),
        ("no verifier", &pkce, &[]),
        (
            "a verifier whose challenge was taken out",
            &[],
            &[("code_verifier", &verifier)],
        ),
    ];
    for (what, asked, redeemed) in cases {
        let code = issuer.code(asked).await;
        let reply = issuer.redeem(&code, redeemed).await;
        assert_eq!(reply.json()["error"], "invalid_grant", "{what}");
        assert_eq!(
            issuer.redeem(&code, &[]).await.json()["error"],
            "invalid_grant",
            "{what}: used up"
        );
    }
    let code = issuer.code(&pkce).await;
    assert_eq!(
        issuer
            .redeem(&code, &[("code_verifier", &verifier)])
            .await
            .status,
        200
    );
    let reply = issuer
        .redeem(&issuer.code(&[]).await, &[("client_secret", "")])
        .await;
    assert_eq!(
        reply.json()["error"],
        "invalid_grant",
        "neither secret nor verifier"
    );
    let plain = issuer.authorize_path(
        "",
        &[
            ("code_challenge", &verifier),
            ("code_challenge_method", "plain"),
        ],
    );
    assert_eq!(
        told(&issuer.get(&plain, "").await)["error"],
        "invalid_request"
    );
}

#[tokio::test]
async fn a_refresh_token_used_twice_revokes_the_family() {
    let issuer = Issuer::start().await;
    let first = issuer.redeem(&issuer.code(&[]).await, &[]).await.json();
    let refresh = async |token: &Value| {
        let fields = [
            ("grant_type", "refresh_token"),
            ("refresh_token", token.as_str().unwrap()),
        ];
        issuer.token(&fields).await
    };
    let second = refresh(&first["refresh_token"]).await.json();
    let third = refresh(&second["refresh_token"]).await.json();
    assert_eq!(
        refresh(&first["refresh_token"]).await.json()["error"],
        "invalid_grant"
    );
    assert_eq!(
        refresh(&third["refresh_token"]).await.json()["error"],
        "invalid_grant",
        "the newest is revoked too"
    );
    tokio::time::sleep(std::time::Duration::from_millis(900)).await;
    for reply in [&first, &second, &third] {
        assert_eq!(
            issuer
                .ask_with(reply["access_token"].as_str().unwrap())
                .await,
            401
        );
    }
}

#[tokio::test]
async fn another_client_cannot_use_a_refresh_token_nor_use_it_up() {
    let issuer = Issuer::start().await;
    let (other, secret) = (uuid::Uuid::new_v4().to_string(), secret::random().unwrap());
    issuer.add_client(&other, &secret, false, CALLBACK).await;
    let first = issuer.redeem(&issuer.code(&[]).await, &[]).await.json();
    let token = first["refresh_token"].as_str().unwrap();
    let fields = [("grant_type", "refresh_token"), ("refresh_token", token)];
    let theirs = [
        fields[0],
        fields[1],
        ("client_id", &other),
        ("client_secret", &secret),
    ];
    assert_eq!(issuer.token(&theirs).await.json()["error"], "invalid_grant");
    assert_eq!(issuer.token(&fields).await.status, 200);
}

#[tokio::test]
async fn a_wrong_redirect_address_is_told_to_the_person_and_goes_nowhere() {
    let issuer = Issuer::start().await;
    for address in [
        "https://evil.example/cb",
        "http://localhost:8400/cb/",
        "http://localhost:8400/cb?x=1",
        "http://localhost:8400/cb#x",
        "http://localhost:8400/cb.evil.example",
        "http://localhost:8400@evil.example/cb",
        "http://localhost:8401/cb",
        "//evil.example/cb",
        "javascript:alert(1)",
    ] {
        let reply = issuer
            .get(&issuer.authorize_path("", &[("redirect_uri", address)]), "")
            .await;
        assert_eq!(reply.status, 400, "{address}");
        assert_eq!(reply.header("location"), "", "{address}");
        assert!(
            reply.header("content-type").starts_with("text/html"),
            "{address}"
        );
    }
    let unknown = issuer.authorize_path("", &[("client_id", "nobody")]);
    assert_eq!(issuer.get(&unknown, "").await.header("location"), "");
    let twice = format!("{}&client_id=x", issuer.authorize_path("", &[]));
    assert_eq!(issuer.get(&twice, "").await.status, 400);
}

#[tokio::test]
async fn forged_tokens_are_401() {
    let issuer = Issuer::start().await;
    let body = issuer
        .token(&[("grant_type", "client_credentials"), ("resource", RESOURCE)])
        .await
        .json();
    let good = body["access_token"].as_str().unwrap();
    assert_eq!(issuer.ask_with(good).await, 200);
    let set = issuer.get(&issuer.path("discovery/keys"), "").await.json();
    let kid = set["keys"][0]["kid"].as_str().unwrap();
    let mut parts = good.split('.');
    let (_, payload, signature) = (
        parts.next().unwrap(),
        parts.next().unwrap(),
        parts.next().unwrap(),
    );
    let header = |value: Value| format!("{}.{payload}.{signature}", encoded_part(&value));
    let hmac = |secret: &[u8]| {
        let mut header = jsonwebtoken::Header::new(jsonwebtoken::Algorithm::HS256);
        header.kid = Some(kid.to_owned());
        let key = jsonwebtoken::EncodingKey::from_secret(secret);
        jsonwebtoken::encode(&header, &claims(good), &key).unwrap()
    };
    let modulus = set["keys"][0]["n"].as_str().unwrap();
    let changed = {
        let mut said = claims(good);
        said["oid"] = issuer.user.clone().into();
        let head = good.split('.').next().unwrap();
        format!("{head}.{}.{signature}", encoded_part(&said))
    };
    let own_key = serde_json::json!({"kty": "RSA", "n": set["keys"][0]["n"], "e": "AQAB"});
    let cases = [
        (
            "none",
            format!(
                "{}.{payload}.",
                encoded_part(&serde_json::json!({"alg": "none", "kid": kid}))
            ),
        ),
        (
            "None",
            format!(
                "{}.{payload}.",
                encoded_part(&serde_json::json!({"alg": "None", "kid": kid}))
            ),
        ),
        (
            "the public key's number as secret",
            hmac(&URL_SAFE_NO_PAD.decode(modulus).unwrap()),
        ),
        ("the public key's text as secret", hmac(modulus.as_bytes())),
        (
            "the public key as published as secret",
            hmac(set["keys"][0].to_string().as_bytes()),
        ),
        ("empty secret", hmac(b"")),
        ("changed claims", changed),
        (
            "no signature",
            format!("{}.", good.rsplit_once('.').unwrap().0),
        ),
        (
            "kid is a path",
            header(serde_json::json!({"alg": "RS256", "kid": "../../dev/null"})),
        ),
        (
            "kid is SQL",
            header(serde_json::json!({"alg": "RS256", "kid": "x' OR '1'='1"})),
        ),
        (
            "its own key",
            header(serde_json::json!({"alg": "RS256", "jwk": own_key})),
        ),
        (
            "jku",
            header(serde_json::json!({"alg": "RS256", "jku": "https://evil.example/keys"})),
        ),
        (
            "x5u",
            header(serde_json::json!({"alg": "RS256", "x5u": "https://evil.example/c"})),
        ),
        (
            "crit",
            header(serde_json::json!({"alg": "RS256", "kid": kid, "crit": ["b64"], "b64": false})),
        ),
        (
            "ES256 with an RSA key",
            header(serde_json::json!({"alg": "ES256", "kid": kid})),
        ),
        ("five parts", format!("{good}.a.b")),
        ("nothing", "..".to_owned()),
        ("huge", "a".repeat(30_000)),
    ];
    for (what, token) in cases {
        assert_eq!(issuer.ask_with(&token).await, 401, "{what}");
    }
}

#[tokio::test]
async fn an_id_token_or_a_refresh_token_opens_nothing() {
    let issuer = Issuer::start().await;
    let body = issuer.redeem(&issuer.code(&[]).await, &[]).await.json();
    for name in ["id_token", "refresh_token"] {
        assert_eq!(
            issuer.ask_with(body[name].as_str().unwrap()).await,
            401,
            "{name}"
        );
    }
}

#[tokio::test]
async fn without_the_scope_or_the_role_a_good_token_is_403_and_says_what_is_missing() {
    let issuer = Issuer::start().await;
    let (other, secret) = (uuid::Uuid::new_v4().to_string(), secret::random().unwrap());
    issuer.add_client(&other, &secret, false, CALLBACK).await;
    let fields = [
        ("grant_type", "client_credentials"),
        ("resource", RESOURCE),
        ("client_id", &other),
        ("client_secret", &secret),
    ];
    let body = issuer.token(&fields).await.json();
    let token = body["access_token"].as_str().unwrap();
    assert_eq!(issuer.ask_with(token).await, 403, "no role at all");
    let bearer = format!("Bearer {token}");
    let path = format!("/v1/apps/{}/query?query=print+1", issuer.server.shop.id);
    let reply = issuer
        .server
        .ask(
            Method::GET,
            &path,
            &[("authorization", &bearer)],
            Body::empty(),
        )
        .await;
    assert!(
        reply
            .header("www-authenticate")
            .contains("error=\"insufficient_scope\""),
        "RFC 6750 §3.1"
    );

    // A person's token for writing only does not read, whatever roles the person has.
    let change = [("scope", "https://api.applicationinsights.io/Data.Write")];
    let answer = told(
        &issuer
            .sign_in_at(&issuer.authorize_path("v2.0/", &change), PASSWORD)
            .await,
    );
    let body = issuer
        .redeem(&answer["code"], &[("resource", "")])
        .await
        .json();
    assert_eq!(
        issuer
            .ask_with(body["access_token"].as_str().unwrap())
            .await,
        403,
        "{body}"
    );
}

#[tokio::test]
async fn a_bad_token_is_told_so_as_rfc_6750_asks() {
    let issuer = Issuer::start().await;
    let path = format!("/v1/apps/{}/query?query=print+1", issuer.server.shop.id);
    let challenge = async |value: &str| {
        let reply = issuer
            .server
            .ask(
                Method::GET,
                &path,
                &[("authorization", value)],
                Body::empty(),
            )
            .await;
        assert_eq!(reply.status, 401);
        reply.header("www-authenticate").to_owned()
    };
    let bad = challenge("Bearer nonsense").await;
    assert!(
        bad.starts_with(
            "Bearer realm=\"hindsight\", error=\"invalid_token\", error_description=\""
        ),
        "{bad}"
    );
    assert!(
        bad.ends_with("Basic realm=\"hindsight\", charset=\"UTF-8\""),
        "{bad}"
    );
    let none = challenge("Bearer ").await;
    assert!(
        !none.contains("error="),
        "without a token nothing is wrong with it: {none}"
    );
}

#[tokio::test]
async fn roles_decide_which_applications_a_token_opens() {
    let issuer = Issuer::start().await;
    let server = &issuer.server;
    let other = create_app(server.app.store.catalogue(), "other", server.app.now())
        .await
        .unwrap();
    let body = issuer
        .token(&[("grant_type", "client_credentials"), ("resource", RESOURCE)])
        .await
        .json();
    let bearer = format!("Bearer {}", body["access_token"].as_str().unwrap());
    let status = async |app: &str| {
        let path = format!("/v1/apps/{app}/query?query=print+1");
        server
            .ask(
                Method::GET,
                &path,
                &[("authorization", &bearer)],
                Body::empty(),
            )
            .await
            .status
            .as_u16()
    };
    assert_eq!(status(&server.shop.id.to_string()).await, 200);
    assert_eq!(status(&other.id.to_string()).await, 403);
    assert_eq!(
        status(&uuid::Uuid::new_v4().to_string()).await,
        403,
        "unknown looks like forbidden"
    );
    let everywhere = RoleRecord {
        holder: issuer.client.clone(),
        app: None,
        role: "read".to_owned(),
    };
    server
        .app
        .store
        .catalogue()
        .grant_role(&everywhere)
        .await
        .unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert_eq!(status(&other.id.to_string()).await, 200);
    assert_eq!(
        status(&uuid::Uuid::new_v4().to_string()).await,
        404,
        "who may see all is told"
    );
}
