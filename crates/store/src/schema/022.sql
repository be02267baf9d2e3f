-- The lines of the brief that each agent was sent, and the entry that says so first. A line is named
-- by the entry that made it: a pin, or a version of a claim.
CREATE TABLE reached (
    line  INTEGER NOT NULL,
    agent TEXT    NOT NULL,
    seq   INTEGER NOT NULL,
    PRIMARY KEY (line, agent)
) STRICT, WITHOUT ROWID;

-- To-dos that hold, for the brief.
CREATE INDEX engram_todo ON engram (project, seq) WHERE valid_until IS NULL AND kind = 'todo';
