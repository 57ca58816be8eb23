-- Items that were sealed and the bytes of their values, by application, table and hour of ingestion (FORMAT.md "Usage").
CREATE TABLE usage (
    app_id     TEXT NOT NULL,
    table_name TEXT NOT NULL,
    -- Hours since 0001-01-01.
    hour       INTEGER NOT NULL,
    items      INTEGER NOT NULL,
    bytes      INTEGER NOT NULL,
    -- When the last of them was ingested, in ticks.
    last       INTEGER NOT NULL,
    PRIMARY KEY (app_id, table_name, hour)
);
