//! The thread that writes the log: it gathers requests, writes them with one sync (group commit), makes them visible and acknowledges
//! them.

use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;

use arrow::record_batch::RecordBatch;
use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};

use super::file::{LogSettings, NotBegun, OpenFile, Outcome};
use super::files::file_path;
use super::record;
use super::replay::LogEnd;
use super::replica::Replica;
use crate::app_id::AppId;
use crate::error::{Result, StoreError};
use crate::health::HealthCell;
use crate::schema::Table;

/// Requests that may wait for the writer before senders block (backpressure).
const QUEUE: usize = 1024;

/// What the writer reports to the memtable. Both are called on the writer's thread, so in the order of the log.
pub(crate) trait LogSink: Send + 'static {
    /// These requests are durable: make them visible.
    fn durable(&self, appended: Vec<Appended>);

    /// All requests up to `position` are visible: freeze the memtable for sealing.
    fn freeze(&self, position: u64);
}

/// One request that is in the log.
#[derive(Debug)]
pub(crate) struct Appended {
    pub(crate) sequence: u64,
    pub(crate) app: AppId,
    pub(crate) batches: Vec<(Table, RecordBatch)>,
}

struct Request {
    app: AppId,
    batches: Vec<(Table, RecordBatch)>,
    payload: Vec<u8>,
    reply: oneshot::Sender<Result<u64>>,
}

enum Command {
    Append(Request),
    Freeze(oneshot::Sender<Result<u64>>),
    ReplaceCopy(oneshot::Sender<Result<u64>>),
    Maintain(oneshot::Sender<Result<u64>>),
}

/// The writer's handle. Dropping it ends the thread after the queued requests.
#[derive(Debug)]
pub(crate) struct LogWriter {
    sender: Option<mpsc::Sender<Command>>,
    thread: Option<JoinHandle<()>>,
}

impl LogWriter {
    /// Starts the thread that goes on with a log that ends here. If the disk does not let the log be written, the store is read-only until
    /// [`LogWriter::maintain`] succeeds. With a replica, requests are acknowledged once it has them too.
    pub(crate) fn start(
        settings: LogSettings,
        end: LogEnd,
        health: Arc<HealthCell>,
        sink: impl LogSink,
        replica: Option<Box<dyn Replica>>,
    ) -> Result<LogWriter> {
        let (sender, receiver) = mpsc::channel(QUEUE);
        let mut writer = Writer {
            settings,
            file: State::Closed(end),
            next: end.next,
            last_group: 0,
            health,
            sink,
            replica,
        };
        writer.reopen();
        let thread = std::thread::Builder::new()
            .name("hindsight-log".to_owned())
            .spawn(move || writer.run(receiver))
            .map_err(|error| StoreError::Task(error.to_string()))?;
        Ok(LogWriter {
            sender: Some(sender),
            thread: Some(thread),
        })
    }

    /// Returns the sequence once the request is durable and visible.
    pub(crate) async fn append(
        &self,
        app: AppId,
        batches: Vec<(Table, RecordBatch)>,
        payload: Vec<u8>,
    ) -> Result<u64> {
        self.call(|reply| {
            Command::Append(Request {
                app,
                batches,
                payload,
                reply,
            })
        })
        .await
    }

    /// Freezes the memtable and rotates the log; returns the last frozen sequence.
    pub(crate) async fn freeze(&self) -> Result<u64> {
        self.call(Command::Freeze).await
    }

    /// Makes the last mark of acknowledgement durable, and tries to write the log again if that failed before. Returns the last
    /// acknowledged sequence.
    pub(crate) async fn maintain(&self) -> Result<u64> {
        self.call(Command::Maintain).await
    }

    /// Makes another copy of the log, because the holder of the last one does not report. Returns the last acknowledged sequence.
    pub(crate) async fn replace_copy(&self) -> Result<u64> {
        self.call(Command::ReplaceCopy).await
    }

    async fn call(
        &self,
        command: impl FnOnce(oneshot::Sender<Result<u64>>) -> Command,
    ) -> Result<u64> {
        let (reply, answer) = oneshot::channel();
        let sender = self.sender.as_ref().ok_or(StoreError::Closed)?;
        sender
            .send(command(reply))
            .await
            .map_err(|_| StoreError::Closed)?;
        answer.await.map_err(|_| StoreError::Closed)?
    }
}

impl Drop for LogWriter {
    fn drop(&mut self) {
        self.sender = None;
        if let Some(thread) = self.thread.take() {
            // The folder's lock is released after this: no write of ours may come later.
            let _ = thread.join();
        }
    }
}

/// Whether the log can be written.
enum State {
    Open(OpenFile),
    /// Its last file may hold what was never acknowledged, and must be repaired first.
    Closed(LogEnd),
}

struct Writer<S> {
    settings: LogSettings,
    file: State,
    next: u64,
    last_group: usize,
    health: Arc<HealthCell>,
    sink: S,
    replica: Option<Box<dyn Replica>>,
}

impl<S: LogSink> Writer<S> {
    fn run(mut self, mut receiver: mpsc::Receiver<Command>) {
        while let Some(command) = receiver.blocking_recv() {
            match command {
                Command::Append(first) => {
                    let (group, then) = self.gather(first, &mut receiver);
                    self.commit(group);
                    if let Some(command) = then {
                        self.perform(command);
                    }
                }
                other => self.perform(other),
            }
        }
    }

    /// Performs a command that is not an append.
    fn perform(&mut self, command: Command) {
        match command {
            Command::Append(request) => self.commit(vec![request]),
            Command::Freeze(reply) => {
                self.rotate();
                let position = self.next - 1;
                self.sink.freeze(position);
                let _ = reply.send(Ok(position));
            }
            Command::ReplaceCopy(reply) => {
                let _ = reply.send(self.replace_copy());
            }
            Command::Maintain(reply) => {
                let _ = reply.send(self.maintain());
            }
        }
    }

    /// Takes the queued requests. Waits for more only when the last group had several, so that a single client is not delayed.
    fn gather(
        &self,
        first: Request,
        receiver: &mut mpsc::Receiver<Command>,
    ) -> (Vec<Request>, Option<Command>) {
        let mut bytes = first.payload.len();
        let mut group = vec![first];
        let mut may_wait = self.last_group > 1 && !self.settings.delay.is_zero();
        while bytes < self.settings.commit_bytes {
            match receiver.try_recv() {
                Ok(Command::Append(request)) => {
                    bytes += request.payload.len();
                    group.push(request);
                }
                Ok(other) => return (group, Some(other)),
                Err(_) if may_wait => {
                    std::thread::sleep(self.settings.delay);
                    may_wait = false;
                }
                Err(_) => break,
            }
        }
        (group, None)
    }

    fn commit(&mut self, group: Vec<Request>) {
        self.last_group = group.len();
        if matches!(&self.file, State::Open(file) if file.length >= self.settings.file_bytes) {
            self.rotate();
        }
        if !matches!(self.file, State::Open(_)) {
            return self.refuse(group);
        }
        if let Some(replica) = &mut self.replica
            && let Err(reason) = replica.prepare(self.next)
        {
            return self.refuse_without_copy(group, &reason);
        }
        let State::Open(file) = &mut self.file else {
            return self.refuse(group);
        };
        let (first, next) = (self.next, self.next + group.len() as u64);
        let records = Bytes::from(encode(first, &group));
        let length = file.length;
        if let Some(replica) = &mut self.replica {
            replica.send(first, records.clone());
        }
        let written = file.write(&records);
        let copied = match (&mut self.replica, &written) {
            (None, _) => Ok(()),
            (Some(replica), Outcome::Durable) => replica.wait(next),
            (Some(replica), _) => {
                replica.withdraw(first);
                Ok(())
            }
        };
        match written {
            Outcome::Durable => match copied {
                Ok(()) => self.acknowledge(group),
                Err(reason) => {
                    self.take_back(length);
                    self.refuse_without_copy(group, &reason);
                }
            },
            Outcome::Undone(error) => {
                let path = file_path(&self.settings.dir, file.first);
                self.health
                    .set_log_trouble(Some(format!("cannot write {}: {error}", path.display())));
                for request in group {
                    let again = io::Error::new(error.kind(), error.to_string());
                    let _ = request
                        .reply
                        .send(Err(StoreError::io("write", &path)(again)));
                }
            }
            Outcome::Unknown(reason) => {
                // The requests are refused: that must hold after a crash too, so the file is repaired before they are told.
                self.close(reason.clone());
                self.reopen();
                for request in group {
                    let reason = reason.clone();
                    let _ = request.reply.send(Err(StoreError::ReadOnly { reason }));
                }
            }
        }
    }

    fn replace_copy(&mut self) -> Result<u64> {
        if let (State::Open(_), Some(replica)) = (&self.file, &mut self.replica) {
            let replaced = replica.replace(self.next);
            replaced.map_err(|reason| StoreError::NoCopy { reason })?;
        }
        Ok(self.next - 1)
    }

    /// Takes the last group back, which the log has and no copy of it. It must not come back after a crash either.
    fn take_back(&mut self, length: u64) {
        if let State::Open(file) = &mut self.file
            && let Err(error) = file.take_back(length)
        {
            self.close(format!(
                "requests without a second copy could not be taken back: {error}"
            ));
            self.reopen();
        }
    }

    fn refuse_without_copy(&self, group: Vec<Request>, reason: &str) {
        self.health.set_log_trouble(Some(format!(
            "telemetry is refused, because the log has no second copy: {reason}"
        )));
        for request in group {
            let reason = reason.to_owned();
            let _ = request.reply.send(Err(StoreError::NoCopy { reason }));
        }
    }

    fn acknowledge(&mut self, group: Vec<Request>) {
        let mut appended = Vec::with_capacity(group.len());
        let mut replies = Vec::with_capacity(group.len());
        for (sequence, request) in (self.next..).zip(group) {
            replies.push((sequence, request.reply));
            appended.push(Appended {
                sequence,
                app: request.app,
                batches: request.batches,
            });
        }
        self.next += replies.len() as u64;
        self.health.set_log_trouble(None);
        self.mark();
        self.sink.durable(appended);
        for (sequence, reply) in replies {
            // A disconnected client does not undo its request.
            let _ = reply.send(Ok(sequence));
        }
    }

    /// Writes the mark that everything before `next` is durable: damage to the last request is told from a torn end by it.
    fn mark(&mut self) {
        let mut mark = Vec::new();
        record::write_mark(&mut mark, self.next);
        if let State::Open(file) = &mut self.file {
            match file.write_mark(&mark) {
                Outcome::Durable => {}
                Outcome::Undone(error) => self.health.set_log_trouble(Some(error.to_string())),
                Outcome::Unknown(reason) => self.close(reason),
            }
        }
    }

    fn refuse(&self, group: Vec<Request>) {
        for request in group {
            let error = self.health.read_only().unwrap_or(StoreError::Closed);
            let _ = request.reply.send(Err(error));
        }
    }

    /// Stops writing to the file, whose content on the disk is unknown from now on.
    fn close(&mut self, reason: String) {
        self.health.fail(reason);
        if let State::Open(file) = &mut self.file {
            // Should the disk let itself be written no more, this may still take away what was not acknowledged.
            let _ = file.cut();
            self.file = State::Closed(file.end(self.next));
        }
    }

    /// Repairs the log and begins a new file, if the log is closed.
    fn reopen(&mut self) {
        let State::Closed(end) = &self.file else {
            return;
        };
        match OpenFile::continue_after(&self.settings, end) {
            Ok(file) => {
                self.file = State::Open(file);
                self.health.recovered();
            }
            Err(error) => self.health.fail(error.to_string()),
        }
    }

    fn maintain(&mut self) -> Result<u64> {
        self.reopen();
        if let State::Open(file) = &mut self.file
            && let Outcome::Unknown(reason) = file.sync()
        {
            self.close(reason);
            self.reopen();
        }
        match self.health.read_only() {
            Some(error) => Err(error),
            None => Ok(self.next - 1),
        }
    }

    /// Begins a new file. If there is none for certain, writing continues in the old one: files are removed only once all of their
    /// records are sealed.
    fn rotate(&mut self) {
        if !matches!(&self.file, State::Open(file) if file.first < self.next) {
            return;
        }
        match OpenFile::begin(&self.settings, self.next) {
            Ok(file) => self.file = State::Open(file),
            Err(NotBegun::Absent(error)) => self.health.set_log_trouble(Some(error.to_string())),
            Err(NotBegun::Unknown(error)) => {
                self.close(format!("a new log file could not be begun: {error}"));
                self.reopen();
            }
        }
    }
}

/// The records of a group of requests, the first of which has the sequence `next`.
fn encode(next: u64, group: &[Request]) -> Vec<u8> {
    let durable = (next - 1).to_le_bytes();
    let mut bytes = Vec::new();
    for (sequence, request) in (next..).zip(group) {
        record::write(&mut bytes, sequence, &[&durable, &request.payload]);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    /// A record that says more would make damage of a torn end: the records of one write reach the disk in any order.
    #[test]
    fn the_records_of_a_group_say_what_was_durable_before_it() {
        let request = || Request {
            app: AppId(Uuid::nil()),
            batches: Vec::new(),
            payload: vec![1, 2, 3],
            reply: oneshot::channel().0,
        };
        let bytes = encode(7, &[request(), request()]);
        let first = record::read(&bytes).unwrap();
        let second = record::read(&bytes[first.size()..]).unwrap();
        assert_eq!((first.sequence, second.sequence), (7, 8));
        assert_eq!([first.durable(), second.durable()], [Some(6); 2]);
    }
}
