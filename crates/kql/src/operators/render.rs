//! `render`: the visualization of a result; the rows are unchanged (`docs/semantics.md §28.3`).

use hindsight_kql_syntax::ast::{RenderOperator, RenderProperty};
use hindsight_kql_syntax::suggest::with_hint;
use hindsight_kql_syntax::{Code, Span};

use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use crate::context::{BindContext, Bound};
use crate::error::BindResult;

/// The visualizations.
pub(crate) const VISUALIZATIONS: &[&str] = &[
    "table",
    "list",
    "barchart",
    "columnchart",
    "piechart",
    "ladderchart",
    "timechart",
    "linechart",
    "anomalychart",
    "areachart",
    "stackedareachart",
    "scatterchart",
    "timepivot",
    "pivotchart",
    "timeline",
    "card",
    "treemap",
    "plotly",
    "graph",
    "sankey",
    "3Dchart",
];

const PROPERTIES: &[&str] = &[
    "title",
    "xcolumn",
    "series",
    "ycolumns",
    "anomalycolumns",
    "kind",
    "xtitle",
    "ytitle",
    "xaxis",
    "yaxis",
    "legend",
    "ysplit",
    "accumulate",
    "ymin",
    "ymax",
    "xmin",
    "xmax",
];

impl TabularOperator for RenderOperator {
    fn properties(&self) -> Properties<'_> {
        Properties {
            input: OperatorInput::Rows,
            rows: RowEffect::Loses,
            on_empty_input: OnEmptyInput::NoRows,
            rereads_rows: false,
            names_rows: false,
            adds_rows: false,
            keeps_columns: true,
        }
    }

    fn bind(&self, input: Bound, binder: &mut dyn BindContext, span: Span) -> BindResult<Bound> {
        bind(self, input, binder, span)
    }
}

fn bind(
    node: &RenderOperator,
    input: Bound,
    binder: &mut dyn BindContext,
    _span: Span,
) -> BindResult<Bound> {
    // Kinds are lower-case; of this one both spellings are documented.
    let kind = match node.kind.text.as_str() {
        "Plotly" => "plotly",
        kind => kind,
    };
    if !VISUALIZATIONS.contains(&kind) {
        return Err(binder.error(
            Code::Semantics,
            with_hint(
                format!("unknown visualization '{}'", node.kind.text),
                &node.kind.text,
                VISUALIZATIONS.iter().copied(),
            ),
            node.kind.span(),
        ));
    }
    for property in &node.properties {
        check(property, binder)?;
    }
    Ok(Bound {
        render: Some(node.clone()),
        ..input
    })
}

fn check(property: &RenderProperty, binder: &mut dyn BindContext) -> BindResult<()> {
    let name = property.name.text.as_str();
    if !PROPERTIES.contains(&name) {
        return Err(binder.error(
            Code::Semantics,
            with_hint(
                format!("unknown property '{name}'"),
                name,
                PROPERTIES.iter().copied(),
            ),
            property.name.span(),
        ));
    }
    let allowed: &[&str] = match name {
        "kind" => &["default", "unstacked", "stacked", "stacked100", "map"],
        "xaxis" | "yaxis" => &["linear", "log"],
        "legend" => &["visible", "hidden"],
        "ysplit" => &["none", "axes", "panels"],
        _ => return Ok(()),
    };
    for value in &property.values {
        let word = binder.constant_word(value)?;
        if !allowed.contains(&word.as_str()) {
            return Err(binder.error(
                Code::Semantics,
                format!("the property '{name}' cannot be '{word}'"),
                value.span,
            ));
        }
    }
    Ok(())
}
