-- The CRC-32C of every row (FORMAT.md, "The catalogue").
CREATE TABLE row_checksums (
    table_name TEXT NOT NULL,
    row_id     INTEGER NOT NULL,
    checksum   INTEGER NOT NULL,
    PRIMARY KEY (table_name, row_id)
) WITHOUT ROWID;

-- Which migration the checksums are of, the checksum of the schema, and how many transactions were committed.
CREATE TABLE catalogue_check (
    one             INTEGER PRIMARY KEY CHECK (one = 1),
    migration       INTEGER NOT NULL,
    schema_checksum INTEGER NOT NULL,
    generation      INTEGER NOT NULL
);
