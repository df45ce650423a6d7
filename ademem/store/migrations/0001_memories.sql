-- Memories, how they are found, what was refused, and every change to them.

-- The project this database speaks for.
create table projects (
  id text primary key,
  root_path text not null,
  display_name text not null,
  created_at text not null,
  last_opened_at text not null
);

-- One row a memory: what it says, who said so, how far it is believed.
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
);
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
-- What a briefing picks from, best first.
create index idx_unified_memories_current on unified_memories(project_id, scope, importance, updated_at, category)
  where status = 'promoted' and deleted_at is null and superseded_by is null and quarantine_reason is null;
create index idx_unified_memories_session on unified_memories(source_session_id);
create index idx_unified_memories_source on unified_memories(source_id);
create index idx_unified_memories_knowledge_key on unified_memories(project_id, knowledge_key)
  where knowledge_key is not null;

-- The words of memories. Archived rows stay findable (`--all`); a soft-deleted row leaves both indexes.
create virtual table unified_memories_fts using fts5(
  title, content, tags, file_scope_pattern, topic_key,
  content='unified_memories', content_rowid='seq', tokenize='porter unicode61 remove_diacritics 2'
);

-- Their characters in threes, for substrings and for scripts written without blanks.
create virtual table unified_memories_trigram using fts5(
  title, content,
  content='unified_memories', content_rowid='seq', tokenize='trigram'
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

-- Vectors of memories, one a model.
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

-- A vector of an earlier text is worse than none.
create trigger unified_memory_embeddings_stale after update of title, content on unified_memories
when old.content is not new.content or old.title is not new.title
begin
  delete from unified_memory_embeddings where memory_id = new.id;
end;

-- Every change to a memory, with the row as it was then.
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
