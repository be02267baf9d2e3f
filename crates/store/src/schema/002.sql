-- Further columns by which the feed is filtered; `by` is the author as named in the record.
ALTER TABLE engram ADD COLUMN by TEXT NOT NULL DEFAULT '';
ALTER TABLE engram ADD COLUMN verified INTEGER NOT NULL DEFAULT 0;
UPDATE engram SET
    by = coalesce((SELECT json_extract(body, '$.provenance.created_by') FROM journal WHERE journal.seq = engram.seq), ''),
    verified = coalesce((SELECT json_extract(body, '$.verified') FROM journal WHERE journal.seq = engram.seq), 0);
-- Counting the values of a filter reads only this index.
CREATE INDEX engram_facets ON engram (project, kind, scope, fact_type, verified, by, topic, recorded_at);
