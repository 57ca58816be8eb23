//! Where people are sent back to.

use url::{Host, Url};

/// Whether a client may register an address (RFC 6749 §3.1.2, RFC 9700 §2.1, RFC 8252 §7).
///
/// # Errors
/// Why not, in a sentence.
pub fn check(address: &str) -> Result<(), String> {
    let refuse = |why: &str| Err(format!("'{address}' cannot be a redirect address: {why}"));
    let Ok(url) = Url::parse(address) else {
        return refuse("it is not an absolute URL");
    };
    if url.fragment().is_some() {
        return refuse("it has a fragment");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return refuse("it has a user name");
    }
    if address.contains('*') || address.contains(char::is_whitespace) || address.contains('\\') {
        return refuse("it has *, \\ or white space");
    }
    match url.scheme() {
        "https" => Ok(()),
        "http" if is_loopback(&url) => Ok(()),
        "http" => refuse("http is only for this machine; use https"),
        // Reversed domain names (RFC 8252 §7.1) and those that native libraries use.
        scheme if scheme.contains('.') || scheme.starts_with("msal") => Ok(()),
        _ => refuse("its scheme is not https, http to this machine, or an application's own"),
    }
}

/// Whether an address of a request is the registered one: the same text. Only where an `http` address of this machine
/// was registered without a port does any port match, because programs take a free one (RFC 8252 §7.3).
pub(crate) fn matches(registered: &str, given: &str) -> bool {
    if registered == given {
        return true;
    }
    let (Ok(one), Ok(mut other)) = (Url::parse(registered), Url::parse(given)) else {
        return false;
    };
    let open = one.scheme() == "http" && is_loopback(&one) && one.port().is_none();
    if !open || other.set_port(None).is_err() || other.fragment().is_some() {
        return false;
    }
    // The text must be as plain as the parsed form, so that nothing hides in it.
    let plain = Url::parse(given)
        .is_ok_and(|url| url.as_str().trim_end_matches('/') == given.trim_end_matches('/'));
    plain && one == other
}

/// Whether an address is on the machine of the browser.
pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_safe_addresses_can_be_registered() {
        for good in [
            "https://app.example/cb",
            "https://app.example/cb?x=1",
            "http://localhost:8400/cb",
            "http://127.0.0.1",
            "http://[::1]/",
            "com.example.app:/cb",
            "msal0123://auth",
        ] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        for bad in [
            "/cb",
            "http://app.example/cb",
            "https://app.example/#f",
            "https://u@app.example/",
            "https://:p@app.example/",
            "https://*.example/",
            "https://app.example/a b",
            "https://app.example/a\\b",
            "javascript:alert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "http://localhost.evil.example/",
        ] {
            assert!(check(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_redirect_matches_exactly() {
        let registered = "https://app.example/cb";
        assert!(matches(registered, registered));
        for other in [
            "https://app.example/cb/",
            "https://app.example/cb?x",
            "https://app.example/cb#",
            "https://app.example/CB",
            "https://app.example/cb/../cb",
            "https://app.example:443/cb",
            "https://app.example@evil.example/cb",
            "https://app.example.evil.example/cb",
            "http://app.example/cb",
        ] {
            assert!(!matches(registered, other), "{other}");
        }
    }

    #[test]
    fn a_program_of_this_machine_may_take_any_port_only_where_none_was_registered() {
        assert!(matches("http://localhost", "http://localhost:51000"));
        assert!(matches("http://localhost/", "http://localhost:51000/"));
        assert!(matches("http://127.0.0.1/cb", "http://127.0.0.1:1/cb"));
        assert!(!matches(
            "http://localhost:8400/cb",
            "http://localhost:8401/cb"
        ));
        assert!(!matches("http://localhost", "http://127.0.0.1:51000"));
        assert!(!matches("http://localhost", "http://localhost:51000/other"));
        assert!(!matches("http://localhost", "http://x@localhost:51000"));
        assert!(!matches("http://localhost", "http://localhost:51000#x"));
        assert!(!matches("https://app.example", "https://app.example:8443"));
        assert!(!matches("https://localhost", "https://localhost:8443"));
        assert!(!matches("http://app.example", "http://app.example:81"));
        assert!(!matches("http://localhost/a", "http://localhost:1/b/../a"));
    }
}
