-- The engram that reports a conflict is not in the list: the entry of the conflict is.
UPDATE engram SET stands = 0 WHERE stands = 1 AND lineage IN (SELECT risk FROM report);
