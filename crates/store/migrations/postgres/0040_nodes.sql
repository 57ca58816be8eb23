-- The processes that have the catalogue as their store (docs/cluster.md, "Nodes").
CREATE TABLE nodes (
    id           TEXT PRIMARY KEY,
    -- Counts the nodes from 0 in the order in which they joined. The sequence numbers of a node's log begin after number * 2^44.
    number       INTEGER NOT NULL UNIQUE,
    name         TEXT NOT NULL,
    role         TEXT NOT NULL,
    -- Where other nodes reach it; empty: nowhere.
    address      TEXT NOT NULL,
    version      TEXT NOT NULL,
    -- The process, for messages.
    holder       TEXT NOT NULL,
    -- Times are ticks by the clock of PostgreSQL.
    started      INTEGER NOT NULL,
    heartbeat    INTEGER NOT NULL,
    -- When it last began to merge or expire segments; 0: never.
    maintained   INTEGER NOT NULL,
    -- How often a process has started as this node. A transaction of an earlier one is refused.
    epoch        INTEGER NOT NULL,
    -- The last sequence of its log whose items lie in segments.
    log_position INTEGER NOT NULL,
    -- The last sequence of its log, as of the last heartbeat.
    log_sequence INTEGER NOT NULL,
    -- 1: its log holds no items that no segment has, and it takes none.
    drained      INTEGER NOT NULL
);

-- The number of the last transaction that changed the list of segments.
ALTER TABLE catalogue_state ADD COLUMN segments INTEGER NOT NULL DEFAULT 0;
-- 1: the files of segments are where all nodes reach them.
ALTER TABLE catalogue_state ADD COLUMN shared INTEGER NOT NULL DEFAULT 0;
