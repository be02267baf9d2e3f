-- Versions that must still be compared with everything stored before the version at `below`; kept
-- beside the journal. `pairs` is how many contradictions are known to be left, at least one, and
-- `told` how many of them the author may see. An existing home may have missed contradictions, so
-- everything is compared again.
CREATE TABLE due (
    seq     INTEGER PRIMARY KEY,
    project TEXT    NOT NULL,
    below   INTEGER NOT NULL,
    pairs   INTEGER NOT NULL,
    told    INTEGER NOT NULL
) STRICT;
INSERT INTO due SELECT seq, project, 9223372036854775807, 1, 0 FROM engram
    WHERE valid_until IS NULL AND durability = 'durable';
DELETE FROM follower WHERE name = 'earlier';

-- A conflict's severity (0 is low), the versions whose comparison last found it, and its last
-- verdict, unless undone. With these columns, a page of the list and a count need not read entries.
ALTER TABLE conflict ADD COLUMN severity INTEGER NOT NULL DEFAULT 2;
ALTER TABLE conflict ADD COLUMN newer TEXT NOT NULL DEFAULT '';
ALTER TABLE conflict ADD COLUMN older TEXT NOT NULL DEFAULT '';
ALTER TABLE conflict ADD COLUMN ruled TEXT;
UPDATE conflict SET
    severity = coalesce((SELECT CASE body ->> '$.severity' WHEN 'low' THEN 0 WHEN 'medium' THEN 1 ELSE 2 END
        FROM journal WHERE seq = conflict.last AND json_valid(body)), 2),
    newer = coalesce((SELECT id FROM engram WHERE id IN
        (SELECT value FROM journal, json_each(body, '$.engrams') WHERE journal.seq = conflict.last AND json_valid(body))
        ORDER BY place DESC, seq DESC LIMIT 1), ''),
    older = coalesce((SELECT id FROM engram WHERE id IN
        (SELECT value FROM journal, json_each(body, '$.engrams') WHERE journal.seq = conflict.last AND json_valid(body))
        ORDER BY place, seq LIMIT 1), ''),
    ruled = (SELECT nullif(body ->> '$.status', 'open') FROM journal WHERE seq = conflict.verdict AND json_valid(body));
