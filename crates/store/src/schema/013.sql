-- Fingerprints of what each agent was last shown, beside the journal; they reveal an echo.
CREATE TABLE served (
    seq    INTEGER PRIMARY KEY REFERENCES journal (seq),
    agent  TEXT NOT NULL,
    prints BLOB NOT NULL
) STRICT;
CREATE INDEX served_agent ON served (agent, seq);

-- How often queries of agents returned a claim: in all, and in the last run that did so.
CREATE TABLE reading (
    project TEXT    NOT NULL,
    engram  TEXT    NOT NULL,
    reads   INTEGER NOT NULL,
    run     TEXT    NOT NULL,
    own     INTEGER NOT NULL,
    PRIMARY KEY (project, engram)
) STRICT, WITHOUT ROWID;
CREATE INDEX reading_most ON reading (project, reads);

-- What a parent or the user pinned to the brief: a claim, or a line whose words are in `said`.
CREATE TABLE pin (
    seq     INTEGER PRIMARY KEY REFERENCES journal (seq),
    project TEXT NOT NULL,
    agent   TEXT,
    lineage TEXT
) STRICT;
CREATE INDEX pin_project ON pin (project, seq);

-- Kinds that last: a brief shows them, however many claims came later.
CREATE INDEX engram_lasting ON engram (project, kind, seq)
    WHERE valid_until IS NULL AND kind IN ('constraint', 'policy', 'risk');

-- Messages between parent and child agents; their words are in `said`.
CREATE TABLE message (
    seq       INTEGER PRIMARY KEY REFERENCES journal (seq),
    id        TEXT    NOT NULL UNIQUE,
    project   TEXT    NOT NULL,
    agent     TEXT,
    tokens    INTEGER NOT NULL,
    resend_of TEXT
) STRICT;

-- The files behind the pointers of messages, once for each recipient ('' is the user). They are
-- stored beside the journal because addresses can be erased. `seq` is the first message that had
-- the file.
CREATE TABLE delivery (
    project   TEXT    NOT NULL,
    file      TEXT    NOT NULL,
    recipient TEXT    NOT NULL,
    seq       INTEGER NOT NULL,
    PRIMARY KEY (project, file, recipient)
) STRICT, WITHOUT ROWID;
CREATE INDEX delivery_seq ON delivery (seq);

-- Totals of messages: how many were sent, how many of them were resent after a refusal, and the
-- tokens that their recipients got.
CREATE TABLE delivered (
    project  TEXT    PRIMARY KEY,
    messages INTEGER NOT NULL,
    resends  INTEGER NOT NULL,
    tokens   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The refused message that the next message of its sender ('' is the user) replaces.
CREATE TABLE unsent (
    project TEXT NOT NULL,
    agent   TEXT NOT NULL,
    id      TEXT NOT NULL,
    PRIMARY KEY (project, agent)
) STRICT, WITHOUT ROWID;

-- The budgets that a parent's messages set for an agent, as JSON.
CREATE TABLE narrowed (
    agent   TEXT PRIMARY KEY,
    budgets TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Tokens of the messages that an agent sent in a turn.
CREATE TABLE inline (
    agent  TEXT    NOT NULL,
    turn   TEXT    NOT NULL,
    tokens INTEGER NOT NULL,
    PRIMARY KEY (agent, turn)
) STRICT, WITHOUT ROWID;
