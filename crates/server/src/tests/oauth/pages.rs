//! The pages: forged forms, cookies, sessions (`attacks.md` 16).

use super::*;

#[tokio::test]
async fn the_sign_in_page_needs_no_script_and_cannot_be_framed() {
    let issuer = Issuer::start().await;
    let page = issuer
        .get(
            &issuer.authorize_path("", &[("login_hint", "\"><script>alert(1)</script>")]),
            "",
        )
        .await;
    let text = page.text();
    assert!(!text.contains("<script"), "{text}");
    let policy = page.header("content-security-policy");
    for part in [
        "default-src 'none'",
        "frame-ancestors 'none'",
        "form-action 'self' http://localhost:8400",
    ] {
        assert!(policy.contains(part), "{policy}");
    }
    assert_eq!(page.header("x-frame-options"), "DENY");
    assert_eq!(page.header("cache-control"), "no-store");
    assert_eq!(page.header("referrer-policy"), "no-referrer");
}

#[tokio::test]
async fn a_form_of_another_site_signs_nobody_in() {
    let issuer = Issuer::start().await;
    let path = issuer
        .authorize_path("", &[])
        .replace("authorize?", "signin?");
    let page = issuer.get(&issuer.authorize_path("", &[]), "").await;
    let cookie = page
        .header("set-cookie")
        .split(';')
        .next()
        .unwrap()
        .to_owned();
    let token = hidden(&page.text(), "form_token");
    let person = [("username", "ada"), ("password", PASSWORD)];
    let with = |token: &'static str| [("form_token", token), person[0], person[1]];
    let status = async |cookie: &str, fields: &[(&str, &str)]| {
        issuer.post(&path, cookie, fields).await.status.as_u16()
    };
    assert_eq!(status(&cookie, &person).await, 400, "no token");
    assert_eq!(
        status("", &[("form_token", token.as_str()), person[0], person[1]]).await,
        400,
        "no cookie"
    );
    assert_eq!(
        status(&cookie, &with("another")).await,
        400,
        "another token"
    );
    assert_eq!(
        status("hindsight-form=short", &with("short")).await,
        400,
        "a token that is no secret"
    );
    let good = [("form_token", token.as_str()), person[0], person[1]];
    let headers = [
        ("content-type", "application/x-www-form-urlencoded"),
        ("cookie", cookie.as_str()),
        ("sec-fetch-site", "cross-site"),
    ];
    let reply = issuer
        .server
        .ask(Method::POST, &path, &headers, encoded(&good))
        .await;
    assert_eq!(
        reply.status, 400,
        "the browser says that another site sent it"
    );
    assert_eq!(status(&cookie, &good).await, 303);
}

#[tokio::test]
async fn a_session_is_new_hidden_from_scripts_and_ends_on_the_server() {
    let issuer = Issuer::start().await;
    let reply = issuer
        .sign_in_at(&issuer.authorize_path("", &[]), PASSWORD)
        .await;
    let cookie = reply.header("set-cookie").to_owned();
    for part in ["HttpOnly", "SameSite=Lax", "Path=/"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert!(
        !cookie.contains("Secure"),
        "over plain http a browser would drop it: {cookie}"
    );
    let session = cookie.split(';').next().unwrap().to_owned();
    let path = issuer.authorize_path("", &[]);
    assert_eq!(issuer.get(&path, &session).await.status, 303, "signed in");
    assert_eq!(
        issuer
            .get(&path, "hindsight-session=chosen-by-somebody")
            .await
            .status,
        200,
        "fixation"
    );
    let prompt = issuer.authorize_path("", &[("prompt", "login")]);
    assert_eq!(
        issuer.get(&prompt, &session).await.status,
        200,
        "asked again"
    );
    let none = issuer.authorize_path("", &[("prompt", "none")]);
    assert_eq!(
        told(&issuer.get(&none, "").await)["error"],
        "login_required"
    );

    let logout = issuer.path("oauth2/logout");
    let page = issuer.get(&logout, &session).await;
    let form = page
        .header("set-cookie")
        .split(';')
        .next()
        .unwrap()
        .to_owned();
    let token = hidden(&page.text(), "form_token");
    let both = format!("{session}; {form}");
    assert_eq!(
        issuer.post(&logout, &both, &[]).await.status,
        400,
        "a forged sign-out"
    );
    assert_eq!(issuer.get(&path, &session).await.status, 303);
    let done = issuer
        .post(&logout, &both, &[("form_token", token.as_str())])
        .await;
    assert!(done.header("set-cookie").contains("Max-Age=0"));
    assert_eq!(
        issuer.get(&path, &session).await.status,
        200,
        "the old cookie opens nothing"
    );
}

#[tokio::test]
async fn over_tls_cookies_are_secure_and_bound_to_the_host() {
    let issuer = Issuer::with(|settings| {
        settings
            .set("public_url", "https://hindsight.example")
            .unwrap()
    })
    .await;
    let page = issuer.get(&issuer.authorize_path("", &[]), "").await;
    let cookie = page.header("set-cookie");
    assert!(
        cookie.starts_with("__Host-") && cookie.contains("; Secure"),
        "{cookie}"
    );
    assert!(cookie.contains("SameSite=Strict"), "{cookie}");
}

#[tokio::test]
async fn guessing_passwords_ends_soon_also_for_the_right_one() {
    let issuer = Issuer::start().await;
    let path = issuer.authorize_path("", &[]);
    for _ in 0..10 {
        assert_eq!(issuer.sign_in_at(&path, "wrong").await.status, 401);
    }
    let reply = issuer.sign_in_at(&path, PASSWORD).await;
    assert_eq!(reply.status, 429);
    assert!(reply.header("retry-after").parse::<u64>().unwrap() <= 300);
    let patient = Issuer::with(|settings| settings.set("auth.failed_sign_ins", "2").unwrap()).await;
    let path = patient.authorize_path("", &[]);
    let mut statuses = Vec::new();
    for _ in 0..4 {
        statuses.push(patient.sign_in_at(&path, "wrong").await.status.as_u16());
    }
    assert_eq!(statuses, [401, 401, 429, 429]);
}

/// An attempt at the issuer from an address: whether it signed in, or the status.
async fn attempt(issuer: &Issuer, name: &str, password: &str, address: &str) -> Result<bool, u16> {
    let signed_in = issuer.server.app.issuer.sign_in(name, password, address);
    match signed_in.await {
        Ok(session) => Ok(session.is_some()),
        Err(error) => Err(error.status),
    }
}

#[tokio::test]
async fn of_many_guesses_at_once_no_more_are_compared_than_the_limit() {
    let issuer = Issuer::with(|settings| settings.set("auth.failed_sign_ins", "3").unwrap()).await;
    let guesses = (0..40).map(|_| attempt(&issuer, "ada", "wrong", "192.0.2.1"));
    let outcomes = futures::future::join_all(guesses).await;
    let compared = outcomes.iter().filter(|outcome| **outcome == Ok(false));
    assert_eq!(compared.count(), 3);
    assert_eq!(
        outcomes
            .iter()
            .filter(|outcome| **outcome == Err(429))
            .count(),
        37
    );
}

#[tokio::test]
async fn wrong_guesses_lock_out_no_one_else() {
    let issuer = Issuer::with(|settings| settings.set("auth.failed_sign_ins", "2").unwrap()).await;
    let home = "192.0.2.7";
    assert_eq!(attempt(&issuer, "ada", PASSWORD, home).await, Ok(true));
    // One address, then many: the name at other addresses is refused, but not where it is known.
    for guess in 0..3 {
        let outcome = attempt(&issuer, "ada", "wrong", "192.0.2.1").await;
        assert_eq!(outcome.is_ok(), guess < 2);
    }
    assert_eq!(
        attempt(&issuer, "ada", PASSWORD, "192.0.2.2").await,
        Ok(true)
    );
    for number in 0..9 {
        let address = format!("198.51.100.{number}");
        for _ in 0..2 {
            assert_eq!(attempt(&issuer, "ada", "wrong", &address).await, Ok(false));
        }
    }
    assert_eq!(
        attempt(&issuer, "ada", PASSWORD, "203.0.113.1").await,
        Err(429)
    );
    assert_eq!(attempt(&issuer, "ada", PASSWORD, home).await, Ok(true));
    assert_eq!(
        attempt(&issuer, "bob", "wrong", "203.0.113.1").await,
        Ok(false)
    );
}

#[tokio::test]
async fn unknown_clients_are_no_guesses() {
    let issuer = Issuer::with(|settings| settings.set("auth.failed_sign_ins", "2").unwrap()).await;
    let unknown = uuid::Uuid::new_v4().to_string();
    let asked = async |id: &str, secret: &str| {
        let fields = [
            ("grant_type", "client_credentials"),
            ("resource", RESOURCE),
            ("client_id", id),
            ("client_secret", secret),
        ];
        issuer.token(&fields).await.status.as_u16()
    };
    for _ in 0..5 {
        assert_eq!(asked(&unknown, "guess").await, 401);
    }
    assert_eq!(asked(&issuer.client, &issuer.secret).await, 200);
    for status in [401, 401, 429] {
        assert_eq!(asked(&issuer.client, "guess").await, status);
    }
    // Another client of the same address.
    let (other, secret) = (uuid::Uuid::new_v4().to_string(), secret::random().unwrap());
    issuer.add_client(&other, &secret, false, CALLBACK).await;
    assert_eq!(asked(&other, &secret).await, 200);
}

#[tokio::test]
async fn another_password_ends_sessions_and_tokens() {
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
    let body = issuer.redeem(&told(&reply)["code"], &[]).await.json();
    let token = body["access_token"].as_str().unwrap();
    assert_eq!(issuer.ask_with(token).await, 200);
    let hash = Passwords::hash("another password").unwrap();
    let (catalogue, now) = (issuer.server.app.store.catalogue(), issuer.server.app.now());
    catalogue
        .set_password(&issuer.user, &hash, now)
        .await
        .unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(900)).await;
    assert_eq!(issuer.ask_with(token).await, 401);
    assert_eq!(
        issuer
            .get(&issuer.authorize_path("", &[]), &session)
            .await
            .status,
        200
    );
}

#[tokio::test]
async fn a_form_of_another_site_decides_nothing_and_signs_nobody_out() {
    let issuer = Issuer::start().await;
    let reply = issuer
        .sign_in_at(&issuer.authorize_path("", &[]), PASSWORD)
        .await;
    let session = reply
        .headers
        .get_all("set-cookie")
        .iter()
        .map(|value| {
            value
                .to_str()
                .unwrap()
                .split(';')
                .next()
                .unwrap()
                .to_owned()
        })
        .find(|cookie| cookie.starts_with("hindsight-session"))
        .unwrap();
    let device = issuer
        .post(
            &issuer.path("oauth2/devicecode"),
            "",
            &[("client_id", &issuer.client), ("resource", RESOURCE)],
        )
        .await
        .json();
    let code = device["user_code"].as_str().unwrap();
    let forged = [("user_code", code), ("decision", "yes")];
    let reply = issuer.post("/devicelogin", &session, &forged).await;
    assert_eq!(reply.status, 400);
    let reply = issuer
        .post(&issuer.path("oauth2/logout"), &session, &[])
        .await;
    assert_eq!(reply.status, 400);
    // Still signed in, and the device still waits.
    let reply = issuer.get(&issuer.authorize_path("", &[]), &session).await;
    assert_eq!(reply.status, 303);
    let poll = [
        ("grant_type", "device_code"),
        ("code", device["device_code"].as_str().unwrap()),
    ];
    let reply = issuer.token(&poll).await.json();
    assert_eq!(reply["error"], "authorization_pending");
}

/// Names and what people type appear on pages, as text and never as markup.
#[tokio::test]
async fn what_is_typed_or_named_is_text_on_every_page() {
    let issuer = Issuer::start().await;
    let markup = "\"'><img src=x onerror=alert(1)>";
    let catalogue = issuer.server.app.store.catalogue();
    let id = uuid::Uuid::new_v4().to_string();
    let client = ClientRecord {
        id: id.clone(),
        name: markup.to_owned(),
        public: true,
        created: issuer.server.app.now(),
        redirects: vec![CALLBACK.to_owned()],
        secrets: Vec::new(),
    };
    catalogue.create_client(&client).await.unwrap();
    let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
    let own = [
        ("client_id", id.as_str()),
        ("code_challenge", challenge),
        ("code_challenge_method", "S256"),
        ("state", markup),
    ];
    let path = issuer.authorize_path("", &own);
    let page = issuer.get(&path, "").await;
    let cookie = page.header("set-cookie").split(';').next().unwrap();
    let text = page.text();
    let token = hidden(&text, "form_token");
    let person = [
        ("form_token", token.as_str()),
        ("username", markup),
        ("password", markup),
    ];
    let path = path.replace("authorize?", "signin?");
    let refused = issuer.post(&path, cookie, &person).await;
    assert!(refused.text().contains("wrong"), "{}", refused.text());

    let device = [("client_id", id.as_str()), ("resource", RESOURCE)];
    let path = issuer.path("oauth2/devicecode");
    let device = issuer.post(&path, "", &device).await.json();
    let code = device["user_code"].as_str().unwrap();
    let page = issuer.get("/devicelogin", "").await;
    let cookie = page.header("set-cookie").split(';').next().unwrap();
    let token = hidden(&page.text(), "form_token");
    let typed = async |code: &str| {
        let fields = [("form_token", token.as_str()), ("user_code", code)];
        issuer.post("/devicelogin", cookie, &fields).await
    };
    let unknown = typed(markup).await;
    let confirm = typed(code).await;
    assert!(confirm.text().contains(code));

    let strange = issuer.authorize_path("", &[("client_id", markup)]);
    let no_client = issuer.get(&strange, "").await;
    let elsewhere = issuer.authorize_path("", &[("redirect_uri", markup)]);
    let no_redirect = issuer.get(&elsewhere, "").await;
    let posted = [own.as_slice(), &[("response_mode", "form_post")]].concat();
    let posted = issuer.authorize_path("", &posted);
    let post_back = issuer.sign_in_at(&posted, PASSWORD).await;
    assert!(post_back.text().contains("name=\"code\""));
    for page in [
        text,
        refused.text(),
        unknown.text(),
        confirm.text(),
        no_client.text(),
        no_redirect.text(),
        post_back.text(),
    ] {
        assert!(page.starts_with("<!DOCTYPE html>"), "{page}");
        assert!(!page.contains("<img"), "{page}");
    }
}
