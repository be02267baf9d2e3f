-- A read looks for the grants that an agent may still use: not through all that it ever spent.
DROP INDEX grant_agent;
CREATE INDEX grant_agent ON grant (agent, spent, revoked);

-- An agent's fingerprints lie together: one page is written for each showing, and few are read for all.
ALTER TABLE served RENAME TO served_before;
CREATE TABLE served (
    agent  TEXT    NOT NULL,
    seq    INTEGER NOT NULL REFERENCES journal (seq),
    prints BLOB    NOT NULL,
    PRIMARY KEY (agent, seq)
) STRICT, WITHOUT ROWID;
INSERT INTO served SELECT agent, seq, prints FROM served_before;
DROP TABLE served_before;

-- When an agent last called is what the clock said then.
UPDATE agent SET last_call =
    (SELECT coalesce(clock, recorded_at) FROM journal WHERE journal.agent = handle ORDER BY seq DESC LIMIT 1)
WHERE last_call =
    (SELECT recorded_at FROM journal WHERE journal.agent = handle ORDER BY seq DESC LIMIT 1);
