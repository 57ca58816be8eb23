//! The tables that tests query.

use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringViewArray};
use arrow::datatypes::{DataType, Field, Schema};
use datafusion::datasource::MemTable;
use hindsight_kql_types::ScalarType;
use hindsight_kql_types::ticks::{
    TICKS_PER_DAY, TICKS_PER_HOUR, TICKS_PER_SECOND, UNIX_EPOCH_TICKS,
};

use crate::{Catalog, CatalogError, CatalogTable, INGESTION_TIME, TableScope};

/// Three rows of `requests`, enough for filters, groups and joins. The application `shop` has them, too.
pub(crate) struct Requests;

impl Catalog for Requests {
    fn table(&self, scope: &TableScope, name: &str) -> Result<Option<CatalogTable>, CatalogError> {
        match scope {
            TableScope::Request if name == "requests" => Ok(Some(requests())),
            TableScope::App(app) if app == "shop" && name == "requests" => Ok(Some(requests())),
            TableScope::Request => Ok(None),
            _ => Err(CatalogError::Scope("no such application".to_owned())),
        }
    }

    fn table_names(&self, _: &TableScope) -> Result<Vec<String>, CatalogError> {
        Ok(vec!["requests".to_owned()])
    }

    fn database_name(&self) -> String {
        "shop".to_owned()
    }
}

/// The table `visits` of the conformance cases, which every application has.
pub(crate) struct Visits;

impl Catalog for Visits {
    fn table(&self, _: &TableScope, name: &str) -> Result<Option<CatalogTable>, CatalogError> {
        Ok((name == "visits").then(visits))
    }

    fn table_names(&self, _: &TableScope) -> Result<Vec<String>, CatalogError> {
        Ok(vec!["visits".to_owned()])
    }

    fn database_name(&self) -> String {
        "shop".to_owned()
    }
}

fn requests() -> CatalogTable {
    table(
        "requests",
        vec![
            ("timestamp", ScalarType::DateTime, hours()),
            (
                "name",
                ScalarType::String,
                texts(["GET /", "POST /buy", "GET /"]),
            ),
            ("duration", ScalarType::Real, numbers()),
            (
                "resultCode",
                ScalarType::String,
                texts(["200", "500", "200"]),
            ),
        ],
    )
}

fn visits() -> CatalogTable {
    table(
        "visits",
        vec![
            ("timestamp", ScalarType::DateTime, hours()),
            (
                "page",
                ScalarType::String,
                texts(["home", "basket", "home"]),
            ),
            ("seconds", ScalarType::Real, numbers()),
        ],
    )
}

/// The first three hours of 1970.
fn hours() -> ArrayRef {
    let times = [0, 1, 2].map(|hour| UNIX_EPOCH_TICKS + hour * TICKS_PER_HOUR);
    Arc::new(Int64Array::from(times.to_vec()))
}

fn numbers() -> ArrayRef {
    Arc::new(Float64Array::from(vec![Some(1.5), Some(20.0), None]))
}

fn texts(texts: [&str; 3]) -> ArrayRef {
    Arc::new(StringViewArray::from(texts.to_vec()))
}

/// Beside its columns the provider says that the rows were received in the last seconds of 1970.
fn table(name: &str, columns: Vec<(&str, ScalarType, ArrayRef)>) -> CatalogTable {
    let mut fields: Vec<Field> = columns
        .iter()
        .map(|(name, kind, _)| Field::new(*name, kind.arrow(), true))
        .collect();
    fields.push(Field::new(INGESTION_TIME, DataType::Int64, true));
    let schema = Arc::new(Schema::new(fields));
    let mut arrays: Vec<ArrayRef> = columns
        .iter()
        .map(|(_, _, array)| Arc::clone(array))
        .collect();
    let last = UNIX_EPOCH_TICKS + 365 * TICKS_PER_DAY;
    let received = [3, 2, 1].map(|seconds| last - seconds * TICKS_PER_SECOND);
    arrays.push(Arc::new(Int64Array::from(received.to_vec())));
    let batch = RecordBatch::try_new(Arc::clone(&schema), arrays).expect("the columns fit");
    let provider = MemTable::try_new(schema, vec![vec![batch]]).expect("the batch fits");
    CatalogTable {
        name: name.to_owned(),
        columns: columns
            .into_iter()
            .map(|(name, kind, _)| (name.to_owned(), kind))
            .collect(),
        provider: Arc::new(provider),
    }
}
