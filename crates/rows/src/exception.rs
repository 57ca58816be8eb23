//! Exceptions: the columns of `exceptions` from a chain of them.

use std::borrow::Cow;

use hindsight_kql_types::Encoder;

use super::limits::{self, cut};
use super::row::{Row, Thrown};

/// One exception of a chain.
#[derive(Debug, Default, Clone)]
pub struct Exception<'a> {
    /// Identity in the chain; empty is `0`.
    pub id: &'a str,
    /// The exception that wraps it; empty is `0`.
    pub outer_id: &'a str,
    /// Its type.
    pub type_name: &'a str,
    /// Its message.
    pub message: &'a str,
    /// Its stack as text, used if there are no frames.
    pub stack: &'a str,
    /// Its stack as frames, the innermost first.
    pub frames: Vec<Frame<'a>>,
}

/// One frame of a stack.
#[derive(Debug, Default, Clone)]
pub struct Frame<'a> {
    /// Depth.
    pub level: i64,
    /// Method.
    pub method: &'a str,
    /// Assembly.
    pub assembly: &'a str,
    /// File; empty if it is not known.
    pub file_name: &'a str,
    /// Line.
    pub line: i64,
}

impl Row<'_> {
    /// Fills the columns of `exceptions` from a chain, the outermost exception first. The row's severity is set before.
    pub fn set_exceptions(&mut self, chain: &[Exception<'_>], problem_id: &str) {
        self.details = details(chain, self.severity);
        self.outer = chain.first().map(thrown).unwrap_or_default();
        self.innermost = chain.last().map(thrown).unwrap_or_default();
        self.kind = self.outer.kind.clone();
        self.message = self.outer.message.clone();
        self.problem_id = if problem_id.is_empty() {
            derived_problem_id(&self.outer).into()
        } else {
            own(problem_id, limits::NAME)
        };
    }
}

fn thrown(exception: &Exception<'_>) -> Thrown<'static> {
    let top = exception.frames.first();
    Thrown {
        kind: own(exception.type_name, limits::NAME),
        message: own(exception.message, limits::MESSAGE),
        method: own(top.map_or("", |frame| frame.method), limits::NAME),
        assembly: own(top.map_or("", |frame| frame.assembly), limits::NAME),
    }
}

fn own(text: &str, limit: usize) -> Cow<'static, str> {
    Cow::Owned(cut(Cow::Borrowed(text), limit).into_owned())
}

/// `Type at Method`, or the type alone where no frames were sent.
fn derived_problem_id(outer: &Thrown<'_>) -> String {
    if outer.method.is_empty() {
        outer.kind.to_string()
    } else {
        format!("{} at {}", outer.kind, outer.method)
    }
}

/// The names of severities, in their order.
const SEVERITIES: [&str; 5] = ["Verbose", "Information", "Warning", "Error", "Critical"];

/// The chain of exceptions as the service shows it: each with the item's severity by name, ids are texts, a stack is parsed
/// or raw.
fn details(chain: &[Exception<'_>], severity: Option<i32>) -> Option<Vec<u8>> {
    if chain.is_empty() {
        return None;
    }
    let mut out = Encoder::new();
    out.begin_array();
    let severity = severity
        .and_then(|level| usize::try_from(level).ok())
        .and_then(|level| SEVERITIES.get(level));
    for exception in chain {
        detail(exception, severity.copied(), &mut out);
    }
    out.end();
    Some(out.finish())
}

fn detail(exception: &Exception<'_>, severity: Option<&str>, out: &mut Encoder) {
    out.begin_bag();
    if let Some(severity) = severity {
        text("severityLevel", severity, limits::NAME, out);
    }
    text("outerId", or_zero(exception.outer_id), limits::NAME, out);
    text("message", exception.message, limits::MESSAGE, out);
    text("type", exception.type_name, limits::NAME, out);
    text("id", or_zero(exception.id), limits::NAME, out);
    if exception.frames.is_empty() {
        text("rawStack", exception.stack, limits::MESSAGE, out);
    } else {
        out.key("parsedStack");
        out.begin_array();
        for frame in &exception.frames {
            self::frame(frame, out);
        }
        out.end();
    }
    out.end();
}

fn frame(frame: &Frame<'_>, out: &mut Encoder) {
    out.begin_bag();
    text("assembly", frame.assembly, limits::NAME, out);
    text("method", frame.method, limits::NAME, out);
    out.key("level");
    out.long(frame.level);
    out.key("line");
    out.long(frame.line);
    if !frame.file_name.is_empty() {
        text("fileName", frame.file_name, limits::NAME, out);
    }
    out.end();
}

fn or_zero(id: &str) -> &str {
    if id.is_empty() { "0" } else { id }
}

fn text(key: &str, value: &str, limit: usize, out: &mut Encoder) {
    out.key(key);
    out.string(&cut(Cow::Borrowed(value), limit));
}
