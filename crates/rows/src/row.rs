//! One row of telemetry before it goes into columns: every column that any of the ten tables has, under one name each.

use std::borrow::Cow;

use hindsight_store::AppId;

use super::duration::bucket;

/// The values of an item's columns. Which of them are stored is decided by the table's schema.
#[derive(Debug, Default)]
pub struct Row<'a> {
    /// Ticks.
    pub timestamp: i64,
    /// `itemId`.
    pub item_id: String,
    /// `itemType`.
    pub item_type: &'static str,
    /// `itemCount`: how many items this one stands for.
    pub item_count: i32,
    /// `appId`, `appName`, `iKey`, `_ResourceId`.
    pub app: AppColumns<'a>,
    /// Context of the envelope.
    pub tags: Tags<'a>,
    /// `customDimensions`, encoded.
    pub dimensions: Option<Vec<u8>>,
    /// `customMeasurements`, encoded.
    pub measurements: Option<Vec<u8>>,

    /// `id`
    pub id: Cow<'a, str>,
    /// `name`
    pub name: Cow<'a, str>,
    /// `message`
    pub message: Cow<'a, str>,
    /// `url`
    pub url: Cow<'a, str>,
    /// `source`
    pub source: Cow<'a, str>,
    /// `target`
    pub target: Cow<'a, str>,
    /// `type`
    pub kind: Cow<'a, str>,
    /// `data`
    pub data: Cow<'a, str>,
    /// `success`, as the classic tables show it: text.
    pub success: &'static str,
    /// `resultCode`
    pub result_code: Cow<'a, str>,
    /// `duration`, milliseconds.
    pub duration: Option<f64>,
    /// `performanceBucket`
    pub performance_bucket: &'static str,
    /// `severityLevel`
    pub severity: Option<i32>,
    /// `location`
    pub location: Cow<'a, str>,
    /// `size`
    pub size: Option<f64>,
    /// `problemId`
    pub problem_id: Cow<'a, str>,
    /// `handledAt`
    pub handled_at: Cow<'a, str>,
    /// `assembly`, `method` and their outer and innermost forms.
    pub outer: Thrown<'a>,
    /// The last exception of the chain.
    pub innermost: Thrown<'a>,
    /// `details`, encoded.
    pub details: Option<Vec<u8>>,
    /// `value`
    pub value: Option<f64>,
    /// `valueCount`
    pub value_count: Option<i64>,
    /// `valueSum`
    pub value_sum: Option<f64>,
    /// `valueMin`
    pub value_min: Option<f64>,
    /// `valueMax`
    pub value_max: Option<f64>,
    /// `valueStdDev`
    pub value_std_dev: Option<f64>,
    /// `category`
    pub category: Cow<'a, str>,
    /// `counter`
    pub counter: Cow<'a, str>,
    /// `instance`
    pub instance: Cow<'a, str>,
    /// `networkDuration`
    pub network_duration: Option<f64>,
    /// `sendDuration`
    pub send_duration: Option<f64>,
    /// `receiveDuration`
    pub receive_duration: Option<f64>,
    /// `processingDuration`
    pub processing_duration: Option<f64>,
    /// `totalDuration`
    pub total_duration: Option<f64>,
}

impl Row<'_> {
    /// Sets a duration in milliseconds and the bucket that it falls into.
    pub fn set_duration(&mut self, milliseconds: Option<f64>) {
        self.duration = milliseconds;
        self.performance_bucket = milliseconds.map_or("", bucket);
    }
}

/// An exception's own columns.
#[derive(Debug, Default)]
pub struct Thrown<'a> {
    /// Its type.
    pub kind: Cow<'a, str>,
    /// Its message.
    pub message: Cow<'a, str>,
    /// The method that threw it.
    pub method: Cow<'a, str>,
    /// That method's assembly.
    pub assembly: Cow<'a, str>,
}

/// What the application contributes to each of its rows.
#[derive(Debug, Default, Clone, Copy)]
pub struct AppColumns<'a> {
    /// `appId`
    pub id: &'a str,
    /// `appName`
    pub name: &'a str,
    /// `iKey`
    pub ikey: &'a str,
    /// `_ResourceId`
    pub resource_id: &'a str,
}

/// The application that takes an item.
#[derive(Debug, Clone, Copy)]
pub struct Owner<'a> {
    /// Its identity.
    pub app: AppId,
    /// Its columns.
    pub columns: AppColumns<'a>,
}

/// The context columns.
#[derive(Debug, Default)]
pub struct Tags<'a> {
    /// `operation_Name`
    pub operation_name: Cow<'a, str>,
    /// `operation_Id`
    pub operation_id: Cow<'a, str>,
    /// `operation_ParentId`
    pub operation_parent_id: Cow<'a, str>,
    /// `operation_SyntheticSource`
    pub synthetic_source: Cow<'a, str>,
    /// `session_Id`
    pub session_id: Cow<'a, str>,
    /// `user_Id`
    pub user_id: Cow<'a, str>,
    /// `user_AuthenticatedId`
    pub authenticated_id: Cow<'a, str>,
    /// `user_AccountId`
    pub account_id: Cow<'a, str>,
    /// `application_Version`
    pub version: Cow<'a, str>,
    /// `client_Type`
    pub client_type: Cow<'a, str>,
    /// `client_Model`
    pub client_model: Cow<'a, str>,
    /// `client_OS`
    pub client_os: Cow<'a, str>,
    /// `client_IP`, masked.
    pub client_ip: Cow<'a, str>,
    /// `client_City`
    pub city: Cow<'a, str>,
    /// `client_StateOrProvince`
    pub state: Cow<'a, str>,
    /// `client_CountryOrRegion`
    pub country: Cow<'a, str>,
    /// `client_Browser`
    pub browser: Cow<'a, str>,
    /// `cloud_RoleName`
    pub role_name: Cow<'a, str>,
    /// `cloud_RoleInstance`
    pub role_instance: Cow<'a, str>,
    /// `sdkVersion`
    pub sdk_version: Cow<'a, str>,
    /// Not a column: gives `client_Browser` and `client_OS` where those are absent.
    pub user_agent: Cow<'a, str>,
}
