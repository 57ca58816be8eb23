//! Which dimensions there are and what people call them, as the service was recorded listing them (`D9`).

/// The dimensions of nearly every metric: operation, person, application, client and cloud.
pub(super) const WHERE_AND_WHO: &[&str] = &[
    "operation/name",
    "operation/synthetic",
    "operation/syntheticSource",
    "user/authenticated",
    "application/version",
    "client/type",
    "client/model",
    "client/os",
    "client/city",
    "client/stateOrProvince",
    "client/countryOrRegion",
    "client/browser",
    "cloud/roleName",
    "cloud/roleInstance",
];
/// Of requests.
pub(super) const REQUEST: &[&str] = &[
    "request/source",
    "request/name",
    "request/urlHost",
    "request/urlPath",
    "request/success",
    "request/resultCode",
    "request/performanceBucket",
];
/// Of page views.
pub(super) const PAGE_VIEW: &[&str] = &[
    "pageView/name",
    "pageView/urlPath",
    "pageView/urlHost",
    "pageView/performanceBucket",
];
/// Of browser timings.
pub(super) const BROWSER_TIMING: &[&str] = &[
    "browserTiming/name",
    "browserTiming/urlHost",
    "browserTiming/urlPath",
    "browserTiming/performanceBucket",
];
/// Of dependencies.
pub(super) const DEPENDENCY: &[&str] = &[
    "dependency/target",
    "dependency/type",
    "dependency/name",
    "dependency/success",
    "dependency/resultCode",
    "dependency/performanceBucket",
];
/// Of exceptions.
pub(super) const EXCEPTION: &[&str] = &[
    "exception/problemId",
    "exception/handledAt",
    "exception/type",
    "exception/assembly",
    "exception/method",
    "exception/severityLevel",
];
/// Of availability results.
pub(super) const AVAILABILITY: &[&str] = &[
    "availabilityResult/name",
    "availabilityResult/location",
    "availabilityResult/success",
];
/// Of performance counters.
pub(super) const PERFORMANCE_COUNTER: &[&str] = &[
    "performanceCounter/name",
    "performanceCounter/category",
    "performanceCounter/counter",
    "performanceCounter/instance",
];
/// Of custom events.
pub(super) const CUSTOM_EVENT: &[&str] = &["customEvent/name"];
/// Of custom metrics.
pub(super) const CUSTOM_METRIC: &[&str] = &["customMetric/name"];
/// Of what is billed: nothing else applies to it.
pub(super) const BILLING: &[&str] = &["billing/telemetryItemSource", "billing/telemetryItemType"];
/// Of traces, all of them.
pub(super) const TRACE: &[&str] = &[
    "trace/severityLevel",
    "operation/name",
    "operation/synthetic",
    "operation/syntheticSource",
    "application/version",
    "client/type",
    "client/model",
    "client/os",
    "client/city",
    "client/stateOrProvince",
    "client/countryOrRegion",
    "client/browser",
    "cloud/roleName",
    "cloud/roleInstance",
];
/// Of users and sessions, all of them: they are counted over many tables.
pub(super) const PEOPLE: &[&str] = &[
    "trace/severityLevel",
    "type",
    "operation/name",
    "operation/synthetic",
    "operation/syntheticSource",
    "application/version",
    "client/type",
    "client/model",
    "client/os",
    "client/city",
    "client/stateOrProvince",
    "client/countryOrRegion",
    "client/browser",
    "cloud/roleName",
    "cloud/roleInstance",
    "request/source",
    "request/name",
    "request/urlHost",
    "request/urlPath",
    "request/success",
    "request/resultCode",
    "request/performanceBucket",
    "user/authenticated",
    "pageView/name",
    "pageView/urlPath",
    "pageView/urlHost",
    "pageView/performanceBucket",
    "dependency/target",
    "dependency/type",
    "dependency/name",
    "dependency/success",
    "dependency/resultCode",
    "dependency/performanceBucket",
    "customEvent/name",
    "availabilityResult/name",
    "availabilityResult/location",
    "availabilityResult/success",
    "exception/problemId",
    "exception/handledAt",
    "exception/type",
    "exception/assembly",
    "exception/method",
    "exception/severityLevel",
    "browserTiming/name",
    "browserTiming/urlHost",
    "browserTiming/urlPath",
    "browserTiming/performanceBucket",
];

/// What people call a dimension; a key of `customDimensions` is its own name.
pub fn dimension_display_name(path: &str) -> &str {
    NAMES.iter().find(|(known, _)| *known == path).map_or_else(
        || path.split_once('/').map_or(path, |(_, name)| name),
        |(_, name)| name,
    )
}

const NAMES: &[(&str, &str)] = &[
    ("request/source", "Request source"),
    ("request/name", "Request name"),
    ("request/urlHost", "Request URL host"),
    ("request/urlPath", "Request URL path"),
    ("request/success", "Successful request"),
    ("request/resultCode", "Response code"),
    ("request/performanceBucket", "Performance"),
    ("operation/name", "Operation name"),
    ("operation/synthetic", "Real or synthetic traffic"),
    ("operation/syntheticSource", "Source of synthetic traffic"),
    ("user/authenticated", "Authenticated user"),
    ("application/version", "Application version"),
    ("client/type", "Device type"),
    ("client/model", "Device model"),
    ("client/os", "Operating system"),
    ("client/city", "City"),
    ("client/stateOrProvince", "State or province"),
    ("client/countryOrRegion", "Country or region"),
    ("client/browser", "Browser version"),
    ("cloud/roleName", "Cloud role name"),
    ("cloud/roleInstance", "Cloud role instance"),
    ("pageView/name", "View page name"),
    ("pageView/urlPath", "Page view URL path"),
    ("pageView/urlHost", "Page view URL host"),
    ("pageView/performanceBucket", "Performance"),
    ("browserTiming/name", "Name"),
    ("browserTiming/urlHost", "Url host"),
    ("browserTiming/urlPath", "Url path"),
    ("browserTiming/performanceBucket", "Performance Bucket"),
    ("trace/severityLevel", "Severity level"),
    ("type", "Telemetry type"),
    ("dependency/target", "Base name"),
    ("dependency/type", "Dependency type"),
    ("dependency/name", "Remote dependency name"),
    ("dependency/success", "Dependency call status"),
    ("dependency/resultCode", "Result code"),
    ("dependency/performanceBucket", "Performance"),
    ("customEvent/name", "Event name"),
    ("availabilityResult/name", "Test name"),
    ("availabilityResult/location", "Run location"),
    ("availabilityResult/success", "Test result"),
    ("exception/problemId", "Problem Id"),
    ("exception/handledAt", "Handled at"),
    ("exception/type", "Exception type"),
    ("exception/assembly", "Assembly"),
    ("exception/method", "Failed method"),
    ("exception/severityLevel", "Severity level"),
    ("billing/telemetryItemSource", "Telemetry item source"),
    ("billing/telemetryItemType", "Telemetry item type"),
    ("performanceCounter/name", "Name"),
    ("performanceCounter/category", "Category name"),
    ("performanceCounter/counter", "Counter"),
    ("performanceCounter/instance", "Instance name"),
    ("customMetric/name", "Metric name"),
];
