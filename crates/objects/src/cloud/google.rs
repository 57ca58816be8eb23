//! Google Cloud Storage.

use std::fs::File;
use std::sync::Arc;

use object_store::ObjectStore;
use object_store::gcp::GoogleCloudStorageBuilder;
use url::Url;

use super::environment::{BadEnvironment, Environment, text_of};
use super::http::{Service, retries};
use crate::address::Cloud;

/// Where the service is.
const ENDPOINT: &str = "https://storage.googleapis.com";
/// Variables that name the file of a service account.
const ACCOUNT_FILES: [&str; 2] = ["GOOGLE_SERVICE_ACCOUNT", "GOOGLE_SERVICE_ACCOUNT_PATH"];
/// The variable with the content of such a file.
const ACCOUNT_KEY: &str = "GOOGLE_SERVICE_ACCOUNT_KEY";
/// The variable that names a file with credentials of any kind.
const APPLICATION: &str = "GOOGLE_APPLICATION_CREDENTIALS";
/// Where such a file is if no variable names it.
const DEFAULT_FILE: &str = "~/.config/gcloud/application_default_credentials.json";
/// The variable that permits services without TLS.
const ALLOW_HTTP: &str = "GOOGLE_ALLOW_HTTP";

/// A client of a bucket.
pub(super) fn client(
    bucket: &str,
    environment: &Environment<'_>,
) -> Result<Arc<dyn ObjectStore>, BadEnvironment> {
    let endpoint = match environment.url(&["GOOGLE_BASE_URL"], ALLOW_HTTP)? {
        Some(url) => url,
        None => Url::parse(ENDPOINT).map_err(|_| BadEnvironment::Endpoint("GOOGLE_BASE_URL"))?,
    };
    let mut builder = GoogleCloudStorageBuilder::new()
        .with_bucket_name(bucket)
        .with_base_url(&text_of(&endpoint))
        .with_skip_signature(environment.is_set("GOOGLE_SKIP_SIGNATURE"))
        .with_http_connector(Service::new(Cloud::Google, &endpoint)?)
        .with_retry(retries());
    let file = environment.first(&ACCOUNT_FILES);
    let key = environment.get(ACCOUNT_KEY);
    let application = environment.get(APPLICATION);
    // For the message: the client says why it cannot use credentials, and may repeat parts of them.
    let mut source = DEFAULT_FILE;
    match (file, key) {
        (Some((name, _)), Some(_)) => return Err(BadEnvironment::Both(name, ACCOUNT_KEY)),
        (Some((name, path)), None) => {
            check_file(name, &path)?;
            source = name;
            builder = builder.with_service_account_path(path);
        }
        (None, Some(key)) => {
            source = ACCOUNT_KEY;
            builder = builder.with_service_account_key(key);
        }
        (None, None) => {
            if let Some(path) = application {
                check_file(APPLICATION, &path)?;
                source = APPLICATION;
                builder = builder.with_application_credentials(path);
            }
        }
    }
    let expected = "the JSON of a service account or of an authorized user";
    let client = builder.build();
    let client = client.map_err(|_| BadEnvironment::Unusable(source, expected))?;
    Ok(Arc::new(client))
}

fn check_file(name: &'static str, path: &str) -> Result<(), BadEnvironment> {
    match File::open(path) {
        Ok(_) => Ok(()),
        Err(error) => Err(BadEnvironment::File(name, format!("{path}: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::environment::tests::of;
    use super::*;

    #[test]
    fn what_is_missing_or_wrong_is_named() {
        let error = |variables: &[(&'static str, &str)]| {
            let variables = of(variables);
            client("logs", &Environment::new(&variables)).err()
        };
        let unsigned =
            r#"{"client_email":"","private_key":"","private_key_id":"","disable_oauth":true}"#;
        assert_eq!(error(&[(ACCOUNT_KEY, unsigned)]), None);
        let dir = tempfile::tempdir().expect("a folder");
        let file = dir.path().join("account.json");
        let path = file.to_str().expect("a path");
        assert!(matches!(
            error(&[("GOOGLE_SERVICE_ACCOUNT", path)]),
            Some(BadEnvironment::File("GOOGLE_SERVICE_ACCOUNT", _))
        ));
        assert!(matches!(
            error(&[(APPLICATION, path)]),
            Some(BadEnvironment::File(APPLICATION, _))
        ));
        std::fs::write(&file, unsigned).expect("a file");
        assert_eq!(error(&[("GOOGLE_SERVICE_ACCOUNT", path)]), None);
        assert_eq!(
            error(&[("GOOGLE_SERVICE_ACCOUNT", path), (ACCOUNT_KEY, unsigned)]),
            Some(BadEnvironment::Both("GOOGLE_SERVICE_ACCOUNT", ACCOUNT_KEY))
        );
        std::fs::write(&file, r#"{"private_key": "the-secret"}"#).expect("a file");
        let secret = error(&[(APPLICATION, path)]).expect("an error").to_string();
        assert!(
            secret.contains(APPLICATION) && !secret.contains("the-secret"),
            "{secret}"
        );
        assert_eq!(
            error(&[
                (ACCOUNT_KEY, unsigned),
                ("GOOGLE_BASE_URL", "http://localhost:1")
            ]),
            Some(BadEnvironment::WithoutTls("GOOGLE_BASE_URL", ALLOW_HTTP))
        );
    }
}
