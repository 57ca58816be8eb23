//! Signing in on another device.

use super::*;

async fn start(issuer: &Issuer) -> Value {
    let fields = [
        ("client_id", issuer.client.as_str()),
        ("resource", RESOURCE),
    ];
    issuer
        .post(
            &issuer.path("oauth2/devicecode?api-version=1.0"),
            "",
            &fields,
        )
        .await
        .json()
}

async fn poll(issuer: &Issuer, started: &Value) -> Reply {
    let code = started["device_code"].as_str().unwrap();
    let fields = [
        ("grant_type", "device_code"),
        ("client_id", issuer.client.as_str()),
        ("resource", RESOURCE),
        ("code", code),
    ];
    issuer.post(&issuer.path("oauth2/token"), "", &fields).await
}

/// Types the code in and decides, as a browser would.
async fn decide(issuer: &Issuer, started: &Value, decision: &str, password: &str) -> String {
    let page = issuer.get("/devicelogin", "").await;
    let cookie = page
        .header("set-cookie")
        .split(';')
        .next()
        .unwrap()
        .to_owned();
    let token = hidden(&page.text(), "form_token");
    let code = started["user_code"].as_str().unwrap().to_lowercase();
    let typed = [("form_token", token.as_str()), ("user_code", code.as_str())];
    let confirm = issuer.post("/devicelogin", &cookie, &typed).await.text();
    assert!(
        confirm.contains("Reports"),
        "the client is named: {confirm}"
    );
    let fields = [
        typed[0],
        typed[1],
        ("decision", decision),
        ("username", "ada"),
        ("password", password),
    ];
    issuer.post("/devicelogin", &cookie, &fields).await.text()
}

#[tokio::test]
async fn a_device_waits_until_its_person_says_yes() {
    let issuer = Issuer::start().await;
    let started = start(&issuer).await;
    for name in [
        "user_code",
        "device_code",
        "verification_url",
        "expires_in",
        "interval",
        "message",
    ] {
        assert!(started[name].is_string(), "{name}: {started}");
    }
    let waiting = poll(&issuer, &started).await;
    assert_eq!(
        (waiting.status.as_u16(), &waiting.json()["error"]),
        (400, &"authorization_pending".into())
    );
    assert_eq!(poll(&issuer, &started).await.json()["error"], "slow_down");
    let wrong = decide(&issuer, &started, "yes", "wrong password").await;
    assert!(wrong.contains("wrong"), "{wrong}");
    let done = decide(&issuer, &started, "yes", PASSWORD).await;
    assert!(done.contains("The device is signed in"), "{done}");
    let body = poll(&issuer, &started).await.json();
    assert_eq!(
        issuer
            .ask_with(body["access_token"].as_str().unwrap())
            .await,
        200,
        "{body}"
    );
    assert!(body["refresh_token"].is_string());
    assert_eq!(
        poll(&issuer, &started).await.json()["error"],
        "invalid_grant",
        "a decision is told once"
    );
}

#[tokio::test]
async fn a_device_is_told_no() {
    let issuer = Issuer::start().await;
    let started = start(&issuer).await;
    decide(&issuer, &started, "no", "").await;
    assert_eq!(
        poll(&issuer, &started).await.json()["error"],
        "access_denied"
    );
}

#[tokio::test]
async fn another_client_cannot_take_a_devices_token() {
    let issuer = Issuer::start().await;
    let started = start(&issuer).await;
    decide(&issuer, &started, "yes", PASSWORD).await;
    let other = uuid::Uuid::new_v4().to_string();
    issuer.add_client(&other, "", true, CALLBACK).await;
    let code = started["device_code"].as_str().unwrap();
    let fields = [
        ("grant_type", "device_code"),
        ("client_id", other.as_str()),
        ("code", code),
    ];
    let reply = issuer.post(&issuer.path("oauth2/token"), "", &fields).await;
    assert_eq!(reply.json()["error"], "invalid_grant");
}

#[tokio::test]
async fn guessing_user_codes_ends_soon() {
    let issuer = Issuer::start().await;
    let page = issuer.get("/devicelogin", "").await;
    let cookie = page
        .header("set-cookie")
        .split(';')
        .next()
        .unwrap()
        .to_owned();
    let token = hidden(&page.text(), "form_token");
    let fields = [("form_token", token.as_str()), ("user_code", "BBBBBBBBB")];
    let mut status = 200;
    for _ in 0..20 {
        status = issuer
            .post("/devicelogin", &cookie, &fields)
            .await
            .status
            .as_u16();
    }
    assert_eq!(status, 429);
}
