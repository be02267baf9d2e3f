-- Vectors of claims, one byte for each dimension, and the model that made each. They follow from the
-- words, with which they are erased; a follower makes them anew for another model.
CREATE TABLE embedding_model (
    id      INTEGER PRIMARY KEY,
    name    TEXT NOT NULL,
    version TEXT NOT NULL,
    UNIQUE (name, version)
) STRICT;
CREATE TABLE vector (
    seq   INTEGER PRIMARY KEY,
    model INTEGER NOT NULL,
    bytes BLOB    NOT NULL
) STRICT;

-- The pairs that models are asked about, in order.
CREATE INDEX conflict_possible ON conflict (first) WHERE status = 'possible';
