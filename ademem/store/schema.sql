-- The schema of version 1. From the first release on it is never edited: migrations follow it.

-- The project that the database belongs to.
create table projects (
  id text primary key,
  root_path text not null,
  display_name text not null,
  created_at text not null,
  last_opened_at text not null
);

-- Memories, one a row: text, provenance, status and scores.
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
  base_score real check (typeof(base_score) in ('integer', 'real', 'null') and base_score >= 0),
  claimed_author text check (typeof(claimed_author) in ('text', 'null')),  -- who wrote it, as the files claim; null: of a store of this person, or accepted; empty: they name nobody
  stamps text not null default '{}' check (case when json_valid(stamps) then json_type(stamps) = 'object' else 0 end),  -- JSON: when each replicated field was last written
  foreign_fields text,  -- JSON: fields that only an imported format knows
  said_in text not null default '[]' check (case when json_valid(said_in) then json_type(said_in) = 'array' else 0 end),  -- JSON: main folders of the projects in which a memory of the person was said
  kept_of text,  -- the memory that another person changed, of which this is the copy
  stage text not null default 'candidate' check (stage in ('heard', 'candidate', 'supported', 'confirmed'))  -- confirmed if the status is or was promoted; what comes before stays on this machine
);
create index idx_unified_memories_project_scope_tier on unified_memories(project_id, scope, tier);
create index idx_unified_memories_project_status on unified_memories(project_id, status, category);
create index idx_unified_memories_project_pinned on unified_memories(project_id, pinned, tier);
create index idx_unified_memories_project_accessed on unified_memories(project_id, last_accessed_at);
create index idx_unified_memories_project_created on unified_memories(project_id, created_at);
create index idx_unified_memories_current on unified_memories(project_id, scope, importance, updated_at, category)
  where status = 'promoted' and deleted_at is null and superseded_by is null and quarantine_reason is null;
create index idx_unified_memories_quarantined
  on unified_memories(project_id) where quarantine_reason is not null;
create index idx_unified_memories_session on unified_memories(source_session_id);
create index idx_unified_memories_source on unified_memories(source_id);
create index idx_unified_memories_knowledge_key on unified_memories(project_id, knowledge_key)
  where knowledge_key is not null;
create index idx_unified_memories_rejected
  on unified_memories(project_id, scope, dedupe_key) where rejected_at is not null;
create index idx_unified_memories_claimed
  on unified_memories(project_id) where claimed_author is not null;
create index idx_unified_memories_superseded on unified_memories(dedupe_key) where superseded_by is not null;
create index idx_unified_memories_heir on unified_memories(superseded_by) where superseded_by is not null;
create unique index idx_unified_memories_live_text
  on unified_memories(project_id, scope, ifnull(scope_owner_id, ''), dedupe_key)
  where status <> 'archived' and deleted_at is null and superseded_by is null and kept_of is null;
create unique index idx_unified_memories_live_topic
  on unified_memories(project_id, scope, ifnull(scope_owner_id, ''), topic_key)
  where topic_key is not null and status <> 'archived' and deleted_at is null
  and superseded_by is null and kept_of is null;
create unique index idx_unified_memories_kept on unified_memories(kept_of) where kept_of is not null;

-- Word index of memories; archived ones stay in it, deleted ones do not.
create virtual table unified_memories_fts using fts5(
  title, content, tags, file_scope_pattern, topic_key, identifier_words, occasions,
  content='indexed_memories', content_rowid='seq', tokenize='porter unicode61 remove_diacritics 2'
);

-- Index of three characters each, for substrings and scripts without blanks.
create virtual table unified_memories_trigram using fts5(
  title, content, occasions,
  content='indexed_memories', content_rowid='seq', tokenize='trigram'
);

-- Vectors of memories, one for each model.
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
create index unified_memory_embeddings_by_model on unified_memory_embeddings (embedding_model, updated_at);

-- Every change to a memory, with the row after it.
create table memory_revisions (
  seq integer primary key,
  memory_id text not null,  -- no reference: history outlives its memory
  revision integer not null check (typeof(revision) = 'integer' and revision > 0),
  event_id text not null,  -- all changes of one act share it; what `undo` takes back
  operation text not null check (operation in ('insert', 'merge', 'revise', 'edit', 'promote', 'reject', 'archive', 'restore', 'delete', 'pin', 'unpin', 'supersede', 'import', 'adopt', 'undo', 'branch', 'revive', 'demote', 'success', 'failure', 'release')),
  actor text not null check (actor in ('user', 'agent', 'tool', 'web', 'import', 'system', 'ademem')),  -- system, ademem: rules of ours
  session_id text,
  reason text,
  snapshot text not null check (case when json_valid(snapshot) then json_type(snapshot) = 'object' else 0 end),  -- JSON of the row after the change, access bookkeeping left out
  created_at text not null check (created_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  unique (memory_id, revision)
);
create index idx_memory_revisions_event on memory_revisions(event_id);
create index idx_memory_revisions_created on memory_revisions(created_at);

-- The steps of a procedure, the episodes that it was learned from, and how often it worked.
create table memory_procedure_details (
  memory_id text primary key references unified_memories(id) on delete cascade,
  trigger text not null,
  procedure_markdown text not null,
  episode_ids text not null default '[]' check (case when json_valid(episode_ids) then json_type(episode_ids) = 'array' else 0 end),  -- JSON: ["id", …]
  success_count integer not null default 0 check (typeof(success_count) = 'integer' and success_count >= 0),
  failure_count integer not null default 0 check (typeof(failure_count) = 'integer' and failure_count >= 0),
  last_used_at text check (last_used_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  exported_skill_path text,
  exported_at text check (exported_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  superseded_by_memory_id text,
  created_at text not null check (created_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  updated_at text not null check (updated_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z')
);

-- Outcomes of the uses of procedures.
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
create index idx_memory_procedure_history_recorded
  on memory_procedure_history(procedure_memory_id, recorded_at desc);
create index idx_memory_procedure_history_event on memory_procedure_history(event_id);

-- Skill files of the project, and the memories made of them.
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

-- Events that were captured, so that each is captured once.
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

-- The briefs of the project and of each agent.
create table cto_core_memory_state (
  project_id text not null,
  agent_id text not null default '',  -- the folder under .ade/agents; empty: the project
  version integer not null check (typeof(version) = 'integer' and version > 0),
  payload_json text not null check (case when json_valid(payload_json) then json_type(payload_json) = 'object' else 0 end),
  updated_at text not null check (updated_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  claimed text check (case when json_valid(claimed) then ifnull(json_type(claimed, '$.texts'), '') = 'array' else claimed is null end),  -- JSON: {"author": "name", "texts": ["text of the brief", …]}; null: all is accepted
  primary key (project_id, agent_id)
);

-- Kinds of agents that worked in the project.
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

-- Sessions of the client.
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
  compacting_at text check (compacting_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  is_unattended integer not null default 0 check (is_unattended in (0, 1)),  -- 1: a program started it
  foreign_fields text  -- JSON: fields that only an imported format knows
);
create index idx_sessions_started on sessions(project_id, started_at desc);

-- Prompts of the person.
create table user_prompts (
  seq integer primary key,
  sync_id text not null unique,
  project_id text not null,
  session_id text not null,
  prompt_id text not null,
  content text not null,                -- redacted
  created_at text not null,
  deleted_at text,
  foreign_fields text  -- JSON: fields that only an imported format knows
);
create index idx_user_prompts_session on user_prompts(session_id, created_at);

-- Word index of prompts.
create virtual table prompts_fts using fts5(
  content,
  content='user_prompts', content_rowid='seq', tokenize='porter unicode61 remove_diacritics 2'
);

-- State of the guard: a turn of the main thread (agent_id '') or a subagent (prompt_id '').
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
  begins_after integer not null default 0 check (typeof(begins_after) = 'integer'),  -- the last row of recall_log before the order
  primary key (session_id, agent_id, prompt_id)
);
create index idx_turns_started on turns(started_at);

-- Memories that were shown, with place, session and rank.
create table recall_log (
  id integer primary key,
  project_id text not null,
  session_id text,
  agent_id text not null default '',
  prompt_id text not null default '',
  place text not null check (place in ('briefing', 'prompt', 'agent', 'site', 'failure', 'guard', 'recall', 'search', 'mcp')),
  query text,
  memory_id text,  -- null: it ran and found nothing
  rank integer check (typeof(rank) in ('integer', 'null')),
  score real check (typeof(score) in ('integer', 'real', 'null')),
  used integer not null default 0 check (used in (0, 1)),
  created_at text not null check (created_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  pending integer not null default 0 check (pending in (0, 1)),  -- 1: in a denial that the model has not read
  evidence text,  -- what proved that the memory was used
  outcome text not null default '' check (outcome in ('', 'prevented', 'answered', 'overruled', 'open', 'wrong')),  -- of a denial that no turn ended yet: empty
  binding text not null default '',  -- the place that the denied call met: kind, key and what else must hold
  call text not null default '',  -- the denied call, one redacted line
  instead text not null default ''  -- the next call that changed something
);
create index idx_recall_log_session on recall_log(session_id, place, created_at);
create index idx_recall_log_memory on recall_log(memory_id);
create index idx_recall_log_pending on recall_log(session_id) where pending;
create index idx_recall_log_outcome on recall_log(memory_id, outcome) where outcome <> '';

-- Relations between memories, such as conflicts, and their resolution.
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
create unique index idx_memory_relations_pending
  on memory_relations(project_id, min(source_id, target_id), max(source_id, target_id))
  where judgment_status = 'pending';
create index idx_memory_relations_source on memory_relations(source_id);
create index idx_memory_relations_target on memory_relations(target_id);

-- Ids of what was deleted for good, so that no import brings it back.
create table tombstones (
  entity text not null check (entity in ('memory', 'prompt', 'relation', 'session')),
  sync_id text not null,
  project_id text not null,
  deleted_at text not null check (deleted_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  memory_id text,
  stamp text,
  primary key (entity, sync_id)
);
create index idx_tombstones_memory on tombstones(memory_id) where memory_id is not null;

-- Writes to be sent to enrolled targets, united for each memory or relation.
create table sync_mutations (
  seq integer primary key,
  entity text not null check (entity in ('memory', 'relation')),
  entity_id text not null,
  registers text not null check (case when json_valid(registers) then json_type(registers) = 'object' else 0 end),  -- JSON: the registers written, as a record
  event_id text not null,  -- rows of one act are sent together
  actor text not null,
  trust text not null,
  target text,  -- the target it came from, which needs none of it
  created_at text not null check (created_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z')
);
create unique index idx_sync_mutations_entity on sync_mutations(entity, entity_id);

-- Files of exchanged records that were read from or written to a target.
create table sync_chunks (
  target text not null,
  chunk_id text not null,  -- SHA-256
  replica text,  -- of this database when it wrote the chunk; null: it was read
  is_covered integer not null default 0 check (is_covered in (0, 1)),  -- a chunk written later has all of it
  created_at text not null check (created_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  primary key (target, chunk_id)
);

-- Records of other stores that cannot be applied yet.
create table sync_apply_deferred (
  entity text not null check (entity in ('memory', 'relation')),
  entity_id text not null,
  record text not null check (case when json_valid(record) then json_type(record) = 'object' else 0 end),
  reason text not null,
  attempts integer not null default 0 check (typeof(attempts) = 'integer' and attempts >= 0),
  created_at text not null check (created_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  primary key (entity, entity_id)
);

-- Work that is due; a row is deleted when its job is done.
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
create index idx_jobs_due on jobs(due_at) where parked_at is null;

-- Calls of an AI: purpose, model, tokens, cost and outcome, without any text.
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
create index idx_ai_calls_at on ai_calls(at);

-- Missions, which have memories of their own.
create table memory_missions (
  id text primary key,  -- owner of its memories
  project_id text not null,
  goal text not null,
  status text not null check (status in ('running', 'succeeded', 'failed', 'cancelled')),
  reason text,  -- of its end, in the words of who ended it
  started_at text not null,
  ended_at text
);
create index idx_memory_missions_running on memory_missions(project_id, started_at) where ended_at is null;

-- How often a memory was shown unasked, and how often a session used it.
create table memory_exposure (
  memory_id text primary key references unified_memories(id) on delete cascade,
  shown integer not null default 0 check (typeof(shown) = 'integer' and shown >= 0),  -- sessions and subagents that were shown it
  unused integer not null default 0 check (typeof(unused) = 'integer' and unused >= 0),  -- of these, since it was last used
  used integer not null default 0 check (typeof(used) = 'integer' and used >= 0),  -- sessions that used it
  last_used_at text check (last_used_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  prevented integer not null default 0 check (typeof(prevented) = 'integer' and prevented >= 0),  -- denials with it whose call did not come again
  answered integer not null default 0 check (typeof(answered) = 'integer' and answered >= 0)  -- prompts and failures that it was an answer to
);

-- Episodes: actions, files, tests and outcome of a session or a mission.
create table episodes (
  memory_id text primary key references unified_memories(id) on delete cascade,
  project_id text not null,
  session_id text not null,
  mission_id text not null default '',  -- '': of none
  task text not null,
  outcome text not null check (outcome in ('succeeded', 'partial', 'failed', 'unknown')),
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
create index idx_episodes_ended on episodes(project_id, ended_at desc);

-- Where the history of each branch was last read in each worktree, and the last commits there.
create table head_cursors (
  project_id text not null,
  root text not null,
  branch text not null,  -- empty: HEAD was detached
  sha text not null,
  seen_at text not null check (seen_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  lost_sha text,  -- a commit that was seen and is no longer part of it, until a session is shown that
  latest_sha text,  -- HEAD when the last commits were listed; one row of a worktree has the list
  commits text check (case when json_valid(commits) then json_type(commits) = 'array' else commits is null end),  -- JSON: [["sha", "date", "subject"], …]
  files text check (case when json_valid(files) then json_type(files) = 'array' else files is null end),  -- JSON: ["path", …]
  primary key (project_id, root, branch)
);

-- Rows that held an invalid value, as they were found.
create table bad_rows (
  id integer primary key,
  table_name text not null,
  row_key text not null,                -- its primary key
  bad_columns text not null,            -- names separated by one blank
  original text not null,               -- JSON of the whole row; bytes that are no text as {"hex": …}
  outcome text not null check (outcome in ('repaired', 'removed')),
  found_at text not null
);

-- Commits by sessions, and commits by people until a session is shown them and a while longer.
create table commits (
  id integer primary key,
  project_id text not null,
  sha text not null,
  session_id text,  -- the session that made it; null: it was made outside of sessions
  root text,  -- of the worktree; this and what follows is null for a session's own
  branch text,
  author text,
  subject text,
  committed_at text,
  files text check (case when json_valid(files) then json_type(files) = 'array' else files is null end),  -- JSON: ["path", …]
  seen_at text not null,
  told_at text check (told_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  told_session_id text,  -- the session that was shown it
  unique (project_id, sha)
);
create index idx_commits_root on commits(project_id, root, told_at);

-- Sweeps and consolidations, and how each ended.
create table maintenance_log (
  id text primary key,
  project_id text not null,
  kind text not null check (kind in ('sweep', 'consolidation')),
  trigger_reason text not null check (trigger_reason in ('manual', 'schedule', 'startup', 'auto')),
  started_at text not null check (started_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  completed_at text check (completed_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  counts text not null default '{}' check (case when json_valid(counts) then json_type(counts) = 'object' else 0 end),  -- JSON: {"archived": 3, …}
  tokens_used integer not null default 0 check (typeof(tokens_used) = 'integer' and tokens_used >= 0),
  duration_ms integer not null default 0 check (typeof(duration_ms) = 'integer' and duration_ms >= 0),
  outcome text not null default 'ok' check (outcome in ('running', 'ok', 'embeddings-unavailable', 'failed')),
  error text
);
create index idx_maintenance_log_completed on maintenance_log(project_id, kind, completed_at desc);

-- Decisions of the write gate and of the guard, with their reasons.
create table decision_log (
  id integer primary key,
  project_id text not null,
  part text not null check (part in ('gate', 'guard')),  -- gate: a draft was refused; guard: a call was judged
  decision text not null,  -- the rule of the gate; deny, warn, pass, lift, arm or fail of the guard
  subject text not null,  -- the draft, its first 120 characters; path or command, 200; redacted
  kind text,  -- the category of the draft; the tool
  reason text not null,
  text_hash text,  -- of the draft
  source_type text,  -- of the draft
  session_id text,
  agent_id text not null default '',
  prompt_id text not null default '',
  tool_use_id text,
  created_at text not null
);
create index idx_decision_log_created on decision_log(part, created_at);

-- Values that the store has once: its secret, the whitening of its vectors, daily sums of hook output.
create table store_values (
  name text primary key,  -- secret | whitening_model | whitening_mean | … | hook_output/2026-01-31/stop
  value not null
);

-- Calls of tools of an MCP server, as the client's hook saw them before they were made.
create table mcp_calls (
  tool_use_id text primary key,
  session_id text not null,
  agent_id text not null default '',
  prompt_id text not null default '',
  created_at text not null check (created_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z')
);
create index idx_mcp_calls_created on mcp_calls(created_at);

-- Texts that hooks put before a model, as they were sent.
create table injections (
  id integer primary key,
  session_id text not null,
  agent_id text not null default '',
  prompt_id text not null default '',
  tool_use_id text not null default '',
  event text not null check (event in ('session_start', 'user_prompt_submit', 'pre_tool_use', 'post_tool_use_failure', 'subagent_start', 'pre_compact', 'stop')),
  created_at text not null check (created_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  characters integer not null check (typeof(characters) = 'integer' and characters >= 0),
  sha256 text not null,  -- of the text in UTF-8; '': the text was deleted
  text text  -- null: it has prompts that are not to be stored, or had a memory that was deleted for good
);
create index idx_injections_session on injections(session_id);

-- Memories in the texts for models, and memories that were left out of them.
create table injection_memories (
  injection_id integer not null references injections(id) on delete cascade,
  rank integer not null check (typeof(rank) = 'integer'),  -- in the order of the text
  memory_id text not null,
  revision integer not null check (typeof(revision) = 'integer'),
  section text not null default '',
  characters integer not null default 0 check (typeof(characters) = 'integer' and characters >= 0),
  used integer not null default 0 check (used in (0, 1)),
  left_out text not null default '' check (left_out in ('', 'room', 'limit', 'seen', 'own')),  -- why the text is without it
  primary key (injection_id, rank)
);
create index idx_injection_memories_memory on injection_memories(memory_id);

-- Where a memory applies: kinds of keys that a call has, too, with how surely they are meant.
create table memory_bindings (
  memory_seq integer not null,  -- no reference: `due` outlives its memory
  kind text not null check (kind in ('path', 'dir', 'glob', 'suffix', 'runs', 'program', 'family', 'act', 'literal', 'code', 'anchor', 'due')),  -- due: the memory is to be read again
  key text not null,  -- looked up; of a glob the name of its last plain folder, of a literal its longest word
  pattern text not null default '',  -- what must hold besides: glob, words, !exceptions, whole literal, lines
  op text not null default 'any' check (op in ('any', 'edit', 'create')),
  holds text not null default '',  -- text that a call has to write or type there
  strength text not null default 'named' check (strength in ('given', 'read', 'named', 'learned', 'worded', 'guessed')),
  source text not null default '' check (source in ('', 'flag', 'text', 'session', 'tree', 'moved')),
  reach real not null default 0 check (reach between 0 and 1),  -- share of the tracked files that it meets
  weight real not null default 1,
  state text check (state in ('fresh', 'moved', 'changed', 'gone', 'broad')),  -- of the place when last checked
  primary key (kind, key, memory_seq, pattern, holds)
) without rowid;
create index idx_memory_bindings_memory on memory_bindings(memory_seq);
create index idx_memory_bindings_chosen on memory_bindings(kind) where strength in ('given', 'read');

-- What speaks for a memory that no person confirmed; it stays on this machine.
create table evidence (
  id integer primary key,
  memory_id text not null references unified_memories(id) on delete cascade,
  kind text not null check (kind in ('said', 'claude_add', 'client_file', 'reader', 'error_met', 'commit')),
  session_id text not null default '',
  prompt_id text not null default '',
  message text not null default '',  -- the message, file, error or commit that has it
  quote text not null default '',  -- its words, redacted
  tainted integer not null default 0 check (tainted in (0, 1)),  -- 1: written in a turn that had read an outside source
  at text not null check (at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z')
);
create unique index idx_evidence_once on evidence(memory_id, kind, session_id, prompt_id, message, quote);

-- Files of the client's own memory, as they were when last read, with the memories that they are linked to.
create table client_file (
  folder text not null,
  path text not null,  -- below the folder; MEMORY.md#… for an entry of the index
  digest text not null,  -- of what it says, without the stamps of the client
  stat text not null,  -- size and time of the last change; '': of an entry
  kind text not null default '' check (kind in ('', 'user', 'feedback', 'project', 'reference')),
  memory_id text,  -- no reference: kind user is linked to a row of the person's own database
  link text not null check (link in ('none', 'note', 'copy', 'other')),  -- note: the memory came from it; copy: it was known before; other: the file says otherwise
  revision integer not null default 0 check (typeof(revision) = 'integer'),  -- of the memory when they were the same
  primary key (folder, path)
);
create index idx_client_file_memory on client_file(memory_id);

-- Items of instruction files, which stay the source; each worktree has its own.
create table adopted (
  seq integer primary key,
  root text not null,  -- folder of the worktree
  id text not null,  -- hash of path, last heading, lead and text
  path text not null,
  first integer not null check (typeof(first) = 'integer'),  -- lines, from 1
  last integer not null check (typeof(last) = 'integer'),
  heads text not null default '',  -- one a line
  lead text not null default '',
  text text not null,
  kind text not null check (kind in ('rule', 'procedure', 'gotcha', 'fact', 'decision', 'reason', 'status')),
  folder text not null default '',  -- that its file is about, with a slash at its end; '': the project
  globs text not null default '[]' check (case when json_valid(globs) then json_type(globs) = 'array' else 0 end),  -- JSON: ["src/**", …]
  excluded text not null default '[]' check (case when json_valid(excluded) then json_type(excluded) = 'array' else 0 end),  -- JSON
  like_gitignore integer not null default 0 check (like_gitignore in (0, 1)),  -- 1: globs as Claude Code reads the paths of its rules
  load text not null check (load in ('client', 'alone', 'matching', 'none')),  -- who puts the text before the model
  places text not null default '',  -- keys, one a line
  sources text not null default '',  -- other places with the same text, path:line, one a line
  missing text not null default '',  -- what it names and the project has not, one a line
  author_time text check (author_time glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),  -- of the last commit of its file
  merged integer not null default 0 check (merged in (0, 1)),  -- 1: the default branch has its lines
  live integer not null default 1 check (live in (0, 1)),  -- 0: a decision that was replaced or not made
  unique (root, id)
);

-- Word index of items.
create virtual table adopted_fts using fts5(
  text, lead, heads,
  content='adopted', content_rowid='seq', tokenize='porter unicode61 remove_diacritics 2'
);

-- Where items apply: places that they name, and globs of their files.
create table adopted_bindings (
  item_seq integer not null references adopted(seq) on delete cascade,
  kind text not null check (kind in ('path', 'dir', 'glob', 'suffix', 'runs', 'program', 'family', 'act')),
  key text not null,
  pattern text not null default '',
  is_scope integer not null default 0 check (is_scope in (0, 1)),  -- 1: the globs of the item decide
  primary key (kind, key, item_seq, pattern, is_scope)
);
create index idx_adopted_bindings_item on adopted_bindings(item_seq);

-- Instruction files as they were last read.
create table adopted_files (
  root text not null,
  path text not null,
  digest text not null,  -- SHA-256 of its bytes
  stamp text not null,  -- size and time
  items integer not null default 0 check (typeof(items) = 'integer' and items >= 0),
  primary key (root, path)
);

-- What a person decided about an item.
create table adopt_mark (
  id text primary key,  -- of the item; no reference: it waits for one that is gone
  path text not null,
  head text not null default '',
  text text not null,
  stop integer not null default 0 check (stop in (0, 1)),  -- 1: it stops calls again in every turn
  bound text not null default '',  -- keys of the places that the person chose, one a line
  ignored integer not null default 0 check (ignored in (0, 1)),
  at text not null check (at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z')
);

-- Of each memory the one nearest in meaning; computed from vectors, and on this machine alone.
create table memory_neighbours (
  memory_id text primary key references unified_memories(id) on delete cascade,
  neighbour_id text not null references unified_memories(id) on delete cascade,
  cosine real not null check (typeof(cosine) = 'real'),  -- whitened
  plain real not null check (typeof(plain) = 'real'),  -- as the model has it, the same in a store of any size
  second real not null check (typeof(second) = 'real')  -- that of the second nearest
);
create index idx_memory_neighbours_neighbour on memory_neighbours(neighbour_id);

-- Numbers of memories that are not deleted, by what is told of them; triggers keep them.
create table memory_counts (
  project_id text not null,
  scope text not null,
  owner text not null,  -- empty for none
  status text not null,
  tier integer not null,
  source text not null,  -- skill | episode | empty for all others
  is_pinned integer not null,
  is_superseded integer not null,
  is_quarantined integer not null,
  is_lost integer not null,  -- 1: its branch was deleted before it was merged
  number integer not null,
  unique (project_id, scope, owner, status, tier, source, is_pinned, is_superseded, is_quarantined, is_lost)
);

-- Numbers of vectors that a search may use, by model; triggers keep them.
create table vector_counts (
  project_id text not null,
  embedding_model text not null,
  number integer not null,
  unique (project_id, embedding_model)
);

create view counted_memories as
select
  seq, id, project_id, scope, ifnull(scope_owner_id, '') as owner, status, tier,
  iif(source_type in ('skill', 'episode'), source_type, '') as source,
  pinned as is_pinned, superseded_by is not null as is_superseded,
  quarantine_reason is not null as is_quarantined,
  ifnull(write_gate_reason = 'its branch was deleted before it was merged', 0) as is_lost,
  status <> 'archived' and superseded_by is null and quarantine_reason is null as is_searched
from unified_memories where deleted_at is null;

create view counted_vectors as
select memory_id, vector.project_id, embedding_model
from unified_memory_embeddings as vector
join counted_memories as memory on memory.id = memory_id
where is_searched;

-- Before: what it deletes is counted by the state of the memory until then.
create trigger unified_memory_embeddings_stale before update of title, content, anchors on unified_memories
when old.content is not new.content or old.title is not new.title
  or old.anchors is not new.anchors and (old.anchors || new.anchors) glob '*"@when *'
begin
  delete from unified_memory_embeddings where memory_id = new.id;
end;

create trigger memory_relations_orphaned after delete on unified_memories begin
  update memory_relations set judgment_status = 'orphaned'
    where source_id = old.sync_id or target_id = old.sync_id;
end;

create view memory_sweep_log as
select id, project_id, started_at, completed_at as ended_at, trigger_reason as trigger,
  ifnull(json_extract(counts, '$.decayed'), 0) as entries_decayed, ifnull(json_extract(counts, '$.demoted'), 0) as entries_demoted,
  ifnull(json_extract(counts, '$.promoted'), 0) as entries_promoted, ifnull(json_extract(counts, '$.archived'), 0) as entries_archived,
  ifnull(json_extract(counts, '$.orphaned'), 0) as entries_orphaned, duration_ms, outcome, error
from maintenance_log where kind = 'sweep';

create view memory_consolidation_log as
select id, project_id, started_at, completed_at as ended_at, trigger_reason as trigger,
  ifnull(json_extract(counts, '$.found'), 0) as clusters_found, ifnull(json_extract(counts, '$.merged'), 0) as entries_merged,
  ifnull(json_extract(counts, '$.created'), 0) as entries_created, tokens_used, duration_ms, outcome, error
from maintenance_log where kind = 'consolidation';

create view memory_procedure_sources as
select memory_id as procedure_memory_id, value as episode_memory_id, created_at
from memory_procedure_details, json_each(episode_ids);

create view gate_log as
select id, project_id, session_id, decision as rule, reason, kind as category, subject as preview,
  text_hash, source_type, created_at
from decision_log where part = 'gate';

create trigger unified_memories_changes_ai after insert on unified_memories begin
  insert into store_values values ('changes', 1) on conflict do update set value = value + 1;
  insert into store_values select 'file_changes', 1
    where new.status <> 'candidate' or new.promoted_at is not null or new.knowledge_key is not null
      or new.claimed_author is not null or instr(new.stamps, '"status":"promoted"')
    on conflict do update set value = value + 1;
end;

create trigger unified_memories_changes_au after update on unified_memories
when old.revision_count <> new.revision_count or old.access_count = new.access_count  -- no counted access
begin
  insert into store_values values ('changes', 1) on conflict do update set value = value + 1;
  insert into store_values select 'file_changes', 1
    where old.status <> 'candidate' or old.promoted_at is not null or old.knowledge_key is not null
      or old.claimed_author is not null or instr(old.stamps, '"status":"promoted"')
      or new.status <> 'candidate' or new.promoted_at is not null or new.knowledge_key is not null
      or new.claimed_author is not null or instr(new.stamps, '"status":"promoted"')
    on conflict do update set value = value + 1;
end;

create trigger unified_memories_changes_ad after delete on unified_memories begin
  insert into store_values values ('changes', 1) on conflict do update set value = value + 1;
  insert into store_values select 'file_changes', 1
    where old.status <> 'candidate' or old.promoted_at is not null or old.knowledge_key is not null
      or old.claimed_author is not null or instr(old.stamps, '"status":"promoted"')
    on conflict do update set value = value + 1;
end;

create trigger prompts_fts_ai after insert on user_prompts when new.deleted_at is null begin
  insert into prompts_fts(rowid, content) values (new.seq, new.content);
end;

create trigger prompts_fts_bd before delete on user_prompts when old.deleted_at is null begin
  insert into prompts_fts(prompts_fts, rowid, content) values ('delete', old.seq, old.content);
end;

create trigger prompts_fts_au after update of content, deleted_at on user_prompts begin
  insert into prompts_fts(prompts_fts, rowid, content)
    select 'delete', old.seq, old.content where old.deleted_at is null;
  insert into prompts_fts(rowid, content) select new.seq, new.content where new.deleted_at is null;
end;

create trigger injections_bd before delete on unified_memories begin
  update injections set text = null, sha256 = '' where id in
    (select injection_id from injection_memories where memory_id = old.id and left_out = '');
end;

create trigger recall_log_bd before delete on unified_memories begin
  update recall_log set evidence = null, binding = '', call = '', instead = '' where memory_id = old.id;
end;

create view indexed_memories as
select
  seq, deleted_at, title, content, tags, file_scope_pattern, topic_key,
  case when content glob '*[a-z][A-Z][a-z]*' then (
    with recursive separated(letter, words) as (
      select unicode('A'), group_concat(value, ' ')
      from json_each('[' || replace(json_quote(content), ' ', '","') || ']')
      where value glob '*[a-z][A-Z][a-z]*'
      union all
      select letter + 1, replace(words, char(letter), ' ' || char(letter)) from separated
      where letter <= unicode('Z')
    )
    select words from separated order by letter desc limit 1
  ) end as identifier_words,
  case when anchors glob '*"@when *' then (
    select group_concat(substr(value, 7), char(10)) from (
      select value from json_each(anchors) where value glob '@when *' and length(value) <= 126 limit 8
    )
  ) end as occasions
from unified_memories;

create trigger unified_memories_fts_ai after insert on unified_memories when new.deleted_at is null begin
  insert into unified_memories_fts(
    rowid, title, content, tags, file_scope_pattern, topic_key, identifier_words, occasions
  )
    select seq, title, content, tags, file_scope_pattern, topic_key, identifier_words, occasions
    from indexed_memories where seq = new.seq;
  insert into unified_memories_trigram(rowid, title, content, occasions)
    select seq, title, content, occasions from indexed_memories where seq = new.seq;
end;

create trigger unified_memories_fts_bd before delete on unified_memories when old.deleted_at is null begin
  insert into unified_memories_fts(
    unified_memories_fts, rowid, title, content, tags, file_scope_pattern, topic_key, identifier_words,
    occasions
  )
    select 'delete', seq, title, content, tags, file_scope_pattern, topic_key, identifier_words, occasions
    from indexed_memories where seq = old.seq;
  insert into unified_memories_trigram(unified_memories_trigram, rowid, title, content, occasions)
    select 'delete', seq, title, content, occasions from indexed_memories where seq = old.seq;
end;

create trigger unified_memories_fts_bu
before update of title, content, tags, file_scope_pattern, topic_key, anchors, deleted_at on unified_memories
when old.deleted_at is null and (
  old.title is not new.title or old.content is not new.content or old.tags is not new.tags
  or old.file_scope_pattern is not new.file_scope_pattern or old.topic_key is not new.topic_key
  or old.anchors is not new.anchors and (old.anchors || new.anchors) glob '*"@when *'
  or new.deleted_at is not null
)
begin
  insert into unified_memories_fts(
    unified_memories_fts, rowid, title, content, tags, file_scope_pattern, topic_key, identifier_words,
    occasions
  )
    select 'delete', seq, title, content, tags, file_scope_pattern, topic_key, identifier_words, occasions
    from indexed_memories where seq = old.seq;
  insert into unified_memories_trigram(unified_memories_trigram, rowid, title, content, occasions)
    select 'delete', seq, title, content, occasions from indexed_memories where seq = old.seq;
end;

create trigger unified_memories_fts_au
after update of title, content, tags, file_scope_pattern, topic_key, anchors, deleted_at on unified_memories
when new.deleted_at is null and (
  old.title is not new.title or old.content is not new.content or old.tags is not new.tags
  or old.file_scope_pattern is not new.file_scope_pattern or old.topic_key is not new.topic_key
  or old.anchors is not new.anchors and (old.anchors || new.anchors) glob '*"@when *'
  or old.deleted_at is not null
)
begin
  insert into unified_memories_fts(
    rowid, title, content, tags, file_scope_pattern, topic_key, identifier_words, occasions
  )
    select seq, title, content, tags, file_scope_pattern, topic_key, identifier_words, occasions
    from indexed_memories where seq = new.seq;
  insert into unified_memories_trigram(rowid, title, content, occasions)
    select seq, title, content, occasions from indexed_memories where seq = new.seq;
end;

create trigger memory_bindings_ai after insert on unified_memories
begin
  insert or ignore into memory_bindings(memory_seq, kind, key) values (new.seq, 'due', '');
end;

create trigger memory_bindings_au
after update of content, title, category, file_scope_pattern, anchors, status, stage, deleted_at, superseded_by, quarantine_reason
on unified_memories
when old.content is not new.content or old.title is not new.title
  or old.category is not new.category or old.file_scope_pattern is not new.file_scope_pattern
  or old.anchors is not new.anchors or old.status is not new.status or old.stage is not new.stage
  or old.deleted_at is not new.deleted_at or old.superseded_by is not new.superseded_by
  or old.quarantine_reason is not new.quarantine_reason
begin
  delete from memory_bindings where memory_seq = old.seq and source <> 'session';
  insert or ignore into memory_bindings(memory_seq, kind, key) values (new.seq, 'due', '');
end;

create trigger memory_bindings_ad after delete on unified_memories
begin
  delete from memory_bindings where memory_seq = old.seq;
  insert into memory_bindings(memory_seq, kind, key) values (old.seq, 'due', '');
end;

create trigger adopted_fts_ai after insert on adopted begin
  insert into adopted_fts(rowid, text, lead, heads) values (new.seq, new.text, new.lead, new.heads);
end;

create trigger adopted_fts_bd before delete on adopted begin
  insert into adopted_fts(adopted_fts, rowid, text, lead, heads)
    values ('delete', old.seq, old.text, old.lead, old.heads);
end;

create trigger memory_counts_ai after insert on unified_memories begin
  insert into memory_counts
    select project_id, scope, owner, status, tier, source, is_pinned, is_superseded, is_quarantined, is_lost, 1
    from counted_memories where seq = new.seq
    on conflict do update set number = number + 1;
end;

create trigger memory_counts_bd before delete on unified_memories begin
  update memory_counts set number = number - 1
  where (project_id, scope, owner, status, tier, source, is_pinned, is_superseded, is_quarantined, is_lost) in (
    select project_id, scope, owner, status, tier, source, is_pinned, is_superseded, is_quarantined, is_lost
    from counted_memories where seq = old.seq
  );
  update vector_counts set number = number - 1 where (project_id, embedding_model) in (
    select project_id, embedding_model from counted_vectors where memory_id = old.id
  );
end;

create trigger memory_counts_bu
before update of project_id, scope, scope_owner_id, status, tier, source_type, pinned, superseded_by, quarantine_reason, write_gate_reason, deleted_at
on unified_memories
when old.project_id is not new.project_id or old.scope is not new.scope
  or old.scope_owner_id is not new.scope_owner_id or old.status is not new.status
  or old.tier is not new.tier or old.source_type is not new.source_type
  or old.pinned is not new.pinned or old.superseded_by is not new.superseded_by
  or old.quarantine_reason is not new.quarantine_reason or old.write_gate_reason is not new.write_gate_reason
  or old.deleted_at is not new.deleted_at
begin
  update memory_counts set number = number - 1
  where (project_id, scope, owner, status, tier, source, is_pinned, is_superseded, is_quarantined, is_lost) in (
    select project_id, scope, owner, status, tier, source, is_pinned, is_superseded, is_quarantined, is_lost
    from counted_memories where seq = old.seq
  );
end;

create trigger memory_counts_au
after update of project_id, scope, scope_owner_id, status, tier, source_type, pinned, superseded_by, quarantine_reason, write_gate_reason, deleted_at
on unified_memories
when old.project_id is not new.project_id or old.scope is not new.scope
  or old.scope_owner_id is not new.scope_owner_id or old.status is not new.status
  or old.tier is not new.tier or old.source_type is not new.source_type
  or old.pinned is not new.pinned or old.superseded_by is not new.superseded_by
  or old.quarantine_reason is not new.quarantine_reason or old.write_gate_reason is not new.write_gate_reason
  or old.deleted_at is not new.deleted_at
begin
  insert into memory_counts
    select project_id, scope, owner, status, tier, source, is_pinned, is_superseded, is_quarantined, is_lost, 1
    from counted_memories where seq = new.seq
    on conflict do update set number = number + 1;
end;

create trigger vector_counts_changed
after update of status, superseded_by, quarantine_reason, deleted_at on unified_memories
when (old.status <> 'archived' and old.superseded_by is null and old.quarantine_reason is null and old.deleted_at is null)
  is not (new.status <> 'archived' and new.superseded_by is null and new.quarantine_reason is null and new.deleted_at is null)
begin
  insert into vector_counts
    select project_id, embedding_model,
      iif(exists (select 1 from counted_memories where seq = new.seq and is_searched), 1, -1)
    from unified_memory_embeddings where memory_id = new.id
    on conflict do update set number = number + excluded.number;
end;

create trigger vector_counts_ai after insert on unified_memory_embeddings begin
  insert into vector_counts select project_id, embedding_model, 1
    from counted_vectors where memory_id = new.memory_id and embedding_model = new.embedding_model
    on conflict do update set number = number + 1;
end;

create trigger vector_counts_bd before delete on unified_memory_embeddings begin
  update vector_counts set number = number - 1 where (project_id, embedding_model) in (
    select project_id, embedding_model from counted_vectors
    where memory_id = old.memory_id and embedding_model = old.embedding_model
  );
end;

create trigger vector_counts_au
after update of memory_id, project_id, embedding_model on unified_memory_embeddings
begin  -- not before: a row that stays as it is, as another has its key, is not counted
  update vector_counts set number = number - 1
  where project_id = old.project_id and embedding_model = old.embedding_model
    and exists (select 1 from counted_memories where id = old.memory_id and is_searched);
  insert into vector_counts select project_id, embedding_model, 1
    from counted_vectors where memory_id = new.memory_id and embedding_model = new.embedding_model
    on conflict do update set number = number + 1;
end;
