-- How memories age, and the missions that some of them belong to.

-- The access score at the last access, once a sweep has decayed the stored one; null: not since then.
alter table unified_memories add column base_score real;

-- Undertakings with memories of their own.
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
