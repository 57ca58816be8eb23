//! Which tag fills which context column. Unknown tags are ignored, as the service does, but for a few that become properties.

use std::borrow::Cow;

use hindsight_rows::limits::{self, cut};
use hindsight_rows::{Tags, client};

use crate::tolerant::{Loose, Pairs};

/// What a request tells about its sender, where an item does not.
#[derive(Debug, Clone, Default)]
pub struct Sender {
    /// The address the request came from.
    pub address: String,
    /// Its `User-Agent`.
    pub user_agent: String,
}

/// Tags that no column holds, and that tell dimensions of the specification: they become properties of the item (`D9`).
const PROPERTIES: [&str; 4] = [
    "ai.application.build",
    "ai.cloud.deploymentUnit",
    "ai.cloud.environment",
    "ai.cloud.location",
];

/// Sets `tags` to the context of an envelope; the tags that become properties.
pub(crate) fn read<'a>(
    pairs: Pairs<'a>,
    sender: &Sender,
    tags: &mut Tags<'a>,
) -> Vec<(Cow<'a, str>, Loose<'a>)> {
    let mut properties = Vec::new();
    for (key, value) in pairs.0 {
        if let Some(field) = field(tags, &key) {
            *field = cut(value.into_text(), limits::NAME);
        } else if PROPERTIES.contains(&&*key) {
            properties.push((key, value));
        }
    }
    complete(tags, sender);
    properties
}

fn field<'t, 'a>(tags: &'t mut Tags<'a>, key: &str) -> Option<&'t mut Cow<'a, str>> {
    Some(match key {
        "ai.operation.name" => &mut tags.operation_name,
        "ai.operation.id" => &mut tags.operation_id,
        "ai.operation.parentId" => &mut tags.operation_parent_id,
        "ai.operation.syntheticSource" => &mut tags.synthetic_source,
        "ai.session.id" => &mut tags.session_id,
        "ai.user.id" => &mut tags.user_id,
        "ai.user.authUserId" => &mut tags.authenticated_id,
        "ai.user.accountId" => &mut tags.account_id,
        "ai.application.ver" => &mut tags.version,
        "ai.device.type" => &mut tags.client_type,
        "ai.device.model" => &mut tags.client_model,
        "ai.device.osVersion" => &mut tags.client_os,
        "ai.location.ip" => &mut tags.client_ip,
        "ai.location.city" => &mut tags.city,
        "ai.location.province" => &mut tags.state,
        "ai.location.country" => &mut tags.country,
        "ai.cloud.role" => &mut tags.role_name,
        "ai.cloud.roleInstance" => &mut tags.role_instance,
        "ai.internal.sdkVersion" => &mut tags.sdk_version,
        "ai.user.userAgent" => &mut tags.user_agent,
        "ai.device.browser" => &mut tags.browser,
        _ => return None,
    })
}

/// Fills what follows from other tags and from the request.
fn complete(tags: &mut Tags<'_>, sender: &Sender) {
    let from_browser = tags.client_type == "Browser" || tags.sdk_version.starts_with("javascript");
    if tags.client_type.is_empty() {
        tags.client_type = Cow::Borrowed(if from_browser { "Browser" } else { "PC" });
    }
    // A server's own `User-Agent` is its SDK; a browser's is the user's.
    let agent = match (tags.user_agent.is_empty(), from_browser) {
        (false, _) => tags.user_agent.as_ref(),
        (true, true) => sender.user_agent.as_str(),
        (true, false) => "",
    };
    let (browser, system) = (client::browser(agent), client::operating_system(agent));
    if tags.browser.is_empty() {
        tags.browser = Cow::Owned(browser);
    }
    if tags.client_os.is_empty() {
        tags.client_os = Cow::Owned(system);
    }
    let address = if tags.client_ip.is_empty() {
        &sender.address
    } else {
        tags.client_ip.as_ref()
    };
    tags.client_ip = client::mask_ip(address);
}
