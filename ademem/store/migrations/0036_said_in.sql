-- JSON: main folders of the projects in which a memory of the person was said; until it is confirmed it
-- is told there alone, and nowhere if it came with an import.
alter table unified_memories add column said_in text not null default '[]'
  check (case when json_valid(said_in) then json_type(said_in) = 'array' else 0 end);
