//! What the embedded issuer answers in each flow, for rows that say `grant`.

use crate::tests::Reply;
use crate::tests::oauth::{Issuer, PASSWORD, RESOURCE, told};

/// The reply of the last request of a flow, some of whose fields have other values. What a redirect tells is the reply's
/// body.
pub(super) async fn reply(issuer: &Issuer, grant: &str, change: &[(String, &str)]) -> Reply {
    let change: Vec<(&str, &str)> = change.iter().map(|(name, v)| (name.as_str(), *v)).collect();
    match grant {
        "authorize" => redirect(issuer, &change).await,
        "implicit" => {
            let mut all = vec![("response_type", "token")];
            all.extend(&change);
            redirect(issuer, &all).await
        }
        "authorization_code" => issuer.redeem(&issuer.code(&[]).await, &change).await,
        "refresh_token" => {
            let first = issuer.redeem(&issuer.code(&[]).await, &[]).await.json();
            let refresh = first["refresh_token"].as_str().unwrap();
            let mut fields = vec![
                ("grant_type", "refresh_token"),
                ("refresh_token", refresh),
                ("resource", RESOURCE),
            ];
            fields.retain(|(name, _)| !change.iter().any(|(changed, _)| changed == name));
            fields.extend(&change);
            issuer.token(&fields).await
        }
        other => panic!("'{other}' is no flow"),
    }
}

async fn redirect(issuer: &Issuer, change: &[(&str, &str)]) -> Reply {
    let path = issuer.authorize_path("", change);
    if change.iter().any(|(_, value)| value.is_empty()) {
        return issuer.get(&path, "").await;
    }
    let mut reply = issuer.sign_in_at(&path, PASSWORD).await;
    let told = told(&reply);
    reply.bytes = serde_json::to_vec(&told).unwrap();
    reply
}
