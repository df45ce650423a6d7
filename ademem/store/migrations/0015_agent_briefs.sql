-- What agents know of themselves.

-- The standing brief of each agent.
create table agent_core_memory_state (
  project_id text not null,
  agent_id text not null,               -- the folder under .ade/agents
  version integer not null,
  payload_json text not null,
  updated_at text not null,
  primary key (project_id, agent_id)
);
