//! What the requests of test mode share: the state, and the application that they name.

use hindsight_store::AppId;

use crate::app::App;
use crate::error::ApiError;
use crate::test_mode::TestMode;

/// The state of test mode. Without it there is no route that asks.
pub(super) fn test_mode(app: &App) -> Result<&TestMode, ApiError> {
    app.test.as_ref().ok_or(ApiError::PathNotFound)
}

/// The application with this name or id.
pub(super) async fn application(app: &App, name: &str) -> Result<AppId, ApiError> {
    let known = app.directory.current().await?;
    let found = known.app(name).map(|record| record.id);
    found.ok_or_else(|| ApiError::NotFound(format!("There is no application '{name}'")))
}
