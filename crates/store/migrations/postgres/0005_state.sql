-- Names of users are unique without regard to the case of ASCII letters, as SQLite's NOCASE has it.
CREATE UNIQUE INDEX users_by_name ON users (lower(name));

-- Every transaction that writes updates this row first and holds its lock until it ends.
CREATE TABLE catalogue_state (
    one     BIGINT PRIMARY KEY CHECK (one = 1),
    -- How many transactions changed the catalogue.
    version BIGINT NOT NULL,
    -- How often the catalogue has had a new owner. A transaction of an earlier owner is refused.
    epoch   BIGINT NOT NULL,
    -- The server that owns the catalogue as a store, for messages.
    holder  TEXT NOT NULL
);
INSERT INTO catalogue_state (one, version, epoch, holder) VALUES (1, 0, 0, '');
