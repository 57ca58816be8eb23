//! The parts of a URL that names and targets are made of. What is no URL has no parts; nothing is decoded.

/// The scheme of a URL, such as `https`.
pub(crate) fn scheme(url: &str) -> &str {
    url.split_once("://").map_or("", |(scheme, _)| scheme)
}

/// The host and port of a URL, without the user's name.
pub(crate) fn host(url: &str) -> &str {
    let Some((_, rest)) = url.split_once("://") else {
        return "";
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let authority = rest.get(..end).unwrap_or_default();
    authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host)
}

/// The path of a URL or of a target; `/` if it is empty.
pub(crate) fn path(url: &str) -> &str {
    let rest = match url.split_once("://") {
        Some((_, rest)) => match rest.find(['/', '?', '#']) {
            Some(start) => rest.get(start..).unwrap_or_default(),
            None => "",
        },
        None => url,
    };
    let end = rest.find(['?', '#']).unwrap_or(rest.len());
    match rest.get(..end) {
        Some("") | None => "/",
        Some(path) => path,
    }
}

/// A host without the default port of a scheme.
pub(crate) fn without_default_port<'h>(host: &'h str, scheme: &str) -> &'h str {
    let port = match scheme {
        "http" => ":80",
        "https" => ":443",
        _ => return host,
    };
    host.strip_suffix(port).unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_have_parts() {
        let check = |url, expected| assert_eq!((scheme(url), host(url), path(url)), expected);
        check(
            "https://ann:x@shop.test:8443/a/b?c=d#e",
            ("https", "shop.test:8443", "/a/b"),
        );
        check("https://shop.test", ("https", "shop.test", "/"));
        check("https://shop.test?x=/y", ("https", "shop.test", "/"));
        check("/v1/users?id=3", ("", "", "/v1/users"));
        check("", ("", "", "/"));
    }

    #[test]
    fn default_ports_are_left_out() {
        assert_eq!(without_default_port("a:443", "https"), "a");
        assert_eq!(without_default_port("a:443", "http"), "a:443");
        assert_eq!(without_default_port("a:4430", "https"), "a:4430");
        assert_eq!(without_default_port("a:443", ""), "a:443");
    }
}
