-- Every index that a commit touches is a page of the write-ahead log, and its time is the number of
-- those. What most rows need no entry in has none any more.

-- Claims that expire; most do not.
DROP INDEX engram_open;
CREATE INDEX engram_open ON engram (project, expires_at)
    WHERE valid_until IS NULL AND expires_at IS NOT NULL;

-- The first version of a lineage bears its id.
DROP INDEX engram_lineage;
CREATE INDEX engram_lineage ON engram (lineage, seq) WHERE lineage <> id;

-- Few agents, and a new time with each call.
DROP INDEX agent_called;
