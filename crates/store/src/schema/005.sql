-- Who called lately is asked for as often as anything is written.
DROP INDEX agent_project;
CREATE INDEX agent_called ON agent (project, last_call);
