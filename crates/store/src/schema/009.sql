-- The claim that a to-do asks about. The to-do ends with that claim and is erased with it.
ALTER TABLE engram ADD COLUMN asks TEXT;
CREATE INDEX engram_asks ON engram (asks) WHERE asks IS NOT NULL;
