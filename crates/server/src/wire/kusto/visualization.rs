//! The property `Visualization` of the Kusto protocol: how a result is rendered.

use hindsight_engine::RenderInfo;
use serde_json::{Value, json};

use crate::wire::visualization;

/// The object of one result. A table is the absence of a visualization, and a bound of the y axis that is not set is NaN.
pub(super) fn of(render: &RenderInfo) -> Value {
    let mut object = visualization::properties(render);
    object.shift_remove("Annotation");
    if matches!(render.visualization.as_str(), "" | "table") {
        object.insert("Visualization".to_owned(), Value::Null);
    }
    for bound in ["Ymin", "Ymax"] {
        if object.get(bound).is_none_or(Value::is_null) {
            object.insert(bound.to_owned(), json!("NaN"));
        }
    }
    Value::Object(object)
}
