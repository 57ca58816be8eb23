//! The one place where a request is let in or refused: every route declares what it needs, and stands behind [`guard`].

use std::net::IpAddr;
use std::sync::Arc;

use axum::RequestExt;
use axum::extract::{RawPathParams, Request, State};
use axum::http::{HeaderMap, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use hindsight_identity::Right;
use hindsight_store::NodeRole;

use super::credential::{self, Credential};
use super::gate::Admitted;
use crate::app::App;
use crate::config::FiguresAccess;
use crate::connection::Connection;
use crate::error::ApiError;
use crate::origin::Head;
use crate::wire::{otlp, track};

/// What a route needs of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    /// Nothing: it is open to everybody.
    Nothing,
    /// Any good credential.
    Credential,
    /// A right on the application in the path.
    App(Right),
    /// What the setting `prometheus.access` asks for: an address of this machine, a credential, or nothing.
    Figures,
    /// The right to send telemetry: checked for each item, and only where a credential is shown or the setting
    /// `ingest.require_credential` asks for one, because an instrumentation key is what SDKs have.
    Telemetry,
    /// The same for OpenTelemetry, whose refusals have another form.
    OpenTelemetry,
}

/// What a node does that serves a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Duty {
    /// It takes telemetry.
    Ingestion,
    /// It runs queries.
    Queries,
    /// Nodes of all roles serve the route.
    Any,
}

impl Duty {
    /// Refuses the route at a node of another role.
    pub(crate) fn check(self, role: NodeRole) -> Result<(), ApiError> {
        let what = match self {
            Duty::Ingestion if !role.ingests() => "takes no telemetry",
            Duty::Queries if !role.queries() => "runs no queries",
            _ => return Ok(()),
        };
        Err(ApiError::Unavailable(format!(
            "This node has the role '{}' (setting `node.role`) and {what}; send the request to another node",
            role.name()
        )))
    }
}

/// The principal of a request without a route.
pub(crate) async fn principal(
    app: &App,
    headers: &HeaderMap,
    uri: &Uri,
    address: Option<IpAddr>,
) -> Result<Admitted, ApiError> {
    app.gate
        .admit(credential::find(headers, uri), None, address)
        .await
}

/// What admits a part of a request, or a long reply again and again while it lasts.
pub(crate) struct Standing {
    credential: Credential,
    name: String,
    address: Option<IpAddr>,
}

impl Standing {
    /// What admits a request to read the application of this name.
    pub(crate) fn of(head: &Head, name: &str) -> Standing {
        Standing {
            credential: credential::find(&head.headers, &head.uri),
            name: name.to_owned(),
            address: head.connection.address(),
        }
    }
}

/// Admits to read an application.
///
/// # Errors
/// [`ApiError`]: why the credential is not admitted.
pub(crate) async fn admit(app: &App, standing: &Standing) -> Result<Admitted, ApiError> {
    let target = Some((standing.name.as_str(), Right::Read));
    let credential = standing.credential.clone();
    app.gate.admit(credential, target, standing.address).await
}

/// The middleware before every route.
pub(crate) async fn guard(
    State((app, needs, duty)): State<(Arc<App>, Needs, Duty)>,
    mut request: Request,
    next: Next,
) -> Response {
    let headers = match needs {
        // The form of a refusal is that of the request.
        Needs::OpenTelemetry => request.headers().clone(),
        _ => HeaderMap::new(),
    };
    let admitted = match duty.check(app.settings.node_role) {
        Ok(()) => let_in(&app, needs, &mut request).await,
        Err(error) => Err(error),
    };
    match admitted {
        Ok(()) => next.run(request).await,
        Err(error) if needs == Needs::Telemetry => track::refused(error),
        Err(error) if needs == Needs::OpenTelemetry => otlp::refused_at_the_gate(&headers, error),
        Err(error) => error.into_response(),
    }
}

async fn let_in(app: &Arc<App>, needs: Needs, request: &mut Request) -> Result<(), ApiError> {
    let credential = credential::find(request.headers(), request.uri());
    let address = Connection::of(request.extensions()).address();
    let admitted = match needs {
        Needs::Nothing => return Ok(()),
        Needs::Telemetry | Needs::OpenTelemetry
            if credential == Credential::Absent && !app.settings.ingest_require_credential =>
        {
            return Ok(());
        }
        Needs::Figures => match app.settings.prometheus_access {
            FiguresAccess::Everyone => return Ok(()),
            // A request within this process has no address.
            FiguresAccess::Local if address.is_none_or(|address| address.is_loopback()) => {
                return Ok(());
            }
            FiguresAccess::Local => return Err(ApiError::Forbidden { by_token: false }),
            FiguresAccess::Credential => app.gate.admit(credential, None, address).await?,
        },
        Needs::Telemetry | Needs::OpenTelemetry | Needs::Credential => {
            app.gate.admit(credential, None, address).await?
        }
        Needs::App(right) => {
            let path = request.extract_parts::<RawPathParams>().await;
            let path = path.map_err(|_| ApiError::PathNotFound)?;
            let name = path
                .iter()
                .find(|(name, _)| *name == "appId")
                .map(|(_, value)| value);
            let name = name.unwrap_or_default();
            app.gate
                .admit(credential, Some((name, right)), address)
                .await?
        }
    };
    request.extensions_mut().insert(admitted);
    Ok(())
}
