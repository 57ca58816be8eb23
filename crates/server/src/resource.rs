//! Applications as resources: the ids that clients of the cloud address them by, and the `_ResourceId` of their rows.
//!
//! Hindsight has no subscriptions and no groups, so the name at the end alone says which application is meant. Azure compares
//! the other parts without regard to case.

/// What a resource id names, and so which names tables have in a description.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResourceType {
    /// `microsoft.insights/components`, and `/hindsight/apps`.
    Application,
    /// `microsoft.operationalinsights/workspaces`
    Workspace,
}

impl ResourceType {
    /// The type of a provider's resources.
    pub(crate) fn find(provider: &str, name: &str) -> Option<ResourceType> {
        let known = [
            (
                "microsoft.insights",
                "components",
                ResourceType::Application,
            ),
            (
                "microsoft.operationalinsights",
                "workspaces",
                ResourceType::Workspace,
            ),
        ];
        let mut known = known.into_iter();
        let found = known.find(|(of, plural, _)| {
            provider.eq_ignore_ascii_case(of) && name.eq_ignore_ascii_case(plural)
        });
        found.map(|(_, _, kind)| kind)
    }
}

/// Whether a part of a path is the one before the name of a group.
pub(crate) fn is_groups(part: &str) -> bool {
    part.eq_ignore_ascii_case("resourceGroups")
}

/// The name or id of the application that a resource id names:
/// `/subscriptions/{…}/resourceGroups/{…}/providers/{provider}/{type}/{name}` or `/hindsight/apps/{name}`.
pub(crate) fn application(id: &str) -> Option<&str> {
    let parts: Vec<&str> = id.strip_prefix('/')?.split('/').collect();
    let name = match parts.as_slice() {
        [subscriptions, _, groups, _, providers, provider, kind, name] => {
            let is_id = subscriptions.eq_ignore_ascii_case("subscriptions")
                && is_groups(groups)
                && providers.eq_ignore_ascii_case("providers");
            ResourceType::find(provider, kind).filter(|_| is_id)?;
            name
        }
        ["hindsight", "apps", name] => name,
        _ => return None,
    };
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resource_ids_name_applications() {
        let check =
            |id: &str, expected: Option<&str>| assert_eq!(application(id), expected, "{id}");
        let group = "/subscriptions/s/resourceGroups/g/providers";
        check(
            &format!("{group}/microsoft.insights/components/shop"),
            Some("shop"),
        );
        check(
            &format!("{group}/Microsoft.OperationalInsights/Workspaces/shop"),
            Some("shop"),
        );
        check(
            "/SUBSCRIPTIONS/s/resourcegroups/g/PROVIDERS/Microsoft.Insights/COMPONENTS/Shop",
            Some("Shop"),
        );
        check("/hindsight/apps/shop", Some("shop"));
        for other in [
            "shop",
            "/shop",
            "/subscriptions/x",
            "/hindsight/apps/",
            "/subscriptions/s/resourceGroups/g/providers/microsoft.compute/virtualMachines/shop",
            "/subscriptions/s/resourceGroups/g/providers/microsoft.insights/workspaces/shop",
            "/subscriptions/s/groups/g/providers/microsoft.insights/components/shop",
        ] {
            check(other, None);
        }
    }
}
