-- The tenant that this installation is, made once.
CREATE TABLE tenant (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    id  TEXT NOT NULL
);

CREATE TABLE users (
    id       TEXT PRIMARY KEY,
    name     TEXT NOT NULL UNIQUE COLLATE NOCASE,
    password TEXT NOT NULL,
    created  INTEGER NOT NULL
);

CREATE TABLE clients (
    id      TEXT PRIMARY KEY,
    name    TEXT NOT NULL,
    public  INTEGER NOT NULL,
    created INTEGER NOT NULL
);
CREATE TABLE client_secrets (
    id        TEXT PRIMARY KEY,
    client_id TEXT NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
    hash      BLOB NOT NULL,
    created   INTEGER NOT NULL,
    expires   INTEGER
);
CREATE INDEX client_secrets_by_client ON client_secrets (client_id);
CREATE TABLE client_redirects (
    client_id TEXT NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
    uri       TEXT NOT NULL,
    PRIMARY KEY (client_id, uri)
);

-- The holder is a user or a client; the application '*' is every application.
CREATE TABLE roles (
    holder TEXT NOT NULL,
    app_id TEXT NOT NULL,
    role   TEXT NOT NULL,
    PRIMARY KEY (holder, app_id, role)
);

-- A family: what one sign-in of a user at a client led to.
CREATE TABLE grants (
    id        TEXT PRIMARY KEY,
    user_id   TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    client_id TEXT NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
    resource  TEXT NOT NULL,
    scope     TEXT NOT NULL,
    created   INTEGER NOT NULL,
    expires   INTEGER NOT NULL,
    revoked   INTEGER
);
CREATE TABLE refresh_tokens (
    hash     BLOB PRIMARY KEY,
    grant_id TEXT NOT NULL REFERENCES grants (id) ON DELETE CASCADE,
    created  INTEGER NOT NULL,
    used     INTEGER
);
CREATE INDEX refresh_tokens_by_grant ON refresh_tokens (grant_id);

CREATE TABLE sessions (
    hash    BLOB PRIMARY KEY,
    id      TEXT NOT NULL,
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created INTEGER NOT NULL,
    expires INTEGER NOT NULL
);

CREATE TABLE signing_keys (
    id      TEXT PRIMARY KEY,
    pem     TEXT NOT NULL,
    created INTEGER NOT NULL
);

CREATE TABLE audit (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    at      INTEGER NOT NULL,
    actor   TEXT NOT NULL,
    action  TEXT NOT NULL,
    subject TEXT NOT NULL,
    address TEXT NOT NULL
);
