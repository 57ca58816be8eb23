//! Credentials that are missing, wrong, doubled or guessed (rows 1 to 7 and 15).

use super::*;
use base64::Engine as _;

fn basic(text: &str) -> String {
    format!(
        "Basic {}",
        base64::engine::general_purpose::STANDARD.encode(text)
    )
}

#[tokio::test]
async fn row_1_without_a_credential_nothing_says_which_applications_exist() {
    let server = Server::start().await;
    let known = server.shop.id.to_string();
    let unknown = uuid::Uuid::new_v4().to_string();
    let rests = [
        "query?query=print+1",
        "metrics/requests/count",
        "metrics/metadata",
        "metadata",
        "events/$all",
        "nothing",
    ];
    for method in [Method::GET, Method::HEAD, Method::POST, Method::DELETE] {
        for rest in rests {
            let mut replies = Vec::new();
            for app in [known.as_str(), "shop", unknown.as_str()] {
                for version in ["v1", "beta"] {
                    let path = format!("/{version}/apps/{app}/{rest}");
                    let reply = server.ask(method.clone(), &path, &[], Body::empty()).await;
                    replies.push(seen(&reply));
                }
            }
            assert!(
                replies.iter().all(|reply| reply == &replies[0]),
                "{method} {rest}: {replies:?}"
            );
            // A method that the path does not have for anybody tells nothing of applications.
            let (status, _, headers) = &replies[0];
            assert!(matches!(status, 401 | 404), "{method} {rest}: {status}");
            let challenge = headers.iter().find(|(name, _)| name == "www-authenticate");
            assert_eq!(challenge.is_some(), *status == 401, "{method} {rest}");
        }
    }
}

#[tokio::test]
async fn rows_2_and_4_every_wrong_key_and_application_gets_the_same_403() {
    let server = Server::start().await;
    let (other, _) = second(&server).await;
    let (catalogue, now) = (server.app.store.catalogue(), server.app.now());
    let shop = server.shop.id.to_string();
    let (_, expired) = create_key(catalogue, server.shop.id, "", now, Some(now - 1))
        .await
        .unwrap();
    let (deleted_id, deleted) = create_key(catalogue, server.shop.id, "", now, None)
        .await
        .unwrap();
    catalogue.delete_key(&deleted_id).await.unwrap();
    let unknown = hindsight_identity::api_key::generate().unwrap().text;
    let kept = catalogue.key(&server.key_id).await.unwrap().unwrap().hash;
    let hex: String = kept.iter().map(|byte| format!("{byte:02x}")).collect();
    let packed = base64::engine::general_purpose::STANDARD.encode(&kept);
    let changed: String = server
        .key
        .chars()
        .map(|c| {
            if c.is_ascii_uppercase() {
                c.to_ascii_lowercase()
            } else {
                c.to_ascii_uppercase()
            }
        })
        .collect();
    let wrong_key = ask(&server, &shop, &unknown).await;
    let expected = seen(&wrong_key);
    assert_eq!(expected.0, 403);
    let cases = [
        (
            "another application",
            other.id.to_string(),
            server.key.clone(),
        ),
        (
            "no such application",
            uuid::Uuid::new_v4().to_string(),
            server.key.clone(),
        ),
        ("both wrong", uuid::Uuid::new_v4().to_string(), unknown),
        ("expired", shop.clone(), expired),
        ("deleted", shop.clone(), deleted),
        (
            "truncated",
            shop.clone(),
            server.key[..server.key.len() - 1].to_owned(),
        ),
        ("only the prefix", shop.clone(), server.key[..14].to_owned()),
        ("case changed", shop.clone(), changed),
        ("the hash in hex", shop.clone(), hex),
        ("the hash in base64", shop.clone(), packed),
    ];
    for (what, app, key) in cases {
        assert_eq!(seen(&ask(&server, &app, &key).await), expected, "{what}");
    }
}

#[tokio::test]
async fn row_3_empty_credentials_are_none() {
    let server = Server::start().await;
    let path = format!("/v1/apps/{}/query?query=print+1", server.shop.id);
    for header in [
        ("x-api-key", ""),
        ("x-api-key", "  "),
        ("authorization", "Basic Og=="),
        ("authorization", "Bearer "),
        ("authorization", "Bearer"),
        ("authorization", "Basic"),
        ("authorization", ""),
    ] {
        let reply = server
            .ask(Method::GET, &path, &[header], Body::empty())
            .await;
        assert_eq!(reply.status, 401, "{header:?}");
    }
    let reply = server
        .ask(Method::GET, &format!("{path}&api_key="), &[], Body::empty())
        .await;
    assert_eq!(reply.status, 401);
}

#[tokio::test]
async fn row_5_of_two_credentials_the_first_in_order_decides_alone() {
    let server = Server::start().await;
    let path = format!("/v1/apps/{}/query?query=print+1", server.shop.id);
    let (good, bad) = (
        server.key.clone(),
        hindsight_identity::api_key::generate().unwrap().text,
    );
    let check = async |header: &str, basic_key: &str, query: &str, expected: u16| {
        let authorization = basic(&format!("{basic_key}:"));
        let mut headers = Vec::new();
        if !header.is_empty() {
            headers.push(("x-api-key", header));
        }
        if !basic_key.is_empty() {
            headers.push(("authorization", authorization.as_str()));
        }
        let path = format!("{path}&api_key={query}");
        let reply = server
            .ask(Method::GET, &path, &headers, Body::empty())
            .await;
        assert_eq!(reply.status, expected, "{header} {basic_key} {query}");
    };
    check(&bad, &good, &good, 403).await;
    check(&good, &bad, &bad, 200).await;
    check("", &bad, &good, 403).await;
    check("", &good, &bad, 200).await;
    check("", "", &good, 200).await;
}

#[tokio::test]
async fn row_6_in_basic_the_user_name_wins_and_a_password_alone_counts() {
    let server = Server::start().await;
    let path = format!("/v1/apps/{}/query?query=print+1", server.shop.id);
    let key = &server.key;
    for (text, status) in [
        (format!("{key}:other"), 200),
        (format!("other:{key}"), 403),
        (format!(":{key}"), 200),
        (format!("{key}:"), 200),
        (format!("{key}:{key}"), 200),
        (format!("{key}::"), 200),
    ] {
        let header = basic(&text);
        let reply = server
            .ask(
                Method::GET,
                &path,
                &[("authorization", &header)],
                Body::empty(),
            )
            .await;
        assert_eq!(reply.status, status, "{text}");
    }
}

#[tokio::test]
async fn row_7_a_key_sent_twice_is_400() {
    let server = Server::start().await;
    let path = format!("/v1/apps/{}/query?query=print+1", server.shop.id);
    let key = server.key.as_str();
    let twice = [("x-api-key", key), ("X-API-KEY", key)];
    assert_eq!(
        server
            .ask(Method::GET, &path, &twice, Body::empty())
            .await
            .status,
        400
    );
    let header = basic(&format!("{key}:"));
    let twice = [
        ("authorization", header.as_str()),
        ("authorization", header.as_str()),
    ];
    assert_eq!(
        server
            .ask(Method::GET, &path, &twice, Body::empty())
            .await
            .status,
        400
    );
    let reply = server
        .ask(
            Method::GET,
            &format!("{path}&api_key={key}&api_key={key}"),
            &[],
            Body::empty(),
        )
        .await;
    assert_eq!(reply.status, 400);
}

#[tokio::test]
async fn row_15_many_wrong_keys_of_an_address_are_429_and_a_good_one_still_works() {
    let server =
        Server::with(|settings| settings.set("auth.failures_per_minute", "20").unwrap()).await;
    let shop = server.shop.id.to_string();
    let wrong = hindsight_identity::api_key::generate().unwrap().text;
    let mut statuses = Vec::new();
    for _ in 0..30 {
        statuses.push(ask(&server, &shop, &wrong).await.status.as_u16());
    }
    assert_eq!(statuses[..20], [403; 20]);
    assert_eq!(statuses[20..], [429; 10]);
    let reply = ask(&server, &shop, &wrong).await;
    assert!(reply.header("retry-after").parse::<u64>().unwrap() <= 60);
    assert_eq!(ask(&server, &shop, &server.key).await.status, 200);
}
