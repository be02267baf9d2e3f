-- What the user changed about an agent: whether the window's list leaves it out, whether it may still call, and
-- the names that it had before, as a JSON array.
ALTER TABLE agent ADD COLUMN hidden INTEGER NOT NULL DEFAULT 0;
ALTER TABLE agent ADD COLUMN closed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE agent ADD COLUMN earlier TEXT NOT NULL DEFAULT '[]';
