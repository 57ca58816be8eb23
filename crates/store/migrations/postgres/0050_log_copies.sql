-- Which node has the second copy of a node's log (docs/cluster.md, "A second copy of the log").
CREATE TABLE log_copies (
    origin     TEXT PRIMARY KEY REFERENCES nodes (id),
    -- The node with the copy; empty: none.
    holder     TEXT NOT NULL,
    -- Counts the copies of the origin. One of a smaller number is not needed any more.
    generation INTEGER NOT NULL,
    -- The last record of the copy that may have been acknowledged; later ones were refused.
    ends       INTEGER NOT NULL,
    -- The number `epoch` of the origin with which it was given up as lost. The mark holds while the origin has that number.
    lost       INTEGER NOT NULL
);
