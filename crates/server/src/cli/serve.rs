//! `hindsight serve`.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use hindsight_store::Application;
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::{banner, demo, environment, listen, output};
use crate::app::{App, connection_string, create_key};
use crate::config::{self, Settings};

/// `hindsight serve`
#[derive(Debug, Args)]
#[command(after_long_help = config::documentation())]
pub(super) struct Serve {
    /// The data folder [default: ./hindsight-data]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Address and port [default: 127.0.0.1:2020]
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
    /// Settings in a TOML file.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Create the application `demo` and keep a web shop's telemetry flowing into it.
    #[arg(long)]
    demo: bool,
    /// Check the settings and stop.
    #[arg(long)]
    check_config: bool,
}

impl Serve {
    fn settings(&self) -> anyhow::Result<Settings> {
        let mut settings = Settings::load(self.config.as_deref(), environment)?;
        if let Some(data) = &self.data {
            settings.data.clone_from(data);
        }
        if let Some(listen) = &self.listen {
            settings.set("listen", listen)?;
        }
        Ok(settings)
    }

    pub(super) async fn run(self) -> anyhow::Result<()> {
        let settings = self.settings()?;
        if self.check_config {
            return output::print("the settings are valid\n");
        }
        let _logs = crate::telemetry::start_logs(&settings.log_filter, settings.log_json);
        let app = App::build(settings).await?;
        let served = serve(&app, self.demo).await;
        let closed = app.close().await;
        served.and(closed)
    }
}

async fn serve(app: &Arc<App>, with_demo: bool) -> anyhow::Result<()> {
    let address = app.settings.listen.clone();
    let listener = TcpListener::bind(&address)
        .await
        .with_context(|| format!("cannot listen on {address}"))?;
    let local = format!("http://{}", listener.local_addr()?);
    let base = if app.settings.public_url.is_empty() {
        local.clone()
    } else {
        app.settings.public_url.clone()
    };
    let mut text = format!(
        "\n  Hindsight {} at {base}\n  data folder  {}\n",
        env!("CARGO_PKG_VERSION"),
        app.settings.data.display()
    );
    if let Some(first) = app.create_first_app().await? {
        text += &introduce(app, &first, &base).await?.0;
    } else if let Some(known) = app.store.catalogue().apps().await?.first() {
        text += &format!(
            "  connection   {}   (application '{}')\n",
            connection_string(&base, known),
            known.name
        );
    }
    let shop = if with_demo {
        Some(demo::prepare(app).await?)
    } else {
        None
    };
    match &shop {
        Some(shop) if shop.created => {
            let (introduction, key) = introduce(app, &shop.app, &base).await?;
            text += &introduction;
            text += &banner::things_to_try(&shop.app, &key, &base);
        }
        Some(_) => text += "\n  a new key for the demo: hindsight key create --app demo\n",
        None => {}
    }
    app.store.announce(&local)?;
    output::print(&format!("{text}\n"))?;

    let (stop, stopped) = watch::channel(false);
    let feeding = shop.map(|shop| tokio::spawn(demo::feed(app.clone(), shop, stopped.clone())));
    let signal = tokio::spawn(async move {
        stop_signal().await;
        tracing::info!("stopping");
        stop.send(true)
    });
    listen::run(
        listener,
        crate::router::router(app.clone()),
        stopped,
        &app.settings,
    )
    .await;
    signal.abort();
    if let Some(feeding) = feeding {
        feeding.await?;
    }
    Ok(())
}

/// What a new application's owner needs next, and the key in it.
async fn introduce(app: &App, new: &Application, base: &str) -> anyhow::Result<(String, String)> {
    let (_, key) = create_key(app.store.catalogue(), new.id, "first key", app.now(), None).await?;
    Ok((banner::introduction(new, &key, base), key))
}

/// Completes when the process is asked to stop.
async fn stop_signal() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = tokio::signal::ctrl_c() => {}
            }
            return;
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}
