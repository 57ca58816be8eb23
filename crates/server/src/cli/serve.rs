//! `hindsight serve`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use clap::Args;
use hindsight_store::Application;
use tokio::net::{TcpListener, TcpSocket, lookup_host};
use tokio::sync::watch;

use super::data::{client_url, data_flag, environment, objects, program};
use super::listen::Encryption;
use super::portal::{portal_link, portal_origin};
use super::test_mode::TestFlags;
use super::{audit, banner, demo, listen, output};
use crate::app::{App, connection_string, create_app, create_key};
use crate::config::Settings;
use crate::service::Service;
use crate::shutdown::Shutdown;
use crate::tls;
use crate::wire::test_mode as wire;

/// `hindsight serve`
#[derive(Debug, Args)]
pub(super) struct Serve {
    /// Data folder [default: ./hindsight-data]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Catalogue in PostgreSQL, `postgres://user@host/database` [default: in the data folder]
    #[arg(long, value_name = "URL")]
    catalogue: Option<String>,
    /// What this node of a catalogue in PostgreSQL does: `all`, `ingest`, `query` or `maintain` [default: all]
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,
    /// Object store of segments: `s3://bucket/prefix`, `az://container/prefix`, `gs://bucket/prefix` or `file:///folder` [default: in the data folder]
    #[arg(long, value_name = "URL")]
    objects: Option<String>,
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
    /// Do not serve the portal.
    #[arg(long)]
    no_portal: bool,
    #[command(flatten)]
    test: TestFlags,
}

impl Serve {
    fn settings(&self) -> anyhow::Result<Settings> {
        let defaults = self.test.defaults()?;
        let mut settings = defaults.overridden(self.config.as_deref(), environment)?;
        if let Some(data) = &self.data {
            settings.data.clone_from(data);
        }
        if let Some(catalogue) = &self.catalogue {
            settings.set("store.catalogue", catalogue)?;
        }
        if let Some(role) = &self.role {
            settings.set("node.role", role)?;
        }
        if let Some(objects) = &self.objects {
            settings.set("store.objects", objects)?;
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
        if self.no_portal {
            settings.set("portal.enabled", "false")?;
        }
        Ok(settings)
    }

    pub(super) async fn run(self) -> anyhow::Result<()> {
        let mut settings = self.settings()?;
        if self.check_config {
            return output::print("the settings are valid\n");
        }
        let _logs = crate::telemetry::start_logs(&settings.log_filter, settings.log_json);
        let _folder = self.test.make_folder(&mut settings)?;
        let app = match self.test.mode() {
            Some(_) if settings.store_objects.is_some() => {
                bail!("test mode does not support segments in an object store (store.objects)")
            }
            Some(test) => App::build_in_test_mode(settings, test).await?,
            None => {
                let objects = objects(&settings)?;
                App::build_with(settings, |store| store.objects = objects).await?
            }
        };
        let served = serve(&app, &self).await;
        let closed = app.close().await;
        served.and(closed)
    }
}

/// Listens, prints how to reach the server, and serves until the process is asked to stop.
async fn serve(app: &Arc<App>, serve: &Serve) -> anyhow::Result<()> {
    let listeners = Listeners::bind(app, &serve.test).await?;
    // Before the server says that it is ready: who reads that may stop it at once.
    let asked_to_stop = stop_signal();
    locate_issuer(app, &listeners.url, listeners.tls_url());
    let base = client_url(&app.settings, &listeners.url, listeners.tls_url());
    let (text, shop) = if let Some(test) = &app.test {
        let made = create_app(app.store.catalogue(), "test", app.now()).await?;
        test.set_app(made.id);
        let line = test_line(app, &serve.test, &made, &base, &listeners).await?;
        let shop = if serve.demo {
            Some(demo::prepare(app).await?)
        } else {
            None
        };
        (line, shop)
    } else {
        introduction(app, serve.demo, &base, &listeners).await?
    };
    app.store.announce(&listeners.url, listeners.tls_url())?;
    output::print(&format!("{text}\n"))?;
    listeners.serve(app, shop, asked_to_stop).await
}

/// What the program prints in test mode: a line of JSON.
async fn test_line(
    app: &App,
    flags: &TestFlags,
    made: &Application,
    base: &str,
    listeners: &Listeners,
) -> anyhow::Result<String> {
    let catalogue = app.store.catalogue();
    let (_, key) = create_key(catalogue, made.id, "test", app.now(), None).await?;
    let tls = listeners.tls.as_ref();
    let line = wire::started(&wire::Started {
        base,
        url: &listeners.url,
        tls_url: listeners.tls_url(),
        authority: tls.and_then(|socket| socket.tls.authority.as_deref()),
        issuer: &format!("{}/{}", app.issuer.base(), app.issuer.tenant()),
        app: made,
        key: &key,
        portal: portal_sign_in(app, &listeners.url)?.as_deref(),
        data: flags.has_folder().then_some(app.settings.data.as_path()),
    });
    Ok(line.to_string())
}

/// What the program prints, and the shop of the demo.
async fn introduction(
    app: &App,
    with_demo: bool,
    base: &str,
    listeners: &Listeners,
) -> anyhow::Result<(String, Option<demo::DemoShop>)> {
    // The commands to try need no certificate.
    let shown = client_url(&app.settings, &listeners.url, None);
    let mut text = greeting(app, &shown, base).await?;
    let shop = if with_demo {
        let shop = demo::prepare(app).await?;
        text += &demo_text(app, &shop, &shown, base).await?;
        Some(shop)
    } else {
        None
    };
    text += &portal_text(app, &listeners.url)?;
    text += &listeners.tls_text();
    text += &listeners.otlp_text();
    text += &format!(
        "  issuer       {}/{}\n",
        app.issuer.base(),
        app.issuer.tenant()
    );
    Ok((text, shop))
}

/// What the greeting says of the portal.
fn portal_text(app: &App, url: &str) -> anyhow::Result<String> {
    if !app.settings.portal_enabled {
        return Ok(String::new());
    }
    let address = portal_sign_in(app, url)?;
    let address =
        address.unwrap_or_else(|| format!("{}/portal/", client_url(&app.settings, url, None)));
    Ok(format!("\n  portal       {address}\n"))
}

/// A new address that signs the owner of this machine in; `None` if the settings or the address of the server permit none.
fn portal_sign_in(app: &App, url: &str) -> anyhow::Result<Option<String>> {
    let settings = &app.settings;
    let Some(origin) =
        portal_origin(url).filter(|_| settings.portal_enabled && settings.portal_sign_in)
    else {
        return Ok(None);
    };
    let link = app.issuer.new_link();
    let link = link.map_err(|error| anyhow!(error.message))?;
    Ok(Some(portal_link(&origin, &link)))
}

/// The usual ports of OpenTelemetry.
const OTLP_HTTP: u16 = 4318;
const OTLP_GRPC: u16 = 4317;
/// Each of these ports accepts this share of the connections of the main one.
const OTLP_SHARE: usize = 8;

/// A port of OpenTelemetry: a socket, or why there is none.
struct OtlpPort {
    protocol: &'static str,
    address: String,
    socket: anyhow::Result<TcpListener>,
}

/// The sockets that the server listens on.
struct Listeners {
    main: TcpListener,
    /// Those of OpenTelemetry. What they take, `main` takes too, so the server starts without them.
    otlp: Vec<OtlpPort>,
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
    async fn bind(app: &App, test: &TestFlags) -> anyhow::Result<Listeners> {
        let main = bind(&app.settings.listen, test).await?;
        let address = main.local_addr()?;
        let tls = match tls::open(&app.settings, app.timestamp())? {
            Some(tls) => {
                let separate = match &app.settings.tls_listen {
                    Some(listen) => Some(bind(listen, test).await?),
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
            otlp: otlp_ports(&app.settings, test).await,
            main,
            tls,
        })
    }

    /// What the greeting says of OpenTelemetry.
    fn otlp_text(&self) -> String {
        let line = |port: &OtlpPort| match &port.socket {
            Ok(_) => format!("  OTLP         {}   ({})\n", port.address, port.protocol),
            Err(error) => format!(
                "  OTLP         {} is not available for {}: {}; {} takes it too\n",
                port.address,
                port.protocol,
                error.root_cause(),
                self.url
            ),
        };
        self.otlp.iter().map(line).collect()
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
    async fn serve(
        self,
        app: &Arc<App>,
        shop: Option<demo::DemoShop>,
        asked_to_stop: impl Future<Output = ()> + Send + 'static,
    ) -> anyhow::Result<()> {
        let (stop, stopped) = watch::channel(false);
        let feeding = shop.map(|shop| tokio::spawn(demo::feed(app.clone(), shop, stopped.clone())));
        let joining = tokio::spawn(join(app.clone()));
        let upkeep = tokio::spawn(crate::telemetry::keep_up(
            app.prometheus.clone(),
            app.settings.purge_above(),
        ));
        let stopping = app.clone();
        let signal = tokio::spawn(async move {
            asked_to_stop.await;
            tracing::info!("stopping");
            stopping.live.close();
            if let Some(test) = &stopping.test {
                test.stop();
            }
            stopping.shutdown.begin();
            stop.send_replace(true);
            tokio::time::sleep(Shutdown::grace(stopping.settings.shutdown_timeout)).await;
            stopping.shutdown.end();
        });
        let (service, settings) = (Service::new(app.clone()), &app.settings);
        let run = |listener, encryption| {
            let (service, stopped) = (service.clone(), stopped.clone());
            listen::run(listener, encryption, service, stopped, settings)
        };
        let encryption = match &self.tls {
            Some(encrypted) => Encryption::Accepted(encrypted.tls.acceptor.clone()),
            None => Encryption::None,
        };
        let otlp = Service::from(crate::router::open_telemetry_router(app.clone()));
        let few = Settings {
            max_connections: (settings.max_connections / OTLP_SHARE).max(1),
            ..settings.clone()
        };
        let few = &few;
        let otlp_ports = self.otlp.into_iter().filter_map(|port| port.socket.ok());
        let otlp_ports = futures::future::join_all(otlp_ports.map(|socket| {
            let (service, stopped) = (otlp.clone(), stopped.clone());
            listen::run(socket, encryption.clone(), service, stopped, few)
        }));
        let main = serve_main(self.main, self.tls, run);
        tokio::join!(main, otlp_ports);
        signal.abort();
        upkeep.abort();
        joining.abort();
        if let Some(feeding) = feeding {
            feeding.await?;
        }
        Ok(())
    }
}

/// How often a node that shares its catalogue expects telemetry at the others.
const OTHER_NODES: Duration = Duration::from_secs(1);

/// Joins the nodes that share a catalogue, now that they can reach this one, and counts what may arrive at them.
async fn join(app: Arc<App>) {
    if !app.store.is_shared() {
        return;
    }
    while let Err(error) = app.store.join().await {
        tracing::warn!(%error, "this node cannot join the others yet, and takes no telemetry");
        tokio::time::sleep(OTHER_NODES).await;
    }
    loop {
        tokio::time::sleep(OTHER_NODES).await;
        if !app.store.other_nodes().is_empty() {
            app.replies.note_other_nodes();
        }
    }
}

/// Serves at the main socket, and at another one for TLS if there is one.
async fn serve_main<F: Future<Output = ()>>(
    main: TcpListener,
    tls: Option<Encrypted>,
    run: impl Fn(TcpListener, Encryption) -> F,
) {
    let Some(Encrypted { tls, separate, .. }) = tls else {
        return run(main, Encryption::None).await;
    };
    let renewal = tls.renewal.map(|renewal| tokio::spawn(renewal.run()));
    let main = run(main, Encryption::Accepted(tls.acceptor.clone()));
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

/// The ports of OpenTelemetry that the settings name. One that cannot be had is told and not waited for.
async fn otlp_ports(settings: &Settings, test: &TestFlags) -> Vec<OtlpPort> {
    let wanted = [
        (
            "HTTP",
            settings
                .otlp_http_listen
                .beside(&settings.listen, OTLP_HTTP),
        ),
        (
            "gRPC",
            settings
                .otlp_grpc_listen
                .beside(&settings.listen, OTLP_GRPC),
        ),
    ];
    let mut ports = Vec::new();
    for (protocol, address) in wanted {
        let Some(address) = address else { continue };
        let socket = bind(&address, test).await;
        if let Err(error) = &socket {
            tracing::warn!(%address, protocol, error = %format!("{error:#}"), "OpenTelemetry has no port of its own; the main port takes it");
        }
        ports.push(OtlpPort {
            protocol,
            address,
            socket,
        });
    }
    ports
}

/// Connections that wait to be accepted. The operating system resets some of those beyond it, and may lower it.
const BACKLOG: u32 = 4096;

/// Listens on an address. What its name resolves to is what is checked and what is bound.
async fn bind(address: &str, test: &TestFlags) -> anyhow::Result<TcpListener> {
    let cannot = || format!("cannot listen on {address}");
    let resolved: Vec<SocketAddr> = lookup_host(address).await.with_context(cannot)?.collect();
    test.check_addresses(address, &resolved)?;
    let mut bound = Err(std::io::ErrorKind::AddrNotAvailable.into());
    for address in resolved {
        bound = listen_at(address);
        if bound.is_ok() {
            break;
        }
    }
    bound.with_context(cannot)
}

fn listen_at(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()?
    } else {
        TcpSocket::new_v6()?
    };
    // As `TcpListener::bind` does: connections of a server that has ended do not hold its port.
    #[cfg(not(windows))]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// The server's URL and the first application. An empty data folder gets a new one.
async fn greeting(app: &App, shown: &str, base: &str) -> anyhow::Result<String> {
    let mut text = format!(
        "\n  Hindsight {} at {shown}\n  data folder  {}\n",
        env!("CARGO_PKG_VERSION"),
        app.settings.data.display()
    ) + &banner::warnings(
        app.store.clock_trust(),
        app.store.damaged_segments(),
        |words| command(app, words),
    );
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

/// A command about the server's data folder, as a line for a shell.
fn command(app: &App, words: &str) -> String {
    format!("{} {words}{}", program(), data_flag(&app.settings.data))
}

/// What the greeting says of the demo's application.
async fn demo_text(
    app: &App,
    shop: &demo::DemoShop,
    shown: &str,
    base: &str,
) -> anyhow::Result<String> {
    if !shop.created {
        let create = command(app, &format!("key create --app {}", shop.app.name));
        return Ok(format!("\n  a new key for the demo: {create}\n"));
    }
    let (introduction, key) = introduce(app, &shop.app, base).await?;
    Ok(introduction + &banner::things_to_try(&shop.app, &key, shown, |words| command(app, words)))
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

/// Takes the signals that ask the process to stop, from this call on; completes when one has come.
fn stop_signal() -> impl Future<Output = ()> + Send + 'static {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let terminate = signal(SignalKind::terminate());
        let interrupt = signal(SignalKind::interrupt());
        async move {
            if let (Ok(mut terminate), Ok(mut interrupt)) = (terminate, interrupt) {
                tokio::select! {
                    _ = terminate.recv() => {}
                    _ = interrupt.recv() => {}
                }
                return;
            }
            let _ = tokio::signal::ctrl_c().await;
        }
    }
    #[cfg(not(unix))]
    async {
        let _ = tokio::signal::ctrl_c().await;
    }
}
