-- Which store this catalogue belongs to: the file `format` and every segment name the same id.
CREATE TABLE store (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    id  TEXT NOT NULL
);
