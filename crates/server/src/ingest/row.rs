//! One row of telemetry before it goes into columns: every column that any of the ten tables has, under one name each.

use std::borrow::Cow;

use super::tolerant::Loose;

/// The values of an item's columns. Which of them are stored is decided by the table's schema.
#[derive(Debug, Default)]
pub(crate) struct Row<'a> {
    /// Ticks.
    pub(crate) timestamp: i64,
    /// `itemId`.
    pub(crate) item_id: String,
    /// `itemType`.
    pub(crate) item_type: &'static str,
    /// `itemCount`: how many items this one stands for.
    pub(crate) item_count: i32,
    /// `appId`, `appName`, `iKey`, `_ResourceId`.
    pub(crate) app: AppColumns<'a>,
    /// Context of the envelope.
    pub(crate) tags: Tags<'a>,
    /// `customDimensions`, encoded.
    pub(crate) dimensions: Option<Vec<u8>>,
    /// `customMeasurements`, encoded.
    pub(crate) measurements: Option<Vec<u8>>,

    /// `id`
    pub(crate) id: Cow<'a, str>,
    /// `name`
    pub(crate) name: Cow<'a, str>,
    /// `message`
    pub(crate) message: Cow<'a, str>,
    /// `url`
    pub(crate) url: Cow<'a, str>,
    /// `source`
    pub(crate) source: Cow<'a, str>,
    /// `target`
    pub(crate) target: Cow<'a, str>,
    /// `type`
    pub(crate) kind: Cow<'a, str>,
    /// `data`
    pub(crate) data: Cow<'a, str>,
    /// `success`, as the classic tables show it: text.
    pub(crate) success: &'static str,
    /// `resultCode`
    pub(crate) result_code: Cow<'a, str>,
    /// `duration`, milliseconds.
    pub(crate) duration: Option<f64>,
    /// `performanceBucket`
    pub(crate) performance_bucket: &'static str,
    /// `severityLevel`
    pub(crate) severity: Option<i32>,
    /// `location`
    pub(crate) location: Cow<'a, str>,
    /// `size`
    pub(crate) size: Option<f64>,
    /// `problemId`
    pub(crate) problem_id: Cow<'a, str>,
    /// `handledAt`
    pub(crate) handled_at: Cow<'a, str>,
    /// `assembly`, `method` and their outer and innermost forms.
    pub(crate) outer: Thrown<'a>,
    /// The last exception of the chain.
    pub(crate) innermost: Thrown<'a>,
    /// `details`, encoded.
    pub(crate) details: Option<Vec<u8>>,
    /// `value`
    pub(crate) value: Option<f64>,
    /// `valueCount`
    pub(crate) value_count: Option<i64>,
    /// `valueSum`
    pub(crate) value_sum: Option<f64>,
    /// `valueMin`
    pub(crate) value_min: Option<f64>,
    /// `valueMax`
    pub(crate) value_max: Option<f64>,
    /// `valueStdDev`
    pub(crate) value_std_dev: Option<f64>,
    /// `category`
    pub(crate) category: Cow<'a, str>,
    /// `counter`
    pub(crate) counter: Cow<'a, str>,
    /// `instance`
    pub(crate) instance: Cow<'a, str>,
    /// `networkDuration`
    pub(crate) network_duration: Option<f64>,
    /// `sendDuration`
    pub(crate) send_duration: Option<f64>,
    /// `receiveDuration`
    pub(crate) receive_duration: Option<f64>,
    /// `processingDuration`
    pub(crate) processing_duration: Option<f64>,
    /// `totalDuration`
    pub(crate) total_duration: Option<f64>,
}

/// An exception's own columns.
#[derive(Debug, Default)]
pub(crate) struct Thrown<'a> {
    /// Its type.
    pub(crate) kind: Cow<'a, str>,
    /// Its message.
    pub(crate) message: Cow<'a, str>,
    /// The method that threw it.
    pub(crate) method: Cow<'a, str>,
    /// That method's assembly.
    pub(crate) assembly: Cow<'a, str>,
}

/// What the application contributes to each of its rows.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct AppColumns<'a> {
    /// `appId`
    pub(crate) id: &'a str,
    /// `appName`
    pub(crate) name: &'a str,
    /// `iKey`
    pub(crate) ikey: &'a str,
    /// `_ResourceId`
    pub(crate) resource_id: &'a str,
}

/// The context columns.
#[derive(Debug, Default)]
pub(crate) struct Tags<'a> {
    /// Tags that become properties.
    pub(crate) properties: Vec<(Cow<'a, str>, Loose<'a>)>,
    /// `operation_Name`
    pub(crate) operation_name: Cow<'a, str>,
    /// `operation_Id`
    pub(crate) operation_id: Cow<'a, str>,
    /// `operation_ParentId`
    pub(crate) operation_parent_id: Cow<'a, str>,
    /// `operation_SyntheticSource`
    pub(crate) synthetic_source: Cow<'a, str>,
    /// `session_Id`
    pub(crate) session_id: Cow<'a, str>,
    /// `user_Id`
    pub(crate) user_id: Cow<'a, str>,
    /// `user_AuthenticatedId`
    pub(crate) authenticated_id: Cow<'a, str>,
    /// `user_AccountId`
    pub(crate) account_id: Cow<'a, str>,
    /// `application_Version`
    pub(crate) version: Cow<'a, str>,
    /// `client_Type`
    pub(crate) client_type: Cow<'a, str>,
    /// `client_Model`
    pub(crate) client_model: Cow<'a, str>,
    /// `client_OS`
    pub(crate) client_os: Cow<'a, str>,
    /// `client_IP`, masked.
    pub(crate) client_ip: Cow<'a, str>,
    /// `client_City`
    pub(crate) city: Cow<'a, str>,
    /// `client_StateOrProvince`
    pub(crate) state: Cow<'a, str>,
    /// `client_CountryOrRegion`
    pub(crate) country: Cow<'a, str>,
    /// `client_Browser`
    pub(crate) browser: Cow<'a, str>,
    /// `cloud_RoleName`
    pub(crate) role_name: Cow<'a, str>,
    /// `cloud_RoleInstance`
    pub(crate) role_instance: Cow<'a, str>,
    /// `sdkVersion`
    pub(crate) sdk_version: Cow<'a, str>,
    /// Not a column: gives `client_Browser` and `client_OS` where those are absent.
    pub(crate) user_agent: Cow<'a, str>,
}
