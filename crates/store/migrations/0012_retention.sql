-- What is kept of an application's tables, beside `applications.retention_days` (FORMAT.md "Expiry"). A table's name is empty for the
-- whole application. Null: no rule.
CREATE TABLE retention_rules (
    app_id     TEXT NOT NULL REFERENCES applications (id) ON DELETE CASCADE,
    table_name TEXT NOT NULL,
    days       INTEGER,
    max_bytes  INTEGER,
    PRIMARY KEY (app_id, table_name)
);
