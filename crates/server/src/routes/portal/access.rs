//! What the portal's requests share: the principal, the application, and the form of replies.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hindsight_store::{AuditRecord, Catalogue};
use serde_json::Value;

use crate::app::App;
use crate::auth::Principal;
use crate::auth::gate::Admitted;
use crate::directory::AppRecord;
use crate::error::ApiError;
use crate::origin::Head;
use crate::routes::JSON;

/// The admitted principal and the head of its request.
pub(super) struct Asker {
    pub(super) admitted: Admitted,
    pub(super) head: Head,
}

impl<S: Sync> FromRequestParts<S> for Asker {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Asker, ApiError> {
        let admitted = parts.extensions.remove::<Admitted>();
        Ok(Asker {
            admitted: admitted.ok_or(ApiError::Unauthenticated)?,
            head: Head::of(parts),
        })
    }
}

impl Asker {
    /// The principal.
    pub(super) fn principal(&self) -> &Principal {
        &self.admitted.principal
    }

    /// The application of the path.
    pub(super) fn app(&self) -> Result<&AppRecord, ApiError> {
        self.admitted
            .app
            .as_deref()
            .ok_or(ApiError::Unauthenticated)
    }

    /// Records an action in the audit log.
    pub(super) async fn note(
        &self,
        app: &App,
        action: &str,
        subject: String,
    ) -> Result<(), ApiError> {
        let catalogue: &Catalogue = app.store.catalogue();
        let record = AuditRecord {
            at: app.now(),
            actor: self.principal().name().to_owned(),
            action: action.to_owned(),
            subject,
            address: self.head.connection.address_text(),
        };
        Ok(catalogue.note(&record).await?)
    }
}

/// A reply that no cache keeps.
pub(super) fn unstored(body: &Value) -> Response {
    let headers = [
        (header::CONTENT_TYPE, JSON),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    (headers, body.to_string()).into_response()
}

/// A reply without a body.
pub(super) fn done() -> Response {
    let headers = [(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))];
    (StatusCode::NO_CONTENT, headers).into_response()
}
