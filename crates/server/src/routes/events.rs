//! Events by OData (operations 3 and 4).

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderName, HeaderValue};
use axum::response::Response;
use hindsight_engine::{Caller, EventParameters, EventsParameters, EventsResult};
use hindsight_store::AppId;

use super::access::{Access, Version};
use super::{JSON, answer, respond};
use crate::app::App;
use crate::error::ApiError;
use crate::reply::{Answer, Made, Reads};
use crate::wire::{csv, events, missing};

/// The options of a list of events (`D14`).
const OPTIONS: &[&str] = &[
    "$filter", "$search", "$orderby", "$select", "$skip", "$top", "$count", "$apply", "$format",
];

/// What `$format` asks for (`D14`).
#[derive(Debug, Clone, PartialEq, Eq)]
enum Format {
    /// JSON with this `odata.metadata`.
    Json(&'static str),
    /// CSV, an extension.
    Csv,
}

fn format(text: Option<&str>) -> Result<Format, ApiError> {
    let text = text.unwrap_or("json");
    let mut parts = text.split(';').map(|part| part.trim().to_ascii_lowercase());
    let media = parts.next().unwrap_or_default();
    let wrong = || ApiError::Bad {
        message: format!(
            "'{text}' is not a format; the formats are json, application/json with odata.metadata=none, minimal or full, and csv"
        ),
        target: Some("$format".to_owned()),
        position: Some(0),
    };
    match media.as_str() {
        "csv" | "text/csv" => return Ok(Format::Csv),
        "json" | "application/json" => {}
        _ => return Err(wrong()),
    }
    let mut metadata = "none";
    for part in parts {
        metadata = match part.as_str() {
            "odata.metadata=none" => "none",
            "odata.metadata=minimal" => "minimal",
            "odata.metadata=full" => "full",
            _ => return Err(wrong()),
        };
    }
    Ok(Format::Json(metadata))
}

/// `GET …/events/{eventType}`
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    access: Access,
    Path((_, _, event_type)): Path<(String, String, String)>,
) -> Result<Response, ApiError> {
    let params = &access.params;
    params.only_options(OPTIONS)?;
    let parameters = EventsParameters {
        event_type: event_type.clone(),
        timespan: params.one("timespan")?,
        filter: params.one("$filter")?,
        search: params.one("$search")?,
        orderby: params.one("$orderby")?,
        select: params.one("$select")?,
        skip: params.one("$skip")?,
        top: params.one("$top")?,
        count: params.one("$count")?,
        apply: params.one("$apply")?,
    };
    let form = Form::new(&access, event_type, false)?;
    let key = form.key(&access.caller(), &parameters);
    let (app, access, form) = (&app, &access, &form);
    let make = |_permit| async {
        let found = app.engine.events(&access.caller(), &parameters).await?;
        Ok(form.write(&found, access.app.id))
    };
    let answer = answer(app, access, &key, make).await?;
    Ok(form.respond(answer, access))
}

/// `GET …/events/{eventType}/{eventId}`
pub(crate) async fn single(
    State(app): State<Arc<App>>,
    access: Access,
    Path((_, _, event_type, event_id)): Path<(String, String, String, String)>,
) -> Result<Response, ApiError> {
    access.params.only_options(&["$format"])?;
    let timespan = access.params.one("timespan")?;
    let parameters = EventParameters {
        event_type: event_type.clone(),
        id: event_id,
        timespan,
    };
    let form = Form::new(&access, event_type, true)?;
    let key = form.key(&access.caller(), &parameters);
    let (app, access, form) = (&app, &access, &form);
    let make = |_permit| async {
        let found = app.engine.event(&access.caller(), &parameters).await?;
        Ok(form.write(&found, access.app.id))
    };
    let answer = answer(app, access, &key, make).await?;
    Ok(form.respond(answer, access))
}

/// How events are written: all that a reply depends on beside the events.
#[derive(Debug)]
struct Form {
    format: Format,
    /// The address of the application's events.
    base: String,
    event_type: String,
    single: bool,
}

impl Form {
    fn new(access: &Access, event_type: String, single: bool) -> Result<Form, ApiError> {
        let wanted = access.params.one("$format")?;
        let format = format(wanted.as_deref())?;
        let version = match access.version {
            Version::V1 => "v1",
            Version::Beta => "beta",
        };
        let base = format!("{}/{version}/apps/{}/events", access.base, access.app_text);
        Ok(Form {
            format,
            base,
            event_type,
            single,
        })
    }

    /// The cache's key of a request that is answered in this form.
    fn key(&self, caller: &Caller, parameters: &impl std::fmt::Debug) -> String {
        format!("events\n{}\n{parameters:?}\n{self:?}", caller.scope())
    }

    fn write(&self, found: &EventsResult, app: AppId) -> Made {
        let text = match &self.format {
            Format::Csv => csv::table(&found.table),
            Format::Json(_) => events::reply(
                found,
                &events::Context {
                    base: &self.base,
                    event_type: &self.event_type,
                    single: self.single,
                },
            ),
        };
        Made::Whole {
            body: text.into(),
            missing: missing::header(&found.missing),
            reads: Reads::table_or_all(app, &self.event_type),
        }
    }

    fn respond(&self, answer: Answer, access: &Access) -> Response {
        let Format::Json(metadata) = self.format else {
            let csv = HeaderValue::from_static("text/csv; charset=utf-8");
            return respond(answer, csv, access);
        };
        let content_type = format!(
            "application/json; charset=utf-8; ieee754compatible=false; odata.metadata={metadata}; odata.streaming=false"
        );
        let content_type = HeaderValue::from_str(&content_type).unwrap_or(JSON);
        let mut response = respond(answer, content_type, access);
        // The semicolon is what the service sends.
        response.headers_mut().insert(
            HeaderName::from_static("odata-version"),
            HeaderValue::from_static("4.0;"),
        );
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_json_or_csv() {
        let check = |text: Option<&str>, expected: Format| {
            assert_eq!(format(text).unwrap(), expected, "{text:?}")
        };
        check(None, Format::Json("none"));
        check(Some("application/json"), Format::Json("none"));
        check(
            Some("application/json;odata.metadata=full"),
            Format::Json("full"),
        );
        check(Some("csv"), Format::Csv);
        for text in ["xml", "application/json;odata.metadata=some"] {
            assert!(format(Some(text)).is_err(), "{text}");
        }
    }
}
