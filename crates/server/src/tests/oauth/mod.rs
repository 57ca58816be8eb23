//! The embedded issuer over the real router: flows step by step, and what must not work.

mod attacks;
mod device;
mod discovery;
mod flows;
mod pages;

use super::*;
use hindsight_identity::{Passwords, secret};
use hindsight_store::{ClientRecord, RoleRecord, SecretRecord, UserRecord};
use std::collections::BTreeMap;

pub(super) const RESOURCE: &str = "https://api.applicationinsights.io";
pub(super) const CALLBACK: &str = "http://localhost:8400/cb";
pub(super) const PASSWORD: &str = "correct horse battery";

/// A server with a user and a client that may read the shop.
pub(super) struct Issuer {
    pub(super) server: Server,
    pub(super) user: String,
    pub(super) client: String,
    pub(super) secret: String,
}

/// Parameters of a form or of a redirect.
pub(super) type Fields = BTreeMap<String, String>;

/// `a=1&b=2`
pub(super) fn encoded(fields: &[(&str, &str)]) -> String {
    url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs(fields)
        .finish()
}

/// What a redirect tells the client.
pub(super) fn told(reply: &Reply) -> Fields {
    assert_eq!(reply.status, 303, "{}", reply.text());
    let location = reply.header("location");
    let (_, answer) = location.split_once(['?', '#']).unwrap();
    url::form_urlencoded::parse(answer.as_bytes())
        .into_owned()
        .collect()
}

/// The claims of a token, unchecked.
pub(super) fn claims(token: &str) -> Value {
    use base64::Engine as _;
    let part = token.split('.').nth(1).unwrap();
    let bytes = base64::engine::general_purpose::URL_SAFE_NO_PAD
        .decode(part)
        .unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

/// A field of a page's form.
pub(super) fn hidden(page: &str, name: &str) -> String {
    let mark = format!("name=\"{name}\" value=\"");
    let (_, rest) = page
        .split_once(&mark)
        .unwrap_or_else(|| panic!("no {name} in {page}"));
    rest.split('"').next().unwrap().to_owned()
}

impl Reply {
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

impl Issuer {
    pub(super) async fn start() -> Issuer {
        Issuer::with(|_| {}).await
    }

    pub(super) async fn with(change: impl FnOnce(&mut Settings)) -> Issuer {
        let server = Server::with(change).await;
        let issuer = Issuer {
            user: uuid::Uuid::new_v4().to_string(),
            client: uuid::Uuid::new_v4().to_string(),
            secret: secret::random().unwrap(),
            server,
        };
        let catalogue = issuer.server.app.store.catalogue();
        let user = UserRecord {
            id: issuer.user.clone(),
            name: "ada".to_owned(),
            password: Passwords::hash(PASSWORD).unwrap(),
            created: issuer.server.app.now(),
        };
        catalogue.create_user(&user).await.unwrap();
        issuer
            .add_client(&issuer.client, &issuer.secret, true, CALLBACK)
            .await;
        for holder in [&issuer.user, &issuer.client] {
            let role = RoleRecord {
                holder: holder.clone(),
                app: Some(issuer.server.shop.id),
                role: "read".to_owned(),
            };
            catalogue.grant_role(&role).await.unwrap();
        }
        issuer
    }

    /// A further client.
    pub(super) async fn add_client(&self, id: &str, secret: &str, public: bool, redirect: &str) {
        let kept = SecretRecord {
            id: uuid::Uuid::new_v4().to_string(),
            hash: secret::hash(secret),
            created: self.server.app.now(),
            expires: None,
        };
        let client = ClientRecord {
            id: id.to_owned(),
            name: "Reports".to_owned(),
            public,
            created: self.server.app.now(),
            redirects: vec![redirect.to_owned()],
            secrets: if secret.is_empty() {
                Vec::new()
            } else {
                vec![kept]
            },
        };
        self.server
            .app
            .store
            .catalogue()
            .create_client(&client)
            .await
            .unwrap();
    }

    /// `/{tenant}/…`
    pub(super) fn path(&self, rest: &str) -> String {
        format!("/{}/{rest}", self.server.app.issuer.tenant())
    }

    pub(super) async fn get(&self, path: &str, cookies: &str) -> Reply {
        let headers = [("cookie", cookies)];
        let headers = if cookies.is_empty() {
            &headers[..0]
        } else {
            &headers[..]
        };
        self.server
            .ask(Method::GET, path, headers, Body::empty())
            .await
    }

    /// Posts a form.
    pub(super) async fn post(&self, path: &str, cookies: &str, fields: &[(&str, &str)]) -> Reply {
        let headers = [
            ("content-type", "application/x-www-form-urlencoded"),
            ("cookie", cookies),
        ];
        self.server
            .ask(Method::POST, path, &headers, encoded(fields))
            .await
    }

    /// The usual parameters of an authorisation request, with some replaced, added or (empty) left out.
    pub(super) fn authorize_path(&self, version: &str, change: &[(&str, &str)]) -> String {
        let mut fields: Vec<(&str, &str)> = vec![
            ("client_id", &self.client),
            ("response_type", "code"),
            ("redirect_uri", CALLBACK),
        ];
        match version {
            "" => fields.push(("resource", RESOURCE)),
            _ => fields.push((
                "scope",
                "openid offline_access https://api.applicationinsights.io/Data.Read",
            )),
        }
        fields.retain(|(name, _)| !change.iter().any(|(changed, _)| changed == name));
        fields.extend(change.iter().filter(|(_, value)| !value.is_empty()));
        self.path(&format!("oauth2/{version}authorize?{}", encoded(&fields)))
    }

    /// Signs in at a page as a browser would; the reply to name and password.
    pub(super) async fn sign_in_at(&self, path: &str, password: &str) -> Reply {
        let page = self.get(path, "").await;
        assert_eq!(page.status, 200, "{}", page.text());
        let cookie = page
            .header("set-cookie")
            .split(';')
            .next()
            .unwrap()
            .to_owned();
        let text = page.text();
        let action = text
            .split("action=\"")
            .nth(1)
            .unwrap()
            .split('"')
            .next()
            .unwrap();
        let action = action.replace("&amp;", "&");
        let token = hidden(&text, "form_token");
        let fields = [
            ("form_token", token.as_str()),
            ("username", "ada"),
            ("password", password),
        ];
        self.post(&action, &cookie, &fields).await
    }

    /// A code of the usual request.
    pub(super) async fn code(&self, change: &[(&str, &str)]) -> String {
        let reply = self
            .sign_in_at(&self.authorize_path("", change), PASSWORD)
            .await;
        told(&reply)["code"].clone()
    }

    /// Asks for a token with the usual client and secret.
    pub(super) async fn token(&self, fields: &[(&str, &str)]) -> Reply {
        let mut all = vec![
            ("client_id", self.client.as_str()),
            ("client_secret", self.secret.as_str()),
        ];
        all.retain(|(name, _)| !fields.iter().any(|(changed, _)| changed == name));
        all.extend(fields.iter().filter(|(_, value)| !value.is_empty()));
        self.post(&self.path("oauth2/token"), "", &all).await
    }

    /// Redeems a code with the usual parameters, some changed.
    pub(super) async fn redeem(&self, code: &str, change: &[(&str, &str)]) -> Reply {
        let mut fields = vec![
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", CALLBACK),
            ("resource", RESOURCE),
        ];
        fields.retain(|(name, _)| !change.iter().any(|(changed, _)| changed == name));
        fields.extend(change);
        self.token(&fields).await
    }

    /// The status of a question about the shop with a token.
    pub(super) async fn ask_with(&self, token: &str) -> u16 {
        let path = format!("/v1/apps/{}/query?query=print+1", self.server.shop.id);
        let bearer = format!("Bearer {token}");
        let reply = self
            .server
            .ask(
                Method::GET,
                &path,
                &[("authorization", &bearer)],
                Body::empty(),
            )
            .await;
        reply.status.as_u16()
    }
}
