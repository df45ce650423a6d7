-- The first schema that an ademem outside of its own development wrote.

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
  seq integer primary key,              -- order of arrival; row number of the indexes below
  id text not null unique,
  sync_id text not null unique,         -- the same on every machine
  project_id text not null references projects(id),
  scope text not null,                  -- project | agent | mission
  scope_owner_id text,                  -- null for project; agent or mission id else
  tier integer not null default 2,      -- 1 pinned | 2 active | 3 fading
  category text not null,               -- fact | preference | pattern | decision | gotcha | convention | episode | procedure | digest | handoff
  title text,
  content text not null,
  importance text not null default 'medium', -- low | medium | high
  confidence real not null default 1.0,
  observation_count integer not null default 1,
  status text not null default 'candidate',  -- candidate | promoted | archived
  trust text not null default 'agent',  -- user | agent | tool | web | import
  source_type text not null default 'agent',
  source_id text,
  source_session_id text,
  source_pack_key text,
  source_run_id text,
  source_branch text,
  file_scope_pattern text,
  anchors text not null default '[]',   -- JSON: ["path:first-last", …]
  agent_id text,
  pinned integer not null default 0,
  tags text not null default '',        -- words separated by one blank
  topic_key text,
  knowledge_key text,
  bead text,
  revision_count integer not null default 1,
  access_score real not null default 0,
  composite_score real not null default 0,
  access_count integer not null default 0,
  write_gate_reason text,
  quarantine_reason text,
  superseded_by text,
  dedupe_key text not null default '',
  created_at text not null,
  updated_at text not null,
  last_accessed_at text not null,
  promoted_at text,
  review_after text,
  deleted_at text
, rejected_at text, base_score real);
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

-- Word index of memories; archived ones stay in it, deleted ones do not.
create virtual table unified_memories_fts using fts5(
  title, content, tags, file_scope_pattern, topic_key,
  content='unified_memories', content_rowid='seq', tokenize='porter unicode61 remove_diacritics 2'
);

-- Index of three characters each, for substrings and scripts without blanks.
create virtual table unified_memories_trigram using fts5(
  title, content,
  content='unified_memories', content_rowid='seq', tokenize='trigram'
);

-- Vectors of memories, one for each model.
create table unified_memory_embeddings (
  id text primary key,
  memory_id text not null references unified_memories(id) on delete cascade,
  project_id text not null references projects(id),
  embedding_model text not null,        -- model, dtype and length bound
  embedding_blob blob not null,         -- little-endian float32
  dimensions integer not null,
  norm real,
  created_at text not null,
  updated_at text not null,
  unique (memory_id, embedding_model)
);

-- Every change to a memory, with the row after it.
create table memory_revisions (
  seq integer primary key,
  memory_id text not null,              -- no reference: history outlives its memory
  revision integer not null,
  event_id text not null,               -- all changes of one act share it; what `undo` takes back
  operation text not null,              -- insert | merge | revise | edit | promote | reject | archive | restore | delete | pin | unpin | supersede | import | adopt
  actor text not null,                  -- user | agent | tool | web | import | system
  session_id text,
  reason text,
  snapshot text not null,               -- JSON of the row after the change, access bookkeeping left out
  created_at text not null,
  unique (memory_id, revision)
);
create index idx_memory_revisions_event on memory_revisions(event_id);
create index idx_memory_revisions_created on memory_revisions(created_at);

-- What the write gate refused, and why.
create table gate_log (
  id integer primary key,
  project_id text not null,
  rule text not null,
  reason text not null,
  category text,
  text_hash text not null,
  preview text not null,                -- redacted, 120 characters
  source_type text,
  session_id text,
  created_at text not null
);
create index idx_gate_log_created on gate_log(created_at);

-- The steps of a procedure, the episodes that it was learned from, and how often it worked.
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

-- Outcomes of the uses of procedures.
create table memory_procedure_history (
  id text primary key,
  procedure_memory_id text not null references unified_memories(id) on delete cascade,
  confidence real not null,
  outcome text not null,                -- success | failure
  reason text,
  recorded_at text not null
, event_id text, taken_back_by text);
create index idx_memory_procedure_history_recorded
  on memory_procedure_history(procedure_memory_id, recorded_at desc);
create index idx_memory_procedure_history_event on memory_procedure_history(event_id);

-- Skill files of the project, and the memories made of them.
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

-- The briefs of the project and of each agent.
create table cto_core_memory_state (
  project_id text primary key,
  version integer not null,
  payload_json text not null,
  updated_at text not null
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

-- Sessions of the client.
create table sessions (
  id text primary key,                  -- the client's own session id
  project_id text not null,
  directory text not null,
  branch text,
  started_at text not null,
  last_started_at text not null,
  last_source text not null,            -- startup | resume | clear | compact | fork
  ended_at text,
  end_reason text,
  summary text
, transcript_path text, own_since text, compacting_at text);
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
  deleted_at text
);
create index idx_user_prompts_session on user_prompts(session_id, created_at);

-- Word index of prompts.
create virtual table prompts_fts using fts5(
  content, content='user_prompts', content_rowid='seq', tokenize='porter unicode61 remove_diacritics 2'
);

-- State of the guard: a turn of the main thread (agent_id '') or a subagent (prompt_id '').
create table turns (
  session_id text not null,
  agent_id text not null default '',
  prompt_id text not null default '',
  project_id text not null,
  class text not null,                  -- none | soft | required
  why text not null,
  hint text not null default '',        -- words worth searching for
  searched_at text,
  denied text not null default '',      -- tool_use_ids of the denials, separated by one blank
  started_at text not null,
  ended_at text,
  primary key (session_id, agent_id, prompt_id)
);
create index idx_turns_started on turns(started_at);

-- What the guard decided, and why.
create table guard_log (
  id integer primary key,
  project_id text not null,
  session_id text not null,
  agent_id text not null default '',
  prompt_id text not null default '',
  tool_use_id text,
  tool text not null,
  target text not null,                 -- path or command, redacted, 200 characters
  decision text not null,               -- deny | pass | lift | arm | fail
  reason text not null,
  created_at text not null
);
create index idx_guard_log_created on guard_log(created_at);

-- Memories that were shown, with place, session and rank.
create table recall_log (
  id integer primary key,
  project_id text not null,
  session_id text,
  agent_id text not null default '',
  prompt_id text not null default '',
  place text not null,                  -- briefing | prompt | agent | recall | search
  query text,
  memory_id text,                       -- null: it ran and found nothing
  rank integer,
  score real,
  used integer not null default 0,
  created_at text not null
);
create index idx_recall_log_session on recall_log(session_id, place, created_at);
create index idx_recall_log_memory on recall_log(memory_id);

-- Relations between memories, such as conflicts, and their resolution.
create table memory_relations (
  sync_id text primary key,
  project_id text not null,
  source_id text not null,              -- sync ids, which mean the same everywhere
  target_id text not null,
  relation text not null,               -- related | compatible | scoped | conflicts_with | supersedes | not_conflict | merged_from
  reason text,
  evidence text,
  confidence real not null default 1.0,
  judgment_status text not null,        -- pending | judged | orphaned | ignored
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
  entity text not null,                 -- memory | prompt | relation
  sync_id text not null,
  project_id text not null,
  deleted_at text not null,
  primary key (entity, sync_id)
);

-- Writes to be sent to enrolled targets, united for each memory or relation.
create table sync_mutations (
  seq integer primary key,
  target_key text not null,
  entity text not null,
  entity_key text not null,
  op text not null,                     -- upsert | delete
  payload text not null,
  source text not null default 'local', -- local | remote
  project_id text not null,
  occurred_at text not null,
  acked_at text
);
create unique index idx_sync_mutations_waiting
  on sync_mutations(target_key, entity, entity_key) where acked_at is null;

-- How far each sync target is.
create table sync_state (
  target_key text primary key,
  project_id text not null,
  lifecycle text not null,              -- off | idle | pushing | pulling | healthy | backoff
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

-- Files of exchanged records that were read from or written to a target.
create table sync_chunks (
  target_key text not null,
  chunk_id text not null,
  imported_at text not null,
  primary key (target_key, chunk_id)
);

-- Records of other stores that cannot be applied yet.
create table sync_apply_deferred (
  sync_id text primary key,
  entity text not null,
  payload text not null,
  apply_status text not null default 'deferred', -- deferred | applied | dead
  retry_count integer not null default 0,
  last_error text,
  last_attempted_at text,
  first_seen_at text not null
);

-- Work that is due; a row is deleted when its job is done.
create table jobs (
  id integer primary key,
  project_id text not null,
  kind text not null,                   -- embed | mirror | episode | relate | …
  key text not null,                    -- what it is about; one waiting job a key
  due_at text not null,
  asked integer not null default 1,     -- how often since it is waiting
  attempts integer not null default 0,
  last_error text,
  parked_at text,                       -- gave up; doctor names it
  created_at text not null,
  unique (project_id, kind, key)
);
create index idx_jobs_due on jobs(due_at) where parked_at is null;

-- Where near duplicates meet: a memory has a signature in common with all that share most of its words.
create table unified_memory_signatures (
  signature integer not null,
  seq integer not null, sketch integer,                 -- of the memory, which takes its signatures along when it goes
  primary key (signature, seq)
) without rowid;

-- Up to which memory there are none yet; no row: all have theirs.
create table unified_memory_unsigned (
  seq integer not null
);

-- Paths and commands at which a memory is shown; derived from its text and anchors.
create table memory_sites (
  memory_seq integer not null,          -- no reference: `due` outlives its memory
  kind text not null,                   -- path | anchor | command | due: the memory is to be read again
  key text not null,                    -- what is looked up: path, `folder/`, `*/name`, `*.suffix`, `*`; a program
  pattern text not null,                -- what must hold besides: GLOB of the path, words of the command
  state text,                           -- of an anchor when last checked: fresh | moved | changed | gone
  primary key (kind, key, memory_seq, pattern)
) without rowid;
create index idx_memory_sites_memory on memory_sites(memory_seq);

-- Files of the search index that belong together; a file without a row here means nothing.
create table search_files (
  name text primary key,                -- of the file; never used twice
  embedding_model text not null,
  place integer,                        -- 0 every memory | 1 what changed since, which overrides | null being written
  last_seq integer not null,            -- later memories are not in it
  last_change integer not null          -- nor are later changes
);

-- Memories that changed since those files were written; new ones tell by their `seq`.
create table search_changes (
  number integer primary key,
  seq integer not null,
  embedding_model text                  -- null: the text
);

-- What is peculiar to the vectors of a store, so that searches can look past it.
create table search_lenses (
  embedding_model text primary key,
  mean blob not null,                   -- little-endian float32, as many as a vector has
  axes blob not null,                   -- the square of that
  learned_from integer not null         -- vectors
);

-- Calls of an AI: purpose, model, tokens, cost and outcome, without any text.
create table ai_calls (
  id integer primary key,
  project_id text not null,
  at text not null,
  purpose text not null,
  provider text not null,               -- claude | openai
  model text not null default '',       -- as the provider names it
  tokens_in integer not null default 0, -- caches included
  tokens_out integer not null default 0,
  cost real,                            -- US dollars; null: not told
  ms integer not null default 0,
  outcome text not null,                -- asked (nobody came back) | ok | invalid | refused | timeout | failed
  error text
);
create index idx_ai_calls_at on ai_calls(at);

-- How much hooks put before the model, a row an event and day.
create table hook_output (
  day text not null,                    -- of UTC
  event text not null,                  -- session_start, …
  answers integer not null,
  characters integer not null,
  primary key (day, event)
) without rowid;

-- Missions, which have memories of their own.
create table memory_missions (
  id text primary key,                  -- owner of its memories
  project_id text not null,
  goal text not null,
  status text not null,                 -- running | succeeded | failed | cancelled
  reason text,                          -- of its end, in the words of who ended it
  started_at text not null,
  ended_at text
);
create index idx_memory_missions_running on memory_missions(project_id, started_at) where ended_at is null;

-- How often a memory was shown unasked, and how often a session used it.
create table memory_exposure (
  memory_id text primary key references unified_memories(id) on delete cascade,
  shown integer not null default 0,     -- sessions and subagents that were shown it
  unused integer not null default 0,    -- of these, since it was last used
  used integer not null default 0,      -- sessions that used it
  last_used_at text
);

-- Episodes: actions, files, tests and outcome of a session or a mission.
create table episodes (
  memory_id text primary key references unified_memories(id) on delete cascade,
  project_id text not null,
  session_id text not null,
  mission_id text not null default '',  -- '': of none
  task text not null,
  outcome text not null,                -- succeeded | failed | unknown
  started_at text not null,
  ended_at text not null,
  actions text not null default '[]',   -- JSON: [{tool, target, kind}, …] in order
  files text not null default '[]',     -- JSON: paths that were changed
  tests text not null default '[]',     -- JSON: [{command, passed, failed, error}, …] in order
  errors text not null default '[]',    -- JSON: what failed
  decisions text not null default '[]', -- JSON
  corrections text not null default '[]', -- JSON: what the person said it should be
  summarised_by text not null,          -- rules, or the model
  transcript_offset integer not null default 0, -- bytes of the transcript it was made from
  created_at text not null,
  updated_at text not null,
  unique (project_id, session_id, mission_id)
);
create index idx_episodes_ended on episodes(project_id, ended_at desc);

-- Commits that a session made with its shell.
create table session_commits (
  sha text primary key,
  project_id text not null,
  session_id text not null,
  created_at text not null
);

-- Where the history of each branch was last read in each worktree, and the last commits there.
create table head_cursors (
  project_id text not null,
  root text not null,
  branch text not null,                 -- empty: HEAD was detached
  sha text not null,
  seen_at text not null,
  lost_sha text,                        -- what was seen and is no longer part of it, until a session was told
  primary key (project_id, root, branch)
);

-- Commits that people made outside of sessions, until one was told of them and a while longer.
create table people_commits (
  id integer primary key,
  project_id text not null,
  root text not null,
  branch text not null,
  sha text not null,
  author text not null,
  subject text not null,
  committed_at text not null,
  files text not null,                  -- JSON: ["path", …]
  seen_at text not null,
  told_at text,
  told_session_id text,
  unique (project_id, sha)
);
create index idx_people_commits_root on people_commits(project_id, root, told_at);

-- The last commits of each worktree, and the files they changed, as they were when last looked at.
create table worktree_commits (
  project_id text not null,
  root text not null,
  sha text not null,                    -- what was checked out
  commits text not null,                -- JSON: [["sha", "date", "subject"], …]
  files text not null,                  -- JSON: ["path", …]
  seen_at text not null,
  primary key (project_id, root)
);

-- The standing brief of each agent.
create table agent_core_memory_state (
  project_id text not null,
  agent_id text not null,               -- the folder under .ade/agents
  version integer not null,
  payload_json text not null,
  updated_at text not null,
  primary key (project_id, agent_id)
);

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

create trigger prompts_fts_ai after insert on user_prompts when new.deleted_at is null begin
  insert into prompts_fts(rowid, content) values (new.seq, new.content);
end;

create trigger prompts_fts_bd before delete on user_prompts when old.deleted_at is null begin
  insert into prompts_fts(prompts_fts, rowid, content) values ('delete', old.seq, old.content);
end;

create trigger prompts_fts_au after update of content, deleted_at on user_prompts begin
  insert into prompts_fts(prompts_fts, rowid, content)
    select 'delete', old.seq, old.content where old.deleted_at is null;
  insert into prompts_fts(rowid, content)
    select new.seq, new.content where new.deleted_at is null;
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
