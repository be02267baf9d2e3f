-- How the evidence of claims stands in each working tree ('' is the main one): a follower of the
-- journal and of git. It can be dropped and is then built anew. A claim without a row was
-- unchanged when its tree was looked at last.
CREATE TABLE health (
    engram   TEXT NOT NULL,
    worktree TEXT NOT NULL,
    standing TEXT NOT NULL,
    pointers TEXT NOT NULL,
    PRIMARY KEY (engram, worktree)
) STRICT, WITHOUT ROWID;
CREATE INDEX health_standing ON health (worktree, standing);

-- What was looked at last: the commit that was checked out, and the journal up to `cursor`; and
-- why not all of the tree is watched.
CREATE TABLE look (
    project  TEXT    NOT NULL,
    worktree TEXT    NOT NULL,
    head     TEXT,
    cursor   INTEGER NOT NULL,
    note     TEXT,
    PRIMARY KEY (project, worktree)
) STRICT, WITHOUT ROWID;

-- Where a file of a working tree was when it was kept: what its lines are followed from.
CREATE TABLE snapshot (
    digest TEXT NOT NULL,
    path   TEXT NOT NULL,
    base   TEXT,
    blob   TEXT NOT NULL,
    PRIMARY KEY (digest, path)
) STRICT, WITHOUT ROWID;
