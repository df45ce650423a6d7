-- Who the files of the project claim wrote what came with them; the person here has not accepted it.

-- Null: of a store of this person, or accepted. Empty: the files name nobody.
alter table unified_memories add column claimed_author text;
create index idx_unified_memories_claimed
  on unified_memories(project_id) where claimed_author is not null;

-- JSON: {"author": "name", "items": ["digest of a text of the brief", …]}; null where all is accepted.
alter table cto_core_memory_state add column claimed text;
alter table agent_core_memory_state add column claimed text;
