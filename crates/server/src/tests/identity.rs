//! Who may ask what (`D3`, `D4`).

use super::*;
use base64::Engine as _;

fn basic(text: &str) -> String {
    format!(
        "Basic {}",
        base64::engine::general_purpose::STANDARD.encode(text)
    )
}

#[tokio::test]
async fn without_a_credential_every_path_answers_401() {
    let server = Server::start().await;
    for path in [
        "/v1/apps/x/query?query=print+1",
        "/beta/apps/x/metrics/requests/count",
        "/v1/apps/x/events/requests",
        "/v1/apps/x/nothing",
        "/v1/nothing",
    ] {
        for method in [Method::GET, Method::HEAD] {
            let reply = server.ask(method.clone(), path, &[], Body::empty()).await;
            assert_eq!(reply.status, 401, "{method} {path}");
            assert!(
                reply.header("www-authenticate").contains("Bearer"),
                "{path}"
            );
        }
    }
    let reply = server
        .ask(
            Method::GET,
            "/v1/apps/x/query",
            &[("authorization", "Bearer nonsense")],
            Body::empty(),
        )
        .await;
    assert_eq!(reply.status, 401);
    assert_eq!(reply.json()["error"]["code"], "AuthorizationRequiredError");
    assert_eq!(
        reply.json()["error"]["correlationId"],
        reply.header("x-ms-request-id")
    );
}

#[tokio::test]
async fn a_key_works_in_every_place_it_may_stand() {
    let server = Server::start().await;
    let path = format!("/v1/apps/{}/query?query=print+x%3D1", server.shop.id);
    let key = server.key.as_str();
    for header in [
        ("x-api-key", key.to_owned()),
        ("authorization", basic(&format!("{key}:"))),
        ("authorization", basic(&format!(":{key}"))),
    ] {
        let reply = server
            .ask(Method::GET, &path, &[(header.0, &header.1)], Body::empty())
            .await;
        assert_eq!(reply.status, 200, "{header:?}");
    }
    let reply = server
        .ask(
            Method::GET,
            &format!("{path}&api_key={key}"),
            &[],
            Body::empty(),
        )
        .await;
    assert_eq!(reply.status, 200);
}

#[tokio::test]
async fn other_applications_are_403_in_the_same_bytes_whether_they_exist_or_not() {
    let server = Server::start().await;
    let other = create_app(server.app.store.catalogue(), "other", server.app.now())
        .await
        .unwrap();
    let mut bodies = Vec::new();
    for app in [
        other.id.to_string(),
        uuid::Uuid::new_v4().to_string(),
        "other".to_owned(),
    ] {
        let path = format!("/v1/apps/{app}/query?query=print+1");
        let reply = server
            .ask(
                Method::GET,
                &path,
                &[("x-api-key", &server.key)],
                Body::empty(),
            )
            .await;
        assert_eq!(reply.status, 403, "{app}");
        let text = String::from_utf8(reply.bytes.clone()).unwrap();
        bodies.push(text.replace(reply.header("x-ms-request-id"), "ID"));
    }
    assert!(
        bodies.windows(2).all(|pair| pair[0] == pair[1]),
        "{bodies:?}"
    );
}

#[tokio::test]
async fn wrong_keys_are_403() {
    let server = Server::start().await;
    let path = format!("/v1/apps/{}/query?query=print+1", server.shop.id);
    let cut = &server.key[..server.key.len() - 2];
    for key in ["nonsense", cut, "hs_"] {
        let reply = server
            .ask(Method::GET, &path, &[("x-api-key", key)], Body::empty())
            .await;
        assert_eq!(reply.status, 403, "{key}");
    }
}

#[tokio::test]
async fn a_deleted_key_stops_within_a_second() {
    let server = Server::start().await;
    assert_eq!(server.get("query?query=print+1").await.status, 200);
    assert!(
        server
            .app
            .store
            .catalogue()
            .delete_key(&server.key_id)
            .await
            .unwrap()
    );
    tokio::time::sleep(std::time::Duration::from_millis(900)).await;
    assert_eq!(server.get("query?query=print+1").await.status, 403);
}

#[tokio::test]
async fn an_expired_key_is_403() {
    let server = Server::start().await;
    let (catalogue, now) = (server.app.store.catalogue(), server.app.now());
    let (_, key) = create_key(catalogue, server.shop.id, "old", now, Some(now - 1))
        .await
        .unwrap();
    let path = format!("/v1/apps/{}/query?query=print+1", server.shop.id);
    assert_eq!(
        server
            .ask(Method::GET, &path, &[("x-api-key", &key)], Body::empty())
            .await
            .status,
        403
    );
}

#[tokio::test]
async fn the_free_tier_answers_402() {
    let server = Server::start().await;
    server
        .app
        .store
        .catalogue()
        .set_app_limits(server.shop.id, hindsight_store::Tier::Free, None, None)
        .await
        .unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert_eq!(server.get("query?query=print+1").await.status, 402);
}

#[tokio::test]
async fn the_use_of_a_key_is_noted() {
    let server = Server::start().await;
    let last = async || {
        let key = server
            .app
            .store
            .catalogue()
            .key(&server.key_id)
            .await
            .unwrap();
        key.unwrap().last_used
    };
    assert_eq!(last().await, None);
    let before = server.app.now();
    assert_eq!(server.get("query?query=print+1").await.status, 200);
    for _ in 0..100 {
        if last().await.is_some() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let noted = last().await.unwrap();
    assert!((before..=server.app.now()).contains(&noted));
}

/// An issuer that is trusted and was never reached: nothing can be said of its token, and the fault is not the caller's.
#[tokio::test]
async fn a_token_whose_issuer_cannot_be_asked_is_502() {
    // A port that was free a moment ago, with nobody behind it.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let issuer = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let server = Server::with(|settings| {
        let trusted = format!("{issuer} audience=x applications=*");
        settings.set("auth.trusted_issuers", &trusted).unwrap();
        settings.set("auth.allow_local_issuers", "true").unwrap();
    })
    .await;
    let part = |json: &str| base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(json);
    let header = part(r#"{"alg":"RS256","kid":"k"}"#);
    let token = format!(
        "{header}.{}.c2ln",
        part(&format!(
            r#"{{"iss":"{issuer}","aud":"x","exp":99999999999}}"#
        ))
    );
    let path = format!("/v1/apps/{}/query?query=print+1", server.shop.id);
    let bearer = format!("Bearer {token}");
    let headers = [("authorization", bearer.as_str())];
    let reply = server
        .ask(Method::GET, &path, &headers, Body::empty())
        .await;
    assert_eq!(reply.status, 502, "{}", reply.json());
    assert_eq!(reply.json()["error"]["code"], "BadGateway");
    assert_eq!(reply.header("retry-after"), "5");
    let id = reply.header("x-ms-request-id");
    assert_eq!(reply.json()["error"]["correlationId"], id);
}
