-- How often objects that the catalogue does not list were collected. A transaction refuses to list segments whose upload began before the last time.
ALTER TABLE catalogue_state ADD COLUMN collections INTEGER NOT NULL DEFAULT 0;
