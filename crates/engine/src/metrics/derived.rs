//! The specification's dimensions that no column holds: what telemetry tells of them in other ways (`D9`).

use hindsight_kql_syntax::ast::{Expr, ListOp};

use super::continents::CONTINENTS;
use super::metric::Metric;

/// How a dimension without a column is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// The first of these properties that is not empty: tags that have no column, attributes of resources by the names of
    /// OpenTelemetry, and properties that SDKs and people set.
    Properties(&'static [&'static str]),
    /// `client_Browser` without the version.
    BrowserName,
    /// The continent of `client_CountryOrRegion`.
    Continent,
}

/// A dimension without a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Derived {
    name: &'static str,
    source: Source,
}

static DERIVED: [Derived; 7] = [
    Derived {
        name: "applicationBuild",
        source: Source::Properties(&[
            "ai.application.build",
            "app.build_id",
            "service.build.id",
            "applicationBuild",
            "Build",
        ]),
    },
    Derived {
        name: "browser",
        source: Source::BrowserName,
    },
    Derived {
        name: "continent",
        source: Source::Continent,
    },
    Derived {
        name: "deploymentId",
        source: Source::Properties(&["deployment.id", "deploymentId", "DeploymentId"]),
    },
    Derived {
        name: "deploymentUnit",
        source: Source::Properties(&[
            "ai.cloud.deploymentUnit",
            "deployment.unit",
            "k8s.deployment.name",
            "deploymentUnit",
        ]),
    },
    Derived {
        name: "environment",
        source: Source::Properties(&[
            "ai.cloud.environment",
            "deployment.environment.name",
            "deployment.environment",
            "AspNetCoreEnvironment",
            "environment",
        ]),
    },
    Derived {
        name: "hostingLocation",
        source: Source::Properties(&[
            "ai.cloud.location",
            "cloud.region",
            "cloud.availability_zone",
            "hostingLocation",
        ]),
    },
];

impl Derived {
    /// The dimension of this name.
    pub(super) fn find(name: &str) -> Option<Derived> {
        DERIVED.iter().find(|derived| derived.name == name).copied()
    }

    /// Whether items of the metric can tell it.
    pub(super) fn applies(self, metric: &Metric) -> bool {
        match self.source {
            Source::Properties(_) => metric.custom_dimensions,
            Source::BrowserName => metric.dimensions.contains(&"client/browser"),
            Source::Continent => metric.dimensions.contains(&"client/countryOrRegion"),
        }
    }

    /// The KQL that computes it: a text, empty where an item does not tell it.
    pub(super) fn to_kql(self) -> Expr {
        match self.source {
            Source::Properties(keys) => {
                let property = |key: &&str| {
                    let value = Expr::name("customDimensions").key(key);
                    Expr::call("tostring", vec![value])
                };
                let last = Expr::string("");
                Expr::call("coalesce", keys.iter().map(property).chain([last]))
            }
            Source::BrowserName => {
                let version = Expr::string(r" [0-9][0-9.]*");
                Expr::call("trim_end", vec![version, Expr::name("client_Browser")])
            }
            Source::Continent => {
                let cases = CONTINENTS.iter().flat_map(|(continent, countries)| {
                    let countries = countries.iter().map(|country| Expr::string(*country));
                    let country = Expr::name("client_CountryOrRegion");
                    let is_in = Expr::in_list(ListOp::In, country, countries.collect());
                    [is_in, Expr::string(*continent)]
                });
                Expr::call("case", cases.chain([Expr::string("")]))
            }
        }
    }

    /// What the reply says where no item tells the dimension.
    pub(super) fn advice(self) -> String {
        let name = self.name;
        match self.source {
            Source::Properties(keys) => format!(
                "No item of the reply tells the dimension '{name}': it is read from the first of these properties that is not empty: {}",
                keys.join(", ")
            ),
            Source::BrowserName => format!(
                "No item of the reply tells the dimension '{name}': it is read from 'client_Browser'"
            ),
            Source::Continent => format!(
                "No item of the reply tells the dimension '{name}': it is derived from 'client_CountryOrRegion'"
            ),
        }
    }
}
