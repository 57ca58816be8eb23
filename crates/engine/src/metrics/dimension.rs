//! The dimensions of metrics: path names, the specification's enum names, and the KQL they stand for (`D9`).

use hindsight_kql_syntax::ast::{BinaryOp, Expr};
use hindsight_kql_types::{ScalarType, Value};
use hindsight_store::Table;

use super::derived::Derived;
use super::metric::{Metric, MetricSource};

/// The specification's names for dimensions, and their paths.
const ENUM_NAMES: &[(&str, &str)] = &[
    ("applicationVersion", "application/version"),
    ("authenticatedOrAnonymousTraffic", "user/authenticated"),
    ("browserVersion", "client/browser"),
    ("city", "client/city"),
    ("cloudRoleName", "cloud/roleName"),
    ("cloudServiceName", "cloud/roleName"),
    ("countryOrRegion", "client/countryOrRegion"),
    ("deviceType", "client/type"),
    ("instanceName", "cloud/roleInstance"),
];

/// A dimension of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dimension {
    /// As the caller wrote it: the key of its values in the reply.
    pub(crate) written: String,
    path: String,
    /// How it is computed where no column holds it.
    derived: Option<Derived>,
    /// The metric is of many tables: only rows of the dimension's own item type have it.
    mixed: bool,
}

impl Dimension {
    /// The dimension that `written` names, where it applies to `metric`.
    pub(crate) fn find(written: &str, metric: &Metric) -> Option<Dimension> {
        let path = ENUM_NAMES
            .iter()
            .find(|(name, _)| *name == written)
            .map_or(written, |(_, path)| *path);
        let of_bag = path
            .strip_prefix("customDimensions/")
            .is_some_and(|key| !key.is_empty());
        let derived = Derived::find(path);
        let applies = (of_bag && metric.custom_dimensions)
            || derived.is_some_and(|derived| derived.applies(metric))
            || metric.dimensions.contains(&path);
        applies.then(|| Dimension {
            written: written.to_owned(),
            path: path.to_owned(),
            derived,
            mixed: matches!(metric.source, MetricSource::Distinct { .. }),
        })
    }

    /// A value of it with its type (`D2`): what is recorded as text may stand for a truth value or a number.
    pub(crate) fn typed(&self, text: &str) -> Value {
        let truth = matches!(
            self.path.as_str(),
            "operation/synthetic" | "user/authenticated"
        ) || self.path.ends_with("/success");
        let number = self.path.ends_with("/severityLevel");
        match text {
            "True" | "1" if truth => Value::Bool(true),
            "False" | "0" if truth => Value::Bool(false),
            "" if truth => Value::Null(ScalarType::Bool),
            "" if number => Value::Null(ScalarType::Long),
            _ if number => text
                .parse()
                .map_or_else(|_| Value::String(text.to_owned()), Value::Long),
            _ => Value::String(text.to_owned()),
        }
    }

    /// The KQL that computes it, as text. Over many tables it is empty in rows of other item types, whose columns may have
    /// the same name.
    pub(crate) fn to_kql(&self) -> Expr {
        let value = self.value();
        let group = self.path.split('/').next().unwrap_or("");
        if !self.mixed || !Table::ALL.iter().any(|t| t.item_type() == group) {
            return value;
        }
        let own = Expr::binary(BinaryOp::Equal, Expr::name("itemType"), Expr::string(group));
        Expr::call("iff", vec![own, value, Expr::string("")])
    }

    /// What the reply says where no item tells the dimension; for those that no column holds.
    pub(crate) fn advice(&self) -> Option<String> {
        self.derived.map(Derived::advice)
    }

    fn value(&self) -> Expr {
        if let Some(derived) = self.derived {
            return derived.to_kql();
        }
        if let Some(bag_key) = self.path.strip_prefix("customDimensions/") {
            return Expr::call(
                "tostring",
                vec![Expr::key(Expr::name("customDimensions"), bag_key)],
            );
        }
        let present = |column: &str| {
            let test = Expr::binary(BinaryOp::NotEqual, Expr::name(column), Expr::string(""));
            Expr::call(
                "iff",
                vec![test, Expr::string("True"), Expr::string("False")],
            )
        };
        match self.path.as_str() {
            "operation/synthetic" => return present("operation_SyntheticSource"),
            "user/authenticated" => return present("user_AuthenticatedId"),
            "type" | "billing/telemetryItemType" => return Expr::name("itemType"),
            "billing/telemetryItemSource" => return Expr::name("sdkVersion"),
            _ => {}
        }
        let (group, member) = self.path.split_once('/').unwrap_or(("", &self.path));
        match (group, member) {
            (_, "urlHost") => Expr::call(
                "tostring",
                vec![Expr::key(
                    Expr::call("parse_url", vec![Expr::name("url")]),
                    "Host",
                )],
            ),
            (_, "urlPath") => Expr::call(
                "tostring",
                vec![Expr::key(
                    Expr::call("parse_url", vec![Expr::name("url")]),
                    "Path",
                )],
            ),
            (_, "severityLevel") => Expr::call("tostring", vec![Expr::name("severityLevel")]),
            ("operation" | "user" | "application" | "client" | "cloud", _) => {
                Expr::name(flat_column(group, member))
            }
            _ => Expr::name(member),
        }
    }
}

/// `client/city` → `client_City`: the columns of the tables write a path's member with a capital.
fn flat_column(group: &str, member: &str) -> String {
    let special = match (group, member) {
        ("client", "os") => Some("client_OS"),
        ("client", "ip") => Some("client_IP"),
        _ => None,
    };
    let mut letters = member.chars();
    special.map_or_else(
        || {
            format!(
                "{group}_{}{}",
                letters
                    .next()
                    .map_or(String::new(), |c| c.to_uppercase().collect()),
                letters.as_str()
            )
        },
        str::to_owned,
    )
}
