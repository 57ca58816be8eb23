//! The names of attributes, by family. In each list the first name that has a value counts: new names precede old ones.

/// The resource: who sends.
pub(crate) mod resource {
    pub(crate) const NAME: &[&str] = &["service.name"];
    pub(crate) const NAMESPACE: &[&str] = &["service.namespace"];
    pub(crate) const VERSION: &[&str] = &["service.version"];
    /// The role where the service has no name of its own.
    pub(crate) const WORKLOAD: &[&str] = &[
        "k8s.deployment.name",
        "k8s.replicaset.name",
        "k8s.statefulset.name",
        "k8s.job.name",
        "k8s.cronjob.name",
        "k8s.daemonset.name",
    ];
    /// What a service is called that has no name.
    pub(crate) const UNNAMED: &str = "unknown_service";
    pub(crate) const INSTANCE: &[&str] = &["k8s.pod.name", "service.instance.id", "host.name"];
    pub(crate) const MODEL: &[&str] = &["device.model.name"];
    pub(crate) const SDK_LANGUAGE: &[&str] = &["telemetry.sdk.language"];
    pub(crate) const SDK_VERSION: &[&str] = &["telemetry.sdk.version"];
    /// The language of browsers' SDKs.
    pub(crate) const WEB: &str = "webjs";
    /// The attributes that browsers alone have.
    pub(crate) const BROWSER: &str = "browser.";
    pub(crate) const BROWSER_PLATFORM: &[&str] = &["browser.platform"];
    pub(crate) const USER_AGENT: &[&str] = &["user_agent.original"];
    /// Whose telemetry it is.
    pub(crate) const KEY: &[&str] = &["microsoft.instrumentation_key", "ai.instrumentationKey"];
}

/// The user, the session and the client, of spans and log records.
pub(crate) mod context {
    pub(crate) const AUTHENTICATED: &str = "enduser.id";
    pub(crate) const USER: &str = "enduser.pseudo.id";
    pub(crate) const SESSION: &str = "session.id";
    pub(crate) const SYNTHETIC: &[&str] = &["user_agent.synthetic.type"];
    pub(crate) const SYNTHETIC_TYPES: &[&str] = &["bot", "test"];
    /// The availability tests of Application Insights.
    pub(crate) const SYNTHETIC_AGENT: &str = "AlwaysOn";
    pub(crate) const USER_AGENT: &[&str] = &["user_agent.original", "http.user_agent"];
    pub(crate) const CLIENT: &[&str] = &[
        "microsoft.client.ip",
        "client.address",
        "http.client_ip",
        "net.peer.ip",
    ];
    /// The client of a dependency: only what is given for this purpose.
    pub(crate) const DEPENDENCY_CLIENT: &[&str] = &["microsoft.client.ip"];
    pub(crate) const OPERATION: &[&str] = &["ai.operation.name"];
    pub(crate) const SAMPLE_RATE: &[&str] = &["microsoft.sample_rate", "_MS.sampleRate"];
    pub(crate) const MEASUREMENTS: &str = "microsoft.custom_measurements";
}

/// HTTP, of servers and clients.
pub(crate) mod http {
    pub(crate) const METHOD: &[&str] = &["http.request.method", "http.method"];
    pub(crate) const STATUS: &[&str] = &["http.response.status_code", "http.status_code"];
    pub(crate) const ROUTE: &[&str] = &["http.route"];
    pub(crate) const URL: &[&str] = &["url.full", "http.url"];
    pub(crate) const SCHEME: &[&str] = &["url.scheme", "http.scheme"];
    pub(crate) const PATH: &[&str] = &["url.path"];
    pub(crate) const QUERY: &[&str] = &["url.query"];
    pub(crate) const TARGET: &[&str] = &["http.target"];
    pub(crate) const HOST: &[&str] = &["http.host"];
    pub(crate) const SERVER_NAME: &[&str] = &["http.server_name"];
}

/// The other end of a connection, or this one.
pub(crate) mod peer {
    pub(crate) const SERVICE: &[&str] = &["peer.service"];
    pub(crate) const SERVER: &[&str] = &["server.address"];
    pub(crate) const SERVER_PORT: &[&str] = &["server.port"];
    pub(crate) const OLD: &[&str] = &["net.peer.name", "net.peer.ip"];
    pub(crate) const OLD_PORT: &[&str] = &["net.peer.port"];
    pub(crate) const OWN: &[&str] = &["net.host.name"];
    pub(crate) const OWN_PORT: &[&str] = &["net.host.port"];
}

/// Databases.
pub(crate) mod db {
    pub(crate) const SYSTEM: &[&str] = &["db.system.name", "db.system"];
    pub(crate) const STATEMENT: &[&str] = &[
        "db.query.text",
        "db.statement",
        "db.operation.name",
        "db.operation",
    ];
    pub(crate) const NAME: &[&str] = &["db.namespace", "db.name"];
    /// The systems whose type is `SQL`. The type of all others is their name.
    pub(crate) const SQL: &[&str] = &[
        "db2",
        "ibm.db2",
        "derby",
        "mariadb",
        "mssql",
        "microsoft.sql_server",
        "oracle",
        "oracle.db",
        "sqlite",
        "other_sql",
        "hsqldb",
        "h2",
        "h2database",
    ];
    /// The ports that targets leave out.
    pub(crate) const PORTS: &[(&str, &str)] = &[
        ("postgresql", "5432"),
        ("mysql", "3306"),
        ("mariadb", "3306"),
        ("mssql", "1433"),
        ("microsoft.sql_server", "1433"),
        ("oracle", "1521"),
        ("oracle.db", "1521"),
        ("redis", "6379"),
        ("cassandra", "9042"),
        ("db2", "50000"),
        ("ibm.db2", "50000"),
        ("h2", "8082"),
        ("h2database", "8082"),
        ("derby", "1527"),
        ("memcached", "11211"),
    ];
}

/// Queues and topics.
pub(crate) mod messaging {
    pub(crate) const SYSTEM: &[&str] = &["messaging.system"];
    pub(crate) const DESTINATION: &[&str] = &[
        "messaging.destination.name",
        "messaging.destination",
        "message_bus.destination",
    ];
    pub(crate) const HOST: &[&str] = &[
        "server.address",
        "client.address",
        "net.peer.name",
        "net.peer.ip",
        "peer.address",
    ];
    /// Of a link: when the message was put into the queue, in milliseconds since 1970.
    pub(crate) const ENQUEUED: &str = "enqueuedTime";
}

/// Remote procedure calls, services of Azure, and models.
pub(crate) mod other {
    pub(crate) const RPC_SYSTEM: &[&str] = &["rpc.system"];
    pub(crate) const GRPC_STATUS: &[&str] = &["rpc.grpc.status_code"];
    pub(crate) const AZURE: &[&str] = &["az.namespace"];
    pub(crate) const GEN_AI: &[&str] = &["gen_ai.system", "gen_ai.provider.name"];
}

/// Exceptions, of events and log records.
pub(crate) mod exception {
    pub(crate) const EVENT: &str = "exception";
    pub(crate) const TYPE: &[&str] = &["exception.type"];
    pub(crate) const MESSAGE: &[&str] = &["exception.message"];
    pub(crate) const STACK: &[&str] = &["exception.stacktrace"];
    /// The type and the message where none is given.
    pub(crate) const UNKNOWN: &str = "Exception";
}

/// Log records that are more than messages.
pub(crate) mod log {
    pub(crate) const EVENT_NAME: &[&str] = &["microsoft.custom_event.name"];
    /// With this attribute the body is the name of a custom event.
    pub(crate) const EVENT_MARKER: &[&str] = &["APPLICATION_INSIGHTS_EVENT_MARKER_ATTRIBUTE"];
    pub(crate) const AVAILABILITY_ID: &[&str] = &["microsoft.availability.id"];
    pub(crate) const AVAILABILITY_NAME: &[&str] = &["microsoft.availability.name"];
    pub(crate) const AVAILABILITY_DURATION: &[&str] = &["microsoft.availability.duration"];
    pub(crate) const AVAILABILITY_SUCCESS: &[&str] = &["microsoft.availability.success"];
    pub(crate) const AVAILABILITY_LOCATION: &[&str] = &["microsoft.availability.runLocation"];
    pub(crate) const AVAILABILITY_MESSAGE: &[&str] = &["microsoft.availability.message"];
    /// The type of the classic item that the body is.
    pub(crate) const BASE_TYPE: &[&str] = &["_MS.baseType"];
}

/// The custom dimensions that the mapping adds.
pub(crate) mod added {
    pub(crate) const LINKS: &str = "_MS.links";
    pub(crate) const STATUS: &str = "otel.status_description";
    pub(crate) const LOGGER: &str = "logger_name";
    pub(crate) const LOGGER_MESSAGE: &str = "Logger Message";
    pub(crate) const EVENT_NAME: &str = "event.name";
}

/// The attributes that become no custom dimension.
pub(crate) mod dropped {
    /// Of spans and their events: the beginnings of names. `fass.` is what the exporters have; `faas.` stays.
    const PREFIXES: &[&str] = &[
        "http.",
        "db.",
        "message.",
        "messaging.",
        "rpc.",
        "enduser.",
        "net.",
        "peer.",
        "exception.",
        "thread.",
        "fass.",
        "code.",
    ];
    /// Of spans and their events: whole names.
    const NAMES: &[&str] = &[
        "client.address",
        "client.port",
        "server.address",
        "server.port",
        "url.full",
        "url.path",
        "url.query",
        "url.scheme",
        "url.template",
        "error.type",
        "network.local.address",
        "network.local.port",
        "network.peer.address",
        "network.peer.port",
        "network.protocol.name",
        "network.protocol.version",
        "network.transport",
        "user_agent.original",
        "user_agent.synthetic.type",
        "session.id",
        "_MS.sampleRate",
        "microsoft.sample_rate",
        "microsoft.custom_measurements",
        "microsoft.client.ip",
    ];
    /// Of log records: whole names.
    const LOG_NAMES: &[&str] = &[
        "exception.escaped",
        "microsoft.custom_event.name",
        "microsoft.custom_measurements",
        "microsoft.sample_rate",
        "_MS.sampleRate",
        "_MS.baseType",
        "APPLICATION_INSIGHTS_EVENT_MARKER_ATTRIBUTE",
        "enduser.id",
        "enduser.pseudo.id",
        "session.id",
        "exception.type",
        "exception.message",
        "exception.stacktrace",
    ];
    /// Of log records: the beginnings of names.
    const LOG_PREFIXES: &[&str] = &["microsoft.availability."];

    /// Whether an attribute of a span or of its event becomes a custom dimension.
    pub(crate) fn keeps_of_span(name: &str) -> bool {
        !NAMES.contains(&name) && !PREFIXES.iter().any(|prefix| name.starts_with(prefix))
    }

    /// Whether an attribute of a log record becomes a custom dimension.
    pub(crate) fn keeps_of_log(name: &str) -> bool {
        !LOG_NAMES.contains(&name) && !LOG_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
    }

    /// Every attribute of a data point becomes a custom dimension.
    pub(crate) fn keeps_of_point(_: &str) -> bool {
        true
    }
}
