-- Counts by scope, status and kind are read from this index, not from the rows with their texts.
create index idx_unified_memories_counts on unified_memories(
  project_id, scope, scope_owner_id, status, deleted_at, superseded_by, tier, pinned, source_type, quarantine_reason
);
drop index idx_unified_memories_scope_owner;

create index idx_unified_memories_heir on unified_memories(superseded_by) where superseded_by is not null;
