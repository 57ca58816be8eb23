//! One column of a table.

use hindsight_kql_types::ScalarType;

/// One column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// The name in queries, such as `operation_Name`.
    pub name: &'static str,
    /// The KQL type.
    pub scalar_type: ScalarType,
    /// The name in the workspace form of the table (`AppRequests` and so on); `None` where that form lacks it.
    pub workspace_name: Option<&'static str>,
    /// The path in the events API, such as `operation/name`; `None` where that API does not show it.
    pub odata_path: Option<&'static str>,
    /// The only texts beside `""` that it holds, where they are few and fixed.
    pub texts: Option<&'static [&'static str]>,
}

/// The values of `success` of requests and dependencies.
pub(super) const TRUTHS: &[&str] = &["True", "False"];

impl Column {
    pub(super) const fn new(
        name: &'static str,
        scalar_type: ScalarType,
        workspace_name: Option<&'static str>,
        odata_path: Option<&'static str>,
    ) -> Column {
        Column {
            name,
            scalar_type,
            workspace_name,
            odata_path,
            texts: None,
        }
    }

    /// The KQL type in the workspace form of the table, where `Success` is a bool.
    pub fn workspace_type(&self) -> ScalarType {
        if self.name == "success" {
            ScalarType::Bool
        } else {
            self.scalar_type
        }
    }

    pub(super) const fn with_texts(self, texts: &'static [&'static str]) -> Column {
        Column {
            texts: Some(texts),
            ..self
        }
    }
}
