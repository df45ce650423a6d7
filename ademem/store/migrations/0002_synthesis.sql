-- What memories grow into: procedures, skills, briefs; and the logs of what was done to them.

-- The steps of a procedure and how often they worked.
create table memory_procedure_details (
  memory_id text primary key references unified_memories(id) on delete cascade,
  trigger text not null,
  procedure_markdown text not null,
  success_count integer not null default 0,
  failure_count integer not null default 0,
  last_used_at text,
  exported_skill_path text,
  exported_at text,
  superseded_by_memory_id text,
  created_at text not null,
  updated_at text not null
);
create index idx_memory_procedure_details_updated on memory_procedure_details(updated_at desc);

-- The episodes a procedure was learned from.
create table memory_procedure_sources (
  procedure_memory_id text not null references unified_memories(id) on delete cascade,
  episode_memory_id text not null,
  created_at text not null,
  primary key (procedure_memory_id, episode_memory_id)
);
create index idx_memory_procedure_sources_episode on memory_procedure_sources(episode_memory_id);

-- How each use of a procedure ended.
create table memory_procedure_history (
  id text primary key,
  procedure_memory_id text not null references unified_memories(id) on delete cascade,
  confidence real not null,
  outcome text not null,                -- success | failure
  reason text,
  recorded_at text not null
);
create index idx_memory_procedure_history_recorded
  on memory_procedure_history(procedure_memory_id, recorded_at desc);

-- Skill files of the project and the memories behind them.
create table memory_skill_index (
  id text primary key,
  project_id text not null,
  path text not null,                   -- relative to the project
  kind text not null,                   -- skill | command | root_doc
  source text not null,                 -- user | exported
  memory_id text,
  content_hash text not null,
  last_modified_at text,
  archived_at text,
  created_at text not null,
  updated_at text not null,
  unique (project_id, path)
);

-- What was captured already, so that nothing is captured twice.
create table memory_capture_ledger (
  id text primary key,
  project_id text not null,
  source_type text not null,
  source_key text not null,
  memory_id text,
  episode_memory_id text,
  metadata_json text,
  created_at text not null,
  updated_at text not null,
  unique (project_id, source_type, source_key)
);

-- What each sweep moved.
create table memory_sweep_log (
  sweep_id text primary key,
  project_id text not null,
  trigger_reason text not null,         -- manual | schedule | startup
  started_at text not null,
  completed_at text,
  entries_decayed integer not null default 0,
  entries_demoted integer not null default 0,
  entries_promoted integer not null default 0,
  entries_archived integer not null default 0,
  entries_orphaned integer not null default 0,
  duration_ms integer not null default 0,
  outcome text not null default 'ok',
  error text
);
create index idx_memory_sweep_log_completed on memory_sweep_log(project_id, completed_at desc);

-- What each consolidation merged.
create table memory_consolidation_log (
  consolidation_id text primary key,
  project_id text not null,
  trigger_reason text not null,         -- manual | auto
  started_at text not null,
  completed_at text,
  clusters_found integer not null default 0,
  entries_merged integer not null default 0,
  entries_created integer not null default 0,
  tokens_used integer not null default 0,
  duration_ms integer not null default 0,
  outcome text not null default 'ok',   -- ok | embeddings-unavailable | failed
  error text
);
create index idx_memory_consolidation_log_completed
  on memory_consolidation_log(project_id, completed_at desc);

-- The standing brief of the project.
create table cto_core_memory_state (
  project_id text primary key,
  version integer not null,
  payload_json text not null,
  updated_at text not null
);

-- Agents that have memories of their own.
create table agent_identities (
  id text primary key,
  project_id text not null,
  name text not null,
  profile_json text not null default '{}',
  persona_json text not null default '{}',
  tool_policy_json text not null default '{}',
  user_preferences_json text not null default '{}',
  heartbeat_json text,
  model_preference text,
  created_at text not null,
  updated_at text not null
);

-- The table before unified_memories: its rows are migrated once, then never read.
create table memories (
  id text primary key,
  project_id text not null,
  scope text not null,
  category text not null,
  content text not null,
  importance text default 'medium',
  source_session_id text,
  source_pack_key text,
  status text default 'promoted',
  agent_id text,
  confidence real default 1.0,
  promoted_at text,
  source_run_id text,
  created_at text not null,
  last_accessed_at text not null,
  access_count integer default 0
);
