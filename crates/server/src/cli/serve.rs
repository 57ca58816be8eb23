//! `hindsight serve`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use hindsight_store::Application;
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::data::{client_url, environment};
use super::listen::Encryption;
use super::{audit, banner, demo, listen, output};
use crate::app::{App, connection_string, create_key};
use crate::config::{self, Settings};
use crate::tls;

/// `hindsight serve`
#[derive(Debug, Args)]
#[command(after_long_help = config::documentation())]
pub(super) struct Serve {
    /// Data folder [default: ./hindsight-data]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Address and port for HTTP, and for TLS if there is a certificate [default: 127.0.0.1:2020]
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
    /// Further address and port, for TLS alone
    #[arg(long, value_name = "ADDR")]
    tls_listen: Option<String>,
    /// Create a local certificate authority and a certificate for this machine, and serve TLS with them.
    #[arg(long)]
    dev_tls: bool,
    /// Read settings from a TOML file.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Create the application `demo` and continuously generate the telemetry of a web shop for it.
    #[arg(long)]
    demo: bool,
    /// Validate the settings and exit.
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
        if let Some(listen) = &self.tls_listen {
            settings.set("tls.listen", listen)?;
        }
        if self.dev_tls {
            settings.set("tls.dev", "true")?;
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

/// Listens, prints how to reach the server, and serves until the process is asked to stop.
async fn serve(app: &Arc<App>, with_demo: bool) -> anyhow::Result<()> {
    let listeners = Listeners::bind(app).await?;
    locate_issuer(app, &listeners.url, listeners.tls_url());
    let base = client_url(&app.settings, &listeners.url, listeners.tls_url());
    // The commands to try need no certificate.
    let shown = client_url(&app.settings, &listeners.url, None);
    let mut text = greeting(app, &shown, &base).await?;
    let shop = if with_demo {
        let shop = demo::prepare(app).await?;
        text += &demo_text(app, &shop, &shown, &base).await?;
        Some(shop)
    } else {
        None
    };
    text += &listeners.tls_text();
    text += &format!(
        "  issuer       {}/{}\n",
        app.issuer.base(),
        app.issuer.tenant()
    );
    app.store.announce(&listeners.url, listeners.tls_url())?;
    output::print(&format!("{text}\n"))?;
    listeners.serve(app, shop).await
}

/// The sockets that the server listens on.
struct Listeners {
    main: TcpListener,
    /// The address of `main` for plain HTTP.
    url: String,
    tls: Option<Encrypted>,
}

/// TLS at the main socket, and at another one if the settings name one.
struct Encrypted {
    tls: tls::Tls,
    /// Takes connections of TLS alone.
    separate: Option<TcpListener>,
    url: String,
}

impl Listeners {
    /// Opens the sockets that the settings name.
    async fn bind(app: &App) -> anyhow::Result<Listeners> {
        let main = bind(&app.settings.listen).await?;
        let address = main.local_addr()?;
        let tls = match tls::open(&app.settings, app.timestamp())? {
            Some(tls) => {
                let separate = match &app.settings.tls_listen {
                    Some(listen) => Some(bind(listen).await?),
                    None => None,
                };
                let at = separate.as_ref().map(TcpListener::local_addr);
                let url = tls_url(at.transpose()?.unwrap_or(address));
                Some(Encrypted { tls, separate, url })
            }
            None => None,
        };
        Ok(Listeners {
            url: format!("http://{address}"),
            main,
            tls,
        })
    }

    fn tls_url(&self) -> Option<&str> {
        self.tls.as_ref().map(|tls| tls.url.as_str())
    }

    /// What the greeting says of TLS.
    fn tls_text(&self) -> String {
        let Some(Encrypted { tls, url, .. }) = &self.tls else {
            return String::new();
        };
        let authority = tls.authority.as_deref().map(tls::how_to_trust);
        format!("\n  TLS          {url}\n{}", authority.unwrap_or_default())
    }

    /// Serves on all sockets, with the demo's telemetry beside, until the process is asked to stop.
    async fn serve(self, app: &Arc<App>, shop: Option<demo::DemoShop>) -> anyhow::Result<()> {
        let (stop, stopped) = watch::channel(false);
        let feeding = shop.map(|shop| tokio::spawn(demo::feed(app.clone(), shop, stopped.clone())));
        let live = app.live.clone();
        let signal = tokio::spawn(async move {
            stop_signal().await;
            tracing::info!("stopping");
            live.close();
            stop.send(true)
        });
        let (router, settings) = (crate::router::router(app.clone()), &app.settings);
        let run = |listener, encryption| {
            let (router, stopped) = (router.clone(), stopped.clone());
            listen::run(listener, encryption, router, stopped, settings)
        };
        match self.tls {
            Some(Encrypted { tls, separate, .. }) => {
                let renewal = tls.renewal.map(|renewal| tokio::spawn(renewal.run()));
                let main = run(self.main, Encryption::Accepted(tls.acceptor.clone()));
                match separate {
                    Some(listener) => {
                        let separate = run(listener, Encryption::Required(tls.acceptor));
                        tokio::join!(main, separate);
                    }
                    None => main.await,
                }
                if let Some(renewal) = renewal {
                    renewal.abort();
                }
            }
            None => run(self.main, Encryption::None).await,
        }
        signal.abort();
        if let Some(feeding) = feeding {
            feeding.await?;
        }
        Ok(())
    }
}

async fn bind(address: &str) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address)
        .await
        .with_context(|| format!("cannot listen on {address}"))
}

/// The server's URL and the first application. An empty data folder gets a new one.
async fn greeting(app: &App, shown: &str, base: &str) -> anyhow::Result<String> {
    let mut text = format!(
        "\n  Hindsight {} at {shown}\n  data folder  {}\n",
        env!("CARGO_PKG_VERSION"),
        app.settings.data.display()
    ) + &banner::warnings(app.store.clock_trust(), app.store.damaged_segments());
    if let Some(first) = app.create_first_app().await? {
        text += &introduce(app, &first, base).await?.0;
    } else if let Some(known) = app.store.catalogue().apps().await?.first() {
        text += &format!(
            "  connection   {}   (application '{}')\n",
            connection_string(base, known),
            known.name
        );
    }
    Ok(text)
}

/// What the greeting says of the demo's application.
async fn demo_text(
    app: &App,
    shop: &demo::DemoShop,
    shown: &str,
    base: &str,
) -> anyhow::Result<String> {
    if !shop.created {
        return Ok("\n  a new key for the demo: hindsight key create --app demo\n".to_owned());
    }
    let (introduction, key) = introduce(app, &shop.app, base).await?;
    Ok(introduction + &banner::things_to_try(&shop.app, &key, shown))
}

/// The address of a TLS listener. A certificate of this machine is for `localhost`, which every client can say.
fn tls_url(address: SocketAddr) -> String {
    if address.ip().is_loopback() {
        format!("https://localhost:{}", address.port())
    } else {
        format!("https://{address}")
    }
}

/// Tells the issuer where it is: where the settings say, or else where TLS is, because SDKs send secrets nowhere else.
fn locate_issuer(app: &App, local: &str, tls_url: Option<&str>) {
    let told = [
        app.settings.auth_url.as_str(),
        app.settings.public_url.as_str(),
    ];
    let told = told.into_iter().find(|address| !address.is_empty());
    let base = told.or(tls_url).unwrap_or(local);
    let mut addresses = vec![local.to_owned(), app.settings.public_url.clone()];
    addresses.extend(tls_url.map(str::to_owned));
    let numbers: Vec<String> = addresses
        .iter()
        .map(|address| address.replace("//127.0.0.1:", "//localhost:"))
        .chain(
            addresses
                .iter()
                .map(|address| address.replace("//localhost:", "//127.0.0.1:")),
        )
        .collect();
    addresses.extend(numbers);
    addresses.retain(|address| !address.is_empty());
    app.issuer.locate(base, &addresses);
}

/// What a new application's owner needs next, and the key in it.
async fn introduce(app: &App, new: &Application, base: &str) -> anyhow::Result<(String, String)> {
    let catalogue = app.store.catalogue();
    let (id, key) = create_key(catalogue, new.id, "first key", app.now(), None).await?;
    let made = format!("{id} (read) of {}", new.name);
    audit::note(catalogue, "application created", &new.name).await?;
    audit::note(catalogue, "key created", &made).await?;
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
