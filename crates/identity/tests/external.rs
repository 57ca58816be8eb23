//! A trusted issuer that is really asked, over HTTP on this machine (`attacks.md` 8, 9, 14).

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail by panicking, in helper functions too"
)]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::routing::get;
use hindsight_identity::issuer::{Implicit, IssuerSettings};
use hindsight_identity::{Issuer, Token, TokenError, Verifier, parse_trusted};
use hindsight_store::Catalogue;
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde_json::{Value, json};

mod clock;
use clock::{Moved, START as NOW};

const AUDIENCE: &str = "https://api.applicationinsights.io";

/// A key pair of an issuer.
struct Pair {
    id: String,
    algorithm: Algorithm,
    signing: EncodingKey,
}

impl Pair {
    fn rsa(id: &str, algorithm: Algorithm) -> Pair {
        let size = rcgen::RsaKeySize::_2048;
        let pair = rcgen::KeyPair::generate_rsa_for(&rcgen::PKCS_RSA_SHA256, size).unwrap();
        let signing = EncodingKey::from_rsa_pem(pair.serialize_pem().as_bytes()).unwrap();
        Pair {
            id: id.to_owned(),
            algorithm,
            signing,
        }
    }

    fn ec(id: &str) -> Pair {
        let pair = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).unwrap();
        let signing = EncodingKey::from_ec_pem(pair.serialize_pem().as_bytes()).unwrap();
        Pair {
            id: id.to_owned(),
            algorithm: Algorithm::ES256,
            signing,
        }
    }

    fn public(&self) -> Value {
        let mut jwk =
            serde_json::to_value(Jwk::from_encoding_key(&self.signing, self.algorithm).unwrap())
                .unwrap();
        jwk["kid"] = self.id.clone().into();
        jwk["use"] = "sig".into();
        jwk
    }

    fn sign(&self, claims: &Value) -> String {
        self.sign_as(self.algorithm, claims)
    }

    fn sign_as(&self, algorithm: Algorithm, claims: &Value) -> String {
        let mut header = Header::new(algorithm);
        header.kid = Some(self.id.clone());
        jsonwebtoken::encode(&header, claims, &self.signing).unwrap()
    }
}

/// What the issuer answers.
#[derive(Default)]
struct State {
    keys: Mutex<Vec<Value>>,
    down: Mutex<Option<&'static str>>,
    fetches: AtomicUsize,
}

/// A provider on a free port.
struct Provider {
    issuer: String,
    state: Arc<State>,
}

impl Provider {
    async fn start(keys: &[&Pair]) -> Provider {
        Provider::start_at(keys, "/t").await
    }

    /// One whose name has this path, which is `/t` with or without a slash at its end.
    async fn start_at(keys: &[&Pair], path: &str) -> Provider {
        let state = Arc::new(State::default());
        *state.keys.lock().unwrap() = keys.iter().map(|pair| pair.public()).collect();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let issuer = format!("http://{}{path}", listener.local_addr().unwrap());
        let (name, shared) = (issuer.clone(), state.clone());
        let discovery = move || {
            shared.fetches.fetch_add(1, Ordering::SeqCst);
            let name = name.clone();
            let down = *shared.down.lock().unwrap();
            async move {
                let document = |issuer: &str| {
                    let keys = format!("{}/keys", name.trim_end_matches('/'));
                    json!({"issuer": issuer, "jwks_uri": keys}).to_string()
                };
                match down {
                    Some("error") => (StatusCode::BAD_GATEWAY, String::new()).into_response(),
                    Some("redirect") => {
                        (StatusCode::FOUND, [("location", "http://169.254.169.254/")])
                            .into_response()
                    }
                    // Good but for its size.
                    Some("huge") => {
                        format!("{}{}", document(&name), " ".repeat(2 << 20)).into_response()
                    }
                    Some("slow") => {
                        tokio::time::sleep(Duration::from_secs(60)).await;
                        document(&name).into_response()
                    }
                    Some("other issuer") => document("http://other").into_response(),
                    Some("metadata keys") => {
                        json!({"issuer": name, "jwks_uri": "http://169.254.169.254/keys"})
                            .to_string()
                            .into_response()
                    }
                    Some("file keys") => json!({"issuer": name, "jwks_uri": "file:///etc/passwd"})
                        .to_string()
                        .into_response(),
                    _ => document(&name).into_response(),
                }
            }
        };
        let shared = state.clone();
        let keys =
            move || async move { json!({ "keys": *shared.keys.lock().unwrap() }).to_string() };
        let router = Router::new()
            .route("/t/.well-known/openid-configuration", get(discovery))
            .route("/t/keys", get(keys));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Provider { issuer, state }
    }

    fn claims(&self) -> Value {
        json!({"iss": self.issuer, "aud": AUDIENCE, "sub": "someone", "tid": "t1", "scp": "Data.Read",
            "iat": NOW, "nbf": NOW, "exp": NOW + 3600 * 24 * 30})
    }

    fn fetches(&self) -> usize {
        self.state.fetches.load(Ordering::SeqCst)
    }

    fn fail(&self, how: Option<&'static str>) {
        *self.state.down.lock().unwrap() = how;
    }
}

/// A verifier that trusts one provider.
struct Trust {
    verifier: Verifier,
    clock: Arc<Moved>,
    _folder: tempfile::TempDir,
}

impl Trust {
    async fn of(entry: &str) -> Trust {
        Trust::beside(entry, None).await
    }

    /// The same beside an embedded issuer of this tenant.
    async fn beside(entry: &str, tenant: Option<&str>) -> Trust {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(Moved::default());
        let settings = IssuerSettings {
            audiences: vec![AUDIENCE.to_owned()],
            implicit: Implicit::Off,
            tenant: tenant.map(str::to_owned),
            attempts: 10,
            portal: false,
        };
        let catalogue = Catalogue::open_or_create(folder.path()).await.unwrap();
        let own = Issuer::open(catalogue, clock.clone(), settings, "http://localhost")
            .await
            .unwrap();
        let trusted = parse_trusted(entry, &[AUDIENCE.to_owned()]).unwrap();
        let verifier = Verifier::new(Arc::new(own), trusted, true, clock.clone()).unwrap();
        Trust {
            verifier,
            clock,
            _folder: folder,
        }
    }

    async fn in_(provider: &Provider) -> Trust {
        Trust::of(&format!("{} applications=* tenant=t1", provider.issuer)).await
    }

    async fn check(&self, token: &str) -> Result<String, TokenError> {
        match self.verifier.verify(token).await? {
            Token::External(token) => Ok(format!("{} {}", token.subject, token.rights.text())),
            Token::Own(_) => panic!("not one of our own"),
        }
    }
}

#[tokio::test]
async fn tokens_of_each_allowed_algorithm_are_accepted() {
    let (rs, ps, es) = (
        Pair::rsa("r", Algorithm::RS256),
        Pair::rsa("p", Algorithm::PS256),
        Pair::ec("e"),
    );
    let provider = Provider::start(&[&rs, &ps, &es]).await;
    let trust = Trust::in_(&provider).await;
    for pair in [&rs, &ps, &es] {
        assert_eq!(
            trust.check(&pair.sign(&provider.claims())).await,
            Ok("someone read".to_owned()),
            "{}",
            pair.id
        );
    }
    assert_eq!(provider.fetches(), 1);
    for algorithm in [Algorithm::RS384, Algorithm::RS512, Algorithm::PS512] {
        let token = rs.sign_as(algorithm, &provider.claims());
        assert!(
            matches!(trust.check(&token).await, Err(TokenError::Header(_))),
            "{algorithm:?}"
        );
    }
    let token = rs.sign_as(Algorithm::PS256, &provider.claims());
    assert!(
        matches!(trust.check(&token).await, Err(TokenError::Header(_))),
        "the key is for RS256"
    );
    let stranger = Pair::rsa("r", Algorithm::RS256);
    assert_eq!(
        trust.check(&stranger.sign(&provider.claims())).await,
        Err(TokenError::Signature)
    );
}

#[tokio::test]
async fn claims_are_compared_with_the_settings() {
    let pair = Pair::ec("e");
    let provider = Provider::start(&[&pair]).await;
    let trust = Trust::in_(&provider).await;
    let check = async |name: &str, value: Value, expected: Result<&str, TokenError>| {
        let mut claims = provider.claims();
        claims[name] = value.clone();
        assert_eq!(
            trust.check(&pair.sign(&claims)).await,
            expected.map(str::to_owned),
            "{name} {value}"
        );
    };
    check(
        "aud",
        json!("https://api.applicationinsights.io/"),
        Ok("someone read"),
    )
    .await;
    check("aud", json!("https://graph"), Err(TokenError::Audience)).await;
    check("tid", json!("t2"), Err(TokenError::Tenant)).await;
    check("iss", json!("http://evil"), Err(TokenError::Issuer)).await;
    check("exp", json!(NOW - 5), Ok("someone read")).await;
    check("exp", json!(NOW - 86_400), Err(TokenError::Expired)).await;
    check("nbf", json!(NOW + 5), Ok("someone read")).await;
    check("nbf", json!(NOW + 86_400), Err(TokenError::NotYet)).await;
    check("exp", Value::Null, Err(TokenError::Malformed)).await;
    check("scp", json!("openid"), Ok("someone ")).await;
    check("oid", json!("object"), Ok("object read")).await;
    let mut claims = provider.claims();
    claims.as_object_mut().unwrap().remove("exp");
    assert_eq!(
        trust.check(&pair.sign(&claims)).await,
        Err(TokenError::Missing("exp"))
    );
}

#[tokio::test]
async fn keys_may_change_and_old_ones_end() {
    let (old, new) = (Pair::ec("old"), Pair::ec("new"));
    let provider = Provider::start(&[&old]).await;
    let trust = Trust::in_(&provider).await;
    let (of_old, of_new) = (old.sign(&provider.claims()), new.sign(&provider.claims()));
    assert!(trust.check(&of_old).await.is_ok());
    *provider.state.keys.lock().unwrap() = vec![new.public()];
    assert_eq!(
        trust.check(&of_new).await,
        Err(TokenError::Key),
        "read a moment ago"
    );
    trust.clock.pass(61);
    assert!(
        trust.check(&of_new).await.is_ok(),
        "an unknown key makes us read again"
    );
    assert_eq!(trust.check(&of_old).await, Err(TokenError::Key));
}

#[tokio::test]
async fn keys_are_read_again_after_an_hour() {
    let pair = Pair::ec("e");
    let provider = Provider::start(&[&pair]).await;
    let trust = Trust::in_(&provider).await;
    let token = pair.sign(&provider.claims());
    for (seconds, fetches) in [(0, 1), (61, 1), (3538, 1), (1, 2), (61, 2)] {
        trust.clock.pass(seconds);
        assert!(trust.check(&token).await.is_ok());
        assert_eq!(provider.fetches(), fetches, "{seconds} s later");
    }
}

#[tokio::test]
async fn a_trusted_issuer_of_the_same_tenant_is_not_taken_for_the_embedded_one() {
    let pair = Pair::ec("e");
    let provider = Provider::start_at(&[&pair], "/t/").await;
    let trust = Trust::beside(&format!("{} applications=*", provider.issuer), Some("t")).await;
    let verdict = trust.check(&pair.sign(&provider.claims())).await;
    assert_eq!(verdict, Ok("someone read".to_owned()));
}

#[tokio::test]
async fn an_outage_keeps_the_last_good_keys() {
    let pair = Pair::ec("e");
    let provider = Provider::start(&[&pair]).await;
    let trust = Trust::in_(&provider).await;
    let token = pair.sign(&provider.claims());
    provider.fail(Some("error"));
    assert_eq!(
        trust.check(&token).await,
        Err(TokenError::Unreachable),
        "never read"
    );
    provider.fail(None);
    trust.clock.pass(61);
    assert!(trust.check(&token).await.is_ok());
    provider.fail(Some("error"));
    for _ in 0..5 {
        trust.clock.pass(3601);
        assert!(trust.check(&token).await.is_ok(), "the last good keys stay");
    }
}

#[tokio::test]
async fn a_flood_of_unknown_keys_reads_once_a_minute() {
    let (known, unknown) = (Pair::ec("known"), Pair::ec("unknown"));
    let provider = Provider::start(&[&known]).await;
    let trust = Trust::in_(&provider).await;
    let token = unknown.sign(&provider.claims());
    for _ in 0..100 {
        assert_eq!(trust.check(&token).await, Err(TokenError::Key));
    }
    assert_eq!(provider.fetches(), 1);
    trust.clock.pass(61);
    let checks = (0..100).map(|_| trust.check(&token));
    futures::future::join_all(checks).await;
    assert_eq!(provider.fetches(), 2);
    assert!(trust.check(&known.sign(&provider.claims())).await.is_ok());
    let mut foreign = provider.claims();
    foreign["aud"] = json!("https://other");
    trust.clock.pass(61);
    assert_eq!(
        trust.check(&unknown.sign(&foreign)).await,
        Err(TokenError::Audience)
    );
    assert_eq!(
        provider.fetches(),
        2,
        "a token that could not pass makes nobody read"
    );
}

#[tokio::test]
async fn documents_are_bounded_in_reach_size_and_time() {
    let pair = Pair::ec("e");
    let provider = Provider::start(&[&pair]).await;
    let token = pair.sign(&provider.claims());
    for how in [
        "redirect",
        "huge",
        "slow",
        "other issuer",
        "metadata keys",
        "file keys",
    ] {
        provider.fail(Some(how));
        let trust = Trust::in_(&provider).await;
        let begun = std::time::Instant::now();
        assert_eq!(
            trust.check(&token).await,
            Err(TokenError::Unreachable),
            "{how}"
        );
        assert!(begun.elapsed() < Duration::from_secs(20), "{how}");
    }
}

#[tokio::test]
async fn an_issuer_inside_is_refused_at_the_start() {
    for inside in [
        "https://169.254.169.254/",
        "https://localhost/t",
        "http://idp.example/",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let clock: Arc<Moved> = Arc::default();
        let settings = IssuerSettings {
            audiences: Vec::new(),
            implicit: Implicit::Off,
            tenant: None,
            attempts: 10,
            portal: false,
        };
        let catalogue = Catalogue::open_or_create(folder.path()).await.unwrap();
        let own = Issuer::open(catalogue, clock.clone(), settings, "http://localhost")
            .await
            .unwrap();
        let trusted = parse_trusted(&format!("{inside} applications=*"), &[]).unwrap();
        let error = Verifier::new(Arc::new(own), trusted, false, clock)
            .err()
            .unwrap();
        assert!(error.to_string().contains(inside), "{error}");
    }
}
