-- What the feed is filtered by, beside the rest; `by` is the author as the record names them.
ALTER TABLE engram ADD COLUMN by TEXT NOT NULL DEFAULT '';
ALTER TABLE engram ADD COLUMN verified INTEGER NOT NULL DEFAULT 0;
UPDATE engram SET
    by = coalesce((SELECT json_extract(body, '$.provenance.created_by') FROM journal WHERE journal.seq = engram.seq), ''),
    verified = coalesce((SELECT json_extract(body, '$.verified') FROM journal WHERE journal.seq = engram.seq), 0);
-- Counting the values of a filter reads this index alone.
CREATE INDEX engram_facets ON engram (project, kind, scope, fact_type, verified, by, topic, recorded_at);
