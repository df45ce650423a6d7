-- What programs besides the client's hooks need: their calls, their fields, and prompts by words.

-- Calls of tools of an MCP server, as the client's hook saw them before they were made.
create table mcp_calls (
  tool_use_id text primary key,
  session_id text not null,
  agent_id text not null default '',
  prompt_id text not null default '',
  created_at text not null check (created_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z')
);
create index idx_mcp_calls_created on mcp_calls(created_at);

alter table unified_memories add column foreign_fields text;  -- JSON: fields that only an imported format knows
alter table sessions add column foreign_fields text;
alter table user_prompts add column foreign_fields text;

-- Word index of prompts.
create virtual table prompts_fts using fts5(
  content,
  content='user_prompts', content_rowid='seq', tokenize='porter unicode61 remove_diacritics 2'
);
insert into prompts_fts(rowid, content) select seq, content from user_prompts where deleted_at is null;
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

create temp table kept as select rowid as kept_rowid, * from tombstones;
drop table tombstones;
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
insert into tombstones (rowid, entity, sync_id, project_id, deleted_at, memory_id, stamp)
  select kept_rowid, entity, sync_id, project_id, deleted_at, memory_id, stamp from kept;
drop table kept;

create temp table kept as select * from recall_log;
drop table recall_log;
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
  pending integer not null default 0 check (pending in (0, 1))  -- 1: in a denial that the model has not read
);
create index idx_recall_log_session on recall_log(session_id, place, created_at);
create index idx_recall_log_memory on recall_log(memory_id);
create index idx_recall_log_pending on recall_log(session_id) where pending;
insert into recall_log (id, project_id, session_id, agent_id, prompt_id, place, query, memory_id, rank, score,
  used, created_at, pending)
  select id, project_id, session_id, agent_id, prompt_id, place, query, memory_id, rank, score, used,
    created_at, pending
  from kept;
drop table kept;

-- One form of ids of relations.
update memory_relations set sync_id = 'rel-' || substr(sync_id, 1, 16) where length(sync_id) = 32;
