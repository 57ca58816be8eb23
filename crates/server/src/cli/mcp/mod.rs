//! `hindsight mcp`: a server of the Model Context Protocol, for assistants.
//!
//! Over standard input and output the protocol is JSON-RPC 2.0, one message a line
//! (<https://modelcontextprotocol.io/specification/2025-11-25/basic/transports>). Requests run beside each other, and
//! `notifications/cancelled` cancels one.

mod answer;
mod http;
mod rpc;
mod tools;

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, ensure};
use clap::Args;
use futures::future::{AbortHandle, Abortable, LocalBoxFuture, abortable};
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use hindsight_identity::secret;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

use super::ask::AppArguments;
use answer::answered;
use rpc::Message;
use tools::Tools;

/// `hindsight mcp`
#[derive(Debug, Args)]
pub(super) struct Mcp {
    #[command(flatten)]
    app: AppArguments,
    /// Serve over HTTP at this address of the machine, such as 127.0.0.1:2021, instead of standard input and output. Prints the URL, and
    /// the header that clients send.
    #[arg(long, value_name = "ADDR")]
    http: Option<String>,
    /// Read the token that clients of `--http` send from a file [default: generated at each start]
    #[arg(long, value_name = "FILE", requires = "http")]
    token_file: Option<PathBuf>,
}

impl Mcp {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let token = self.http.is_some().then(|| self.token()).transpose()?;
        let tools = Tools::new(self.app);
        match (&self.http, token) {
            (Some(address), Some(token)) => http::serve(&tools, address, &token).await?,
            _ => serve(&tools).await?,
        }
        Ok(ExitCode::SUCCESS)
    }

    fn token(&self) -> anyhow::Result<String> {
        let Some(path) = &self.token_file else {
            return Ok(secret::random()?);
        };
        let cannot = || format!("cannot read {}", path.display());
        let text = std::fs::read_to_string(path).with_context(cannot)?;
        let token = text.trim();
        ensure!(!token.is_empty(), "{} holds no token", path.display());
        Ok(token.to_owned())
    }
}

/// Answers the messages of standard input until it ends, and then the requests that still run.
async fn serve(tools: &Tools) -> anyhow::Result<()> {
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    let mut running: FuturesUnordered<Running<'_>> = FuturesUnordered::new();
    let mut cancels: HashMap<String, AbortHandle> = HashMap::new();
    let mut open = true;
    while open || !running.is_empty() {
        let line = tokio::select! {
            line = lines.next_line(), if open => line?,
            Some(finished) = running.next() => {
                // A cancelled request gets no reply.
                if let Ok((id, reply)) = finished {
                    cancels.remove(&id);
                    write(&reply).await?;
                }
                continue;
            }
        };
        let Some(line) = line else {
            open = false;
            continue;
        };
        match rpc::read(&line) {
            Message::Empty => {}
            Message::Bad(reply) => write(&reply).await?,
            Message::Notification(notification) => {
                let cancelled = notification.cancelled().and_then(|id| cancels.remove(&id));
                if let Some(handle) = cancelled {
                    handle.abort();
                }
            }
            Message::Request(request) => {
                let id = request.id.to_string();
                let (answered, handle) = abortable(answered(request, tools).boxed_local());
                running.push(answered);
                cancels.insert(id, handle);
            }
        }
    }
    Ok(())
}

/// A request that runs, until it is cancelled: its id and the line of its reply.
type Running<'t> = Abortable<LocalBoxFuture<'t, (String, String)>>;

/// Writes a line.
async fn write(line: &str) -> std::io::Result<()> {
    let mut out = tokio::io::stdout();
    out.write_all(format!("{line}\n").as_bytes()).await?;
    out.flush().await
}
