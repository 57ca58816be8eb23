//! Queries that are too deep or too large end in a 400 that names the limit, and the server goes on.

use super::*;

/// Texts that nest, chain or grow without a meaning of their own, and what the message says.
fn texts() -> Vec<(&'static str, String, &'static str)> {
    let repeated = |part: &str, times: usize| part.repeat(times);
    let chain = |times: usize| -> String {
        let link = |i: usize| format!("let v{} = v{i} + 1;", i + 1);
        let links: String = (0..times).map(link).collect();
        format!("let v0 = toscalar(requests | count); {links} print v{times}")
    };
    vec![
        (
            "parentheses",
            format!("print {}", repeated("(", 100_000)),
            "max_depth",
        ),
        (
            "closed parentheses",
            format!(
                "print {}1{}",
                repeated("(", 100_000),
                repeated(")", 100_000)
            ),
            "max_depth",
        ),
        (
            "not",
            format!(
                "print {}true{}",
                repeated("not(", 100_000),
                repeated(")", 100_000)
            ),
            "max_depth",
        ),
        (
            "minus",
            format!("print {}1", repeated("-", 100_000)),
            "max_depth",
        ),
        (
            "brackets",
            format!("print {}", repeated("a[", 100_000)),
            "max_depth",
        ),
        (
            "arrays",
            format!("print dynamic({})", repeated("[", 100_000)),
            "max_depth",
        ),
        ("joins", repeated("requests | join (", 20_000), "max_depth"),
        (
            "pipes",
            format!("requests{}", repeated(" | count", 10_000)),
            "max_operators",
        ),
        (
            "additions",
            format!("print 1{}", repeated(" + 1", 50_000)),
            "max_height",
        ),
        (
            "members",
            format!("print a{}", repeated(".a", 50_000)),
            "max_height",
        ),
        ("a long chain of let", chain(45_000), "The query is too"),
        (
            "one megabyte of one name",
            format!("print {}", repeated("a", 1024 * 1024)),
            "max_bytes",
        ),
        (
            "one megabyte of names",
            format!("print {}", repeated("a,", 400_000)),
            "max_tokens",
        ),
    ]
}

#[tokio::test]
async fn deep_and_large_queries_are_refused() {
    let server = Server::start().await;
    for (what, text, said) in texts() {
        let reply = server.query(&text).await;
        assert_eq!(reply.status, 400, "{what}");
        let body = reply.json().to_string();
        let start: String = body.chars().take(300).collect();
        assert!(body.contains(said), "{what}: {start}");
        assert!(body.len() < 10_000, "{what}: the text is not given back");
    }
    assert_eq!(server.query("print 1").await.status, 200);
}

/// A chain as long as the parser allows is computed, or refused in words; it takes no thread's stack.
#[tokio::test]
async fn chains_within_the_limits_are_answered() {
    let server = Server::start().await;
    for links in [100, 3_000, 20_000] {
        let links: String = (0..links)
            .map(|i| format!("let v{} = v{i} + 1;", i + 1))
            .chain([format!("print v{links}")])
            .collect();
        let query = format!("let v0 = toscalar(requests | count); {links}");
        let reply = server.query(&query).await;
        assert!(
            reply.status == 200 || reply.status == 400,
            "{}",
            reply.status
        );
    }
    let steps: String = (0..900)
        .map(|i| format!(" | where duration != {i}"))
        .collect();
    assert_eq!(
        server
            .query(&format!("requests{steps} | count"))
            .await
            .status,
        200
    );
    let columns: String = (0..150)
        .map(|_| " | extend duration = duration + 1")
        .collect();
    assert_eq!(
        server
            .query(&format!("requests{columns} | count"))
            .await
            .status,
        200
    );
}
