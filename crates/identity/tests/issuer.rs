//! The embedded issuer with a clock that the tests move: what it gives, to whom, and for how long.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail by panicking, in helper functions too"
)]

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hindsight_identity::issuer::{
    AuthorizeFailure, Form, Implicit, IssuerSettings, NewSession, OAuthError, PORTAL_CLIENT,
    TokenReply, Version,
};
use hindsight_identity::{Issuer, Passwords, Token, TokenError, Verifier, secret};
use hindsight_store::{Catalogue, ClientRecord, SecretRecord, UserRecord};
use serde_json::Value;

mod clock;
use clock::{Moved, START, START_TICKS as NOW};

const TICKS: i64 = 10_000_000;
const HOUR: u64 = 3600;
const RESOURCES: [&str; 2] = ["https://api.example", "https://other.example"];
const CALLBACK: &str = "https://app.example/cb";
const PASSWORD: &str = "correct horse";
const ADDRESS: &str = "192.0.2.1";

/// An issuer with the user `ada` and the client `app`, whose secret `first` ends after an hour.
struct Home {
    issuer: Issuer,
    catalogue: Catalogue,
    clock: Arc<Moved>,
    _folder: tempfile::TempDir,
}

impl Home {
    async fn at(base: &str) -> Home {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(Moved::default());
        let catalogue = Catalogue::open_or_create(folder.path()).await.unwrap();
        let user = UserRecord {
            id: "u".to_owned(),
            name: "ada".to_owned(),
            password: Passwords::hash(PASSWORD).unwrap(),
            created: NOW,
        };
        catalogue.create_user(&user).await.unwrap();
        let secret = |id: &str, text: &str, expires| SecretRecord {
            id: id.to_owned(),
            hash: secret::hash(text),
            created: NOW,
            expires,
        };
        let client = ClientRecord {
            id: "app".to_owned(),
            name: "App".to_owned(),
            public: false,
            created: NOW,
            redirects: vec![CALLBACK.to_owned()],
            secrets: vec![
                secret("1", "first", Some(NOW + HOUR as i64 * TICKS)),
                secret("2", "second", None),
            ],
        };
        catalogue.create_client(&client).await.unwrap();
        let issuer = open(&catalogue, clock.clone(), base, true).await;
        Home {
            issuer,
            catalogue,
            clock,
            _folder: folder,
        }
    }

    async fn new() -> Home {
        Home::at("http://localhost").await
    }

    async fn sign_in(&self) -> NewSession {
        let session = self.issuer.sign_in("Ada", PASSWORD, ADDRESS).await;
        session.unwrap().unwrap()
    }

    /// Whether a session's cookie is still good.
    async fn is_open(&self, session: &NewSession) -> bool {
        let who = self.issuer.session(&session.secret).await.unwrap();
        who.is_some_and(|who| who == session.who)
    }

    /// Asks for a token with a secret of the client.
    async fn ask(&self, secret: &str, form: &[(&str, &str)]) -> Result<TokenReply, OAuthError> {
        let mut all = vec![("client_id", "app"), ("client_secret", secret)];
        all.extend(form);
        let form = encoded(&all);
        self.issuer.token(&form, None, Version::V1, ADDRESS).await
    }

    /// Signs in and asks for a code for the first resource.
    async fn code(&self) -> String {
        let form = authorize(&[]);
        let request = self.issuer.read_authorize(&form, Version::V1).await;
        let who = self.sign_in().await.who;
        let redirect = self.issuer.answer_authorize(&request.unwrap(), &who).await;
        let parameters = redirect.unwrap().parameters;
        let code = parameters.into_iter().find(|(name, _)| *name == "code");
        code.unwrap().1
    }

    /// Redeems a code for a resource.
    async fn redeem(&self, code: &str, resource: &str) -> Result<TokenReply, OAuthError> {
        let form = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", CALLBACK),
            ("resource", resource),
        ];
        self.ask("second", &form).await
    }

    async fn refresh(&self, reply: &TokenReply) -> Result<TokenReply, OAuthError> {
        let token = reply.refresh_token.as_deref().unwrap();
        let form = [("grant_type", "refresh_token"), ("refresh_token", token)];
        self.ask("second", &form).await
    }
}

async fn open(catalogue: &Catalogue, clock: Arc<Moved>, base: &str, portal: bool) -> Issuer {
    let settings = IssuerSettings {
        audiences: RESOURCES.map(str::to_owned).to_vec(),
        implicit: Implicit::Off,
        tenant: None,
        attempts: 10,
        portal,
    };
    let opened = Issuer::open(catalogue.clone(), clock, settings, base).await;
    opened.unwrap()
}

fn encoded(fields: &[(&str, &str)]) -> Form {
    let mut text = url::form_urlencoded::Serializer::new(String::new());
    text.extend_pairs(fields);
    Form::parse(text.finish().as_bytes())
}

/// A request of the client for a code, with some parameters changed.
fn authorize(more: &[(&str, &str)]) -> Form {
    let mut fields = vec![
        ("client_id", "app"),
        ("response_type", "code"),
        ("redirect_uri", CALLBACK),
        ("resource", RESOURCES[0]),
    ];
    fields.retain(|(name, _)| !more.iter().any(|(changed, _)| changed == name));
    fields.extend(more);
    encoded(&fields)
}

/// The claims of a token, unchecked.
fn claims(token: &str) -> Value {
    let part = token.split('.').nth(1).unwrap();
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
}

#[tokio::test]
async fn a_session_lasts_eight_hours() {
    let home = Home::new().await;
    let session = home.sign_in().await;
    home.clock.pass(8 * HOUR - 1);
    assert!(home.is_open(&session).await);
    home.clock.pass(1);
    assert!(!home.is_open(&session).await);
}

#[tokio::test]
async fn the_secret_of_a_client_ends() {
    let home = Home::new().await;
    let form = [
        ("grant_type", "client_credentials"),
        ("resource", RESOURCES[0]),
    ];
    home.clock.pass(HOUR - 1);
    assert!(home.ask("first", &form).await.is_ok());
    home.clock.pass(1);
    let refused = home.ask("first", &form).await.err().unwrap();
    assert_eq!(refused.error, "invalid_client");
    assert!(home.ask("second", &form).await.is_ok());
}

#[tokio::test]
async fn a_person_shows_the_password_again_when_the_sign_in_is_older_than_asked() {
    let home = Home::new().await;
    let form = authorize(&[("max_age", "60")]);
    let request = home.issuer.read_authorize(&form, Version::V1).await;
    let (request, who) = (request.unwrap(), home.sign_in().await.who);
    home.clock.pass(60);
    assert!(!home.issuer.must_sign_in_again(&request, &who));
    home.clock.pass(1);
    assert!(home.issuer.must_sign_in_again(&request, &who));
}

#[tokio::test]
async fn a_code_is_for_the_resource_that_was_asked() {
    let home = Home::new().await;
    let refused = home.redeem(&home.code().await, RESOURCES[1]).await;
    assert_eq!(refused.err().unwrap().error, "invalid_grant");
    let slash = format!("{}/", RESOURCES[0]);
    let reply = home.redeem(&home.code().await, &slash).await.unwrap();
    assert_eq!(reply.resource, slash);
}

#[tokio::test]
async fn a_refreshed_token_tells_when_its_person_signed_in() {
    let home = Home::new().await;
    let first = home.redeem(&home.code().await, RESOURCES[0]).await.unwrap();
    home.clock.pass(HOUR);
    let second = home.refresh(&first).await.unwrap();
    let signed_in = |reply: &TokenReply| {
        let claims = claims(reply.id_token.as_deref().unwrap());
        (claims["auth_time"].clone(), claims["iat"].clone())
    };
    let at = START;
    assert_eq!(signed_in(&first), (at.into(), at.into()));
    assert_eq!(signed_in(&second), (at.into(), (at + HOUR as i64).into()));

    assert!(home.refresh(&first).await.is_err(), "it was used up");
    let audit = home.catalogue.audit(0, 100).await.unwrap();
    let reused = audit.iter().find(|record| record.action.contains("reused"));
    assert_eq!(reused.unwrap().actor, "ada");
}

#[tokio::test]
async fn what_a_revoked_sign_in_gave_tells_nothing() {
    let home = Home::new().await;
    let revoked = home.redeem(&home.code().await, RESOURCES[0]).await.unwrap();
    home.refresh(&revoked).await.unwrap();
    assert!(home.refresh(&revoked).await.is_err(), "it was used up");
    let good = home.redeem(&home.code().await, RESOURCES[0]).await.unwrap();
    let info = home.issuer.user_info(&good.access_token).await.unwrap();
    assert_eq!(info["name"], "ada");
    let refused = home.issuer.user_info(&revoked.access_token).await;
    assert_eq!(refused.unwrap_err(), TokenError::Revoked);
}

#[tokio::test]
async fn an_issuer_below_an_address_knows_its_tokens() {
    let home = Home::at("http://localhost/below").await;
    let reply = home.redeem(&home.code().await, RESOURCES[0]).await.unwrap();
    let issuer = Arc::new(home.issuer.clone());
    let verifier = Verifier::new(issuer, Vec::new(), false, home.clock.clone()).unwrap();
    let Ok(Token::Own(token)) = verifier.verify(&reply.access_token).await else {
        panic!("it is a token of this issuer");
    };
    assert_eq!((token.holder.as_str(), token.client.as_str()), ("u", "app"));
}

#[tokio::test]
async fn other_clients_than_the_portal_may_not_manage() {
    let home = Home::new().await;
    let scope = format!("{}/Data.Manage", RESOURCES[0]);
    let form = authorize(&[("scope", &scope)]);
    let refused = home.issuer.read_authorize(&form, Version::V2).await;
    let Err(AuthorizeFailure::Redirect(redirect)) = refused else {
        panic!("the scope is the portal's: {refused:?}");
    };
    let error = redirect
        .parameters
        .iter()
        .find(|(name, _)| *name == "error");
    assert_eq!(error.unwrap().1, "invalid_scope");
}

#[tokio::test]
async fn the_client_of_the_portal_is_known_only_while_the_portal_is_served() {
    let home = Home::new().await;
    let scope = format!("{}/Data.Manage", RESOURCES[0]);
    let request = |redirect: &str| {
        encoded(&[
            ("client_id", PORTAL_CLIENT),
            ("response_type", "code"),
            ("redirect_uri", redirect),
            ("scope", &scope),
            ("code_challenge", &"A".repeat(43)),
            ("code_challenge_method", "S256"),
        ])
    };
    let issuer = home.issuer.with_origin("http://127.0.0.1:2020");
    for (redirect, is_taken) in [
        ("http://localhost/portal/", true),
        ("http://127.0.0.1:2020/portal/", true),
        ("http://127.0.0.1:2020/portal/other", false),
        ("http://127.0.0.1:2021/portal/", false),
    ] {
        let read = issuer.read_authorize(&request(redirect), Version::V2).await;
        assert_eq!(read.is_ok(), is_taken, "{redirect}: {read:?}");
    }
    let elsewhere = authorize(&[("redirect_uri", "http://localhost/portal/")]);
    let read = issuer.read_authorize(&elsewhere, Version::V1).await;
    assert!(read.is_err(), "the address is that of the portal's client");

    let without = open(
        &home.catalogue,
        home.clock.clone(),
        "http://localhost",
        false,
    )
    .await;
    let form = request("http://localhost/portal/");
    let read = without.read_authorize(&form, Version::V2).await;
    assert!(matches!(read, Err(AuthorizeFailure::Page(_))), "{read:?}");
    let read = without.read_authorize(&authorize(&[]), Version::V1).await;
    assert!(read.is_ok(), "{read:?}");
}

#[tokio::test]
async fn the_owner_signs_in_by_a_link_once() {
    let home = Home::new().await;
    let link = home.issuer.new_link().unwrap();
    assert_ne!(link, home.issuer.new_link().unwrap());
    let redeem = async |link: &str| home.issuer.redeem_link(link, ADDRESS).await.unwrap();
    assert!(redeem("another").await.is_none());
    let session = redeem(&link).await.unwrap();
    assert!(home.is_open(&session).await);
    assert!(redeem(&link).await.is_none());
}

#[tokio::test]
async fn a_signing_key_is_renewed_and_stays_public_while_its_tokens_live() {
    let home = Home::new().await;
    let ids = async || {
        let set = home.issuer.public_keys().await.unwrap();
        let keys = set["keys"].as_array().unwrap();
        let ids = keys.iter().map(|key| key["kid"].as_str().unwrap());
        ids.map(str::to_owned).collect::<Vec<_>>()
    };
    let lifetime = 90 * 24 * HOUR;
    let first = ids().await;
    assert_eq!(first.len(), 1);
    home.clock.pass(lifetime - 1);
    assert_eq!(ids().await, first);
    home.clock.pass(1);
    let second = ids().await;
    assert_eq!((second.len(), &second[1]), (2, &first[0]));
    home.clock.pass(lifetime);
    let third = ids().await;
    assert_eq!((third.len(), &third[1]), (2, &second[0]));
}

#[tokio::test]
async fn a_client_with_a_secret_must_show_it() {
    let home = Home::new().await;
    let reply = home.redeem(&home.code().await, RESOURCES[0]).await.unwrap();
    let token = reply.refresh_token.as_deref().unwrap();
    let form = [("grant_type", "refresh_token"), ("refresh_token", token)];
    let refused = home.ask("", &form).await.err().unwrap();
    assert_eq!((refused.error, refused.status), ("invalid_client", 401));
    assert!(home.refresh(&reply).await.is_ok(), "it was not used up");
}

#[tokio::test]
async fn a_refreshed_token_has_no_scope_that_was_not_granted() {
    let home = Home::new().await;
    let reply = home.redeem(&home.code().await, RESOURCES[0]).await.unwrap();
    let refresh = async |reply: &TokenReply, scope: &str| {
        let scope = format!("{}/{scope}", RESOURCES[0]);
        let form = encoded(&[
            ("client_id", "app"),
            ("client_secret", "second"),
            ("grant_type", "refresh_token"),
            ("refresh_token", reply.refresh_token.as_deref().unwrap()),
            ("scope", &scope),
        ]);
        home.issuer.token(&form, None, Version::V2, ADDRESS).await
    };
    let reply = refresh(&reply, "Data.Read").await.unwrap();
    assert!(reply.scope.as_deref().unwrap().contains("Data.Read"));
    let refused = refresh(&reply, "Data.Write").await.err().unwrap();
    assert_eq!(refused.error, "invalid_scope");
}
