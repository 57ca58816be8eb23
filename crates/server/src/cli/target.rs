//! Where a command asks: a server at a URL, the server that holds the folder, or the folder itself.

use std::sync::Arc;

use anyhow::Context;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{Method, Request, header};
use tower::ServiceExt;

use super::data::{DataFolder, objects};
use crate::app::{App, read_token};

/// Something that answers requests.
pub(super) enum Target {
    /// Over HTTP.
    Remote {
        client: reqwest::Client,
        base: String,
        credential: Option<(&'static str, String)>,
    },
    /// In this process.
    Local {
        app: Arc<App>,
        router: Router,
        token: String,
    },
}

/// The name and the value of a header.
pub(super) type Header<'h> = (&'static str, &'h str);

/// A reply: status and body.
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) body: Bytes,
}

impl Target {
    /// A server at a URL, with an API key.
    pub(super) fn at(url: &str, key: Option<&str>) -> anyhow::Result<Target> {
        let credential = key.map(|key| ("x-api-key", key.to_owned()));
        Ok(Target::Remote {
            client: client()?,
            base: url.trim_end_matches('/').to_owned(),
            credential,
        })
    }

    /// The server that holds a folder, if there is one.
    pub(super) fn holder(data: &DataFolder) -> anyhow::Result<Option<Target>> {
        let folder = data.path()?;
        let Some(server) = hindsight_store::holder(&folder) else {
            return Ok(None);
        };
        let token = read_token(&folder).with_context(|| {
            format!(
                "the server at {} holds the folder, and its token cannot be read",
                server.url
            )
        })?;
        Ok(Some(Target::Remote {
            client: client()?,
            base: server.url,
            credential: Some(("authorization", format!("Bearer {token}"))),
        }))
    }

    /// A server at a URL, with an access token.
    pub(super) fn with_token(url: &str, token: &str) -> anyhow::Result<Target> {
        Ok(Target::Remote {
            client: client()?,
            base: url.trim_end_matches('/').to_owned(),
            credential: Some(("authorization", format!("Bearer {token}"))),
        })
    }

    /// The server that holds a folder if there is one, or else the folder.
    pub(super) async fn folder(data: &DataFolder) -> anyhow::Result<Target> {
        if let Some(server) = Target::holder(data)? {
            return Ok(server);
        }
        let settings = data.settings()?;
        let path = settings.data.clone();
        let objects = objects(&settings)?;
        let app = App::build_with(settings, |store| {
            store.create = false;
            store.objects = objects;
        })
        .await?;
        app.store.join().await?;
        let token = read_token(&path).context("the token of this process cannot be read back")?;
        let router = crate::router::router(app.clone());
        Ok(Target::Local { app, router, token })
    }

    /// Sends a POST with a body. No cached reply is taken.
    pub(super) async fn post(
        &self,
        path: &str,
        content_type: &str,
        body: Vec<u8>,
    ) -> anyhow::Result<Reply> {
        let headers = [
            ("content-type", content_type),
            ("cache-control", "no-cache"),
        ];
        self.send("POST", path, &headers, body).await
    }

    /// Sends a GET.
    pub(super) async fn get(&self, path: &str) -> anyhow::Result<Reply> {
        self.send("GET", path, &[], Vec::new()).await
    }

    /// Sends a request. Dropping the future cancels it.
    pub(super) async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[Header<'_>],
        body: Vec<u8>,
    ) -> anyhow::Result<Reply> {
        let method = Method::from_bytes(method.as_bytes())?;
        match self {
            Target::Remote {
                client,
                base,
                credential,
            } => {
                let mut request = client.request(method, format!("{base}{path}")).body(body);
                for (name, value) in headers {
                    request = request.header(*name, *value);
                }
                if let Some((name, value)) = credential {
                    request = request.header(*name, value);
                }
                let reply = request
                    .send()
                    .await
                    .with_context(|| format!("cannot reach {base}"))?;
                Ok(Reply {
                    status: reply.status().as_u16(),
                    body: reply.bytes().await?,
                })
            }
            Target::Local { router, token, .. } => {
                let mut request = Request::builder()
                    .method(method)
                    .uri(path)
                    .header(header::AUTHORIZATION, format!("Bearer {token}"));
                for (name, value) in headers {
                    request = request.header(*name, *value);
                }
                let reply = router
                    .clone()
                    .oneshot(request.body(Body::from(body))?)
                    .await?;
                let status = reply.status().as_u16();
                Ok(Reply {
                    status,
                    body: axum::body::to_bytes(reply.into_body(), usize::MAX).await?,
                })
            }
        }
    }

    /// Releases the folder.
    pub(super) async fn close(self) -> anyhow::Result<()> {
        match self {
            Target::Local { app, .. } => app.close().await,
            Target::Remote { .. } => Ok(()),
        }
    }
}

fn client() -> anyhow::Result<reqwest::Client> {
    Ok(reqwest::Client::builder()
        .use_preconfigured_tls(hindsight_identity::client_tls())
        .no_proxy()
        .build()?)
}
