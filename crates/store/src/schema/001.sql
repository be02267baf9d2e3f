-- Times are microseconds since 1970 in UTC. Ids are ULIDs as text.

CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Every change of state, in the order in which this home learned of it. (origin, origin_seq)
-- identifies an entry everywhere; seq is only a cursor. Bodies carry digests, never text.
CREATE TABLE journal (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    origin      TEXT    NOT NULL,
    origin_seq  INTEGER NOT NULL,
    hlc         INTEGER NOT NULL,
    schema      INTEGER NOT NULL,
    project     TEXT    NOT NULL,
    kind        TEXT    NOT NULL,
    shareable   INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL,
    agent       TEXT,
    by          TEXT    NOT NULL,
    subject     TEXT,
    body        TEXT    NOT NULL,
    UNIQUE (origin, origin_seq)
) STRICT;
CREATE INDEX journal_project ON journal (project, seq);
CREATE INDEX journal_subject ON journal (subject) WHERE subject IS NOT NULL;
CREATE INDEX journal_agent ON journal (agent, kind, recorded_at) WHERE agent IS NOT NULL;

-- One row for each version of a claim: a projection of the journal, whose body holds the record
-- without erasable values (text) and derived values (keys, entities, figures).
CREATE TABLE engram (
    seq          INTEGER PRIMARY KEY REFERENCES journal (seq),
    id           TEXT    NOT NULL UNIQUE,
    lineage      TEXT    NOT NULL,
    project      TEXT    NOT NULL,
    run          TEXT,
    scope        TEXT    NOT NULL,
    kind         TEXT    NOT NULL,
    fact_type    TEXT    NOT NULL,
    topic        TEXT    NOT NULL,
    durability   TEXT    NOT NULL,
    content_hash TEXT    NOT NULL,
    valid_from   INTEGER NOT NULL,
    valid_until  INTEGER,
    expires_at   INTEGER,
    recorded_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX engram_lineage ON engram (lineage, seq);
CREATE INDEX engram_content ON engram (project, content_hash);
CREATE INDEX engram_project ON engram (project, seq);
CREATE INDEX engram_open ON engram (project, expires_at) WHERE valid_until IS NULL;

-- The erasable part: the words of a claim.
CREATE TABLE content (
    engram TEXT PRIMARY KEY,
    claim  TEXT NOT NULL,
    tags   TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What reads have shown: counters, not history.
CREATE TABLE figure (
    engram         TEXT PRIMARY KEY,
    query_hits     INTEGER NOT NULL DEFAULT 0,
    corroborations INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- Immutable steps of agent sessions.
CREATE TABLE event (
    seq         INTEGER PRIMARY KEY REFERENCES journal (seq),
    id          TEXT    NOT NULL UNIQUE,
    project     TEXT    NOT NULL,
    kind        TEXT    NOT NULL,
    slug        TEXT    NOT NULL,
    day         TEXT    NOT NULL,
    digest      TEXT    NOT NULL,
    text        TEXT,
    recorded_at INTEGER NOT NULL
) STRICT;
CREATE INDEX event_address ON event (project, kind, slug, day);

-- Immutable bytes, by sha256.
CREATE TABLE blob (
    digest TEXT PRIMARY KEY,
    bytes  BLOB NOT NULL
) STRICT;

CREATE TABLE project (
    id         TEXT PRIMARY KEY,
    common_dir TEXT NOT NULL,
    name       TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX project_place ON project (common_dir);

-- Handles that the engine issued.
CREATE TABLE agent (
    handle    TEXT PRIMARY KEY,
    label     TEXT    NOT NULL,
    parent    TEXT,
    run       TEXT    NOT NULL,
    project   TEXT    NOT NULL,
    turn      TEXT    NOT NULL,
    last_call INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX agent_project ON agent (project);

CREATE TABLE spend (
    agent             TEXT    NOT NULL,
    turn              TEXT    NOT NULL,
    repo_spans        INTEGER NOT NULL,
    artifact_sections INTEGER NOT NULL,
    sam_items         INTEGER NOT NULL,
    tokens            INTEGER NOT NULL,
    PRIMARY KEY (agent, turn)
) STRICT, WITHOUT ROWID;
