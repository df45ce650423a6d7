-- What comes of showing memories to a model.

-- How often a memory was put before a model that had not asked, and how often it did something with it.
create table memory_exposure (
  memory_id text primary key references unified_memories(id) on delete cascade,
  shown integer not null default 0,     -- sessions and subagents that were shown it
  unused integer not null default 0,    -- of these, since it was last used
  used integer not null default 0,      -- sessions that used it
  last_used_at text
);
insert into memory_exposure (memory_id, shown, unused)
  select memory_id, count(distinct ifnull(session_id, '') || ' ' || agent_id), count(distinct ifnull(session_id, '') || ' ' || agent_id)
  from recall_log
  where place in ('briefing', 'agent', 'prompt', 'site', 'failure', 'guard')
    and memory_id in (select id from unified_memories)
  group by memory_id;
