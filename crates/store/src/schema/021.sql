-- Versions that were compared with only some values of a series. They are compared again when one
-- of those ends.
CREATE TABLE series (
    seq INTEGER PRIMARY KEY
) STRICT;

-- Contradicting versions are compared again: they may have been compared with only the last value
-- of a series.
INSERT OR REPLACE INTO due SELECT engram.seq, engram.project, 9223372036854775807, 1, 0, 0
    FROM engram JOIN content ON content.engram = engram.id
    WHERE valid_until IS NULL AND durability = 'durable'
      AND content.side IN (SELECT a FROM conflict UNION SELECT b FROM conflict)
      AND lineage NOT IN (SELECT risk FROM report);
