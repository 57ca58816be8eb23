//! Which attributes become custom dimensions beyond those that the official exporters keep.

/// The attributes that become custom dimensions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DimensionRules {
    /// Whether the attributes that fill columns become custom dimensions too, as the exporter of the Collector has it.
    pub keep_semantic: bool,
    /// The attributes of a resource that become custom dimensions of each of its items.
    pub resource: ResourceDimensions,
}

/// A selection of the attributes of a resource.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ResourceDimensions {
    /// None, as the exporters of the SDKs have it.
    #[default]
    None,
    /// Those of these names.
    Named(Vec<String>),
    /// All but the instrumentation key, as the exporter of the Collector has it.
    All,
}

impl ResourceDimensions {
    pub(crate) fn has(&self, name: &str) -> bool {
        match self {
            ResourceDimensions::None => false,
            ResourceDimensions::Named(names) => names.iter().any(|known| known == name),
            ResourceDimensions::All => !crate::names::resource::KEY.contains(&name),
        }
    }
}
