//! A request of the protocol: its credential, its body, its names.

use std::sync::Arc;

use axum::extract::Request;
use axum::http::request::Parts;

use super::super::access::{Access, Version};
use super::super::body::{self, QueryBody};
use super::client_id;
use super::payload::Payload;
use crate::app::App;
use crate::auth::Principal;
use crate::auth::gate::Admitted;
use crate::directory::AppRecord;
use crate::error::ApiError;
use crate::middleware::outer::RequestId;
use crate::origin::Head;
use crate::wire::kusto::Stamp;

/// A request whose credential was admitted, and whose body was read.
pub(super) struct Asker {
    parts: Parts,
    admitted: Admitted,
    id: RequestId,
}

impl Asker {
    /// Reads a request. Its body's memory is held until the third value is dropped.
    ///
    /// # Errors
    /// [`ApiError`] for a body that cannot be read.
    pub(super) async fn read(
        app: &App,
        request: Request,
    ) -> Result<(Asker, Payload, QueryBody), ApiError> {
        let (mut parts, given) = request.into_parts();
        let admitted = parts.extensions.remove::<Admitted>();
        let admitted = admitted.ok_or(ApiError::Unauthenticated)?;
        let id = parts.extensions.get::<RequestId>().cloned();
        let id = id.ok_or_else(|| ApiError::Internal("a request without an id".to_owned()))?;
        let address = Head::of(&parts).connection.address();
        let reader = (address, &admitted.principal.id);
        let given = body::query(app, reader, &parts.headers, given).await?;
        let payload = Payload::parse(&given.bytes)?;
        let asker = Asker {
            parts,
            admitted,
            id,
        };
        Ok((asker, payload, given))
    }

    /// The principal.
    pub(super) fn principal(&self) -> &Principal {
        &self.admitted.principal
    }

    /// The address by which the client came.
    pub(super) fn address(&self, app: &App) -> String {
        Head::of(&self.parts).base(&app.settings)
    }

    /// The request as one about this application.
    ///
    /// # Errors
    /// As [`Access::new`].
    pub(super) fn access(&self, app: &App, record: Arc<AppRecord>) -> Result<Access, ApiError> {
        let name = record.name.clone();
        let admitted = Admitted {
            app: Some(record),
            ..self.admitted.clone()
        };
        Access::new(app, &self.parts, Version::V1, name, admitted)
    }

    /// The server's id of the request.
    pub(super) fn id(&self) -> &RequestId {
        &self.id
    }

    /// What a reply says of the request.
    pub(super) fn stamp(&self, app: &App) -> Stamp {
        Stamp {
            now: app.now(),
            request_id: self.id.0.clone(),
            client_id: client_id(&self.parts.headers),
        }
    }
}
