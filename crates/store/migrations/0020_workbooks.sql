-- Workbooks that people keep for an application (FORMAT.md "Saved queries and workbooks"). The columns are those of saved_queries.
CREATE TABLE workbooks (
    app_id  TEXT NOT NULL REFERENCES applications (id) ON DELETE CASCADE,
    name    TEXT NOT NULL,
    text    TEXT NOT NULL,
    range   TEXT,
    version INTEGER NOT NULL,
    author  TEXT NOT NULL,
    changed INTEGER NOT NULL,
    PRIMARY KEY (app_id, name)
);
