-- A side: the digest of a topic and of a claim, both folded. It is derived from words, so it lies beside
-- the journal with them and is erased with them. Homes of before are filled when this step is taken
-- (`sides.rs`).
ALTER TABLE content ADD COLUMN side TEXT;
CREATE INDEX content_side ON content (side) WHERE side IS NOT NULL;

-- Pairs of sides that cannot both hold; the lesser digest is `a`. Where a conflict stands by a verdict, and
-- the entries that say the rest: the first that found it, the last that did, the last verdict, and the
-- last that let it pass the gate. That a side has ended is not stored: it follows from `engram`.
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
