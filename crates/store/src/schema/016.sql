-- A read looks for the grants that an agent may still use: not through all that it ever spent.
DROP INDEX grant_agent;
CREATE INDEX grant_agent ON grant (agent, spent, revoked);
