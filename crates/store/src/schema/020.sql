-- The audience of a conflict: everybody on the project, or one run, if a version of that run is on
-- a side. What only one run sees does not affect anybody else. A version without a run is for the
-- user alone: the run 0. Conflicts of versions of runs are found again as conflicts of those runs.
ALTER TABLE conflict ADD COLUMN run TEXT;
UPDATE conflict SET run =
    (SELECT coalesce(run, '00000000000000000000000000') FROM engram WHERE id IN (conflict.newer, conflict.older) AND scope = 'run' LIMIT 1);
ALTER TABLE due ADD COLUMN of_runs INTEGER NOT NULL DEFAULT 0;
INSERT OR IGNORE INTO due SELECT seq, project, 9223372036854775807, 1, 0, 1 FROM engram
    WHERE valid_until IS NULL AND durability = 'durable' AND scope = 'run'
      AND lineage NOT IN (SELECT risk FROM report);

-- The descendants of an agent, which share its rates.
CREATE INDEX agent_parent ON agent (parent) WHERE parent IS NOT NULL;
