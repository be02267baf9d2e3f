-- The journal has everything that the tables hold: this step adds an entry with what older builds
-- kept only in tables (`carry.rs`).

-- The words of events are stored beside the journal, like those of claims.
CREATE TABLE said (
    seq  INTEGER PRIMARY KEY REFERENCES journal (seq),
    text TEXT NOT NULL
) STRICT;
INSERT INTO said SELECT seq, text FROM event WHERE text IS NOT NULL;
ALTER TABLE event DROP COLUMN text;

-- What a handle determines about its agent, besides parent and run. `topics` is a JSON list; null
-- allows all topics.
ALTER TABLE agent ADD COLUMN role TEXT;
ALTER TABLE agent ADD COLUMN topics TEXT;

-- How far each follower has read the journal. Its other tables (`health`, `look`) can be deleted
-- together with its row and are then rebuilt.
CREATE TABLE follower (
    name   TEXT PRIMARY KEY,
    cursor INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO follower
    SELECT 'anchors/' || project || '/' || worktree, cursor FROM look;
ALTER TABLE look DROP COLUMN cursor;
