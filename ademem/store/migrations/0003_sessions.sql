-- Sessions of the client: what was asked, what the guard knows, what was shown.

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
);
create index idx_sessions_started on sessions(project_id, started_at desc);

-- What was asked in them.
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

-- The words of the prompts.
create virtual table prompts_fts using fts5(
  content, content='user_prompts', content_rowid='seq', tokenize='porter unicode61 remove_diacritics 2'
);

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

-- The guard's state: a turn of the main thread (agent_id '') or a whole subagent (prompt_id '').
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

-- What was shown to whom, and where.
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
