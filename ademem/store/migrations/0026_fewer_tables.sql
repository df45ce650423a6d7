-- Tables that hold the same kind of row become one, and tables of one row become one of named values.

-- Near duplicates are found by the word indexes.
drop table unified_memory_signatures;
drop table unified_memory_unsigned;

create temp table kept as select * from cto_core_memory_state;
drop table cto_core_memory_state;
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
insert into cto_core_memory_state (project_id, version, payload_json, updated_at, claimed)
  select project_id, version, payload_json, updated_at, claimed from kept;
insert into cto_core_memory_state (project_id, agent_id, version, payload_json, updated_at, claimed)
  select project_id, agent_id, version, payload_json, updated_at, claimed from agent_core_memory_state;
drop table kept;
drop table agent_core_memory_state;

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
insert into commits (id, project_id, sha, session_id, root, branch, author, subject, committed_at, files,
  seen_at, told_at, told_session_id)
  select id, project_id, sha, (select session_id from session_commits as made where made.sha = people_commits.sha),
    root, branch, author, subject, committed_at, files, seen_at, told_at, told_session_id
  from people_commits;
insert or ignore into commits (project_id, sha, session_id, seen_at)
  select project_id, sha, session_id, created_at from session_commits order by created_at, rowid;
drop table people_commits;
drop table session_commits;

create temp table kept as select * from head_cursors;
drop table head_cursors;
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
insert into head_cursors (project_id, root, branch, sha, seen_at, lost_sha, latest_sha, commits, files)
  select cursor.project_id, cursor.root, branch, cursor.sha, cursor.seen_at, lost_sha, listed.sha, commits, files
  from (select *, row_number() over (partition by project_id, root order by seen_at desc) as place from kept)
    as cursor
  left join worktree_commits as listed
    on listed.project_id = cursor.project_id and listed.root = cursor.root and place = 1;
drop table kept;
drop table worktree_commits;

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
insert into maintenance_log (id, project_id, kind, trigger_reason, started_at, completed_at, counts,
  duration_ms, outcome, error)
  select sweep_id, project_id, 'sweep', trigger_reason, started_at, completed_at,
    json_object('decayed', cast(entries_decayed as integer), 'demoted', cast(entries_demoted as integer),
      'promoted', cast(entries_promoted as integer), 'archived', cast(entries_archived as integer),
      'orphaned', cast(entries_orphaned as integer)), duration_ms, outcome, error
  from memory_sweep_log order by rowid;
insert or ignore into maintenance_log (id, project_id, kind, trigger_reason, started_at, completed_at, counts,
  tokens_used, duration_ms, outcome, error)
  select consolidation_id, project_id, 'consolidation', trigger_reason, started_at, completed_at,
    json_object('found', cast(clusters_found as integer), 'merged', cast(entries_merged as integer),
      'created', cast(entries_created as integer)),
    tokens_used, duration_ms, outcome, error
  from memory_consolidation_log order by rowid;
drop table memory_sweep_log;
drop table memory_consolidation_log;

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
insert into decision_log (project_id, part, decision, subject, kind, reason, text_hash, source_type,
  session_id, created_at)
  select project_id, 'gate', rule, preview, category, reason, text_hash, source_type, session_id, created_at
  from gate_log order by id;
insert into decision_log (project_id, part, decision, subject, kind, reason, session_id, agent_id, prompt_id,
  tool_use_id, created_at)
  select project_id, 'guard', decision, target, tool, reason, session_id, agent_id, prompt_id, tool_use_id,
    created_at
  from guard_log order by id;
drop table gate_log;
drop table guard_log;

create temp table kept as select * from memory_procedure_details;
drop table memory_procedure_details;
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
insert into memory_procedure_details (memory_id, trigger, procedure_markdown, episode_ids, success_count,
  failure_count, last_used_at, exported_skill_path, exported_at, superseded_by_memory_id, created_at, updated_at)
  select memory_id, trigger, procedure_markdown,
    (select json_group_array(cast(episode_memory_id as text)) from (select episode_memory_id from memory_procedure_sources
      where procedure_memory_id = memory_id order by created_at, rowid)),
    success_count, failure_count, last_used_at, exported_skill_path, exported_at, superseded_by_memory_id,
    created_at, updated_at
  from kept;
drop table kept;
drop table memory_procedure_sources;

-- Values that the store has once: its secret, the whitening of its vectors, daily sums of hook output.
create table store_values (
  name text primary key,  -- secret | whitening_model | whitening_mean | … | hook_output/2026-01-31/stop
  value not null
);
insert into store_values select 'secret', secret from store_secret order by rowid limit 1;
insert into store_values select 'whitening_model', embedding_model from search_lenses order by rowid limit 1;
insert into store_values select 'whitening_mean', mean from search_lenses order by rowid limit 1;
insert into store_values select 'whitening_axes', axes from search_lenses order by rowid limit 1;
insert into store_values select 'whitening_vectors', learned_from from search_lenses order by rowid limit 1;
insert into store_values select 'hook_output/' || day || '/' || event, json_array(cast(answers as integer), cast(characters as integer))
  from hook_output;
drop table store_secret;
drop table search_lenses;
drop table hook_output;

-- The logs and sources under the names and columns that ADE gives them.
create view memory_sweep_log as
select id as sweep_id, project_id, trigger_reason, started_at, completed_at,
  ifnull(json_extract(counts, '$.decayed'), 0) as entries_decayed, ifnull(json_extract(counts, '$.demoted'), 0) as entries_demoted,
  ifnull(json_extract(counts, '$.promoted'), 0) as entries_promoted, ifnull(json_extract(counts, '$.archived'), 0) as entries_archived,
  ifnull(json_extract(counts, '$.orphaned'), 0) as entries_orphaned, duration_ms, outcome, error
from maintenance_log where kind = 'sweep';

create view memory_consolidation_log as
select id as consolidation_id, project_id, trigger_reason, started_at, completed_at,
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

-- Comments on the other tables, in today's words:
-- projects: The project that the database belongs to.
-- unified_memories: Memories, one a row: text, provenance, status and scores.
-- unified_memories_fts: Word index of memories; archived ones stay in it, deleted ones do not.
-- unified_memories_trigram: Index of three characters each, for substrings and scripts without blanks.
-- unified_memory_embeddings: Vectors of memories, one for each model.
-- memory_revisions: Every change to a memory, with the row after it.
-- memory_procedure_history: Outcomes of the uses of procedures.
-- memory_skill_index: Skill files of the project, and the memories made of them.
-- memory_capture_ledger: Events that were captured, so that each is captured once.
-- agent_identities: Kinds of agents that worked in the project.
-- sessions: Sessions of the client.
-- user_prompts: Prompts of the person.
-- turns: State of the guard: a turn of the main thread (agent_id '') or a subagent (prompt_id '').
-- recall_log: Memories that were shown, with place, session and rank.
-- memory_relations: Relations between memories, such as conflicts, and their resolution.
-- tombstones: Ids of memories that were deleted for good, so that no import brings them back.
-- jobs: Work that is due; a row is deleted when its job is done.
-- memory_sites: Paths and commands at which a memory is shown; derived from its text and anchors.
-- ai_calls: Calls of an AI: purpose, model, tokens, cost and outcome, without any text.
-- memory_missions: Missions, which have memories of their own.
-- memory_exposure: How often a memory was shown unasked, and how often a session used it.
-- episodes: Episodes: actions, files, tests and outcome of a session or a mission.
-- bad_rows: Rows that held an invalid value, as they were found.
