-- Versions that were held against only some values of a series: they are compared again once one of those ends.
CREATE TABLE series (
    seq INTEGER PRIMARY KEY
) STRICT;

-- What contradicts something is compared again: it may have been held against the last value of a series alone.
INSERT OR REPLACE INTO due SELECT engram.seq, engram.project, 9223372036854775807, 1, 0, 0
    FROM engram JOIN content ON content.engram = engram.id
    WHERE valid_until IS NULL AND durability = 'durable'
      AND content.side IN (SELECT a FROM conflict UNION SELECT b FROM conflict)
      AND lineage NOT IN (SELECT risk FROM report);
