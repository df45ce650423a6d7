-- What sessions did, as data; the readable text of an episode is its memory.

-- One row an episode: what a session did for one task, and how it ended.
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

-- Where the client keeps the conversation, and from when on it is this session's own.
alter table sessions add column transcript_path text;
alter table sessions add column own_since text;
