-- The tokens of a file behind the pointers of messages, counted once, when somebody first asks what was
-- delivered: none until then, and -1 where it could not be read.
ALTER TABLE delivery ADD COLUMN tokens INTEGER;
CREATE INDEX delivery_uncounted ON delivery (project, file) WHERE tokens IS NULL;
