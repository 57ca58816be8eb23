CREATE TABLE applications (
    id                  TEXT PRIMARY KEY,
    name                TEXT NOT NULL,
    instrumentation_key TEXT NOT NULL UNIQUE,
    created             INTEGER NOT NULL,
    tier                TEXT NOT NULL DEFAULT 'enterprise',
    daily_cap_bytes     INTEGER,
    retention_days      INTEGER,
    deleted             INTEGER,
    purged              INTEGER
);
CREATE UNIQUE INDEX applications_by_name ON applications (name) WHERE deleted IS NULL;

CREATE TABLE api_keys (
    id        TEXT PRIMARY KEY,
    app_id    TEXT NOT NULL REFERENCES applications (id),
    name      TEXT NOT NULL,
    hash      BLOB NOT NULL,
    scopes    TEXT NOT NULL,
    created   INTEGER NOT NULL,
    expires   INTEGER,
    last_used INTEGER
);
CREATE INDEX api_keys_by_app ON api_keys (app_id);

CREATE TABLE segments (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    app_id     TEXT NOT NULL,
    table_name TEXT NOT NULL,
    path       TEXT NOT NULL UNIQUE,
    rows       INTEGER NOT NULL,
    bytes      INTEGER NOT NULL,
    min_ts     INTEGER NOT NULL,
    max_ts     INTEGER NOT NULL,
    min_seq    INTEGER NOT NULL,
    max_seq    INTEGER NOT NULL,
    level      INTEGER NOT NULL,
    promoted   TEXT NOT NULL,
    created    INTEGER NOT NULL
);

CREATE TABLE log_position (
    one      INTEGER PRIMARY KEY CHECK (one = 1),
    sequence INTEGER NOT NULL
);
INSERT INTO log_position (one, sequence) VALUES (1, 0);
