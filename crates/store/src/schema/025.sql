-- The agent that got a grant in the place of this one.
ALTER TABLE grant ADD COLUMN transferred_to TEXT;
