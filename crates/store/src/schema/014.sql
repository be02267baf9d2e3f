-- The role that a version's agent had when the version was stored; '' if it had none.
ALTER TABLE engram ADD COLUMN role TEXT NOT NULL DEFAULT '';

DROP TRIGGER engram_stored;
DROP TRIGGER engram_replaced;
DROP TRIGGER engram_erased;
ALTER TABLE tally RENAME TO tally_before;
CREATE TABLE tally (
    project   TEXT    NOT NULL,
    kind      TEXT    NOT NULL,
    scope     TEXT    NOT NULL,
    fact_type TEXT    NOT NULL,
    verified  INTEGER NOT NULL,
    by        TEXT    NOT NULL,
    topic     TEXT    NOT NULL,
    role      TEXT    NOT NULL,
    versions  INTEGER NOT NULL,
    PRIMARY KEY (project, kind, scope, fact_type, verified, by, topic, role)
) STRICT, WITHOUT ROWID;
INSERT INTO tally SELECT project, kind, scope, fact_type, verified, by, topic, '', versions FROM tally_before;
DROP TABLE tally_before;

CREATE TRIGGER engram_stored AFTER INSERT ON engram BEGIN
    INSERT INTO held VALUES (new.project, coalesce(new.expires_at / 3600000000, 9223372036854775807), 1, new.valid_until IS NULL)
        ON CONFLICT DO UPDATE SET ever = ever + 1, open = open + excluded.open;
    INSERT INTO tally VALUES (new.project, new.kind, new.scope, new.fact_type, new.verified, new.by, new.topic, new.role, 1)
        ON CONFLICT DO UPDATE SET versions = versions + 1;
END;
-- A replaced version leaves the list.
CREATE TRIGGER engram_replaced AFTER UPDATE OF stands ON engram WHEN old.stands = 1 AND new.stands = 0 BEGIN
    UPDATE tally SET versions = versions - 1
        WHERE project = old.project AND kind = old.kind AND scope = old.scope AND fact_type = old.fact_type
          AND verified = old.verified AND by = old.by AND topic = old.topic AND role = old.role;
    DELETE FROM tally
        WHERE project = old.project AND kind = old.kind AND scope = old.scope AND fact_type = old.fact_type
          AND verified = old.verified AND by = old.by AND topic = old.topic AND role = old.role AND versions = 0;
END;
-- An erasure removes topic, author and role from a version, and the version from the counts.
CREATE TRIGGER engram_erased AFTER UPDATE OF topic, by, role ON engram
WHEN new.stands = 1 AND (old.topic <> new.topic OR old.by <> new.by OR old.role <> new.role) BEGIN
    UPDATE tally SET versions = versions - 1
        WHERE project = old.project AND kind = old.kind AND scope = old.scope AND fact_type = old.fact_type
          AND verified = old.verified AND by = old.by AND topic = old.topic AND role = old.role;
    DELETE FROM tally
        WHERE project = old.project AND kind = old.kind AND scope = old.scope AND fact_type = old.fact_type
          AND verified = old.verified AND by = old.by AND topic = old.topic AND role = old.role AND versions = 0;
    INSERT INTO tally VALUES (new.project, new.kind, new.scope, new.fact_type, new.verified, new.by, new.topic, new.role, 1)
        ON CONFLICT DO UPDATE SET versions = versions + 1;
END;

-- Fills in the role for existing versions. Only opening an agent gives it a role, and no entry
-- removes it. Erased versions have no author.
CREATE TEMP TABLE spoken AS
    SELECT seq, agent FROM (
        SELECT engram.seq, CASE WHEN json_valid(journal.body) THEN journal.body ->> 'agent' END AS agent
        FROM engram JOIN journal USING (seq)
        WHERE engram.by <> '' AND EXISTS (SELECT 1 FROM agent WHERE role IS NOT NULL))
    WHERE agent IN (SELECT handle FROM agent WHERE role IS NOT NULL);
UPDATE engram SET role = coalesce(
    (SELECT CASE WHEN json_valid(opened.body) THEN opened.body ->> '$.agent.role' END
     FROM journal AS opened
     WHERE opened.subject = spoken.agent AND opened.kind = 'opened' AND opened.seq < engram.seq
     ORDER BY opened.seq DESC LIMIT 1), '')
    FROM spoken WHERE spoken.seq = engram.seq;
DROP TABLE temp.spoken;
