//! Azure Blob Storage.

use std::sync::Arc;

use object_store::ObjectStore;
use object_store::azure::{AzureAccessKey, AzureConfigKey, MicrosoftAzureBuilder};
use url::Url;

use super::environment::{BadEnvironment, Environment, text_of};
use super::http::{Service, retries};
use crate::address::Cloud;

/// The variable with the name of the storage account.
const ACCOUNT: &str = "AZURE_STORAGE_ACCOUNT_NAME";
/// Variables with the key of the account.
const KEYS: [&str; 2] = ["AZURE_STORAGE_ACCOUNT_KEY", "AZURE_STORAGE_ACCESS_KEY"];
/// The variable that permits services without TLS.
const ALLOW_HTTP: &str = "AZURE_ALLOW_HTTP";
/// Variables that the client gets as they are: other credentials than the key of the account. Of two with one meaning the latter is used.
const PASSED: [&str; 15] = [
    "AZURE_AUTHORITY_HOST",
    "AZURE_CLIENT_ID",
    "AZURE_CLIENT_SECRET",
    "AZURE_FEDERATED_TOKEN_FILE",
    "AZURE_MSI_ENDPOINT",
    "AZURE_MSI_RESOURCE_ID",
    "AZURE_OBJECT_ID",
    "AZURE_SKIP_SIGNATURE",
    "AZURE_STORAGE_CLIENT_ID",
    "AZURE_STORAGE_CLIENT_SECRET",
    "AZURE_TENANT_ID",
    "AZURE_STORAGE_SAS_KEY",
    "AZURE_STORAGE_SAS_TOKEN",
    "AZURE_STORAGE_TENANT_ID",
    "AZURE_STORAGE_TOKEN",
];

/// A client of a container.
pub(super) fn client(
    container: &str,
    environment: &Environment<'_>,
) -> Result<Arc<dyn ObjectStore>, BadEnvironment> {
    let account = environment.get(ACCOUNT);
    let account = account.ok_or(BadEnvironment::Missing(
        ACCOUNT,
        "the account of the container",
    ))?;
    let endpoint = endpoint(&account, environment)?;
    // Credentials go there.
    environment.url(&["AZURE_AUTHORITY_HOST"], ALLOW_HTTP)?;
    let mut builder = MicrosoftAzureBuilder::new()
        .with_account(account)
        .with_container_name(container)
        .with_endpoint(text_of(&endpoint))
        .with_http_connector(Service::new(Cloud::Azure, &endpoint)?)
        .with_retry(retries());
    // What App Service and its relatives set.
    if let Some(identity) = environment.get("IDENTITY_ENDPOINT") {
        builder = builder.with_msi_endpoint(identity);
    }
    for name in PASSED {
        if let (Some(value), Ok(key)) = (environment.get(name), key(name)) {
            builder = builder.with_config(key, value);
        }
    }
    if let Some((name, key)) = environment.first(&KEYS) {
        let is_key = AzureAccessKey::try_new(&key).is_ok();
        if !is_key {
            return Err(BadEnvironment::Unusable(name, "a key in base64"));
        }
        builder = builder.with_access_key(key);
    }
    let client = builder.build();
    let client = client.map_err(|error| BadEnvironment::Client(error.to_string()))?;
    Ok(Arc::new(client))
}

/// The setting of the client that has the name of a variable.
fn key(name: &str) -> Result<AzureConfigKey, object_store::Error> {
    name.to_ascii_lowercase().parse()
}

fn endpoint(account: &str, environment: &Environment<'_>) -> Result<Url, BadEnvironment> {
    if let Some(url) = environment.url(&["AZURE_STORAGE_ENDPOINT"], ALLOW_HTTP)? {
        return Ok(url);
    }
    let unusable = BadEnvironment::Unusable(ACCOUNT, "letters and digits");
    let is_name = account.chars().all(|c| c.is_ascii_alphanumeric());
    let url = Url::parse(&format!("https://{account}.blob.core.windows.net"));
    url.ok().filter(|_| is_name).ok_or(unusable)
}

#[cfg(test)]
mod tests {
    use super::super::environment::tests::of;
    use super::*;

    const SHOP: (&str, &str) = (ACCOUNT, "shop");

    #[test]
    fn the_environment_says_where_the_service_is() {
        let url = |account: &str, variables: &[(&'static str, &str)]| {
            let variables = of(variables);
            let found = endpoint(account, &Environment::new(&variables));
            found.map(|url| text_of(&url))
        };
        assert_eq!(
            url("shop", &[]).as_deref(),
            Ok("https://shop.blob.core.windows.net")
        );
        assert_eq!(
            url("a/b", &[]),
            Err(BadEnvironment::Unusable(ACCOUNT, "letters and digits"))
        );
        let local = ("AZURE_STORAGE_ENDPOINT", "http://localhost:10000/shop/");
        assert_eq!(
            url("shop", &[local]),
            Err(BadEnvironment::WithoutTls(
                "AZURE_STORAGE_ENDPOINT",
                ALLOW_HTTP
            ))
        );
        assert_eq!(
            url("shop", &[local, (ALLOW_HTTP, "1")]).as_deref(),
            Ok("http://localhost:10000/shop")
        );
    }

    #[test]
    fn what_is_missing_or_wrong_is_named() {
        let error = |variables: &[(&'static str, &str)]| {
            let variables = of(variables);
            client("logs", &Environment::new(&variables)).err()
        };
        assert!(matches!(
            error(&[]),
            Some(BadEnvironment::Missing(ACCOUNT, _))
        ));
        // The identity of the machine.
        assert_eq!(error(&[SHOP]), None);
        assert_eq!(
            error(&[SHOP, ("AZURE_STORAGE_ACCOUNT_KEY", "c2VjcmV0")]),
            None
        );
        assert_eq!(
            error(&[SHOP, ("AZURE_STORAGE_SAS_TOKEN", "?sv=1&sig=x")]),
            None
        );
        assert_eq!(
            error(&[SHOP, ("AZURE_STORAGE_ACCESS_KEY", "no base64!")]),
            Some(BadEnvironment::Unusable(
                "AZURE_STORAGE_ACCESS_KEY",
                "a key in base64"
            ))
        );
        let secret = error(&[SHOP, ("AZURE_STORAGE_SAS_TOKEN", "the-secret")]);
        let secret = secret.map(|error| error.to_string()).unwrap_or_default();
        assert!(
            secret.contains("SAS") && !secret.contains("the-secret"),
            "{secret}"
        );
        assert_eq!(
            error(&[SHOP, ("AZURE_AUTHORITY_HOST", "http://login.example")]),
            Some(BadEnvironment::WithoutTls(
                "AZURE_AUTHORITY_HOST",
                ALLOW_HTTP
            ))
        );
    }

    #[test]
    fn the_client_knows_the_variables_that_it_gets() {
        for name in PASSED {
            assert!(key(name).is_ok(), "{name}");
        }
    }
}
