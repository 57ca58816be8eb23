//! Columns that tables share: defined once, so that a name means the same thing everywhere.

use hindsight_kql_types::ScalarType::{DateTime, Dynamic, Int, String};

use super::column::Column;

/// When the item happened, in ticks.
pub(super) const TIMESTAMP: Column = Column::new(
    "timestamp",
    DateTime,
    Some("TimeGenerated"),
    Some("timestamp"),
);

/// The item's own text properties.
pub(super) const CUSTOM_DIMENSIONS: Column = Column::new(
    "customDimensions",
    Dynamic,
    Some("Properties"),
    Some("customDimensions"),
);

/// The item's own numbers.
pub(super) const CUSTOM_MEASUREMENTS: Column = Column::new(
    "customMeasurements",
    Dynamic,
    Some("Measurements"),
    Some("customMeasurements"),
);

/// The item's identity, given by the server.
pub(super) const ITEM_ID: Column = Column::new("itemId", String, None, Some("id"));

/// The item's type in the singular, such as `request`.
pub(super) const ITEM_TYPE: Column = Column::new("itemType", String, Some("Type"), Some("type"));

/// How many real items this one stands for after sampling.
pub(super) const ITEM_COUNT: Column =
    Column::new("itemCount", Int, Some("ItemCount"), Some("count"));

/// The resource that the item came from.
pub(super) const RESOURCE_ID: Column =
    Column::new("_ResourceId", String, Some("_ResourceId"), None);

/// The bags that every table but the metric ones has.
pub(super) const BAGS: &[Column] = &[CUSTOM_DIMENSIONS, CUSTOM_MEASUREMENTS];

/// Who, where and in which operation: present in every table, in this order.
pub(super) const CONTEXT: &[Column] = &[
    Column::new(
        "operation_Name",
        String,
        Some("OperationName"),
        Some("operation/name"),
    ),
    Column::new(
        "operation_Id",
        String,
        Some("OperationId"),
        Some("operation/id"),
    ),
    Column::new(
        "operation_ParentId",
        String,
        Some("ParentId"),
        Some("operation/parentId"),
    ),
    Column::new(
        "operation_SyntheticSource",
        String,
        Some("SyntheticSource"),
        Some("operation/syntheticSource"),
    ),
    Column::new("session_Id", String, Some("SessionId"), Some("session/id")),
    Column::new("user_Id", String, Some("UserId"), Some("user/id")),
    Column::new(
        "user_AuthenticatedId",
        String,
        Some("UserAuthenticatedId"),
        Some("user/authenticatedId"),
    ),
    Column::new(
        "user_AccountId",
        String,
        Some("UserAccountId"),
        Some("user/accountId"),
    ),
    Column::new(
        "application_Version",
        String,
        Some("AppVersion"),
        Some("application/version"),
    ),
    Column::new(
        "client_Type",
        String,
        Some("ClientType"),
        Some("client/type"),
    ),
    Column::new(
        "client_Model",
        String,
        Some("ClientModel"),
        Some("client/model"),
    ),
    Column::new("client_OS", String, Some("ClientOS"), Some("client/os")),
    Column::new("client_IP", String, Some("ClientIP"), Some("client/ip")),
    Column::new(
        "client_City",
        String,
        Some("ClientCity"),
        Some("client/city"),
    ),
    Column::new(
        "client_StateOrProvince",
        String,
        Some("ClientStateOrProvince"),
        Some("client/stateOrProvince"),
    ),
    Column::new(
        "client_CountryOrRegion",
        String,
        Some("ClientCountryOrRegion"),
        Some("client/countryOrRegion"),
    ),
    Column::new(
        "client_Browser",
        String,
        Some("ClientBrowser"),
        Some("client/browser"),
    ),
    Column::new(
        "cloud_RoleName",
        String,
        Some("AppRoleName"),
        Some("cloud/roleName"),
    ),
    Column::new(
        "cloud_RoleInstance",
        String,
        Some("AppRoleInstance"),
        Some("cloud/roleInstance"),
    ),
    Column::new("appId", String, Some("ResourceGUID"), Some("ai/appId")),
    Column::new("appName", String, None, Some("ai/appName")),
    Column::new("iKey", String, Some("IKey"), Some("ai/iKey")),
    Column::new(
        "sdkVersion",
        String,
        Some("SDKVersion"),
        Some("ai/sdkVersion"),
    ),
];
