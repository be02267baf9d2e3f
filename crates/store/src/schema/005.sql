-- The agents that called last are queried as often as anything is written.
DROP INDEX agent_project;
CREATE INDEX agent_called ON agent (project, last_call);
