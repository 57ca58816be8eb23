//! `--demo`: the shop's telemetry through the same ingestion as everyone's.

use std::sync::Arc;

use anyhow::Context;
use hindsight_ingest::Sender;
use hindsight_otlp::{Encoding, Signal};
use hindsight_store::Application;
use jiff::SignedDuration;
use tokio::sync::watch;

use super::listen::stopped;
use crate::app::{App, create_app};
use crate::demo::{LIVE_STEP, Sent, Shop, bodies};
use crate::intake::otlp::Export;
use crate::intake::{self, PackedBody};

/// The application's name.
const NAME: &str = "demo";
/// How much history a new demo has.
const HISTORY: SignedDuration = SignedDuration::from_hours(24);

/// The demo's application and how to fill it.
pub(super) struct DemoShop {
    pub(super) app: Application,
    pub(super) created: bool,
    has_history: bool,
}

/// Finds or makes the application.
pub(super) async fn prepare(app: &App) -> anyhow::Result<DemoShop> {
    let known = app.store.catalogue().app(NAME).await?;
    let created = known.is_none();
    let record = match known {
        Some(record) => record,
        None => create_app(app.store.catalogue(), NAME, app.now()).await?,
    };
    let has_history = app
        .store
        .stats()
        .tables
        .iter()
        .any(|table| table.app == record.id && table.rows() > 0);
    Ok(DemoShop {
        app: record,
        created,
        has_history,
    })
}

/// Fills in a day at once where there is none, then keeps up with the time until the server stops.
pub(super) async fn feed(app: Arc<App>, demo: DemoShop, mut stop: watch::Receiver<bool>) {
    let ikey = demo.app.instrumentation_key.to_string();
    let mut shop = Shop::new(&ikey, 1);
    let mut at = app.timestamp();
    let mut filling = !demo.has_history;
    if filling {
        at = at.checked_sub(HISTORY).unwrap_or(at);
    }
    loop {
        let now = app.timestamp();
        // The clock of test mode may jump by years: only the day before its time is filled in.
        at = at.max(now.checked_sub(HISTORY).unwrap_or(at));
        for sent in bodies(&mut shop, at, now) {
            if *stop.borrow() {
                return;
            }
            if let Err(error) = send(&app, sent, &ikey).await {
                tracing::warn!(error = %format!("{error:#}"), "demo telemetry was not taken");
            }
        }
        at = now;
        if filling {
            // Who asked while the history came in saw a part of it.
            app.replies.clear();
            filling = false;
        }
        tokio::select! {
            () = tokio::time::sleep(LIVE_STEP) => {}
            () = stopped(&mut stop) => return,
        }
    }
}

async fn send(app: &Arc<App>, sent: Sent, ikey: &str) -> anyhow::Result<()> {
    if let Some(spans) = sent.spans {
        let export = Export {
            signal: Signal::Traces,
            encoding: Encoding::Json,
            key: Some(ikey.to_owned()),
            principal: None,
            browser: None,
        };
        let exported = intake::otlp::take(app, PackedBody::plain(spans.into()), export).await;
        let exported = exported.map_err(|refusal| anyhow::anyhow!("{}", refusal.message))?;
        if let Some(message) = exported.message {
            anyhow::bail!("spans were refused: {message}");
        }
    }
    let sender = Sender {
        address: "127.0.0.1".to_owned(),
        user_agent: String::new(),
    };
    let verdict = intake::take(app, PackedBody::plain(sent.envelopes.into()), sender, None).await?;
    match verdict.errors.first() {
        None => Ok(()),
        Some(first) => Err(anyhow::anyhow!("{}", first.message))
            .with_context(|| format!("item {}", first.index)),
    }
}
