-- The proof of an agent that somebody opened: the hex sha256 of its token, which is stored nowhere.
CREATE TABLE token (
    agent  TEXT PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE
) STRICT, WITHOUT ROWID;

-- Permissions beyond a budget: to read a pointer, up to `most` tokens; or, without a pointer, to
-- send `most` characters of inline code. `digest` is that of the token; `spent` and `revoked` are
-- the entries that recorded this.
CREATE TABLE grant (
    seq        INTEGER PRIMARY KEY REFERENCES journal (seq),
    id         TEXT    NOT NULL UNIQUE,
    project    TEXT    NOT NULL,
    digest     TEXT    NOT NULL UNIQUE,
    agent      TEXT    NOT NULL,
    by         TEXT,
    pointer    TEXT,
    most       INTEGER NOT NULL,
    issued_at  INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    spent      INTEGER,
    revoked    INTEGER
) STRICT;
CREATE INDEX grant_agent ON grant (agent, pointer);

-- Requests of agents to read beyond their budget; the words are in `said`. `state` is waiting,
-- granted or denied.
CREATE TABLE request (
    seq     INTEGER PRIMARY KEY REFERENCES journal (seq),
    id      TEXT    NOT NULL UNIQUE,
    project TEXT    NOT NULL,
    agent   TEXT    NOT NULL,
    pointer TEXT    NOT NULL,
    tokens  INTEGER NOT NULL,
    state   TEXT    NOT NULL
) STRICT;
CREATE INDEX request_waiting ON request (project, agent) WHERE state = 'waiting';

-- How often a budget refused an agent in a turn.
CREATE TABLE refused (
    agent TEXT    NOT NULL,
    turn  TEXT    NOT NULL,
    times INTEGER NOT NULL,
    PRIMARY KEY (agent, turn)
) STRICT, WITHOUT ROWID;
