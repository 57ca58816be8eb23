-- Why the file of a segment cannot be read (FORMAT.md "Damaged segments"). Null for a segment that can be read.
ALTER TABLE segments ADD COLUMN damage TEXT;
-- When retention took the segment out of service, in ticks: its file is in the folder `expired`. Null for data.
ALTER TABLE segments ADD COLUMN expired INTEGER;

-- Trusted time (FORMAT.md "Trusted time").
CREATE TABLE trusted_time (
    one           INTEGER PRIMARY KEY CHECK (one = 1),
    -- The latest time of day that was trusted, in ticks.
    mark          INTEGER NOT NULL,
    -- How often an operator has confirmed the clock.
    confirmations INTEGER NOT NULL DEFAULT 0
);
