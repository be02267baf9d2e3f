-- What ever reported a conflict: an engram of kind risk, by its lineage, and the versions by which the conflict was
-- found then. Whoever may not see both of these does not see it, also once another reports the conflict.
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
-- What reports a conflict is compared with nothing.
DELETE FROM due WHERE seq IN (SELECT engram.seq FROM engram JOIN report ON report.risk = engram.lineage);
DROP INDEX conflict_risk;
ALTER TABLE conflict DROP COLUMN risk;

-- Whether a person gave an agent its name: by opening it, or as the handle in a command of theirs.
ALTER TABLE agent ADD COLUMN given INTEGER NOT NULL DEFAULT 0;
UPDATE agent SET given = 1 WHERE (parent IS NULL AND handle = label)
    OR EXISTS (SELECT 1 FROM journal WHERE kind = 'opened' AND subject = handle AND journal.agent IS NULL);

-- The names that a person gave with what they said.
CREATE INDEX journal_named ON journal (project, by) WHERE agent IS NULL AND by <> '';

-- What all agents of a project did lately: rates that they share are counted by it.
CREATE INDEX journal_lately ON journal (project, kind, recorded_at) WHERE agent IS NOT NULL;
