-- The clock's time, if the journal's time was ahead of it. Rates are measured by the clock.
ALTER TABLE journal ADD COLUMN clock INTEGER;

-- Which versions are pinned to stored bytes: an erasure must leave these bytes, and a project may
-- read them.
CREATE TABLE pinned (
    digest TEXT NOT NULL,
    engram TEXT NOT NULL,
    PRIMARY KEY (digest, engram)
) STRICT, WITHOUT ROWID;
CREATE INDEX pinned_engram ON pinned (engram);
INSERT OR IGNORE INTO pinned
    SELECT substr(pointer.value ->> 'ref', -64), engram.id
    FROM engram JOIN content ON content.engram = engram.id JOIN journal USING (seq),
         json_each(journal.body, '$.pointers') AS pointer
    WHERE substr(pointer.value ->> 'ref', -72, 8) = '@sha256:';

-- A stored file belongs to the project in which it was read; '' if an earlier schema did not record
-- it. `seq` is the entry that records it.
ALTER TABLE snapshot RENAME TO snapshot_of_any;
CREATE TABLE snapshot (
    project TEXT    NOT NULL,
    digest  TEXT    NOT NULL,
    path    TEXT    NOT NULL,
    base    TEXT,
    blob    TEXT    NOT NULL,
    seq     INTEGER NOT NULL,
    PRIMARY KEY (digest, path, project)
) STRICT, WITHOUT ROWID;
INSERT OR IGNORE INTO snapshot
    SELECT project, body ->> 'digest', body ->> 'path', body ->> 'base', body ->> 'blob', seq
    FROM journal WHERE kind = 'kept' ORDER BY seq;
INSERT OR IGNORE INTO snapshot
    SELECT '', file.value ->> 'digest', file.value ->> 'path', file.value ->> 'base', file.value ->> 'blob', seq
    FROM journal, json_each(journal.body, '$.snapshots') AS file WHERE kind = 'carried' ORDER BY seq;
INSERT OR IGNORE INTO snapshot
    SELECT '', digest, path, base, blob, 0 FROM snapshot_of_any AS it
    WHERE NOT EXISTS (SELECT 1 FROM snapshot WHERE snapshot.digest = it.digest AND snapshot.path = it.path);
DROP TABLE snapshot_of_any;

-- An erasure removes topic and author from a version, and the version from the counts.
CREATE TRIGGER engram_erased AFTER UPDATE OF topic, by ON engram
WHEN old.topic <> new.topic OR old.by <> new.by BEGIN
    UPDATE tally SET versions = versions - 1
        WHERE project = old.project AND kind = old.kind AND scope = old.scope AND fact_type = old.fact_type
          AND verified = old.verified AND by = old.by AND topic = old.topic;
    DELETE FROM tally WHERE project = old.project AND versions = 0;
    INSERT INTO tally VALUES (new.project, new.kind, new.scope, new.fact_type, new.verified, new.by, new.topic, 1)
        ON CONFLICT DO UPDATE SET versions = versions + 1;
END;

-- Other places from which the user allows the use of a project: copies, and working trees that do
-- not own their git folder.
CREATE TABLE admitted (
    place   TEXT PRIMARY KEY,
    project TEXT NOT NULL
) STRICT, WITHOUT ROWID;
