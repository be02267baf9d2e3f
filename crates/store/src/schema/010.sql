-- A version's place in the list, and the time of that place: its own, or those of the version that
-- it confirms or restores in the same words. Only the last version at a place is in the list.
ALTER TABLE engram ADD COLUMN place INTEGER NOT NULL DEFAULT 0;
ALTER TABLE engram ADD COLUMN placed_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE engram ADD COLUMN stands INTEGER NOT NULL DEFAULT 1;
UPDATE engram SET place = seq, placed_at = valid_from;
CREATE TEMP TABLE again AS
    SELECT engram.seq, before.seq AS before
    FROM engram JOIN journal USING (seq)
        JOIN engram AS before ON before.content_hash = engram.content_hash AND before.project = engram.project
            AND before.id = CASE WHEN json_valid(journal.body)
                THEN coalesce(journal.body ->> 'restores', journal.body ->> 'supersedes') END
    WHERE engram.lineage <> engram.id AND before.seq < engram.seq;
CREATE INDEX temp.again_before ON again (before);
CREATE TEMP TABLE run AS
    WITH RECURSIVE run (seq, place) AS (
        SELECT seq, before FROM again WHERE before NOT IN (SELECT seq FROM again)
        UNION ALL SELECT again.seq, run.place FROM run JOIN again ON again.before = run.seq)
    SELECT seq, place FROM run;
UPDATE engram SET place = run.place, placed_at = first.valid_from
    FROM run JOIN engram AS first ON first.seq = run.place WHERE engram.seq = run.seq;
UPDATE engram SET stands = 0 WHERE seq IN (
    SELECT seq FROM run UNION SELECT place FROM run EXCEPT SELECT max(seq) FROM run GROUP BY place);
DROP TABLE temp.run;
DROP TABLE temp.again;
CREATE UNIQUE INDEX engram_place ON engram (project, place) WHERE stands = 1;

-- Only versions in the list are counted.
DELETE FROM tally;
INSERT INTO tally
    SELECT project, kind, scope, fact_type, verified, by, topic, count(*)
    FROM engram WHERE stands = 1 GROUP BY 1, 2, 3, 4, 5, 6, 7;
CREATE TRIGGER engram_replaced AFTER UPDATE OF stands ON engram WHEN old.stands = 1 AND new.stands = 0 BEGIN
    UPDATE tally SET versions = versions - 1
        WHERE project = old.project AND kind = old.kind AND scope = old.scope AND fact_type = old.fact_type
          AND verified = old.verified AND by = old.by AND topic = old.topic;
    DELETE FROM tally
        WHERE project = old.project AND kind = old.kind AND scope = old.scope AND fact_type = old.fact_type
          AND verified = old.verified AND by = old.by AND topic = old.topic AND versions = 0;
END;
DROP TRIGGER engram_erased;
CREATE TRIGGER engram_erased AFTER UPDATE OF topic, by ON engram
WHEN new.stands = 1 AND (old.topic <> new.topic OR old.by <> new.by) BEGIN
    UPDATE tally SET versions = versions - 1
        WHERE project = old.project AND kind = old.kind AND scope = old.scope AND fact_type = old.fact_type
          AND verified = old.verified AND by = old.by AND topic = old.topic;
    DELETE FROM tally WHERE project = old.project AND versions = 0;
    INSERT INTO tally VALUES (new.project, new.kind, new.scope, new.fact_type, new.verified, new.by, new.topic, 1)
        ON CONFLICT DO UPDATE SET versions = versions + 1;
END;
