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
