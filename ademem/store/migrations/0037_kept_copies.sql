-- What another person's change did to a memory that was stated here is kept as a copy in force.
alter table unified_memories add column kept_of text;  -- the memory that another changed; null: no copy
drop index idx_unified_memories_live_text;
create unique index idx_unified_memories_live_text
  on unified_memories(project_id, scope, ifnull(scope_owner_id, ''), dedupe_key)
  where status <> 'archived' and deleted_at is null and superseded_by is null and kept_of is null;
drop index idx_unified_memories_live_topic;
create unique index idx_unified_memories_live_topic
  on unified_memories(project_id, scope, ifnull(scope_owner_id, ''), topic_key)
  where topic_key is not null and status <> 'archived' and deleted_at is null
  and superseded_by is null and kept_of is null;
create unique index idx_unified_memories_kept on unified_memories(kept_of) where kept_of is not null;
