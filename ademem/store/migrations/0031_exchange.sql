-- One waiting write a memory or relation, and the chunks that were exchanged.

-- sync_mutations: Writes to be sent to enrolled targets, united for each memory or relation.
delete from sync_mutations where seq not in (select max(seq) from sync_mutations group by entity, entity_id);
drop index idx_sync_mutations_event;
create unique index idx_sync_mutations_entity on sync_mutations(entity, entity_id);

-- Files of exchanged records that were read from or written to a target.
create table sync_chunks (
  target text not null,
  chunk_id text not null,  -- SHA-256
  replica text,  -- of this database when it wrote the chunk; null: it was read
  is_covered integer not null default 0 check (is_covered in (0, 1)),  -- a chunk written later has all of it
  created_at text not null check (created_at glob '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T*Z'),
  primary key (target, chunk_id)
);
