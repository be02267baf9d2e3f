-- The tables, indexes and triggers of a home: what the steps in crates/store/src/schema add up to.
-- A test of engram-store writes this file if ENGRAM_UPDATE_SCHEMA is set.

CREATE TABLE admitted (
    place   TEXT PRIMARY KEY,
    project TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE agent (
    handle    TEXT PRIMARY KEY,
    label     TEXT    NOT NULL,
    parent    TEXT,
    run       TEXT    NOT NULL,
    project   TEXT    NOT NULL,
    turn      TEXT    NOT NULL,
    last_call INTEGER NOT NULL
, role TEXT, topics TEXT, given INTEGER NOT NULL DEFAULT 0, hidden INTEGER NOT NULL DEFAULT 0, closed INTEGER NOT NULL DEFAULT 0, earlier TEXT NOT NULL DEFAULT '[]') STRICT, WITHOUT ROWID;

CREATE INDEX agent_parent ON agent (parent) WHERE parent IS NOT NULL;

CREATE TABLE blob (
    digest TEXT PRIMARY KEY,
    bytes  BLOB NOT NULL
) STRICT;

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
    severity INTEGER NOT NULL DEFAULT 2, newer TEXT NOT NULL DEFAULT '', older TEXT NOT NULL DEFAULT '', ruled TEXT, run TEXT) STRICT, WITHOUT ROWID;

CREATE INDEX conflict_a ON conflict (a);

CREATE INDEX conflict_b ON conflict (b);

CREATE INDEX conflict_possible ON conflict (first) WHERE status = 'possible';

CREATE INDEX conflict_project ON conflict (project, status);

CREATE TABLE content (
    engram TEXT PRIMARY KEY,
    claim  TEXT NOT NULL,
    tags   TEXT NOT NULL
, side TEXT) STRICT, WITHOUT ROWID;

CREATE INDEX content_side ON content (side) WHERE side IS NOT NULL;

CREATE TABLE delivered (
    project  TEXT    PRIMARY KEY,
    messages INTEGER NOT NULL,
    resends  INTEGER NOT NULL,
    tokens   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE delivery (
    project   TEXT    NOT NULL,
    file      TEXT    NOT NULL,
    recipient TEXT    NOT NULL,
    seq       INTEGER NOT NULL, tokens INTEGER,
    PRIMARY KEY (project, file, recipient)
) STRICT, WITHOUT ROWID;

CREATE INDEX delivery_seq ON delivery (seq);

CREATE INDEX delivery_uncounted ON delivery (project, file) WHERE tokens IS NULL;

CREATE TABLE due (
    seq     INTEGER PRIMARY KEY,
    project TEXT    NOT NULL,
    below   INTEGER NOT NULL,
    pairs   INTEGER NOT NULL,
    told    INTEGER NOT NULL
, of_runs INTEGER NOT NULL DEFAULT 0) STRICT;

CREATE TABLE embedding_model (
    id      INTEGER PRIMARY KEY,
    name    TEXT NOT NULL,
    version TEXT NOT NULL,
    UNIQUE (name, version)
) STRICT;

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
, by TEXT NOT NULL DEFAULT '', verified INTEGER NOT NULL DEFAULT 0, asks TEXT, place INTEGER NOT NULL DEFAULT 0, placed_at INTEGER NOT NULL DEFAULT 0, stands INTEGER NOT NULL DEFAULT 1, role TEXT NOT NULL DEFAULT '') STRICT;

CREATE INDEX engram_asks ON engram (asks) WHERE asks IS NOT NULL;

CREATE INDEX engram_content ON engram (project, content_hash);

CREATE INDEX engram_lasting ON engram (project, kind, seq)
    WHERE valid_until IS NULL AND kind IN ('constraint', 'policy', 'risk');

CREATE INDEX engram_lineage ON engram (lineage, seq) WHERE lineage <> id;

CREATE INDEX engram_open ON engram (project, expires_at)
    WHERE valid_until IS NULL AND expires_at IS NOT NULL;

CREATE UNIQUE INDEX engram_place ON engram (project, place) WHERE stands = 1;

CREATE INDEX engram_project ON engram (project, seq);

CREATE INDEX engram_todo ON engram (project, seq) WHERE valid_until IS NULL AND kind = 'todo';

CREATE TRIGGER engram_closed AFTER UPDATE OF valid_until ON engram
WHEN old.valid_until IS NULL AND new.valid_until IS NOT NULL BEGIN
    UPDATE held SET open = open - 1
        WHERE project = new.project AND hour = coalesce(new.expires_at / 3600000000, 9223372036854775807);
END;

CREATE TRIGGER engram_erased AFTER UPDATE OF topic, by, role ON engram
WHEN new.stands = 1 AND (old.topic <> new.topic OR old.by <> new.by OR old.role <> new.role) BEGIN
    UPDATE tally SET versions = versions - 1
        WHERE project = old.project AND kind = old.kind AND scope = old.scope AND fact_type = old.fact_type
          AND verified = old.verified AND by = old.by AND topic = old.topic AND role = old.role;
    DELETE FROM tally
        WHERE project = old.project AND kind = old.kind AND scope = old.scope AND fact_type = old.fact_type
          AND verified = old.verified AND by = old.by AND topic = old.topic AND role = old.role AND versions = 0;
    INSERT INTO tally VALUES (new.project, new.kind, new.scope, new.fact_type, new.verified, new.by, new.topic, new.role, 1)
        ON CONFLICT DO UPDATE SET versions = versions + 1;
END;

CREATE TRIGGER engram_replaced AFTER UPDATE OF stands ON engram WHEN old.stands = 1 AND new.stands = 0 BEGIN
    UPDATE tally SET versions = versions - 1
        WHERE project = old.project AND kind = old.kind AND scope = old.scope AND fact_type = old.fact_type
          AND verified = old.verified AND by = old.by AND topic = old.topic AND role = old.role;
    DELETE FROM tally
        WHERE project = old.project AND kind = old.kind AND scope = old.scope AND fact_type = old.fact_type
          AND verified = old.verified AND by = old.by AND topic = old.topic AND role = old.role AND versions = 0;
END;

CREATE TRIGGER engram_stored AFTER INSERT ON engram BEGIN
    INSERT INTO held VALUES (new.project, coalesce(new.expires_at / 3600000000, 9223372036854775807), 1, new.valid_until IS NULL)
        ON CONFLICT DO UPDATE SET ever = ever + 1, open = open + excluded.open;
    INSERT INTO tally VALUES (new.project, new.kind, new.scope, new.fact_type, new.verified, new.by, new.topic, new.role, 1)
        ON CONFLICT DO UPDATE SET versions = versions + 1;
END;

CREATE TABLE event (
    seq         INTEGER PRIMARY KEY REFERENCES journal (seq),
    id          TEXT    NOT NULL UNIQUE,
    project     TEXT    NOT NULL,
    kind        TEXT    NOT NULL,
    slug        TEXT    NOT NULL,
    day         TEXT    NOT NULL,
    digest      TEXT    NOT NULL,
    recorded_at INTEGER NOT NULL
) STRICT;

CREATE INDEX event_address ON event (project, kind, slug, day);

CREATE TABLE figure (
    engram         TEXT PRIMARY KEY,
    query_hits     INTEGER NOT NULL DEFAULT 0,
    corroborations INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TABLE follower (
    name   TEXT PRIMARY KEY,
    cursor INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

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
, replaced_by TEXT) STRICT;

CREATE INDEX grant_agent ON grant (agent, spent, revoked);

CREATE TABLE health (
    engram   TEXT NOT NULL,
    worktree TEXT NOT NULL,
    standing TEXT NOT NULL,
    pointers TEXT NOT NULL,
    PRIMARY KEY (engram, worktree)
) STRICT, WITHOUT ROWID;

CREATE INDEX health_standing ON health (worktree, standing);

CREATE TABLE held (
    project TEXT    NOT NULL,
    hour    INTEGER NOT NULL,
    ever    INTEGER NOT NULL,
    open    INTEGER NOT NULL,
    PRIMARY KEY (project, hour)
) STRICT, WITHOUT ROWID;

CREATE TABLE inline (
    agent  TEXT    NOT NULL,
    turn   TEXT    NOT NULL,
    tokens INTEGER NOT NULL,
    PRIMARY KEY (agent, turn)
) STRICT, WITHOUT ROWID;

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
    body        TEXT    NOT NULL, clock INTEGER,
    UNIQUE (origin, origin_seq)
) STRICT;

CREATE INDEX journal_agent ON journal (agent, kind, recorded_at) WHERE agent IS NOT NULL;

CREATE INDEX journal_lately ON journal (project, kind, recorded_at) WHERE agent IS NOT NULL;

CREATE INDEX journal_named ON journal (project, by) WHERE agent IS NULL AND by <> '';

CREATE INDEX journal_project ON journal (project, seq);

CREATE INDEX journal_subject ON journal (subject) WHERE subject IS NOT NULL;

CREATE TABLE look (
    project  TEXT    NOT NULL,
    worktree TEXT    NOT NULL,
    head     TEXT,
    note     TEXT,
    PRIMARY KEY (project, worktree)
) STRICT, WITHOUT ROWID;

CREATE TABLE message (
    seq       INTEGER PRIMARY KEY REFERENCES journal (seq),
    id        TEXT    NOT NULL UNIQUE,
    project   TEXT    NOT NULL,
    agent     TEXT,
    tokens    INTEGER NOT NULL,
    resend_of TEXT
) STRICT;

CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE narrowed (
    agent   TEXT PRIMARY KEY,
    budgets TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE pin (
    seq     INTEGER PRIMARY KEY REFERENCES journal (seq),
    project TEXT NOT NULL,
    agent   TEXT,
    lineage TEXT
) STRICT;

CREATE INDEX pin_project ON pin (project, seq);

CREATE TABLE pinned (
    digest TEXT NOT NULL,
    engram TEXT NOT NULL,
    PRIMARY KEY (digest, engram)
) STRICT, WITHOUT ROWID;

CREATE INDEX pinned_engram ON pinned (engram);

CREATE TABLE project (
    id         TEXT PRIMARY KEY,
    common_dir TEXT NOT NULL,
    name       TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX project_place ON project (common_dir);

CREATE TABLE reached (
    line  INTEGER NOT NULL,
    agent TEXT    NOT NULL,
    seq   INTEGER NOT NULL,
    PRIMARY KEY (line, agent)
) STRICT, WITHOUT ROWID;

CREATE TABLE reading (
    project TEXT    NOT NULL,
    engram  TEXT    NOT NULL,
    reads   INTEGER NOT NULL,
    run     TEXT    NOT NULL,
    own     INTEGER NOT NULL,
    PRIMARY KEY (project, engram)
) STRICT, WITHOUT ROWID;

CREATE INDEX reading_most ON reading (project, reads);

CREATE TABLE refused (
    agent TEXT    NOT NULL,
    turn  TEXT    NOT NULL,
    times INTEGER NOT NULL,
    PRIMARY KEY (agent, turn)
) STRICT, WITHOUT ROWID;

CREATE TABLE report (
    risk     TEXT NOT NULL PRIMARY KEY,
    conflict TEXT NOT NULL,
    one      TEXT NOT NULL,
    other    TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX report_conflict ON report (conflict);

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

CREATE TABLE said (
    seq  INTEGER PRIMARY KEY REFERENCES journal (seq),
    text TEXT NOT NULL
) STRICT;

CREATE TABLE series (
    seq INTEGER PRIMARY KEY
) STRICT;

CREATE TABLE served (
    agent  TEXT    NOT NULL,
    seq    INTEGER NOT NULL REFERENCES journal (seq),
    prints BLOB    NOT NULL,
    PRIMARY KEY (agent, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE snapshot (
    project TEXT    NOT NULL,
    digest  TEXT    NOT NULL,
    path    TEXT    NOT NULL,
    base    TEXT,
    blob    TEXT    NOT NULL,
    seq     INTEGER NOT NULL,
    PRIMARY KEY (digest, path, project)
) STRICT, WITHOUT ROWID;

CREATE TABLE spend (
    agent             TEXT    NOT NULL,
    turn              TEXT    NOT NULL,
    repo_spans        INTEGER NOT NULL,
    artifact_sections INTEGER NOT NULL,
    sam_items         INTEGER NOT NULL,
    tokens            INTEGER NOT NULL,
    PRIMARY KEY (agent, turn)
) STRICT, WITHOUT ROWID;

CREATE TABLE spend_below (
    agent             TEXT    NOT NULL,
    turn              TEXT    NOT NULL,
    repo_spans        INTEGER NOT NULL,
    artifact_sections INTEGER NOT NULL,
    sam_items         INTEGER NOT NULL,
    tokens            INTEGER NOT NULL,
    PRIMARY KEY (agent, turn)
) STRICT, WITHOUT ROWID;

CREATE TABLE tally (
    project   TEXT    NOT NULL,
    kind      TEXT    NOT NULL,
    scope     TEXT    NOT NULL,
    fact_type TEXT    NOT NULL,
    verified  INTEGER NOT NULL,
    by        TEXT    NOT NULL,
    topic     TEXT    NOT NULL,
    role      TEXT    NOT NULL,
    versions  INTEGER NOT NULL,
    PRIMARY KEY (project, kind, scope, fact_type, verified, by, topic, role)
) STRICT, WITHOUT ROWID;

CREATE TABLE token (
    agent  TEXT PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE
) STRICT, WITHOUT ROWID;

CREATE TABLE unsent (
    project TEXT NOT NULL,
    agent   TEXT NOT NULL,
    id      TEXT NOT NULL,
    PRIMARY KEY (project, agent)
) STRICT, WITHOUT ROWID;

CREATE TABLE vector (
    seq   INTEGER PRIMARY KEY,
    model INTEGER NOT NULL,
    bytes BLOB    NOT NULL
) STRICT;
