-- What all descendants of an agent have read in its turn. Earlier reads are not included.
CREATE TABLE spend_below (
    agent             TEXT    NOT NULL,
    turn              TEXT    NOT NULL,
    repo_spans        INTEGER NOT NULL,
    artifact_sections INTEGER NOT NULL,
    sam_items         INTEGER NOT NULL,
    tokens            INTEGER NOT NULL,
    PRIMARY KEY (agent, turn)
) STRICT, WITHOUT ROWID;
