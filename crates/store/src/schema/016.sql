-- Finds the unused grants of an agent without reading all that it has used.
DROP INDEX grant_agent;
CREATE INDEX grant_agent ON grant (agent, spent, revoked);

-- An agent's fingerprints are stored together: each showing writes one page, and reading all of
-- them reads few pages.
ALTER TABLE served RENAME TO served_before;
CREATE TABLE served (
    agent  TEXT    NOT NULL,
    seq    INTEGER NOT NULL REFERENCES journal (seq),
    prints BLOB    NOT NULL,
    PRIMARY KEY (agent, seq)
) STRICT, WITHOUT ROWID;
INSERT INTO served SELECT agent, seq, prints FROM served_before;
DROP TABLE served_before;

-- The time at which an agent last called is that of the clock.
UPDATE agent SET last_call =
    (SELECT coalesce(clock, recorded_at) FROM journal WHERE journal.agent = handle ORDER BY seq DESC LIMIT 1)
WHERE last_call =
    (SELECT recorded_at FROM journal WHERE journal.agent = handle ORDER BY seq DESC LIMIT 1);
