-- Whether a person gave an agent its name: by opening it, or as the handle in a command of theirs.
ALTER TABLE agent ADD COLUMN given INTEGER NOT NULL DEFAULT 0;
UPDATE agent SET given = 1 WHERE (parent IS NULL AND handle = label)
    OR EXISTS (SELECT 1 FROM journal WHERE kind = 'opened' AND subject = handle AND journal.agent IS NULL);

-- The names that a person gave with what they said.
CREATE INDEX journal_named ON journal (project, by) WHERE agent IS NULL AND by <> '';

-- What all agents of a project did lately: rates that they share are counted by it.
CREATE INDEX journal_lately ON journal (project, kind, recorded_at) WHERE agent IS NOT NULL;
