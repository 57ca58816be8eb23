//! A sample of live metrics: what an instance measured within a second, bounded in size.

/// Metrics of a sample.
pub(crate) const MAX_METRICS: usize = 64;
/// Documents of a sample.
pub(crate) const MAX_DOCUMENTS: usize = 20;
/// Fields of a document, and its properties.
pub(crate) const MAX_FIELDS: usize = 16;
/// Bytes of a text; longer ones are cut.
pub(crate) const MAX_TEXT: usize = 512;

/// What an instance measured since its last sample.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sample {
    /// When it was measured, in ticks.
    pub(crate) time: i64,
    /// Where it comes from.
    pub(crate) source: Source,
    /// The metrics, in the order in which they were sent.
    pub(crate) metrics: Vec<Metric>,
    /// Single items of telemetry.
    pub(crate) documents: Vec<Document>,
}

/// The instance that sends samples. An SDK that is started again has another stream.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Source {
    /// The stream's id.
    pub(crate) stream: String,
    /// The role's instance.
    pub(crate) instance: String,
    /// The role.
    pub(crate) role: String,
    /// The machine.
    pub(crate) machine: String,
    /// The SDK and its version.
    pub(crate) version: String,
}

/// A measured value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Metric {
    /// Its name, such as `\ApplicationInsights\Requests/Sec`.
    pub(crate) name: String,
    /// Its value.
    pub(crate) value: f64,
    /// How many measurements the value is the average of.
    pub(crate) weight: f64,
}

/// An item of telemetry, as an SDK shows it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Document {
    /// `Request`, `RemoteDependency`, `Exception`, `Trace` or `Event`.
    pub(crate) kind: String,
    /// Its fields, such as `Name` and `Duration`, as they were written.
    pub(crate) fields: Vec<(String, String)>,
    /// Its properties.
    pub(crate) properties: Vec<(String, String)>,
}

impl Sample {
    /// Bytes that the sample holds.
    pub(crate) fn size(&self) -> usize {
        let pairs = |pairs: &[(String, String)]| -> usize {
            let sizes = pairs
                .iter()
                .map(|(name, value)| size_of::<(String, String)>() + name.len() + value.len());
            sizes.sum()
        };
        let metrics = self
            .metrics
            .iter()
            .map(|metric| size_of::<Metric>() + metric.name.len());
        let documents = self.documents.iter().map(|document| {
            size_of::<Document>()
                + document.kind.len()
                + pairs(&document.fields)
                + pairs(&document.properties)
        });
        size_of::<Sample>() + self.source.size() + metrics.sum::<usize>() + documents.sum::<usize>()
    }
}

impl Source {
    fn size(&self) -> usize {
        [
            &self.stream,
            &self.instance,
            &self.role,
            &self.machine,
            &self.version,
        ]
        .map(String::len)
        .iter()
        .sum()
    }
}
