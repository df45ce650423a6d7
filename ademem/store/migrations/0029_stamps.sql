-- When each replicated field was last written, and what waits to be exchanged with other stores.

alter table unified_memories add column stamps text not null default '{}' check (case when json_valid(stamps) then json_type(stamps) = 'object' else 0 end);  -- JSON: {"stamp": ["field", …]}, see core/record_json.py
create index idx_unified_memories_superseded on unified_memories(dedupe_key) where superseded_by is not null;

alter table tombstones add column memory_id text;
alter table tombstones add column stamp text;
create index idx_tombstones_memory on tombstones(memory_id) where memory_id is not null;

-- Writes to be sent to enrolled targets, one a memory in each act.
create table sync_mutations (
  seq integer primary key,
  entity text not null check (entity in ('memory', 'relation')),
  entity_id text not null,
  registers text not null check (case when json_valid(registers) then json_type(registers) = 'object' else 0 end),  -- JSON: the registers written, as a record
  event_id text not null,  -- rows of one act are sent together
  actor text not null,
  trust text not null,
  target text,  -- the target it came from, which needs none of it
  created_at text not null check (created_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z')
);
create index idx_sync_mutations_event on sync_mutations(event_id);

-- Records of other stores that cannot be applied yet.
create table sync_apply_deferred (
  entity text not null check (entity in ('memory', 'relation')),
  entity_id text not null,
  record text not null check (case when json_valid(record) then json_type(record) = 'object' else 0 end),
  reason text not null,
  attempts integer not null default 0 check (typeof(attempts) = 'integer' and attempts >= 0),
  created_at text not null check (created_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  primary key (entity, entity_id)
);
