//! What management commands tell: databases, which are applications, their tables and columns.

use hindsight_kql_types::ScalarType::{self, Bool, DateTime, Guid, Long, Real, String as Text};
use hindsight_store::{Column, Table};
use serde_json::{Map, Value, json};

use super::SmallTable;
use crate::directory::AppRecord;

/// The version of every schema: the tables never change.
const VERSION: &str = "v1.0";

/// `.show databases`. `current` is the database of the request.
pub(crate) fn databases(apps: &[&AppRecord], current: Option<&AppRecord>) -> SmallTable {
    let rows = apps.iter().map(|app| {
        let is_current = current.is_some_and(|current| current.id == app.id);
        json!([
            app.name,
            "",
            VERSION,
            is_current,
            "ReadOnly",
            "",
            false,
            app.id_text,
            "",
            ""
        ])
    });
    SmallTable::new(&[
        ("DatabaseName", Text),
        ("PersistentStorage", Text),
        ("Version", Text),
        ("IsCurrent", Bool),
        ("DatabaseAccessMode", Text),
        ("PrettyName", Text),
        ("ReservedSlot1", Bool),
        ("DatabaseId", Guid),
        ("InTransitionTo", Text),
        ("SuspensionState", Text),
    ])
    .with_all(rows)
}

/// `.show databases schema`: a row for each database, table and column.
pub(crate) fn schema_rows(apps: &[&AppRecord]) -> SmallTable {
    let rows = apps.iter().flat_map(|app| {
        let row = |table: Option<Table>, column: Option<&Column>| {
            let version = table.is_none().then_some(VERSION);
            json!([
                app.name,
                table.map(Table::name),
                column.map(|column| column.name),
                column.map(|column| column.scalar_type.clr_name()),
                false,
                false,
                "",
                version,
                "",
                ""
            ])
        };
        let tables = Table::ALL.into_iter().flat_map(move |table| {
            let columns = table.columns().iter();
            let columns = columns.map(move |column| row(Some(table), Some(column)));
            std::iter::once(row(Some(table), None)).chain(columns)
        });
        std::iter::once(row(None, None)).chain(tables)
    });
    SmallTable::new(&[
        ("DatabaseName", Text),
        ("TableName", Text),
        ("ColumnName", Text),
        ("ColumnType", Text),
        ("IsDefaultTable", Bool),
        ("IsDefaultColumn", Bool),
        ("PrettyName", Text),
        ("Version", Text),
        ("Folder", Text),
        ("DocString", Text),
    ])
    .with_all(rows)
}

/// `.show databases schema as json`
pub(crate) fn schema_json(apps: &[&AppRecord]) -> SmallTable {
    let databases: Map<String, Value> = apps
        .iter()
        .map(|app| (app.name.clone(), database(app)))
        .collect();
    let text = json!({ "Databases": databases }).to_string();
    SmallTable::new(&[("DatabaseSchema", Text)]).with(json!([text]))
}

fn database(app: &AppRecord) -> Value {
    let tables: Map<String, Value> = Table::ALL
        .into_iter()
        .map(|table| (table.name().to_owned(), table_object(table)))
        .collect();
    json!({
        "Name": app.name,
        "Tables": tables,
        "ExternalTables": {},
        "MaterializedViews": {},
        "EntityGroups": {},
        "MajorVersion": 1,
        "MinorVersion": 0,
        "Functions": {},
        "DatabaseAccessMode": "ReadOnly",
    })
}

fn table_object(table: Table) -> Value {
    let columns = table.columns().iter().map(|column| {
        json!({
            "Name": column.name,
            "Type": column.scalar_type.clr_name(),
            "CslType": column.scalar_type.name(),
        })
    });
    json!({
        "Name": table.name(),
        "Folder": "",
        "DocString": "",
        "OrderedColumns": columns.collect::<Vec<_>>(),
    })
}

/// `.show database D schema as csl script`: a command that would make each table.
pub(crate) fn schema_script() -> SmallTable {
    let rows = Table::ALL.into_iter().map(|table| {
        let columns = columns_text(table, ", ");
        json!([format!(".create-merge table {} ({columns})", table.name())])
    });
    SmallTable::new(&[("DatabaseSchemaScript", Text)]).with_all(rows)
}

/// `timestamp:datetime,id:string,…`
fn columns_text(table: Table, separator: &str) -> String {
    let column = |column: &Column| format!("{}:{}", column.name, column.scalar_type.name());
    let columns: Vec<String> = table.columns().iter().map(column).collect();
    columns.join(separator)
}

/// `.show tables`
pub(crate) fn tables(app: &AppRecord, tables: &[Table]) -> SmallTable {
    let rows = tables.iter();
    let rows = rows.map(|table| json!([table.name(), app.name, "", ""]));
    SmallTable::new(&[
        ("TableName", Text),
        ("DatabaseName", Text),
        ("Folder", Text),
        ("DocString", Text),
    ])
    .with_all(rows)
}

/// `.show tables details`: each table with its rows. What the store has no figures of is null. `retention`: seconds.
pub(crate) fn table_details(
    app: &AppRecord,
    tables: &[(Table, i64)],
    retention: u64,
) -> SmallTable {
    const COLUMNS: &[(&str, ScalarType)] = &[
        ("TableName", Text),
        ("DatabaseName", Text),
        ("Folder", Text),
        ("DocString", Text),
        ("TotalExtents", Long),
        ("TotalExtentSize", Real),
        ("TotalOriginalSize", Real),
        ("TotalRowCount", Long),
        ("HotExtents", Long),
        ("HotExtentSize", Real),
        ("HotOriginalSize", Real),
        ("HotRowCount", Long),
        ("RetentionPolicy", Text),
        ("MinExtentsCreationTime", DateTime),
        ("MaxExtentsCreationTime", DateTime),
    ];
    let (days, rest) = (retention / 86_400, retention % 86_400);
    let (hours, minutes, seconds) = (rest / 3600, rest / 60 % 60, rest % 60);
    let period = format!("{days}.{hours:02}:{minutes:02}:{seconds:02}");
    let policy = json!({ "SoftDeletePeriod": period, "Recoverability": "Disabled" }).to_string();
    let rows = tables.iter().map(|(table, count)| {
        json!([
            table.name(),
            app.name,
            "",
            "",
            null,
            null,
            null,
            count,
            null,
            null,
            null,
            null,
            policy,
            null,
            null
        ])
    });
    SmallTable::new(COLUMNS).with_all(rows)
}

/// `.show table T schema as json` and `.show table T cslschema`.
pub(crate) fn table_schema(app: &AppRecord, table: Table, as_json: bool) -> SmallTable {
    let schema = if as_json {
        table_object(table).to_string()
    } else {
        columns_text(table, ",")
    };
    SmallTable::new(&[
        ("TableName", Text),
        ("Schema", Text),
        ("DatabaseName", Text),
        ("Folder", Text),
        ("DocString", Text),
    ])
    .with(json!([table.name(), schema, app.name, "", ""]))
}

/// `.show version`
pub(crate) fn version() -> SmallTable {
    SmallTable::new(&[
        ("BuildVersion", Text),
        ("BuildTime", DateTime),
        ("ServiceType", Text),
        ("ProductVersion", Text),
        ("ServiceOffering", Text),
    ])
    .with(json!([
        env!("CARGO_PKG_VERSION"),
        null,
        "Engine",
        concat!("Hindsight ", env!("CARGO_PKG_VERSION")),
        "{\"Type\":\"Hindsight\"}"
    ]))
}

/// `.show cluster`: this server is the one node.
pub(crate) fn cluster(address: &str) -> SmallTable {
    SmallTable::new(&[
        ("NodeId", Text),
        ("Address", Text),
        ("Name", Text),
        ("StartTime", DateTime),
        ("IsAdmin", Bool),
    ])
    .with(json!(["0", address, "hindsight", null, true]))
}

/// `.show functions`: there are none.
pub(crate) fn functions() -> SmallTable {
    SmallTable::new(&[
        ("Name", Text),
        ("Parameters", Text),
        ("Body", Text),
        ("Folder", Text),
        ("DocString", Text),
    ])
}

/// `.show external tables`: there are none.
pub(crate) fn external_tables() -> SmallTable {
    SmallTable::new(&[
        ("TableName", Text),
        ("TableType", Text),
        ("Folder", Text),
        ("DocString", Text),
        ("Properties", Text),
        ("ConnectionStrings", ScalarType::Dynamic),
        ("Partitions", ScalarType::Dynamic),
        ("PathFormat", Text),
    ])
}

/// `.show materialized-views`: there are none.
pub(crate) fn materialized_views() -> SmallTable {
    SmallTable::new(&[
        ("Name", Text),
        ("SourceTable", Text),
        ("Query", Text),
        ("MaterializedTo", DateTime),
        ("LastRun", DateTime),
        ("LastRunResult", Text),
        ("IsHealthy", Bool),
        ("IsEnabled", Bool),
        ("Folder", Text),
        ("DocString", Text),
    ])
}

/// The addresses of the issuer whose tokens are accepted, for clients that sign in. `audience`: the resource of the tokens.
pub(crate) fn authentication(issuer: &str, tenant: &str, audience: &str) -> Value {
    json!({
        "AzureAD": {
            "LoginEndpoint": issuer,
            "LoginMfaRequired": false,
            // The id that clients of the protocol have; `hindsight client create --id` registers it.
            "KustoClientAppId": "db662dc1-0cfe-4e1c-a843-19a68e65be58",
            "KustoClientRedirectUri": "http://localhost",
            "KustoServiceResourceId": audience,
            "FirstPartyAuthorityUrl": format!("{issuer}/{tenant}"),
        },
        "dSTS": {
            "CloudEndpointSuffix": "",
            "DstsRealm": "",
            "DstsInstance": "",
            "KustoDnsHostName": "",
            "ServiceName": "kusto",
        },
    })
}
