-- A side: the digest of a folded topic and claim. It is derived from words, so it is stored
-- with them beside the journal and is erased with them. This step fills it in for existing homes
-- (`sides.rs`).
ALTER TABLE content ADD COLUMN side TEXT;
CREATE INDEX content_side ON content (side) WHERE side IS NOT NULL;

-- Pairs of sides that cannot both hold; `a` is the lesser digest. A row has the status by verdict,
-- and the entries with the details: the first and the last that found the conflict, the last
-- verdict, and the last permission to pass the gate. Whether a side has ended is not stored: it
-- follows from `engram`.
CREATE TABLE conflict (
    id      TEXT PRIMARY KEY,
    project TEXT    NOT NULL,
    a       TEXT    NOT NULL,
    b       TEXT    NOT NULL,
    status  TEXT    NOT NULL,
    first   INTEGER NOT NULL,
    last    INTEGER NOT NULL,
    verdict INTEGER,
    allowed INTEGER,
    risk    TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX conflict_project ON conflict (project, status);
CREATE INDEX conflict_a ON conflict (a);
CREATE INDEX conflict_b ON conflict (b);
CREATE INDEX conflict_risk ON conflict (risk) WHERE risk IS NOT NULL;
