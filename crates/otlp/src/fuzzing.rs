//! Arbitrary payloads through the mapping: what the fuzz target `otlp` and tests over mutated payloads call.

use hindsight_rows::{AppColumns, Owner, Window};
use hindsight_store::AppId;

use crate::{
    Context, DimensionRules, Encoding, MapError, ResourceDimensions, Series, SeriesLimits, Signal,
    Sink, decode, map, outline,
};

/// Bytes that the texts of the rows may have.
const BUDGET: usize = 1 << 24;

/// The application that takes all items.
const APP: &str = "11111111-2222-3333-4444-555555555555";

/// Maps an input, whose first byte selects the signal and the encoding of the rest.
///
/// # Panics
/// If the mapping loses an item or makes more rows than the outline expects.
pub fn payload(input: &[u8]) {
    let Some((kind, payload)) = input.split_first() else {
        return;
    };
    let signal = match kind % 3 {
        0 => Signal::Traces,
        1 => Signal::Logs,
        _ => Signal::Metrics,
    };
    let encoding = match kind & 0x40 {
        0 => Encoding::Protobuf,
        _ => Encoding::Json,
    };
    if let Ok(payload) = decode(signal, encoding, payload) {
        let _ = mapped(signal, &payload);
    }
}

/// Maps a payload whose items may have any time; returns its items, rows and rejected items.
pub(crate) fn mapped(signal: Signal, payload: &[u8]) -> Result<(usize, usize, usize), MapError> {
    let resources = outline(signal, payload, 1000)?.unwrap_or_default();
    let owner = Owner {
        app: APP.parse::<AppId>().unwrap_or_else(|_| unreachable!()),
        columns: AppColumns::default(),
    };
    let owners: Vec<Option<Owner<'_>>> = resources.iter().map(|_| Some(owner)).collect();
    let context = Context {
        window: Window {
            now: 0,
            max_age: i64::MAX,
            max_ahead: i64::MAX,
        },
        max_item_bytes: 65_536,
        browser: None,
        dimensions: DimensionRules {
            keep_semantic: false,
            resource: ResourceDimensions::All,
        },
    };
    let series = Series::new(0);
    let limits = SeriesLimits { most: 100, idle: 1 };
    let mut sink = Sink::new(BUDGET, vec![(owner.app, series.stage(0, limits))]);
    map(signal, payload, &owners, &context, &mut sink)?;
    let (rows, report, _) = sink.finish();
    let batches = rows
        .finish()
        .unwrap_or_else(|error| unreachable!("the rows do not fit their schema: {error}"));
    let rows = batches
        .iter()
        .flat_map(|app| &app.batches)
        .map(|(_, batch)| batch.num_rows());
    let rows: usize = rows.sum();
    let items: usize = resources.iter().map(|resource| resource.items).sum();
    let most: usize = resources.iter().map(|resource| resource.rows).sum();
    assert!(
        report.rejected <= items,
        "more items are rejected than there are"
    );
    assert!(rows <= most, "{rows} rows, but the outline expects {most}");
    Ok((items, rows, report.rejected))
}
