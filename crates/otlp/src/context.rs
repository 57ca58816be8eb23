//! What all items of a request share, and the columns that every item has.

use std::borrow::Cow;

use hindsight_rows::limits::{self, cut};
use hindsight_rows::{AppColumns, Row, Tags, Window, client};
use hindsight_store::time_ordered_id;

use crate::attributes::Attributes;
use crate::error::Malformed;
use crate::names::context as names;
use crate::resource::Resource;
use crate::rules::DimensionRules;

/// The request, as its transport delivers it.
#[derive(Debug, Clone)]
pub struct Context {
    /// The times that items may have.
    pub window: Window,
    /// Bytes of one item, without the texts of models.
    pub max_item_bytes: usize,
    /// The browser that sends, if one does.
    pub browser: Option<Browser>,
    /// Which attributes become custom dimensions.
    pub dimensions: DimensionRules,
}

/// A browser that sends its telemetry itself.
#[derive(Debug, Clone)]
pub struct Browser {
    /// Its address.
    pub address: String,
    /// Its `User-Agent`.
    pub user_agent: String,
}

/// Where an item comes from.
#[derive(Clone, Copy)]
pub(crate) struct Origin<'r> {
    /// The columns of its application.
    pub(crate) app: AppColumns<'r>,
    /// Who sent it.
    pub(crate) resource: &'r Resource<'r>,
    /// The request.
    pub(crate) context: &'r Context,
}

/// A text of the payload as a column.
pub(crate) fn column(text: Cow<'_, str>) -> Cow<'_, str> {
    cut(text, limits::NAME)
}

/// The row of an item with the columns that the application, the resource and the request tell. `client_Browser` and `client_OS`
/// are given by the user agent of the item, or else by the resource, or else by the browser that sends.
pub(crate) fn row<'r>(origin: Origin<'r>, user_agent: &str) -> Row<'r> {
    let Origin {
        app,
        resource,
        context,
    } = origin;
    let sender = context.browser.as_ref().filter(|_| resource.is_browser);
    let sender = sender.map_or("", |browser| browser.user_agent.as_str());
    let first = |given: &'r str, found: fn(&str) -> String| -> Cow<'r, str> {
        match (user_agent, given, sender) {
            ("", "", "") => Cow::Borrowed(""),
            ("", "", sender) => Cow::Owned(found(sender)),
            ("", given, _) => column(Cow::Borrowed(given)),
            (agent, _, _) => Cow::Owned(found(&cut(Cow::Borrowed(agent), limits::NAME))),
        }
    };
    Row {
        item_id: time_ordered_id(context.window.now).to_string(),
        item_count: 1,
        app,
        tags: Tags {
            version: column(Cow::Borrowed(&resource.version)),
            client_type: Cow::Borrowed(if resource.is_browser { "Browser" } else { "PC" }),
            client_model: column(Cow::Borrowed(&resource.model)),
            client_os: first(&resource.client_os, client::operating_system),
            client_ip: client_ip(None, context),
            browser: first(&resource.client_browser, client::browser),
            role_name: column(Cow::Borrowed(&resource.role_name)),
            role_instance: column(Cow::Borrowed(&resource.role_instance)),
            sdk_version: column(Cow::Borrowed(&resource.sdk_version)),
            ..Tags::default()
        },
        ..Row::default()
    }
}

/// `client_IP`: the address that an attribute gives, or that of the browser that sends. The address of a collector is not kept.
pub(crate) fn client_ip(given: Option<&str>, context: &Context) -> Cow<'static, str> {
    let sent = || {
        context
            .browser
            .as_ref()
            .map(|browser| browser.address.as_str())
    };
    client::mask_ip(given.or_else(sent).unwrap_or_default())
}

/// Fills the user, the session, the client and the synthetic source from attributes.
pub(crate) fn set_person<'r>(
    row: &mut Row<'r>,
    attributes: &Attributes<'r>,
    client: &[&str],
    user_agent: &str,
    context: &Context,
) -> Result<(), Malformed> {
    row.tags.authenticated_id = column(Cow::Borrowed(attributes.plain(names::AUTHENTICATED)));
    row.tags.user_id = column(Cow::Borrowed(attributes.plain(names::USER)));
    row.tags.session_id = column(Cow::Borrowed(attributes.plain(names::SESSION)));
    row.tags.synthetic_source = synthetic_source(attributes, user_agent)?;
    if let Some(address) = attributes.text(client)? {
        row.tags.client_ip = client_ip(Some(&address), context);
    }
    Ok(())
}

/// `operation_SyntheticSource`: `True` for bots and tests.
pub(crate) fn synthetic_source(
    attributes: &Attributes<'_>,
    user_agent: &str,
) -> Result<Cow<'static, str>, Malformed> {
    let kind = attributes.text(names::SYNTHETIC)?.unwrap_or_default();
    let is_synthetic =
        names::SYNTHETIC_TYPES.contains(&&*kind) || user_agent.contains(names::SYNTHETIC_AGENT);
    Ok(Cow::Borrowed(if is_synthetic { "True" } else { "" }))
}
