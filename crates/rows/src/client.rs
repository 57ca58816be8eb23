//! What is known of a client: its masked address, its browser and operating system.

use std::borrow::Cow;
use std::net::IpAddr;

/// The address with its last octet zero; an IPv6 address keeps nothing (`docs/api-facts.md §3`).
pub fn mask_ip(address: &str) -> Cow<'static, str> {
    let bare = address.trim();
    // `1.2.3.4:5678` is an address with a port; `::1` is not.
    let bare = match bare.rsplit_once(':') {
        Some((host, _)) if !host.contains(':') => host,
        _ => bare,
    };
    match bare.parse::<IpAddr>() {
        Ok(IpAddr::V4(_)) => {
            // An IPv4 address has one spelling: leading zeros are refused.
            let (network, _) = bare.rsplit_once('.').unwrap_or_default();
            Cow::Owned([network, ".0"].concat())
        }
        Ok(IpAddr::V6(v6)) => match v6.to_ipv4_mapped() {
            Some(v4) => mask_ip(&v4.to_string()),
            None => Cow::Borrowed("0.0.0.0"),
        },
        Err(_) => Cow::Borrowed("0.0.0.0"),
    }
}

/// Browsers by the mark they leave in a user agent; the first that is found counts, so the imitated come last.
const BROWSERS: &[(&str, &str)] = &[
    ("Edg/", "Edge"),
    ("Edge/", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("FxiOS/", "Firefox"),
    ("Firefox/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Version/", "Safari"),
    ("MSIE ", "Internet Explorer"),
    ("curl/", "curl"),
];

/// `Chrome 119.0` of a user agent; empty where it names none.
pub fn browser(agent: &str) -> String {
    if agent.is_empty() {
        return String::new();
    }
    for (mark, name) in BROWSERS {
        if *mark == "Version/" && !agent.contains("Safari/") {
            continue;
        }
        if let Some((_, after)) = agent.split_once(mark) {
            let version: String = after
                .chars()
                .take_while(|c| c.is_ascii_digit() || *c == '.')
                .collect();
            let mut parts = version.split('.').filter(|part| !part.is_empty());
            let version = [parts.next(), parts.next()]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join(".");
            return format!("{name} {version}").trim_end().to_owned();
        }
    }
    String::new()
}

/// `Windows 10` of a user agent; empty where it names none.
pub fn operating_system(agent: &str) -> String {
    if agent.is_empty() {
        return String::new();
    }
    let version = |mark: &str| -> Option<String> {
        let (_, after) = agent.split_once(mark)?;
        let text: String = after
            .chars()
            .take_while(|c| c.is_ascii_digit() || matches!(c, '.' | '_'))
            .collect();
        let mut parts = text.split(['.', '_']).filter(|part| !part.is_empty());
        Some(
            [parts.next(), parts.next()]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join("."),
        )
    };
    if let Some(nt) = version("Windows NT ") {
        return match nt.as_str() {
            "10.0" => "Windows 10".to_owned(),
            "6.3" => "Windows 8.1".to_owned(),
            "6.2" => "Windows 8".to_owned(),
            "6.1" => "Windows 7".to_owned(),
            other => format!("Windows NT {other}"),
        };
    }
    let named = [
        ("Android ", "Android"),
        ("iPhone OS ", "iOS"),
        ("CPU OS ", "iOS"),
        ("Mac OS X ", "Mac OS X"),
    ];
    for (mark, name) in named {
        if let Some(version) = version(mark) {
            return format!("{name} {version}").trim_end().to_owned();
        }
    }
    if agent.to_ascii_lowercase().contains("linux") {
        return "Linux".to_owned();
    }
    String::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_lose_their_last_octet() {
        let check =
            |address: &str, expected: &str| assert_eq!(mask_ip(address), expected, "{address}");
        check("203.0.113.9", "203.0.113.0");
        check("203.0.113.9:443", "203.0.113.0");
        check("::ffff:203.0.113.9", "203.0.113.0");
        check("2001:db8::1", "0.0.0.0");
        check("nonsense", "0.0.0.0");
    }

    #[test]
    fn user_agents_give_browser_and_system() {
        let check = |agent: &str, name: &str, system: &str| {
            assert_eq!(
                (browser(agent).as_str(), operating_system(agent).as_str()),
                (name, system),
                "{agent}"
            );
        };
        check(
            "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/119.0.0.0 Safari/537.36",
            "Chrome 119.0",
            "Windows 10",
        );
        check(
            "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/119.0.0.0 Safari/537.36 Edg/119.0.2151.58",
            "Edge 119.0",
            "Windows 10",
        );
        check(
            "Mozilla/5.0 (iPhone; CPU iPhone OS 16_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/16.6 Mobile/15E148 Safari/604.1",
            "Safari 16.6",
            "iOS 16.6",
        );
        check(
            "Mozilla/5.0 (X11; Linux x86_64; rv:109.0) Gecko/20100101 Firefox/118.0",
            "Firefox 118.0",
            "Linux",
        );
        check("curl/8.1.2", "curl 8.1", "");
        check("", "", "");
    }
}
