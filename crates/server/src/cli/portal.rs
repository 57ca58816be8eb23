//! `hindsight portal`, and the links by which the owner of this machine signs in to the portal.

use std::net::{IpAddr, SocketAddr};

use anyhow::{Context, bail};
use clap::Args;
use serde_json::{Value, json};

use super::data::DataFolder;
use super::output;
use super::target::Target;

/// `hindsight portal`
#[derive(Debug, Args)]
pub(super) struct Portal {
    #[command(flatten)]
    data: DataFolder,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

impl Portal {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let folder = self.data.path()?;
        let server = hindsight_store::holder(&folder).with_context(|| {
            format!(
                "no server has the data folder {0} open; `hindsight serve --data {0}` starts one",
                folder.display()
            )
        })?;
        let origin = portal_origin(&server.url).with_context(|| {
            format!(
                "the server listens at {}, which is no address of this machine alone",
                server.url
            )
        })?;
        let target = Target::folder(&self.data).await?;
        let reply = target
            .post("/portal/api/link", "application/json", Vec::new())
            .await?;
        let body: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
        let Some(token) = body.get("token").and_then(Value::as_str) else {
            bail!(
                "the server gives no link (status {}): see the settings portal.enabled and portal.sign_in",
                reply.status
            );
        };
        let link = portal_link(&origin, token);
        let text = if self.json {
            json!({ "url": link }).to_string()
        } else {
            link
        };
        output::print(&format!("{text}\n"))
    }
}

/// The address that signs in, in the fragment, which no log has.
pub(super) fn portal_link(origin: &str, token: &str) -> String {
    format!("{origin}/portal/#t={token}")
}

/// The origin by which a browser of this machine reaches a server at `url`, such as `http://127.0.0.1:2020`. `None` for an address
/// that is not this machine's alone: the link works from this machine only, and its cookie must go to no other.
pub(super) fn portal_origin(url: &str) -> Option<String> {
    let address: SocketAddr = url.strip_prefix("http://")?.parse().ok()?;
    match address.ip() {
        ip if ip.is_loopback() => Some(format!("http://{address}")),
        IpAddr::V4(ip) if ip.is_unspecified() => {
            Some(format!("http://127.0.0.1:{}", address.port()))
        }
        IpAddr::V6(ip) if ip.is_unspecified() => Some(format!("http://[::1]:{}", address.port())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_leads_to_this_machine() {
        for (url, origin) in [
            ("http://127.0.0.1:2020", Some("http://127.0.0.1:2020")),
            ("http://0.0.0.0:80", Some("http://127.0.0.1:80")),
            ("http://[::]:2020", Some("http://[::1]:2020")),
            ("http://[::1]:2020", Some("http://[::1]:2020")),
            ("http://192.0.2.1:2020", None),
        ] {
            assert_eq!(portal_origin(url).as_deref(), origin, "{url}");
        }
        assert_eq!(
            portal_link("http://[::1]:1", "x"),
            "http://[::1]:1/portal/#t=x"
        );
    }
}
