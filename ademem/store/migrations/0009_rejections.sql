-- When a candidate was refused; while it is archived, no machine brings back what it says.
alter table unified_memories add column rejected_at text;
create index idx_unified_memories_rejected
  on unified_memories(project_id, scope, dedupe_key) where rejected_at is not null;
