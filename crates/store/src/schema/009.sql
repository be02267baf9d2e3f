-- The claim that a to-do asks about: it ends with that, and is erased with it.
ALTER TABLE engram ADD COLUMN asks TEXT;
CREATE INDEX engram_asks ON engram (asks) WHERE asks IS NOT NULL;
