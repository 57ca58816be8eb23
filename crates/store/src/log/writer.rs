//! The thread that writes the log: it gathers requests, writes them with one sync (group commit), makes them visible and acknowledges
//! them.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use arrow::record_batch::RecordBatch;
use tokio::sync::{mpsc, oneshot};

use super::file_path;
use super::record::{self, FILE_HEADER};
use crate::app_id::AppId;
use crate::error::{Result, StoreError};
use crate::health::HealthCell;
use crate::schema::Table;
use crate::vfs::{Vfs, WriteFile};

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

/// Where and how the log is written.
#[derive(Debug, Clone)]
pub(crate) struct WriterSettings {
    pub(crate) dir: PathBuf,
    pub(crate) vfs: Arc<dyn Vfs>,
    pub(crate) delay: Duration,
    pub(crate) commit_bytes: usize,
    pub(crate) file_bytes: u64,
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
}

/// The writer's handle. Dropping it ends the thread after the queued requests.
#[derive(Debug)]
pub(crate) struct LogWriter {
    sender: Option<mpsc::Sender<Command>>,
    thread: Option<JoinHandle<()>>,
}

impl LogWriter {
    /// Begins a new file whose first record will be `next`, and the thread that writes it.
    pub(crate) fn start(
        settings: WriterSettings,
        next: u64,
        health: Arc<HealthCell>,
        sink: impl LogSink,
    ) -> Result<LogWriter> {
        let file = OpenFile::create(&settings, next)?;
        let (sender, receiver) = mpsc::channel(QUEUE);
        let writer = Writer {
            settings,
            file,
            next,
            last_group: 0,
            health,
            sink,
        };
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

/// The file being written. All of its `length` bytes are synced.
struct OpenFile {
    file: Box<dyn WriteFile>,
    first: u64,
    length: u64,
}

impl OpenFile {
    fn create(settings: &WriterSettings, first: u64) -> Result<OpenFile> {
        let path = file_path(&settings.dir, first);
        let made = (|| -> io::Result<Box<dyn WriteFile>> {
            let mut file = settings.vfs.create(&path)?;
            file.write_all(&record::file_header(first))?;
            file.sync()?;
            settings.vfs.sync_dir(&settings.dir)?;
            Ok(file)
        })();
        let file = made.map_err(|error| {
            let _ = std::fs::remove_file(&path);
            StoreError::io("create", &path)(error)
        })?;
        Ok(OpenFile {
            file,
            first,
            length: FILE_HEADER as u64,
        })
    }
}

/// The outcome of writing a group of records.
enum Outcome {
    Durable,
    /// The write failed and was undone.
    Undone(io::Error),
    /// The content of the disk is unknown.
    Unknown(String),
}

struct Writer<S> {
    settings: WriterSettings,
    file: OpenFile,
    next: u64,
    last_group: usize,
    health: Arc<HealthCell>,
    sink: S,
}

impl<S: LogSink> Writer<S> {
    fn run(mut self, mut receiver: mpsc::Receiver<Command>) {
        while let Some(command) = receiver.blocking_recv() {
            match command {
                Command::Append(first) => {
                    let (group, then) = self.gather(first, &mut receiver);
                    self.commit(group);
                    if let Some(reply) = then {
                        self.freeze(reply);
                    }
                }
                Command::Freeze(reply) => self.freeze(reply),
            }
        }
    }

    /// Takes the queued requests. Waits for more only when the last group had several, so that a single client is not delayed.
    fn gather(
        &self,
        first: Request,
        receiver: &mut mpsc::Receiver<Command>,
    ) -> (Vec<Request>, Option<oneshot::Sender<Result<u64>>>) {
        let mut bytes = first.payload.len();
        let mut group = vec![first];
        let mut may_wait = self.last_group > 1 && !self.settings.delay.is_zero();
        while bytes < self.settings.commit_bytes {
            match receiver.try_recv() {
                Ok(Command::Append(request)) => {
                    bytes += request.payload.len();
                    group.push(request);
                }
                Ok(Command::Freeze(reply)) => return (group, Some(reply)),
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
        if self.health.read_only().is_some() {
            return self.refuse(group);
        }
        match self.write(&group) {
            Outcome::Durable => self.acknowledge(group),
            Outcome::Undone(error) => {
                let path = file_path(&self.settings.dir, self.file.first);
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
                self.health.fail(reason);
                self.refuse(group);
            }
        }
    }

    fn write(&mut self, group: &[Request]) -> Outcome {
        let durable = (self.next - 1).to_le_bytes();
        let mut bytes = Vec::new();
        for (sequence, request) in (self.next..).zip(group) {
            record::write(&mut bytes, sequence, &[&durable, &request.payload]);
        }
        if let Err(error) = self.file.file.write_all(&bytes) {
            let undone = self
                .file
                .file
                .truncate(self.file.length)
                .and_then(|()| self.file.file.sync());
            return match undone {
                Ok(()) => Outcome::Undone(error),
                Err(second) => Outcome::Unknown(format!(
                    "a write to the log failed ({error}), and undoing it: {second}"
                )),
            };
        }
        if let Err(error) = self.file.file.sync() {
            return Outcome::Unknown(format!("the log could not be synced to disk: {error}"));
        }
        self.file.length += bytes.len() as u64;
        Outcome::Durable
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
        self.sink.durable(appended);
        for (sequence, reply) in replies {
            // A disconnected client does not undo its request.
            let _ = reply.send(Ok(sequence));
        }
        if self.file.length >= self.settings.file_bytes {
            self.rotate();
        }
    }

    fn refuse(&self, group: Vec<Request>) {
        for request in group {
            let error = self.health.read_only().unwrap_or(StoreError::Closed);
            let _ = request.reply.send(Err(error));
        }
    }

    fn freeze(&mut self, reply: oneshot::Sender<Result<u64>>) {
        self.rotate();
        let position = self.next - 1;
        self.sink.freeze(position);
        let _ = reply.send(Ok(position));
    }

    /// Begins a new file. If that fails, writing continues in the old one: files are removed only once all of their records are sealed.
    fn rotate(&mut self) {
        if self.file.first == self.next || self.health.read_only().is_some() {
            return;
        }
        match OpenFile::create(&self.settings, self.next) {
            Ok(file) => self.file = file,
            Err(error) if file_path(&self.settings.dir, self.next).exists() => {
                // Two files would claim the same records.
                self.health.fail(format!(
                    "a new log file could not be begun nor removed: {error}"
                ));
            }
            Err(error) => self.health.set_log_trouble(Some(error.to_string())),
        }
    }
}
