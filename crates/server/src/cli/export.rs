//! `hindsight export`.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use hindsight_kql_types::datetime;
use hindsight_store::Table;
use indicatif::{ProgressBar, ProgressStyle};

use super::data::DataFolder;
use super::export_file::{Format as FileFormat, TableFile};
use super::output;
use super::pages::{Api, Interval, Pages};
use super::retention::known_table;
use super::target::Target;

/// `hindsight export --app A … OUT`
#[derive(Debug, Args)]
pub(super) struct Export {
    /// The file to write with `--table`, or else the folder to write a file for each table to. Must not exist.
    #[arg(value_name = "OUT")]
    out: PathBuf,
    /// The name or id of the application.
    #[arg(long)]
    app: String,
    /// The table, such as requests [default: all that have items]
    #[arg(long)]
    table: Option<String>,
    /// Export items from this time on, such as 2026-11-01 or 2026-11-01T12:00:00Z.
    #[arg(long, value_name = "TIME", value_parser = time)]
    from: Option<i64>,
    /// Export items before this time.
    #[arg(long, value_name = "TIME", value_parser = time)]
    to: Option<i64>,
    /// The format of the files. `hindsight import` reads ndjson back.
    #[arg(long, value_enum, default_value = "ndjson")]
    format: Format,
    #[command(flatten)]
    data: DataFolder,
    /// Export from the server at this URL instead of the data folder.
    #[arg(long, conflicts_with = "data")]
    url: Option<String>,
    /// API key for `--url`.
    #[arg(long, requires = "url", env = "HINDSIGHT_KEY", hide_env_values = true)]
    key: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Ndjson,
    Csv,
    Parquet,
}

/// A time in ticks.
pub(super) fn time(text: &str) -> Result<i64, String> {
    let shaped = text.len() >= 10 && text.as_bytes().get(4) == Some(&b'-');
    let parsed = if shaped { datetime::parse(text) } else { None };
    parsed.ok_or_else(|| "expected a time such as 2026-11-01 or 2026-11-01T12:00:00Z".to_owned())
}

impl Export {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let (format, ending) = match self.format {
            Format::Ndjson => (FileFormat::Ndjson, "ndjson"),
            Format::Csv => (FileFormat::Csv, "csv"),
            Format::Parquet => (FileFormat::Parquet, "parquet"),
        };
        if self.out.exists() {
            bail!("{} exists already", self.out.display());
        }
        let table = self.table.as_deref().map(known_table).transpose()?;
        let bounds = Interval {
            from: self
                .from
                .unwrap_or(datetime::parse("1900-01-01").unwrap_or(0)),
            to: self
                .to
                .unwrap_or(datetime::parse("9999-01-01").unwrap_or(i64::MAX)),
        };
        if bounds.from >= bounds.to {
            bail!("--from is not before --to");
        }
        let target = match &self.url {
            Some(url) => Target::at(url, self.key.as_deref())?,
            None => Target::folder(&self.data).await?,
        };
        let pages = Pages {
            api: Api { target },
            app: self.app.clone(),
        };
        let exported = match table {
            Some(table) => one(&pages, table, bounds, format, &self.out)
                .await
                .map(|count| vec![(table, count)]),
            None => all(&pages, bounds, format, ending, &self.out).await,
        };
        pages.api.target.close().await?;
        let mut text = String::new();
        for (table, count) in exported? {
            text += &format!("{count} items of {table}\n");
        }
        output::print(&text)
    }
}

/// Exports each table that has items to a file in a folder.
async fn all(
    pages: &Pages,
    bounds: Interval,
    format: FileFormat,
    ending: &str,
    folder: &Path,
) -> anyhow::Result<Vec<(Table, u64)>> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot create {}", folder.display()))?;
    let mut exported = Vec::new();
    for table in Table::ALL {
        let path = folder.join(format!("{table}.{ending}"));
        if pages.extent(table, Some(bounds)).await?.is_some() {
            exported.push((table, one(pages, table, bounds, format, &path).await?));
        }
    }
    Ok(exported)
}

/// Exports a table to a file; returns the number of items. The file has its name once it is whole.
async fn one(
    pages: &Pages,
    table: Table,
    bounds: Interval,
    format: FileFormat,
    path: &Path,
) -> anyhow::Result<u64> {
    let extent = pages.extent(table, Some(bounds)).await?;
    let bar = bar(table, extent.map_or(0, |(_, count)| count));
    let mut file = TableFile::create(path, table, format)?;
    if let Some((interval, _)) = extent {
        let mut reading = pages.read(table, interval);
        while let Some(page) = reading.next().await? {
            if let Some(rows) = page.table {
                file.write(&rows)?;
                bar.set_position(file.items());
            }
        }
    }
    bar.finish_and_clear();
    file.finish()
}

/// A bar over items. It draws on a terminal alone.
pub(super) fn bar(table: Table, count: u64) -> ProgressBar {
    let bar = ProgressBar::new(count).with_message(table.name());
    let form = "{msg} {bar:30} {human_pos}/{human_len} {per_sec} {eta}";
    if let Ok(style) = ProgressStyle::with_template(form) {
        bar.set_style(style);
    }
    bar
}
