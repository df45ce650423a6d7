-- Memories that a denial of the guard carries count as shown once the model has read it.

create temp table kept as select rowid as kept_rowid, * from turns;
drop table turns;
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
insert into turns (rowid, session_id, agent_id, prompt_id, project_id, class, why, hint, searched_at, denied,
  started_at, ended_at)
  select kept_rowid, session_id, agent_id, prompt_id, project_id, class, why, hint, searched_at, denied,
    started_at, ended_at
  from kept;
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
  place text not null check (place in ('briefing', 'prompt', 'agent', 'site', 'failure', 'guard', 'recall', 'search')),
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
  used, created_at)
  select id, project_id, session_id, agent_id, prompt_id, place, query, memory_id, rank, score, used, created_at
  from kept;
drop table kept;
