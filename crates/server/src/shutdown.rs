//! The end of the server as requests see it: queries get 503 with `Retry-After`, not a closed connection.

use std::time::Duration;

use tokio::sync::watch;

use crate::error::ApiError;

/// How far the server has stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Running,
    /// Queries that run continue, those that wait are refused.
    Stopping,
    /// Queries that still run are refused too.
    Ending,
}

/// Tells queries that the server stops.
#[derive(Debug)]
pub(crate) struct Shutdown(watch::Sender<Phase>);

impl Default for Shutdown {
    fn default() -> Shutdown {
        Shutdown(watch::Sender::new(Phase::Running))
    }
}

impl Shutdown {
    /// Refuses queries that wait for a permit, now and from now on.
    pub(crate) fn begin(&self) {
        self.0.send_replace(Phase::Stopping);
    }

    /// Refuses queries that still run.
    pub(crate) fn end(&self) {
        self.0.send_replace(Phase::Ending);
    }

    /// How long queries that run may continue if connections are closed after `timeout`: their refusals have to be sent.
    pub(crate) fn grace(timeout: Duration) -> Duration {
        timeout.saturating_sub((timeout / 4).min(Duration::from_secs(1)))
    }

    /// The result of `work`, which waits, or [`ApiError::Unavailable`] once the server stops.
    pub(crate) async fn or_stopping<T>(
        &self,
        work: impl Future<Output = Result<T, ApiError>>,
    ) -> Result<T, ApiError> {
        self.until(Phase::Stopping, work).await
    }

    /// The result of `work`, which runs, or [`ApiError::Unavailable`] once the time for running queries has passed.
    pub(crate) async fn or_ending<T>(
        &self,
        work: impl Future<Output = Result<T, ApiError>>,
    ) -> Result<T, ApiError> {
        self.until(Phase::Ending, work).await
    }

    /// What a reply that is streamed waits for, beside its rows.
    pub(crate) fn watch(&self) -> ShutdownWatch {
        ShutdownWatch(self.0.subscribe())
    }

    async fn until<T>(
        &self,
        phase: Phase,
        work: impl Future<Output = Result<T, ApiError>>,
    ) -> Result<T, ApiError> {
        let mut phases = self.watch();
        tokio::select! {
            // Work that needs no waiting is done, whatever the phase.
            biased;
            result = work => result,
            refused = phases.reached(phase) => Err(refused),
        }
    }
}

/// The view that one request has of [`Shutdown`]: it outlives the request's handler.
#[derive(Debug, Clone)]
pub(crate) struct ShutdownWatch(watch::Receiver<Phase>);

impl ShutdownWatch {
    /// Completes once the time for running queries has passed, with what their replies then say.
    pub(crate) async fn ended(&mut self) -> ApiError {
        self.reached(Phase::Ending).await
    }

    async fn reached(&mut self, phase: Phase) -> ApiError {
        // The sender lives as long as the application: without it nobody is left to be answered.
        let _ = self.0.wait_for(|current| *current >= phase).await;
        ApiError::Unavailable("The server is stopping; try again later".to_owned())
    }
}
