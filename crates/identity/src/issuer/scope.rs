//! What a client asks for: a resource and scopes (version 1), or scopes that carry the resource in them (version 2).

use super::error::OAuthError;
use super::form::Form;
use crate::claims::{MANAGE_SCOPE, READ_SCOPE, USER_SCOPE, WRITE_SCOPE, is_audience};

/// The two families of the issuer's addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// `/oauth2/…`: the client names a resource; numbers are texts.
    V1,
    /// `/oauth2/v2.0/…`: the client names scopes; numbers are numbers.
    V2,
}

/// What is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// For which resource, as the client wrote it.
    pub(crate) resource: String,
    /// `Data.Read` and its like, names with spaces between.
    pub(crate) scope: String,
    /// Whether an id token is wanted.
    pub(crate) openid: bool,
    /// Whether a refresh token is wanted.
    pub(crate) offline: bool,
    /// Whether the client asked for everything that was granted before (`/.default`).
    pub(crate) default: bool,
}

/// The scopes of OpenID Connect, which belong to no resource.
const OPENID: [&str; 4] = ["openid", "profile", "email", "offline_access"];

impl Wanted {
    /// Reads a request; `None` where it names no resource.
    ///
    /// # Errors
    /// `invalid_resource` for a resource that is not this service, `invalid_scope` for scopes that it does not have.
    pub(crate) fn read(
        form: &Form,
        version: Version,
        audiences: &[String],
    ) -> Result<Option<Wanted>, OAuthError> {
        match version {
            Version::V1 => form
                .get("resource")?
                .map(|resource| first(resource, audiences))
                .transpose(),
            Version::V2 => form
                .get("scope")?
                .map(|scope| second(scope, audiences))
                .transpose()
                .map(Option::flatten),
        }
    }
}

/// Version 1: id and refresh tokens always come along.
fn first(resource: &str, audiences: &[String]) -> Result<Wanted, OAuthError> {
    known(resource, audiences)?;
    Ok(Wanted {
        resource: resource.to_owned(),
        scope: READ_SCOPE.to_owned(),
        openid: true,
        offline: true,
        default: true,
    })
}

fn second(text: &str, audiences: &[String]) -> Result<Option<Wanted>, OAuthError> {
    let mut resource: Option<&str> = None;
    let mut scopes: Vec<&str> = Vec::new();
    let (mut openid, mut offline, mut default) = (false, false, false);
    for part in text.split(' ').filter(|part| !part.is_empty()) {
        if OPENID.contains(&part) {
            openid |= part == "openid";
            offline |= part == "offline_access";
            continue;
        }
        let (of, name) = part.rsplit_once('/').ok_or_else(|| unknown_scope(part))?;
        known(of, audiences)?;
        if resource.is_some_and(|known| known != of) {
            let message = "Provided value for the input parameter scope is not valid because it contains more than one resource.";
            return Err(OAuthError::invalid_scope(message));
        }
        resource = Some(of);
        match name {
            ".default" => {
                default = true;
                scopes.push(READ_SCOPE);
            }
            READ_SCOPE | WRITE_SCOPE | MANAGE_SCOPE | USER_SCOPE => scopes.push(name),
            _ => return Err(unknown_scope(part)),
        }
    }
    scopes.dedup();
    Ok(resource.map(|resource| Wanted {
        resource: resource.to_owned(),
        scope: scopes.join(" "),
        openid,
        offline,
        default,
    }))
}

fn known(resource: &str, audiences: &[String]) -> Result<(), OAuthError> {
    if is_audience(resource, audiences) {
        Ok(())
    } else {
        Err(OAuthError::unknown_resource(resource))
    }
}

fn unknown_scope(name: &str) -> OAuthError {
    OAuthError::invalid_scope(format!(
        "The provided value for the input parameter 'scope' is not valid. The scope {name} does not exist."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(version: Version, text: &str) -> Result<Option<Wanted>, OAuthError> {
        let form = Form::parse(text.as_bytes());
        Wanted::read(&form, version, &["https://api".to_owned()])
    }

    #[test]
    fn a_resource_may_end_in_a_slash() {
        let wanted = read(Version::V1, "resource=https://api/").unwrap().unwrap();
        assert_eq!(
            (wanted.resource.as_str(), wanted.scope.as_str()),
            ("https://api/", "Data.Read")
        );
        let wanted = read(Version::V2, "scope=https://api//.default")
            .unwrap()
            .unwrap();
        assert_eq!(
            (wanted.resource.as_str(), wanted.default),
            ("https://api/", true)
        );
    }

    #[test]
    fn scopes_carry_their_resource() {
        let wanted = read(
            Version::V2,
            "scope=openid+offline_access+https://api/Data.Read",
        )
        .unwrap()
        .unwrap();
        assert!(wanted.openid && wanted.offline && !wanted.default);
        assert_eq!(wanted.scope, "Data.Read");
        assert_eq!(read(Version::V2, "scope=openid"), Ok(None));
        assert_eq!(read(Version::V1, ""), Ok(None));
    }

    #[test]
    fn what_is_not_offered_is_refused_by_name() {
        let check = |version, text: &str, error: &str| {
            assert_eq!(read(version, text).unwrap_err().error, error, "{text}")
        };
        check(Version::V1, "resource=https://other", "invalid_resource");
        check(
            Version::V2,
            "scope=https://other/.default",
            "invalid_resource",
        );
        check(
            Version::V2,
            "scope=https://api/Data.Everything",
            "invalid_scope",
        );
        check(Version::V2, "scope=Data.Read", "invalid_scope");
    }

    #[test]
    fn scopes_are_of_one_resource_and_say_what_else_is_wanted() {
        let audiences = ["https://api", "https://other"].map(str::to_owned);
        let read = |text: &str| {
            let form = Form::parse(format!("scope={text}").as_bytes());
            Wanted::read(&form, Version::V2, &audiences)
        };
        let both = read("https://api/Data.Read+https://api/Data.Write");
        assert_eq!(both.unwrap().unwrap().scope, "Data.Read Data.Write");
        for (more, openid, offline) in [
            ("openid", true, false),
            ("offline_access", false, true),
            ("profile", false, false),
        ] {
            let wanted = read(&format!("{more}+https://api/Data.Read"));
            let wanted = wanted.unwrap().unwrap();
            assert_eq!((wanted.openid, wanted.offline), (openid, offline), "{more}");
        }
        let refused = read("https://api/Data.Read+https://other/Data.Read");
        assert_eq!(refused.unwrap_err().error, "invalid_scope");
    }
}
