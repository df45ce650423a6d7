-- How memories relate, and what other machines are to hear.

-- How two memories relate, in whose judgment.
create table memory_relations (
  sync_id text primary key,
  project_id text not null,
  source_id text not null,              -- sync ids, which mean the same everywhere
  target_id text not null,
  relation text not null,               -- related | compatible | scoped | conflicts_with | supersedes | not_conflict | merged_from
  reason text,
  evidence text,
  confidence real not null default 1.0,
  judgment_status text not null,        -- pending | judged | orphaned | ignored
  marked_by_actor text,
  marked_by_kind text,
  marked_by_model text,
  session_id text,
  superseded_at text,
  superseded_by_relation_id text,
  created_at text not null,
  updated_at text not null
);
create unique index idx_memory_relations_pending
  on memory_relations(project_id, min(source_id, target_id), max(source_id, target_id))
  where judgment_status = 'pending';
create index idx_memory_relations_source on memory_relations(source_id);
create index idx_memory_relations_target on memory_relations(target_id);

-- A hard delete leaves its relations behind, marked.
create trigger memory_relations_orphaned after delete on unified_memories begin
  update memory_relations set judgment_status = 'orphaned'
    where source_id = old.sync_id or target_id = old.sync_id;
end;

-- What was deleted for good, so that no import brings it back.
create table tombstones (
  entity text not null,                 -- memory | prompt | relation
  sync_id text not null,
  project_id text not null,
  deleted_at text not null,
  primary key (entity, sync_id)
);

-- Changes that other machines have not heard of.
create table sync_mutations (
  seq integer primary key,
  target_key text not null,
  entity text not null,
  entity_key text not null,
  op text not null,                     -- upsert | delete
  payload text not null,
  source text not null default 'local', -- local | remote
  project_id text not null,
  occurred_at text not null,
  acked_at text
);
create unique index idx_sync_mutations_waiting
  on sync_mutations(target_key, entity, entity_key) where acked_at is null;

-- How far each sync target is.
create table sync_state (
  target_key text primary key,
  project_id text not null,
  lifecycle text not null,              -- off | idle | pushing | pulling | healthy | backoff
  last_enqueued_seq integer not null default 0,
  last_acked_seq integer not null default 0,
  last_pulled_seq integer not null default 0,
  consecutive_failures integer not null default 0,
  backoff_until text,
  lease_owner text,
  lease_expires_at text,
  last_error text,
  updated_at text not null
);

-- Chunks taken in from each target.
create table sync_chunks (
  target_key text not null,
  chunk_id text not null,
  imported_at text not null,
  primary key (target_key, chunk_id)
);

-- What came from elsewhere and could not be applied yet.
create table sync_apply_deferred (
  sync_id text primary key,
  entity text not null,
  payload text not null,
  apply_status text not null default 'deferred', -- deferred | applied | dead
  retry_count integer not null default 0,
  last_error text,
  last_attempted_at text,
  first_seen_at text not null
);
