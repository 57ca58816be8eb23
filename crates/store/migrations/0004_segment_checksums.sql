-- CRC-32C of each block of a segment's file, little-endian, in order (FORMAT.md "Checksums"). Null for segments of before.
ALTER TABLE segments ADD COLUMN checksums BLOB;
