-- Every report of a conflict: the lineage of a risk engram, and the versions whose comparison found
-- the conflict at that time. A reader who may not see both versions does not see the report, even
-- after another reports the conflict.
CREATE TABLE report (
    risk     TEXT NOT NULL PRIMARY KEY,
    conflict TEXT NOT NULL,
    one      TEXT NOT NULL,
    other    TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX report_conflict ON report (conflict);
INSERT OR REPLACE INTO report
    SELECT body ->> '$.risk', subject, body ->> '$.engrams[0]', body ->> '$.engrams[1]'
    FROM journal WHERE kind = 'conflict' AND json_valid(body) AND body ->> '$.risk' IS NOT NULL ORDER BY seq;
-- A report of a conflict is compared with nothing.
DELETE FROM due WHERE seq IN (SELECT engram.seq FROM engram JOIN report ON report.risk = engram.lineage);
DROP INDEX conflict_risk;
ALTER TABLE conflict DROP COLUMN risk;

-- Whether a person named the agent: by opening it, or with a handle in a command.
ALTER TABLE agent ADD COLUMN given INTEGER NOT NULL DEFAULT 0;
UPDATE agent SET given = 1 WHERE (parent IS NULL AND handle = label)
    OR EXISTS (SELECT 1 FROM journal WHERE kind = 'opened' AND subject = handle AND journal.agent IS NULL);

-- The names that a person gave with claims and notes.
CREATE INDEX journal_named ON journal (project, by) WHERE agent IS NULL AND by <> '';

-- The recent operations of all agents of a project, by which shared rates are counted.
CREATE INDEX journal_lately ON journal (project, kind, recorded_at) WHERE agent IS NOT NULL;
