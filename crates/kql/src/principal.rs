//! The principal that sends a query (`docs/semantics.md §12`): the identity of `current_principal()` and the related functions.

use hindsight_kql_types::Encoder;

/// The result of `current_principal()` for a query without a principal.
pub(crate) const NULL_IDENTITY: &str = "<null identity>";

/// The kinds of principals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrincipalKind {
    /// A user, who signed in.
    User,
    /// An application, which presented its own credentials.
    Application,
    /// The holder of an API key. The cloud has no counterpart.
    ApiKey,
    /// The command line of this machine. The cloud has no counterpart.
    Local,
}

impl PrincipalKind {
    /// The kind in a fully qualified name: `aaduser=…`.
    fn prefix(self) -> &'static str {
        match self {
            PrincipalKind::User => "aaduser",
            PrincipalKind::Application => "aadapp",
            PrincipalKind::ApiKey => "apikey",
            PrincipalKind::Local => "local",
        }
    }

    /// The kind in the property `Type` of `current_principal_details()`.
    fn name(self) -> &'static str {
        match self {
            PrincipalKind::User => "AadUser",
            PrincipalKind::Application => "AadApp",
            PrincipalKind::ApiKey => "ApiKey",
            PrincipalKind::Local => "Local",
        }
    }
}

/// A principal, as a query may see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryPrincipal {
    /// What it is.
    pub kind: PrincipalKind,
    /// Its id: the object id of a user or application, the public id of a key.
    pub id: String,
    /// The tenant, if it belongs to one.
    pub tenant: Option<String>,
    /// The issuer that vouches for it, if there is one.
    pub issuer: Option<String>,
    /// The name with which a user signs in.
    pub sign_in_name: Option<String>,
    /// The name that people gave it.
    pub display_name: Option<String>,
}

impl QueryPrincipal {
    /// The fully qualified name: `aaduser=<id>;<tenant>`.
    pub(crate) fn qualified_name(&self) -> String {
        let tenant = self.tenant.as_deref();
        let tenant = tenant.map_or(String::new(), |tenant| format!(";{tenant}"));
        format!("{}={}{tenant}", self.kind.prefix(), self.id)
    }

    /// The bag of `current_principal_details()`, encoded. Properties that are not known are left out.
    pub(crate) fn details(&self) -> Vec<u8> {
        let properties = [
            ("UserPrincipalName", self.sign_in_name.as_deref()),
            ("IdentityProvider", self.issuer.as_deref()),
            ("Authority", self.tenant.as_deref()),
            ("Type", Some(self.kind.name())),
            ("DisplayName", self.display_name.as_deref()),
            ("ObjectId", Some(self.id.as_str())),
            ("FQN", Some(&self.qualified_name())),
        ];
        let mut encoder = Encoder::new();
        encoder.begin_bag();
        for (name, value) in properties {
            if let Some(value) = value {
                encoder.key(name);
                encoder.string(value);
            }
        }
        encoder.end();
        encoder.finish()
    }

    /// Whether `name` names this principal: `kind=id` or `kind=id;tenant`, where the id may be the name with which a user
    /// signs in. Case does not count. There are no groups, so a group's name names nobody.
    pub(crate) fn is(&self, name: &PrincipalName<'_>) -> bool {
        let same = |own: &str, other: &str| own.to_lowercase() == other.to_lowercase();
        let of_tenant = |tenant: &str| self.tenant.as_deref().is_some_and(|own| same(own, tenant));
        let named = [Some(self.id.as_str()), self.sign_in_name.as_deref()];
        same(self.kind.prefix(), name.kind)
            && named.into_iter().flatten().any(|own| same(own, name.id))
            && name.tenant.is_none_or(of_tenant)
    }
}

/// The name of a principal or group in a query.
pub(crate) struct PrincipalName<'a> {
    kind: &'a str,
    id: &'a str,
    tenant: Option<&'a str>,
}

impl<'a> PrincipalName<'a> {
    /// Reads `kind=id` or `kind=id;tenant`.
    pub(crate) fn parse(text: &'a str) -> Option<PrincipalName<'a>> {
        let (kind, rest) = text.split_once('=')?;
        let (id, tenant) = match rest.split_once(';') {
            Some((id, tenant)) => (id, Some(tenant.trim())),
            None => (rest, None),
        };
        let (kind, id) = (kind.trim(), id.trim());
        let is_whole = !kind.is_empty() && !id.is_empty() && tenant != Some("");
        is_whole.then_some(PrincipalName { kind, id, tenant })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user() -> QueryPrincipal {
        QueryPrincipal {
            kind: PrincipalKind::User,
            id: "346E".to_owned(),
            tenant: Some("72f9".to_owned()),
            issuer: None,
            sign_in_name: Some("ada@shop.example".to_owned()),
            display_name: None,
        }
    }

    #[test]
    fn names_match_by_kind_id_and_tenant() {
        let check = |name: &str, expected: bool| {
            let parsed = PrincipalName::parse(name).expect("a name");
            assert_eq!(user().is(&parsed), expected, "{name}");
        };
        check("aaduser=346e", true);
        check("AADUser=346e;72F9", true);
        check("aaduser=Ada@shop.example", true);
        check("aaduser=ada@shop.example;72f9", true);
        check("aaduser=346e;other", false);
        check("aadapp=346e;72f9", false);
        check("aadgroup=346e", false);
        check("aaduser=346", false);
        for name in ["", "346e", "=346e", "aaduser=", "aaduser=346e;"] {
            assert!(PrincipalName::parse(name).is_none(), "{name}");
        }
    }

    #[test]
    fn a_principal_without_a_tenant_is_of_none() {
        let key = QueryPrincipal {
            kind: PrincipalKind::ApiKey,
            tenant: None,
            sign_in_name: None,
            ..user()
        };
        assert_eq!(key.qualified_name(), "apikey=346E");
        let is = |name| PrincipalName::parse(name).is_some_and(|name| key.is(&name));
        assert!(is("apikey=346e") && !is("apikey=346e;72f9"));
    }
}
