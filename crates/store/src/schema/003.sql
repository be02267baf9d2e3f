-- The state of claims' evidence in each working tree ('' is the main one): a follower of the
-- journal and of git. It can be deleted and is then rebuilt. A claim without a row was unchanged
-- when its tree was last checked.
CREATE TABLE health (
    engram   TEXT NOT NULL,
    worktree TEXT NOT NULL,
    standing TEXT NOT NULL,
    pointers TEXT NOT NULL,
    PRIMARY KEY (engram, worktree)
) STRICT, WITHOUT ROWID;
CREATE INDEX health_standing ON health (worktree, standing);

-- The last check of a tree: the commit that was checked out, the journal up to `cursor`, and why
-- only part of the tree is watched.
CREATE TABLE look (
    project  TEXT    NOT NULL,
    worktree TEXT    NOT NULL,
    head     TEXT,
    cursor   INTEGER NOT NULL,
    note     TEXT,
    PRIMARY KEY (project, worktree)
) STRICT, WITHOUT ROWID;

-- Where a file of a working tree was when it was stored: its lines are followed from there.
CREATE TABLE snapshot (
    digest TEXT NOT NULL,
    path   TEXT NOT NULL,
    base   TEXT,
    blob   TEXT NOT NULL,
    PRIMARY KEY (digest, path)
) STRICT, WITHOUT ROWID;
