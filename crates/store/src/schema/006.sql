-- The journal says all that the tables hold: what older builds kept in tables alone is carried into it
-- by an entry of its own when this step is taken (`carry.rs`).

-- The words of events lie beside the journal, as those of claims do.
CREATE TABLE said (
    seq  INTEGER PRIMARY KEY REFERENCES journal (seq),
    text TEXT NOT NULL
) STRICT;
INSERT INTO said SELECT seq, text FROM event WHERE text IS NOT NULL;
ALTER TABLE event DROP COLUMN text;

-- What a handle says of its agent, beside its parent and run. `topics` is a JSON list; all where absent.
ALTER TABLE agent ADD COLUMN role TEXT;
ALTER TABLE agent ADD COLUMN topics TEXT;

-- How far each follower has read the journal. Its other tables (`health`, `look`) can be dropped with
-- its row, and are then built anew.
CREATE TABLE follower (
    name   TEXT PRIMARY KEY,
    cursor INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO follower
    SELECT 'anchors/' || project || '/' || worktree, cursor FROM look;
ALTER TABLE look DROP COLUMN cursor;
