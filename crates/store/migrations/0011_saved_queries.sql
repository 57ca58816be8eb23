-- Queries that people keep for an application (FORMAT.md "Saved queries").
CREATE TABLE saved_queries (
    app_id  TEXT NOT NULL REFERENCES applications (id) ON DELETE CASCADE,
    name    TEXT NOT NULL,
    text    TEXT NOT NULL,
    -- The time range that it is shown with; null for none.
    range   TEXT,
    -- Counts the changes, from 1.
    version INTEGER NOT NULL,
    -- Who changed it last, and when, in ticks.
    author  TEXT NOT NULL,
    changed INTEGER NOT NULL,
    PRIMARY KEY (app_id, name)
);
