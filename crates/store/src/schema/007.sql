-- Each index that a commit touches adds a page to the write-ahead log, and these pages are the cost
-- of a commit. So indexes hold only the rows that need them.

-- Only open claims that expire; most never expire.
DROP INDEX engram_open;
CREATE INDEX engram_open ON engram (project, expires_at)
    WHERE valid_until IS NULL AND expires_at IS NOT NULL;

-- Only later versions: the first has the lineage's id, and `id` is already indexed.
DROP INDEX engram_lineage;
CREATE INDEX engram_lineage ON engram (lineage, seq) WHERE lineage <> id;

-- Not needed: agents are few, and `last_call` changes with each of their entries.
DROP INDEX agent_called;
