-- The tokens of a file behind the pointers of messages. They are counted when somebody first asks
-- what was delivered: null until then, and -1 if the file could not be read.
ALTER TABLE delivery ADD COLUMN tokens INTEGER;
CREATE INDEX delivery_uncounted ON delivery (project, file) WHERE tokens IS NULL;
