-- Names that the files claim, claims on briefs, and what history says was done and by whom: each column
-- says what it can hold, as those of the tables before it do.

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
  base_score real check (typeof(base_score) in ('integer', 'real', 'null') and base_score >= 0),
  claimed_author text check (typeof(claimed_author) in ('text', 'null'))  -- who wrote it, as the files claim; null: of a store of this person, or accepted; empty: they name nobody
);
insert into unified_memories (seq, id, sync_id, project_id, scope, scope_owner_id, tier, category, title,
  content, importance, confidence, observation_count, status, trust, source_type, source_id,
  source_session_id, source_pack_key, source_run_id, source_branch, file_scope_pattern, anchors, agent_id,
  pinned, tags, topic_key, knowledge_key, bead, revision_count, access_score, composite_score, access_count,
  write_gate_reason, quarantine_reason, superseded_by, dedupe_key, created_at, updated_at, last_accessed_at,
  promoted_at, review_after, deleted_at, rejected_at, base_score, claimed_author)
  select seq, id, sync_id, project_id, scope, scope_owner_id, tier, category, title, content, importance,
  confidence, observation_count, status, trust, source_type, source_id, source_session_id, source_pack_key,
  source_run_id, source_branch, file_scope_pattern, anchors, agent_id, pinned, tags, topic_key,
  knowledge_key, bead, revision_count, access_score, composite_score, access_count, write_gate_reason,
  quarantine_reason, superseded_by, dedupe_key, created_at, updated_at, last_accessed_at, promoted_at,
  review_after, deleted_at, rejected_at, base_score, claimed_author from kept;
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
create index idx_unified_memories_claimed
  on unified_memories(project_id) where claimed_author is not null;

create temp table kept as select * from memory_revisions;
drop table memory_revisions;
create table memory_revisions (
  seq integer primary key,
  memory_id text not null,  -- no reference: history outlives its memory
  revision integer not null check (typeof(revision) = 'integer' and revision > 0),
  event_id text not null,  -- all changes of one act share it; what `undo` takes back
  operation text not null check (operation in ('insert', 'merge', 'revise', 'edit', 'promote', 'reject', 'archive', 'restore', 'delete', 'pin', 'unpin', 'supersede', 'import', 'adopt', 'undo', 'branch', 'revive', 'demote', 'success', 'failure')),
  actor text not null check (actor in ('user', 'agent', 'tool', 'web', 'import', 'system', 'ademem')),  -- system, ademem: rules of ours
  session_id text,
  reason text,
  snapshot text not null check (case when json_valid(snapshot) then json_type(snapshot) = 'object' else 0 end),  -- JSON of the row after the change, access bookkeeping left out
  created_at text not null check (created_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  unique (memory_id, revision)
);
insert into memory_revisions (seq, memory_id, revision, event_id, operation, actor, session_id, reason,
  snapshot, created_at)
  select seq, memory_id, revision, event_id, operation, actor, session_id, reason, snapshot, created_at from
  kept;
drop table kept;
create index idx_memory_revisions_event on memory_revisions(event_id);
create index idx_memory_revisions_created on memory_revisions(created_at);

create temp table kept as select rowid as kept_rowid, * from cto_core_memory_state;
drop table cto_core_memory_state;
create table cto_core_memory_state (
  project_id text primary key,
  version integer not null check (typeof(version) = 'integer' and version > 0),
  payload_json text not null check (case when json_valid(payload_json) then json_type(payload_json) = 'object' else 0 end),
  updated_at text not null check (updated_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  claimed text check (case when json_valid(claimed) then ifnull(json_type(claimed, '$.texts'), '') = 'array' else claimed is null end)  -- JSON: {"author": "name", "texts": ["text of the brief", …]}; null: all is accepted
);
insert into cto_core_memory_state (rowid, project_id, version, payload_json, updated_at, claimed)
  select kept_rowid, project_id, version, payload_json, updated_at, claimed from kept;
drop table kept;

create temp table kept as select rowid as kept_rowid, * from agent_core_memory_state;
drop table agent_core_memory_state;
create table agent_core_memory_state (
  project_id text not null,
  agent_id text not null,  -- the folder under .ade/agents
  version integer not null check (typeof(version) = 'integer' and version > 0),
  payload_json text not null check (case when json_valid(payload_json) then json_type(payload_json) = 'object' else 0 end),
  updated_at text not null check (updated_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  claimed text check (case when json_valid(claimed) then ifnull(json_type(claimed, '$.texts'), '') = 'array' else claimed is null end),  -- JSON: {"author": "name", "texts": ["text of the brief", …]}; null: all is accepted
  primary key (project_id, agent_id)
);
insert into agent_core_memory_state (rowid, project_id, agent_id, version, payload_json, updated_at, claimed)
  select kept_rowid, project_id, agent_id, version, payload_json, updated_at, claimed from kept;
drop table kept;
