-- Every column that holds one word of a closed set, a number of a range, JSON or a moment says so.
-- SQLite adds no constraint to a table that is there: each is built anew, with its indexes and triggers.

-- Rows that held a value they cannot have, as they were found.
create table bad_rows (
  id integer primary key,
  table_name text not null,
  row_key text not null,                -- its primary key
  bad_columns text not null,            -- names separated by one blank
  original text not null,               -- JSON of the whole row; bytes that are no text as {"hex": …}
  outcome text not null check (outcome in ('repaired', 'removed')),
  found_at text not null
);

create temp table kept as select * from unified_memories;
drop table unified_memories;
create table unified_memories (
  seq integer primary key,  -- order of arrival; row number of the indexes below
  id text not null unique,
  sync_id text not null unique,  -- the same on every machine
  project_id text not null references projects(id),
  scope text not null check (scope in ('project', 'agent', 'mission')),
  scope_owner_id text,  -- null for project; agent or mission id else
  tier integer not null default 2 check (tier in (1, 2, 3)),  -- 1 pinned | 2 active | 3 fading
  category text not null check (category in ('fact', 'preference', 'pattern', 'decision', 'gotcha', 'convention', 'episode', 'procedure', 'digest', 'handoff')),
  title text,
  content text not null,
  importance text not null default 'medium' check (importance in ('low', 'medium', 'high')),
  confidence real not null default 1.0 check (typeof(confidence) in ('integer', 'real') and confidence between 0 and 1),
  observation_count integer not null default 1 check (typeof(observation_count) = 'integer' and observation_count >= 0),
  status text not null default 'candidate' check (status in ('candidate', 'promoted', 'archived')),
  trust text not null default 'agent' check (trust in ('user', 'agent', 'tool', 'web', 'import')),
  source_type text not null default 'agent',
  source_id text,
  source_session_id text,
  source_pack_key text,
  source_run_id text,
  source_branch text,
  file_scope_pattern text,
  anchors text not null default '[]' check (case when json_valid(anchors) then json_type(anchors) = 'array' else 0 end),  -- JSON: ["path:first-last", …]
  agent_id text,
  pinned integer not null default 0 check (pinned in (0, 1)),
  tags text not null default '',  -- words separated by one blank
  topic_key text,
  knowledge_key text,
  bead text,
  revision_count integer not null default 1 check (typeof(revision_count) = 'integer' and revision_count >= 0),
  access_score real not null default 0 check (typeof(access_score) in ('integer', 'real') and access_score >= 0),
  composite_score real not null default 0 check (typeof(composite_score) in ('integer', 'real') and composite_score >= 0),
  access_count integer not null default 0 check (typeof(access_count) = 'integer' and access_count >= 0),
  write_gate_reason text,
  quarantine_reason text,
  superseded_by text,
  dedupe_key text not null default '',
  created_at text not null check (created_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  updated_at text not null check (updated_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  last_accessed_at text not null check (last_accessed_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  promoted_at text check (promoted_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  review_after text check (review_after glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  deleted_at text check (deleted_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  rejected_at text check (rejected_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  base_score real check (typeof(base_score) in ('integer', 'real', 'null') and base_score >= 0)
);
insert into unified_memories (seq, id, sync_id, project_id, scope, scope_owner_id, tier, category, title,
  content, importance, confidence, observation_count, status, trust, source_type, source_id,
  source_session_id, source_pack_key, source_run_id, source_branch, file_scope_pattern, anchors, agent_id,
  pinned, tags, topic_key, knowledge_key, bead, revision_count, access_score, composite_score, access_count,
  write_gate_reason, quarantine_reason, superseded_by, dedupe_key, created_at, updated_at, last_accessed_at,
  promoted_at, review_after, deleted_at, rejected_at, base_score)
  select seq, id, sync_id, project_id, scope, scope_owner_id, tier, category, title, content, importance,
  confidence, observation_count, status, trust, source_type, source_id, source_session_id, source_pack_key,
  source_run_id, source_branch, file_scope_pattern, anchors, agent_id, pinned, tags, topic_key, knowledge_key,
  bead, revision_count, access_score, composite_score, access_count, write_gate_reason, quarantine_reason,
  superseded_by, dedupe_key, created_at, updated_at, last_accessed_at, promoted_at, review_after, deleted_at,
  rejected_at, base_score from kept;
drop table kept;
create unique index idx_unified_memories_live_text
  on unified_memories(project_id, scope, ifnull(scope_owner_id, ''), dedupe_key)
  where status <> 'archived' and deleted_at is null and superseded_by is null;
create unique index idx_unified_memories_live_topic
  on unified_memories(project_id, scope, ifnull(scope_owner_id, ''), topic_key)
  where topic_key is not null and status <> 'archived' and deleted_at is null and superseded_by is null;
create index idx_unified_memories_project_scope_tier on unified_memories(project_id, scope, tier);
create index idx_unified_memories_scope_owner on unified_memories(project_id, scope, scope_owner_id);
create index idx_unified_memories_project_status on unified_memories(project_id, status, category);
create index idx_unified_memories_project_pinned on unified_memories(project_id, pinned, tier);
create index idx_unified_memories_project_accessed on unified_memories(project_id, last_accessed_at);
create index idx_unified_memories_project_created on unified_memories(project_id, created_at);
create index idx_unified_memories_current on unified_memories(project_id, scope, importance, updated_at, category)
  where status = 'promoted' and deleted_at is null and superseded_by is null and quarantine_reason is null;
create index idx_unified_memories_session on unified_memories(source_session_id);
create index idx_unified_memories_source on unified_memories(source_id);
create index idx_unified_memories_knowledge_key on unified_memories(project_id, knowledge_key)
  where knowledge_key is not null;
create index idx_unified_memories_rejected
  on unified_memories(project_id, scope, dedupe_key) where rejected_at is not null;
create trigger unified_memories_fts_ai after insert on unified_memories when new.deleted_at is null begin
  insert into unified_memories_fts(rowid, title, content, tags, file_scope_pattern, topic_key)
    values (new.seq, new.title, new.content, new.tags, new.file_scope_pattern, new.topic_key);
  insert into unified_memories_trigram(rowid, title, content) values (new.seq, new.title, new.content);
end;
create trigger unified_memories_fts_bd before delete on unified_memories when old.deleted_at is null begin
  insert into unified_memories_fts(unified_memories_fts, rowid, title, content, tags, file_scope_pattern, topic_key)
    values ('delete', old.seq, old.title, old.content, old.tags, old.file_scope_pattern, old.topic_key);
  insert into unified_memories_trigram(unified_memories_trigram, rowid, title, content)
    values ('delete', old.seq, old.title, old.content);
end;
create trigger unified_memories_fts_au
after update of title, content, tags, file_scope_pattern, topic_key, deleted_at on unified_memories
when old.title is not new.title or old.content is not new.content or old.tags is not new.tags
  or old.file_scope_pattern is not new.file_scope_pattern or old.topic_key is not new.topic_key
  or (old.deleted_at is null) <> (new.deleted_at is null)
begin
  insert into unified_memories_fts(unified_memories_fts, rowid, title, content, tags, file_scope_pattern, topic_key)
    select 'delete', old.seq, old.title, old.content, old.tags, old.file_scope_pattern, old.topic_key
    where old.deleted_at is null;
  insert into unified_memories_trigram(unified_memories_trigram, rowid, title, content)
    select 'delete', old.seq, old.title, old.content where old.deleted_at is null;
  insert into unified_memories_fts(rowid, title, content, tags, file_scope_pattern, topic_key)
    select new.seq, new.title, new.content, new.tags, new.file_scope_pattern, new.topic_key
    where new.deleted_at is null;
  insert into unified_memories_trigram(rowid, title, content)
    select new.seq, new.title, new.content where new.deleted_at is null;
end;
create trigger unified_memory_embeddings_stale after update of title, content on unified_memories
when old.content is not new.content or old.title is not new.title
begin
  delete from unified_memory_embeddings where memory_id = new.id;
end;
create trigger memory_relations_orphaned after delete on unified_memories begin
  update memory_relations set judgment_status = 'orphaned'
    where source_id = old.sync_id or target_id = old.sync_id;
end;
create trigger memory_sites_ai after insert on unified_memories
when new.file_scope_pattern is not null or new.anchors <> '[]' or instr(new.content, '`')
begin
  insert or ignore into memory_sites(memory_seq, kind, key, pattern) values (new.seq, 'due', '', '');
end;
create trigger memory_sites_au
after update of content, file_scope_pattern, anchors, status, deleted_at, superseded_by, quarantine_reason
on unified_memories
when (old.content is not new.content or old.file_scope_pattern is not new.file_scope_pattern
    or old.anchors is not new.anchors or old.status is not new.status
    or old.deleted_at is not new.deleted_at or old.superseded_by is not new.superseded_by
    or old.quarantine_reason is not new.quarantine_reason)
  and (new.file_scope_pattern is not null or new.anchors <> '[]' or instr(new.content, '`')
    or exists (select 1 from memory_sites where memory_seq = old.seq))
begin
  delete from memory_sites where memory_seq = old.seq;
  insert into memory_sites(memory_seq, kind, key, pattern) values (new.seq, 'due', '', '');
end;
create trigger memory_sites_ad after delete on unified_memories
when exists (select 1 from memory_sites where memory_seq = old.seq)
begin
  delete from memory_sites where memory_seq = old.seq;
  insert into memory_sites(memory_seq, kind, key, pattern) values (old.seq, 'due', '', '');
end;
create trigger search_changes_text
after update of title, content, tags, file_scope_pattern, topic_key, deleted_at, source_session_id on unified_memories
when (old.title is not new.title or old.content is not new.content or old.tags is not new.tags
  or old.file_scope_pattern is not new.file_scope_pattern or old.topic_key is not new.topic_key
  or (old.deleted_at is null) <> (new.deleted_at is null)
  or old.source_session_id is not new.source_session_id)
  and exists (select 1 from search_files)
begin
  insert into search_changes (seq) values (new.seq);
end;
create trigger search_changes_gone after delete on unified_memories
when exists (select 1 from search_files)
begin
  insert into search_changes (seq) values (old.seq);
end;
create trigger search_changes_standing
after update of project_id, status, scope, source_type, source_branch, superseded_by, quarantine_reason
on unified_memories
when (old.project_id <> new.project_id or old.status <> new.status or old.scope <> new.scope
  or old.source_type is not new.source_type or old.source_branch is not new.source_branch
  or (old.superseded_by is null) <> (new.superseded_by is null)
  or (old.quarantine_reason is null) <> (new.quarantine_reason is null))
  and exists (select 1 from search_files)
begin
  insert into search_changes (seq) values (new.seq);
end;

create temp table kept as select rowid as kept_rowid, * from unified_memory_embeddings;
drop table unified_memory_embeddings;
create table unified_memory_embeddings (
  id text primary key,
  memory_id text not null references unified_memories(id) on delete cascade,
  project_id text not null references projects(id),
  embedding_model text not null,  -- model, dtype and length bound
  embedding_blob blob not null check (typeof(embedding_blob) = 'blob'),  -- little-endian float32
  dimensions integer not null check (typeof(dimensions) = 'integer' and dimensions > 0),
  norm real check (typeof(norm) in ('integer', 'real', 'null')),
  created_at text not null,
  updated_at text not null,
  unique (memory_id, embedding_model)
);
insert into unified_memory_embeddings (rowid, id, memory_id, project_id, embedding_model, embedding_blob,
  dimensions, norm, created_at, updated_at)
  select kept_rowid, id, memory_id, project_id, embedding_model, embedding_blob, dimensions, norm, created_at,
  updated_at from kept;
drop table kept;
create trigger search_changes_vector after insert on unified_memory_embeddings
when exists (select 1 from search_files)
begin
  insert into search_changes (seq, embedding_model)
    select seq, new.embedding_model from unified_memories where id = new.memory_id;
end;
create trigger search_changes_other_vector after update of embedding_blob on unified_memory_embeddings
when exists (select 1 from search_files)
begin
  insert into search_changes (seq, embedding_model)
    select seq, new.embedding_model from unified_memories where id = new.memory_id;
end;
create trigger search_changes_no_vector after delete on unified_memory_embeddings
when exists (select 1 from search_files)
begin
  insert into search_changes (seq, embedding_model)
    select seq, old.embedding_model from unified_memories where id = old.memory_id;
end;

create temp table kept as select rowid as kept_rowid, * from memory_procedure_details;
drop table memory_procedure_details;
create table memory_procedure_details (
  memory_id text primary key references unified_memories(id) on delete cascade,
  trigger text not null,
  procedure_markdown text not null,
  success_count integer not null default 0 check (typeof(success_count) = 'integer' and success_count >= 0),
  failure_count integer not null default 0 check (typeof(failure_count) = 'integer' and failure_count >= 0),
  last_used_at text check (last_used_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  exported_skill_path text,
  exported_at text check (exported_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  superseded_by_memory_id text,
  created_at text not null check (created_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  updated_at text not null check (updated_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z')
);
insert into memory_procedure_details (rowid, memory_id, trigger, procedure_markdown, success_count,
  failure_count, last_used_at, exported_skill_path, exported_at, superseded_by_memory_id, created_at,
  updated_at)
  select kept_rowid, memory_id, trigger, procedure_markdown, success_count, failure_count, last_used_at,
  exported_skill_path, exported_at, superseded_by_memory_id, created_at, updated_at from kept;
drop table kept;
create index idx_memory_procedure_details_updated on memory_procedure_details(updated_at desc);

create temp table kept as select rowid as kept_rowid, * from memory_procedure_history;
drop table memory_procedure_history;
create table memory_procedure_history (
  id text primary key,
  procedure_memory_id text not null references unified_memories(id) on delete cascade,
  confidence real not null check (typeof(confidence) in ('integer', 'real') and confidence between 0 and 1),
  outcome text not null check (outcome in ('success', 'failure')),
  reason text,
  recorded_at text not null check (recorded_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  event_id text,
  taken_back_by text
);
insert into memory_procedure_history (rowid, id, procedure_memory_id, confidence, outcome, reason,
  recorded_at, event_id, taken_back_by)
  select kept_rowid, id, procedure_memory_id, confidence, outcome, reason, recorded_at, event_id,
  taken_back_by from kept;
drop table kept;
create index idx_memory_procedure_history_recorded
  on memory_procedure_history(procedure_memory_id, recorded_at desc);
create index idx_memory_procedure_history_event on memory_procedure_history(event_id);

create temp table kept as select rowid as kept_rowid, * from memory_skill_index;
drop table memory_skill_index;
create table memory_skill_index (
  id text primary key,
  project_id text not null,
  path text not null,  -- relative to the project
  kind text not null check (kind in ('skill', 'command', 'root_doc')),
  source text not null check (source in ('user', 'exported')),
  memory_id text,
  content_hash text not null,
  last_modified_at text check (last_modified_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  archived_at text check (archived_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  created_at text not null check (created_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  updated_at text not null check (updated_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  unique (project_id, path)
);
insert into memory_skill_index (rowid, id, project_id, path, kind, source, memory_id, content_hash,
  last_modified_at, archived_at, created_at, updated_at)
  select kept_rowid, id, project_id, path, kind, source, memory_id, content_hash, last_modified_at,
  archived_at, created_at, updated_at from kept;
drop table kept;

create temp table kept as select rowid as kept_rowid, * from memory_sweep_log;
drop table memory_sweep_log;
create table memory_sweep_log (
  sweep_id text primary key,
  project_id text not null,
  trigger_reason text not null check (trigger_reason in ('manual', 'schedule', 'startup')),
  started_at text not null check (started_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  completed_at text check (completed_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  entries_decayed integer not null default 0 check (typeof(entries_decayed) = 'integer' and entries_decayed >= 0),
  entries_demoted integer not null default 0 check (typeof(entries_demoted) = 'integer' and entries_demoted >= 0),
  entries_promoted integer not null default 0 check (typeof(entries_promoted) = 'integer' and entries_promoted >= 0),
  entries_archived integer not null default 0 check (typeof(entries_archived) = 'integer' and entries_archived >= 0),
  entries_orphaned integer not null default 0 check (typeof(entries_orphaned) = 'integer' and entries_orphaned >= 0),
  duration_ms integer not null default 0 check (typeof(duration_ms) = 'integer' and duration_ms >= 0),
  outcome text not null default 'ok' check (outcome in ('running', 'ok', 'failed')),
  error text
);
insert into memory_sweep_log (rowid, sweep_id, project_id, trigger_reason, started_at, completed_at,
  entries_decayed, entries_demoted, entries_promoted, entries_archived, entries_orphaned, duration_ms,
  outcome, error)
  select kept_rowid, sweep_id, project_id, trigger_reason, started_at, completed_at, entries_decayed,
  entries_demoted, entries_promoted, entries_archived, entries_orphaned, duration_ms, outcome, error from
  kept;
drop table kept;
create index idx_memory_sweep_log_completed on memory_sweep_log(project_id, completed_at desc);

create temp table kept as select rowid as kept_rowid, * from memory_consolidation_log;
drop table memory_consolidation_log;
create table memory_consolidation_log (
  consolidation_id text primary key,
  project_id text not null,
  trigger_reason text not null check (trigger_reason in ('manual', 'schedule', 'auto')),
  started_at text not null check (started_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  completed_at text check (completed_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  clusters_found integer not null default 0 check (typeof(clusters_found) = 'integer' and clusters_found >= 0),
  entries_merged integer not null default 0 check (typeof(entries_merged) = 'integer' and entries_merged >= 0),
  entries_created integer not null default 0 check (typeof(entries_created) = 'integer' and entries_created >= 0),
  tokens_used integer not null default 0 check (typeof(tokens_used) = 'integer' and tokens_used >= 0),
  duration_ms integer not null default 0 check (typeof(duration_ms) = 'integer' and duration_ms >= 0),
  outcome text not null default 'ok' check (outcome in ('ok', 'embeddings-unavailable', 'failed')),
  error text
);
insert into memory_consolidation_log (rowid, consolidation_id, project_id, trigger_reason, started_at,
  completed_at, clusters_found, entries_merged, entries_created, tokens_used, duration_ms, outcome, error)
  select kept_rowid, consolidation_id, project_id, trigger_reason, started_at, completed_at, clusters_found,
  entries_merged, entries_created, tokens_used, duration_ms, outcome, error from kept;
drop table kept;
create index idx_memory_consolidation_log_completed
  on memory_consolidation_log(project_id, completed_at desc);

create temp table kept as select rowid as kept_rowid, * from cto_core_memory_state;
drop table cto_core_memory_state;
create table cto_core_memory_state (
  project_id text primary key,
  version integer not null check (typeof(version) = 'integer' and version > 0),
  payload_json text not null check (case when json_valid(payload_json) then json_type(payload_json) = 'object' else 0 end),
  updated_at text not null check (updated_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z')
);
insert into cto_core_memory_state (rowid, project_id, version, payload_json, updated_at)
  select kept_rowid, project_id, version, payload_json, updated_at from kept;
drop table kept;

create temp table kept as select rowid as kept_rowid, * from agent_core_memory_state;
drop table agent_core_memory_state;
create table agent_core_memory_state (
  project_id text not null,
  agent_id text not null,  -- the folder under .ade/agents
  version integer not null check (typeof(version) = 'integer' and version > 0),
  payload_json text not null check (case when json_valid(payload_json) then json_type(payload_json) = 'object' else 0 end),
  updated_at text not null check (updated_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  primary key (project_id, agent_id)
);
insert into agent_core_memory_state (rowid, project_id, agent_id, version, payload_json, updated_at)
  select kept_rowid, project_id, agent_id, version, payload_json, updated_at from kept;
drop table kept;

create temp table kept as select rowid as kept_rowid, * from sessions;
drop table sessions;
create table sessions (
  id text primary key,  -- the client's own session id
  project_id text not null,
  directory text not null,
  branch text,
  started_at text not null check (started_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  last_started_at text not null check (last_started_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  last_source text not null,  -- startup | resume | clear | compact | fork
  ended_at text check (ended_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  end_reason text,
  summary text,
  transcript_path text,
  own_since text check (own_since glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  compacting_at text check (compacting_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z')
);
insert into sessions (rowid, id, project_id, directory, branch, started_at, last_started_at, last_source,
  ended_at, end_reason, summary, transcript_path, own_since, compacting_at)
  select kept_rowid, id, project_id, directory, branch, started_at, last_started_at, last_source, ended_at,
  end_reason, summary, transcript_path, own_since, compacting_at from kept;
drop table kept;
create index idx_sessions_started on sessions(project_id, started_at desc);

create temp table kept as select rowid as kept_rowid, * from turns;
drop table turns;
create table turns (
  session_id text not null,
  agent_id text not null default '',
  prompt_id text not null default '',
  project_id text not null,
  class text not null check (class in ('none', 'soft', 'required')),
  why text not null,
  hint text not null default '',  -- words worth searching for
  searched_at text check (searched_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  denied text not null default '',  -- tool_use_ids of the denials, separated by one blank
  started_at text not null check (started_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  ended_at text check (ended_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  primary key (session_id, agent_id, prompt_id)
);
insert into turns (rowid, session_id, agent_id, prompt_id, project_id, class, why, hint, searched_at, denied,
  started_at, ended_at)
  select kept_rowid, session_id, agent_id, prompt_id, project_id, class, why, hint, searched_at, denied,
  started_at, ended_at from kept;
drop table kept;
create index idx_turns_started on turns(started_at);

create temp table kept as select * from guard_log;
drop table guard_log;
create table guard_log (
  id integer primary key,
  project_id text not null,
  session_id text not null,
  agent_id text not null default '',
  prompt_id text not null default '',
  tool_use_id text,
  tool text not null,
  target text not null,  -- path or command, redacted, 200 characters
  decision text not null check (decision in ('deny', 'warn', 'pass', 'lift', 'arm', 'fail')),
  reason text not null,
  created_at text not null check (created_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z')
);
insert into guard_log (id, project_id, session_id, agent_id, prompt_id, tool_use_id, tool, target, decision,
  reason, created_at)
  select id, project_id, session_id, agent_id, prompt_id, tool_use_id, tool, target, decision, reason,
  created_at from kept;
drop table kept;
create index idx_guard_log_created on guard_log(created_at);

create temp table kept as select * from recall_log;
drop table recall_log;
create table recall_log (
  id integer primary key,
  project_id text not null,
  session_id text,
  agent_id text not null default '',
  prompt_id text not null default '',
  place text not null check (place in ('briefing', 'prompt', 'agent', 'site', 'failure', 'guard', 'recall', 'search')),
  query text,
  memory_id text,  -- null: it ran and found nothing
  rank integer check (typeof(rank) in ('integer', 'null')),
  score real check (typeof(score) in ('integer', 'real', 'null')),
  used integer not null default 0 check (used in (0, 1)),
  created_at text not null check (created_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z')
);
insert into recall_log (id, project_id, session_id, agent_id, prompt_id, place, query, memory_id, rank, score,
  used, created_at)
  select id, project_id, session_id, agent_id, prompt_id, place, query, memory_id, rank, score, used,
  created_at from kept;
drop table kept;
create index idx_recall_log_session on recall_log(session_id, place, created_at);
create index idx_recall_log_memory on recall_log(memory_id);

create temp table kept as select rowid as kept_rowid, * from memory_relations;
drop table memory_relations;
create table memory_relations (
  sync_id text primary key,
  project_id text not null,
  source_id text not null,  -- sync ids, which mean the same everywhere
  target_id text not null,
  relation text not null check (relation in ('related', 'compatible', 'scoped', 'conflicts_with', 'supersedes', 'not_conflict', 'merged_from')),
  reason text,
  evidence text,
  confidence real not null default 1.0 check (typeof(confidence) in ('integer', 'real') and confidence between 0 and 1),
  judgment_status text not null check (judgment_status in ('pending', 'judged', 'orphaned', 'ignored')),
  marked_by_actor text,
  marked_by_kind text,
  marked_by_model text,
  session_id text,
  superseded_at text,
  superseded_by_relation_id text,
  created_at text not null,
  updated_at text not null
);
insert into memory_relations (rowid, sync_id, project_id, source_id, target_id, relation, reason, evidence,
  confidence, judgment_status, marked_by_actor, marked_by_kind, marked_by_model, session_id, superseded_at,
  superseded_by_relation_id, created_at, updated_at)
  select kept_rowid, sync_id, project_id, source_id, target_id, relation, reason, evidence, confidence,
  judgment_status, marked_by_actor, marked_by_kind, marked_by_model, session_id, superseded_at,
  superseded_by_relation_id, created_at, updated_at from kept;
drop table kept;
create unique index idx_memory_relations_pending
  on memory_relations(project_id, min(source_id, target_id), max(source_id, target_id))
  where judgment_status = 'pending';
create index idx_memory_relations_source on memory_relations(source_id);
create index idx_memory_relations_target on memory_relations(target_id);

create temp table kept as select rowid as kept_rowid, * from tombstones;
drop table tombstones;
create table tombstones (
  entity text not null check (entity in ('memory', 'prompt', 'relation')),
  sync_id text not null,
  project_id text not null,
  deleted_at text not null check (deleted_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  primary key (entity, sync_id)
);
insert into tombstones (rowid, entity, sync_id, project_id, deleted_at)
  select kept_rowid, entity, sync_id, project_id, deleted_at from kept;
drop table kept;

create temp table kept as select * from sync_mutations;
drop table sync_mutations;
create table sync_mutations (
  seq integer primary key,
  target_key text not null,
  entity text not null,
  entity_key text not null,
  op text not null check (op in ('upsert', 'delete')),
  payload text not null,
  source text not null default 'local' check (source in ('local', 'remote')),
  project_id text not null,
  occurred_at text not null,
  acked_at text
);
insert into sync_mutations (seq, target_key, entity, entity_key, op, payload, source, project_id, occurred_at,
  acked_at)
  select seq, target_key, entity, entity_key, op, payload, source, project_id, occurred_at, acked_at from
  kept;
drop table kept;
create unique index idx_sync_mutations_waiting
  on sync_mutations(target_key, entity, entity_key) where acked_at is null;

create temp table kept as select rowid as kept_rowid, * from sync_state;
drop table sync_state;
create table sync_state (
  target_key text primary key,
  project_id text not null,
  lifecycle text not null check (lifecycle in ('off', 'idle', 'pushing', 'pulling', 'healthy', 'backoff')),
  last_enqueued_seq integer not null default 0,
  last_acked_seq integer not null default 0,
  last_pulled_seq integer not null default 0,
  consecutive_failures integer not null default 0,
  backoff_until text,
  lease_owner text,
  lease_expires_at text,
  last_error text,
  updated_at text not null
);
insert into sync_state (rowid, target_key, project_id, lifecycle, last_enqueued_seq, last_acked_seq,
  last_pulled_seq, consecutive_failures, backoff_until, lease_owner, lease_expires_at, last_error, updated_at)
  select kept_rowid, target_key, project_id, lifecycle, last_enqueued_seq, last_acked_seq, last_pulled_seq,
  consecutive_failures, backoff_until, lease_owner, lease_expires_at, last_error, updated_at from kept;
drop table kept;

create temp table kept as select rowid as kept_rowid, * from sync_apply_deferred;
drop table sync_apply_deferred;
create table sync_apply_deferred (
  sync_id text primary key,
  entity text not null,
  payload text not null,
  apply_status text not null default 'deferred' check (apply_status in ('deferred', 'applied', 'dead')),
  retry_count integer not null default 0,
  last_error text,
  last_attempted_at text,
  first_seen_at text not null
);
insert into sync_apply_deferred (rowid, sync_id, entity, payload, apply_status, retry_count, last_error,
  last_attempted_at, first_seen_at)
  select kept_rowid, sync_id, entity, payload, apply_status, retry_count, last_error, last_attempted_at,
  first_seen_at from kept;
drop table kept;

create temp table kept as select * from jobs;
drop table jobs;
create table jobs (
  id integer primary key,
  project_id text not null,
  kind text not null,  -- embed | mirror | episode | relate | …
  key text not null,  -- what it is about; one waiting job a key
  due_at text not null check (due_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  asked integer not null default 1 check (typeof(asked) = 'integer' and asked >= 0),  -- how often since it is waiting
  attempts integer not null default 0 check (typeof(attempts) = 'integer' and attempts >= 0),
  last_error text,
  parked_at text check (parked_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),  -- gave up; doctor names it
  created_at text not null check (created_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  unique (project_id, kind, key)
);
insert into jobs (id, project_id, kind, key, due_at, asked, attempts, last_error, parked_at, created_at)
  select id, project_id, kind, key, due_at, asked, attempts, last_error, parked_at, created_at from kept;
drop table kept;
create index idx_jobs_due on jobs(due_at) where parked_at is null;

create temp table kept as select * from memory_sites;
drop table memory_sites;
create table memory_sites (
  memory_seq integer not null,  -- no reference: `due` outlives its memory
  kind text not null check (kind in ('path', 'anchor', 'command', 'due')),  -- path | anchor | command | due: the memory is to be read again
  key text not null,  -- what is looked up: path, `folder/`, `*/name`, `*.suffix`, `*`; a program
  pattern text not null,  -- what must hold besides: GLOB of the path, words of the command
  state text check (state in ('fresh', 'moved', 'changed', 'gone')),  -- of an anchor when last checked: fresh | moved | changed | gone
  primary key (kind, key, memory_seq, pattern)
) without rowid;
insert into memory_sites (memory_seq, kind, key, pattern, state)
  select memory_seq, kind, key, pattern, state from kept;
drop table kept;
create index idx_memory_sites_memory on memory_sites(memory_seq);

create temp table kept as select * from ai_calls;
drop table ai_calls;
create table ai_calls (
  id integer primary key,
  project_id text not null,
  at text not null check (at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  purpose text not null,
  provider text not null check (provider in ('claude', 'openai')),
  model text not null default '',  -- as the provider names it
  tokens_in integer not null default 0,  -- caches included
  tokens_out integer not null default 0,
  cost real,  -- US dollars; null: not told
  ms integer not null default 0,
  outcome text not null check (outcome in ('asked', 'ok', 'invalid', 'refused', 'timeout', 'failed')),  -- asked (nobody came back) | ok | invalid | refused | timeout | failed
  error text
);
insert into ai_calls (id, project_id, at, purpose, provider, model, tokens_in, tokens_out, cost, ms, outcome,
  error)
  select id, project_id, at, purpose, provider, model, tokens_in, tokens_out, cost, ms, outcome, error from
  kept;
drop table kept;
create index idx_ai_calls_at on ai_calls(at);

create temp table kept as select rowid as kept_rowid, * from memory_missions;
drop table memory_missions;
create table memory_missions (
  id text primary key,  -- owner of its memories
  project_id text not null,
  goal text not null,
  status text not null check (status in ('running', 'succeeded', 'failed', 'cancelled')),
  reason text,  -- of its end, in the words of who ended it
  started_at text not null,
  ended_at text
);
insert into memory_missions (rowid, id, project_id, goal, status, reason, started_at, ended_at)
  select kept_rowid, id, project_id, goal, status, reason, started_at, ended_at from kept;
drop table kept;
create index idx_memory_missions_running on memory_missions(project_id, started_at) where ended_at is null;

create temp table kept as select rowid as kept_rowid, * from memory_exposure;
drop table memory_exposure;
create table memory_exposure (
  memory_id text primary key references unified_memories(id) on delete cascade,
  shown integer not null default 0 check (typeof(shown) = 'integer' and shown >= 0),  -- sessions and subagents that were shown it
  unused integer not null default 0 check (typeof(unused) = 'integer' and unused >= 0),  -- of these, since it was last used
  used integer not null default 0 check (typeof(used) = 'integer' and used >= 0),  -- sessions that used it
  last_used_at text check (last_used_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z')
);
insert into memory_exposure (rowid, memory_id, shown, unused, used, last_used_at)
  select kept_rowid, memory_id, shown, unused, used, last_used_at from kept;
drop table kept;

create temp table kept as select rowid as kept_rowid, * from episodes;
drop table episodes;
create table episodes (
  memory_id text primary key references unified_memories(id) on delete cascade,
  project_id text not null,
  session_id text not null,
  mission_id text not null default '',  -- '': of none
  task text not null,
  outcome text not null check (outcome in ('succeeded', 'failed', 'unknown')),
  started_at text not null check (started_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  ended_at text not null check (ended_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  actions text not null default '[]' check (case when json_valid(actions) then json_type(actions) = 'array' else 0 end),  -- JSON: [{tool, target, kind}, …] in order
  files text not null default '[]' check (case when json_valid(files) then json_type(files) = 'array' else 0 end),  -- JSON: paths that were changed
  tests text not null default '[]' check (case when json_valid(tests) then json_type(tests) = 'array' else 0 end),  -- JSON: [{command, passed, failed, error}, …] in order
  errors text not null default '[]' check (case when json_valid(errors) then json_type(errors) = 'array' else 0 end),  -- JSON: what failed
  decisions text not null default '[]' check (case when json_valid(decisions) then json_type(decisions) = 'array' else 0 end),  -- JSON
  corrections text not null default '[]' check (case when json_valid(corrections) then json_type(corrections) = 'array' else 0 end),  -- JSON: what the person said it should be
  summarised_by text not null,  -- rules, or the model
  transcript_offset integer not null default 0 check (typeof(transcript_offset) = 'integer' and transcript_offset >= 0),  -- bytes of the transcript it was made from
  created_at text not null check (created_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  updated_at text not null check (updated_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  unique (project_id, session_id, mission_id)
);
insert into episodes (rowid, memory_id, project_id, session_id, mission_id, task, outcome, started_at,
  ended_at, actions, files, tests, errors, decisions, corrections, summarised_by, transcript_offset,
  created_at, updated_at)
  select kept_rowid, memory_id, project_id, session_id, mission_id, task, outcome, started_at, ended_at,
  actions, files, tests, errors, decisions, corrections, summarised_by, transcript_offset, created_at,
  updated_at from kept;
drop table kept;
create index idx_episodes_ended on episodes(project_id, ended_at desc);

create temp table kept as select rowid as kept_rowid, * from head_cursors;
drop table head_cursors;
create table head_cursors (
  project_id text not null,
  root text not null,
  branch text not null,  -- empty: HEAD was detached
  sha text not null,
  seen_at text not null check (seen_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  lost_sha text,  -- what was seen and is no longer part of it, until a session was told
  primary key (project_id, root, branch)
);
insert into head_cursors (rowid, project_id, root, branch, sha, seen_at, lost_sha)
  select kept_rowid, project_id, root, branch, sha, seen_at, lost_sha from kept;
drop table kept;

create temp table kept as select * from people_commits;
drop table people_commits;
create table people_commits (
  id integer primary key,
  project_id text not null,
  root text not null,
  branch text not null,
  sha text not null,
  author text not null,
  subject text not null,
  committed_at text not null,
  files text not null check (case when json_valid(files) then json_type(files) = 'array' else 0 end),  -- JSON: ["path", …]
  seen_at text not null check (seen_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  told_at text check (told_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  told_session_id text,
  unique (project_id, sha)
);
insert into people_commits (id, project_id, root, branch, sha, author, subject, committed_at, files, seen_at,
  told_at, told_session_id)
  select id, project_id, root, branch, sha, author, subject, committed_at, files, seen_at, told_at,
  told_session_id from kept;
drop table kept;
create index idx_people_commits_root on people_commits(project_id, root, told_at);

create temp table kept as select rowid as kept_rowid, * from worktree_commits;
drop table worktree_commits;
create table worktree_commits (
  project_id text not null,
  root text not null,
  sha text not null,  -- what was checked out
  commits text not null check (case when json_valid(commits) then json_type(commits) = 'array' else 0 end),  -- JSON: [["sha", "date", "subject"], …]
  files text not null check (case when json_valid(files) then json_type(files) = 'array' else 0 end),  -- JSON: ["path", …]
  seen_at text not null check (seen_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  primary key (project_id, root)
);
insert into worktree_commits (rowid, project_id, root, sha, commits, files, seen_at)
  select kept_rowid, project_id, root, sha, commits, files, seen_at from kept;
drop table kept;

