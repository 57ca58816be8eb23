//! What clients read before they ask.

use super::*;

#[tokio::test]
async fn both_documents_name_addresses_that_are_there() {
    let issuer = Issuer::start().await;
    let tenant = issuer.server.app.issuer.tenant();
    for (path, name) in [
        ("", format!("/{tenant}/")),
        ("v2.0/", format!("/{tenant}/v2.0")),
    ] {
        let address = issuer.path(&format!("{path}.well-known/openid-configuration"));
        let document = issuer.get(&address, "").await.json();
        let base = issuer.server.app.issuer.base();
        assert_eq!(document["issuer"], format!("{base}{name}"));
        // OpenID Connect Discovery §4.1: the document lies below the issuer's name.
        let below = document["issuer"]
            .as_str()
            .unwrap()
            .trim_end_matches('/')
            .to_owned();
        assert_eq!(
            format!("{below}/.well-known/openid-configuration"),
            format!("{base}{address}")
        );
        for (endpoint, method) in [
            ("authorization_endpoint", Method::GET),
            ("token_endpoint", Method::POST),
            ("jwks_uri", Method::GET),
            ("device_authorization_endpoint", Method::POST),
            ("end_session_endpoint", Method::GET),
        ] {
            let place = document[endpoint]
                .as_str()
                .unwrap()
                .strip_prefix(&*base)
                .unwrap()
                .to_owned();
            let reply = issuer.server.ask(method, &place, &[], Body::empty()).await;
            assert!(reply.status != 404, "{endpoint}: {}", reply.status);
        }
        assert_eq!(
            document["code_challenge_methods_supported"],
            serde_json::json!(["S256"])
        );
        assert_eq!(
            document["id_token_signing_alg_values_supported"],
            serde_json::json!(["RS256"])
        );
    }
}

#[tokio::test]
async fn the_keys_are_public_halves_and_sign_what_is_given() {
    let issuer = Issuer::start().await;
    let set = issuer.get(&issuer.path("discovery/keys"), "").await.json();
    let keys = set["keys"].as_array().unwrap();
    assert_eq!(keys.len(), 1);
    assert_eq!(
        (&keys[0]["kty"], &keys[0]["use"], &keys[0]["alg"]),
        (&"RSA".into(), &"sig".into(), &"RS256".into())
    );
    for private in ["d", "p", "q", "dp", "dq", "qi"] {
        assert!(keys[0].get(private).is_none(), "{private}");
    }
    assert!(keys[0]["n"].as_str().unwrap().len() >= 342, "2048 bits");
    let body = issuer
        .token(&[("grant_type", "client_credentials"), ("resource", RESOURCE)])
        .await
        .json();
    let header = jsonwebtoken_header(body["access_token"].as_str().unwrap());
    assert_eq!(
        (&header["alg"], &header["kid"]),
        (&"RS256".into(), &keys[0]["kid"])
    );
}

fn jsonwebtoken_header(token: &str) -> Value {
    let rest = token.split_once('.').unwrap().0;
    claims(&format!("x.{rest}.y"))
}

#[tokio::test]
async fn an_authority_is_this_directory_or_not() {
    let issuer = Issuer::start().await;
    let base = issuer.server.app.issuer.base();
    let ask = async |authority: &str| {
        let query = encoded(&[
            ("api-version", "1.1"),
            ("authorization_endpoint", authority),
        ]);
        issuer
            .get(&format!("/common/discovery/instance?{query}"), "")
            .await
    };
    let known = ask(&format!("{base}/common/oauth2/v2.0/authorize"))
        .await
        .json();
    assert!(
        known["tenant_discovery_endpoint"]
            .as_str()
            .unwrap()
            .starts_with(&*base)
    );
    assert_eq!(
        known["metadata"][0]["aliases"][0],
        base.split_once("://").unwrap().1
    );
    assert_eq!(
        ask("https://evil.example/common/oauth2/v2.0/authorize")
            .await
            .status,
        400
    );
}

/// What the Azure CLI asks when it registers a cloud and signs in.
#[tokio::test]
async fn a_cloud_with_one_tenant_and_no_subscriptions() {
    let issuer = Issuer::start().await;
    let base = issuer.server.app.issuer.base();
    let path = "/metadata/endpoints?api-version=2022-09-01";
    let cloud = issuer.get(path, "").await.json();
    let authentication = &cloud["authentication"];
    assert_eq!(authentication["loginEndpoint"], *base);
    assert_eq!(authentication["audiences"][0], *base);
    assert_eq!(cloud["resourceManager"], *base);

    let token = issuer
        .token(&[("grant_type", "client_credentials"), ("resource", &base)])
        .await
        .json();
    let bearer = format!("Bearer {}", token["access_token"].as_str().unwrap());
    let headers = [("authorization", bearer.as_str())];
    let ask = async |path: &str, headers: &[(&str, &str)]| {
        let server = &issuer.server;
        server.ask(Method::GET, path, headers, Body::empty()).await
    };
    let tenants = ask("/tenants?api-version=2022-12-01", &headers).await;
    let tenant = issuer.server.app.issuer.tenant();
    assert_eq!(tenants.json()["value"][0]["tenantId"], *tenant);
    let none = ask("/subscriptions?api-version=2022-12-01", &headers).await;
    assert_eq!(none.json()["value"], serde_json::json!([]));
    let wrong = [("x-api-key", "hs_wrong")];
    assert_eq!(ask("/tenants", &wrong).await.status, 403);
}

/// A client that reaches the issuer by another address than the one where it is located gets documents and tokens that name
/// that address, and the tokens are accepted by every address.
#[tokio::test]
async fn tokens_name_the_address_by_which_the_issuer_was_reached() {
    let issuer = Issuer::start().await;
    let tenant = issuer.server.app.issuer.tenant().to_owned();
    let fields = [
        ("grant_type", "client_credentials"),
        ("client_id", issuer.client.as_str()),
        ("client_secret", issuer.secret.as_str()),
        ("resource", "http://here.example:8"),
    ];
    let path = issuer.path("oauth2/token");
    let form = ("content-type", "application/x-www-form-urlencoded");
    let headers = [form, ("host", "here.example:8")];
    let reply = issuer
        .server
        .ask(Method::POST, &path, &headers, encoded(&fields))
        .await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    let token = reply.json()["access_token"].as_str().unwrap().to_owned();
    assert_eq!(
        claims(&token)["iss"],
        format!("http://here.example:8/{tenant}/")
    );
    assert_eq!(claims(&token)["aud"], "http://here.example:8");
    let bearer = format!("Bearer {token}");
    let query = format!("/v1/apps/{}/query?query=print%201", issuer.server.shop.id);
    for host in ["here.example:8", "elsewhere"] {
        let headers = [("authorization", bearer.as_str()), ("host", host)];
        let reply = issuer
            .server
            .ask(Method::GET, &query, &headers, Body::empty())
            .await;
        assert_eq!(reply.status, 200, "{host}: {}", reply.text());
    }
    // The address of another server is no resource of this one.
    let elsewhere = [form, ("host", "elsewhere")];
    let reply = issuer
        .server
        .ask(Method::POST, &path, &elsewhere, encoded(&fields))
        .await;
    assert_eq!(reply.json()["error"], "invalid_resource");
    // Without a host that can be an address, the issuer stays where it is located.
    let broken = [form, ("host", "a@b/c")];
    let document = issuer.path(".well-known/openid-configuration");
    let reply = issuer
        .server
        .ask(Method::GET, &document, &broken, Body::empty())
        .await;
    let base = issuer.server.app.issuer.base();
    assert_eq!(reply.json()["issuer"], format!("{base}/{tenant}/"));
}
