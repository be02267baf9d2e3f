-- The grant that was issued in the place of this one.
ALTER TABLE grant ADD COLUMN replaced_by TEXT;
