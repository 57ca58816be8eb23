//! Which other issuers are trusted, and with what: the setting `auth.trusted_issuers`.

use crate::right::Rights;

/// Which applications tokens of an issuer may open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Applications {
    /// All of them.
    All,
    /// Those with these names or ids.
    Named(Vec<String>),
}

/// An issuer whose tokens are accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedIssuer {
    /// Its name, exactly as its tokens say it (`iss`); its discovery document lies below it.
    pub issuer: String,
    /// What its tokens must be for (`aud`), one of these.
    pub audiences: Vec<String>,
    /// The tenant that its tokens must be of (`tid`), where it has several.
    pub tenant: Option<String>,
    /// What its tokens may open.
    pub applications: Applications,
    /// What they permit at most.
    pub rights: Rights,
}

/// Reads entries with `;` between, each an issuer's address and then `name=value` parts with spaces between:
/// `audience=`, `tenant=`, `applications=` (names or ids with commas, or `*`), `rights=` (`read,ingest`).
///
/// # Errors
/// What is wrong, in a sentence.
pub fn parse_trusted(
    text: &str,
    default_audiences: &[String],
) -> Result<Vec<TrustedIssuer>, String> {
    let entries = text.split(';').map(str::trim);
    entries
        .filter(|entry| !entry.is_empty())
        .map(|entry| parse_entry(entry, default_audiences))
        .collect()
}

fn parse_entry(entry: &str, default_audiences: &[String]) -> Result<TrustedIssuer, String> {
    let mut parts = entry.split_whitespace();
    let issuer = parts.next().unwrap_or_default().to_owned();
    if !issuer.starts_with("https://") && !issuer.starts_with("http://") {
        return Err(format!(
            "'{issuer}' is no issuer: expected an https address"
        ));
    }
    let mut trusted = TrustedIssuer {
        issuer,
        audiences: Vec::new(),
        tenant: None,
        applications: Applications::Named(Vec::new()),
        rights: Rights::parse("read").unwrap_or_default(),
    };
    for part in parts {
        let (name, value) = part
            .split_once('=')
            .filter(|(_, value)| !value.is_empty())
            .ok_or_else(|| format!("'{part}' is not of the form name=value"))?;
        let list = || value.split(',').map(str::to_owned).collect::<Vec<_>>();
        match name {
            "audience" => trusted.audiences.extend(list()),
            "tenant" => trusted.tenant = Some(value.to_owned()),
            "applications" if value == "*" => trusted.applications = Applications::All,
            "applications" => trusted.applications = Applications::Named(list()),
            "rights" => {
                trusted.rights = Rights::parse(value).map_err(|unknown| {
                    format!("'{unknown}' is no right: expected read, ingest or admin")
                })?;
            }
            _ => {
                return Err(format!(
                    "'{name}' is unknown: expected audience, tenant, applications or rights"
                ));
            }
        }
    }
    if trusted.applications == Applications::Named(Vec::new()) {
        return Err(format!(
            "'{}' opens no application: add applications=NAME,NAME or applications=*",
            trusted.issuer
        ));
    }
    if trusted.audiences.is_empty() {
        trusted.audiences = default_audiences.to_vec();
    }
    Ok(trusted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Vec<TrustedIssuer>, String> {
        parse_trusted(text, &["https://api".to_owned()])
    }

    #[test]
    fn entries_are_read() {
        assert_eq!(parse(""), Ok(Vec::new()));
        let both = parse("https://a/ applications=*; https://b tenant=t audience=x,y applications=shop,web rights=read,ingest").unwrap();
        assert_eq!(both[0].audiences, ["https://api"]);
        assert_eq!(both[0].applications, Applications::All);
        assert_eq!(both[1].tenant.as_deref(), Some("t"));
        assert_eq!(both[1].audiences, ["x", "y"]);
        assert_eq!(
            both[1].applications,
            Applications::Named(vec!["shop".into(), "web".into()])
        );
        assert_eq!(both[1].rights.text(), "read,ingest");
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, word) in [
            ("file:///etc/passwd applications=*", "file:"),
            ("https://a", "opens no application"),
            ("https://a applications=* color=red", "color"),
            ("https://a applications=* rights=write", "write"),
            ("https://a applications", "name=value"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(word), "{error}");
        }
    }

    #[test]
    fn an_issuer_on_this_machine_is_named_with_http_and_grants_reading_alone() {
        let issuers = parse("http://localhost:1 applications=a").unwrap();
        assert_eq!(issuers[0].issuer, "http://localhost:1");
        assert_eq!(issuers[0].rights.text(), "read");
        assert_eq!(issuers[0].tenant, None);
    }
}
