//! The resource and the scope of telemetry: who sent it, and with what.

use std::borrow::Cow;

use hindsight_rows::client;

use crate::attributes::Attributes;
use crate::error::Malformed;
use crate::names::resource as names;
use crate::rules::ResourceDimensions;
use crate::wire::fields;

/// What a resource says of each of its items.
#[derive(Debug, Default)]
pub(crate) struct Resource<'a> {
    /// `cloud_RoleName`
    pub(crate) role_name: String,
    /// `cloud_RoleInstance`
    pub(crate) role_instance: Cow<'a, str>,
    /// `application_Version`
    pub(crate) version: Cow<'a, str>,
    /// `client_Model`
    pub(crate) model: Cow<'a, str>,
    /// `sdkVersion`
    pub(crate) sdk_version: String,
    /// Whether a browser sends.
    pub(crate) is_browser: bool,
    /// `client_OS`, if the resource has it.
    pub(crate) client_os: Cow<'a, str>,
    /// `client_Browser`, if the resource has it.
    pub(crate) client_browser: String,
    /// The attributes that become custom dimensions of each item.
    pub(crate) dimensions: Vec<(&'a str, Cow<'a, str>)>,
}

impl<'a> Resource<'a> {
    /// What the message contains. `selection`: of the attributes that become custom dimensions.
    pub(crate) fn read(
        message: &'a [u8],
        selection: &ResourceDimensions,
    ) -> Result<Resource<'a>, Malformed> {
        let given = attributes(message)?;
        let text = |names: &[&str]| Ok::<_, Malformed>(given.text(names)?.unwrap_or_default());
        let language = text(names::SDK_LANGUAGE)?;
        let is_browser = language == names::WEB
            || given
                .iter()
                .any(|(name, _)| name.starts_with(names::BROWSER));
        let agent = text(names::USER_AGENT)?;
        Ok(Resource {
            role_name: role_name(&given)?,
            role_instance: text(names::INSTANCE)?,
            version: text(names::VERSION)?,
            model: text(names::MODEL)?,
            sdk_version: sdk_version(&language, &text(names::SDK_VERSION)?),
            is_browser,
            client_os: if is_browser {
                text(names::BROWSER_PLATFORM)?
            } else {
                Cow::Borrowed("")
            },
            client_browser: if is_browser {
                client::browser(&agent)
            } else {
                String::new()
            },
            dimensions: selected(&given, selection)?,
        })
    }
}

fn selected<'a>(
    given: &Attributes<'a>,
    selection: &ResourceDimensions,
) -> Result<Vec<(&'a str, Cow<'a, str>)>, Malformed> {
    let mut dimensions = Vec::new();
    for (name, value) in given.iter().filter(|(name, _)| selection.has(name)) {
        if let Some(text) = value.text()? {
            dimensions.push((name, text));
        }
    }
    Ok(dimensions)
}

fn attributes(message: &[u8]) -> Result<Attributes<'_>, Malformed> {
    let mut attributes = Attributes::default();
    for field in fields(message) {
        if let (1, field) = field? {
            attributes.add(field)?;
        }
    }
    Ok(attributes)
}

/// The instrumentation key that a resource names.
pub(crate) fn key(message: &[u8]) -> Result<Option<Cow<'_, str>>, Malformed> {
    attributes(message)?.text(names::KEY)
}

/// `service.namespace` and `service.name`; the workload where the service has no name.
fn role_name(given: &Attributes<'_>) -> Result<String, Malformed> {
    let name = given.text(names::NAME)?.unwrap_or_default();
    if name.is_empty() || name.starts_with(names::UNNAMED) {
        if let Some(workload) = given.text(names::WORKLOAD)? {
            return Ok(workload.into_owned());
        }
        if name.is_empty() {
            return Ok(String::new());
        }
    }
    Ok(match given.text(names::NAMESPACE)? {
        Some(namespace) => format!("{namespace}.{name}"),
        None => name.into_owned(),
    })
}

/// `otlp_<language>:<version>`, as far as they are given.
fn sdk_version(language: &str, version: &str) -> String {
    match (language, version) {
        ("", _) => "otlp".to_owned(),
        (language, "") => format!("otlp_{language}"),
        (language, version) => format!("otlp_{language}:{version}"),
    }
}

/// A scope: the library or the logger that made the telemetry.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Scope<'a> {
    /// Its name.
    pub(crate) name: &'a str,
    /// Its version.
    pub(crate) version: &'a str,
}

impl<'a> Scope<'a> {
    /// What the message contains.
    pub(crate) fn read(message: &'a [u8]) -> Result<Scope<'a>, Malformed> {
        let mut scope = Scope::default();
        for field in fields(message) {
            match field? {
                (1, field) => scope.name = field.text()?,
                (2, field) => scope.version = field.text()?,
                _ => {}
            }
        }
        Ok(scope)
    }
}
