-- The counts that the window shows at once are kept up to date with each write, because counting a
-- million versions takes longer than a frame. Both tables can be rebuilt from `engram`.

-- Versions ever stored, and those whose window is open, by the hour in which they expire. Versions
-- without expiry are counted in the last possible hour.
CREATE TABLE held (
    project TEXT    NOT NULL,
    hour    INTEGER NOT NULL,
    ever    INTEGER NOT NULL,
    open    INTEGER NOT NULL,
    PRIMARY KEY (project, hour)
) STRICT, WITHOUT ROWID;

-- Versions for each combination of the values by which the feed is filtered.
CREATE TABLE tally (
    project   TEXT    NOT NULL,
    kind      TEXT    NOT NULL,
    scope     TEXT    NOT NULL,
    fact_type TEXT    NOT NULL,
    verified  INTEGER NOT NULL,
    by        TEXT    NOT NULL,
    topic     TEXT    NOT NULL,
    versions  INTEGER NOT NULL,
    PRIMARY KEY (project, kind, scope, fact_type, verified, by, topic)
) STRICT, WITHOUT ROWID;

INSERT INTO held
    SELECT project, coalesce(expires_at / 3600000000, 9223372036854775807), count(*), sum(valid_until IS NULL)
    FROM engram GROUP BY 1, 2;
INSERT INTO tally
    SELECT project, kind, scope, fact_type, verified, by, topic, count(*)
    FROM engram GROUP BY 1, 2, 3, 4, 5, 6, 7;

CREATE TRIGGER engram_stored AFTER INSERT ON engram BEGIN
    INSERT INTO held VALUES (new.project, coalesce(new.expires_at / 3600000000, 9223372036854775807), 1, new.valid_until IS NULL)
        ON CONFLICT DO UPDATE SET ever = ever + 1, open = open + excluded.open;
    INSERT INTO tally VALUES (new.project, new.kind, new.scope, new.fact_type, new.verified, new.by, new.topic, 1)
        ON CONFLICT DO UPDATE SET versions = versions + 1;
END;
-- A window that was closed never opens again.
CREATE TRIGGER engram_closed AFTER UPDATE OF valid_until ON engram
WHEN old.valid_until IS NULL AND new.valid_until IS NOT NULL BEGIN
    UPDATE held SET open = open - 1
        WHERE project = new.project AND hour = coalesce(new.expires_at / 3600000000, 9223372036854775807);
END;

-- Nothing is counted by this index any more.
DROP INDEX engram_facets;
