-- Where in the code, and at which commands, a memory comes up.

-- What about a file or a command brings a memory up; derived from it, and gone when it is not current.
create table memory_sites (
  memory_seq integer not null,          -- no reference: `due` outlives its memory
  kind text not null,                   -- path | anchor | command | due: the memory is to be read again
  key text not null,                    -- what is looked up: path, `folder/`, `*/name`, `*.suffix`, `*`; a program
  pattern text not null,                -- what must hold besides: GLOB of the path, words of the command
  state text,                           -- of an anchor when last checked: fresh | moved | changed | gone
  primary key (kind, key, memory_seq, pattern)
) without rowid;
create index idx_memory_sites_memory on memory_sites(memory_seq);

create trigger memory_sites_ai after insert on unified_memories
when new.file_scope_pattern is not null or new.anchors <> '[]' or instr(new.content, '`')
begin
  insert or ignore into memory_sites(memory_seq, kind, key, pattern) values (new.seq, 'due', '', '');
end;

create trigger memory_sites_au
after update of content, file_scope_pattern, anchors, status, deleted_at, superseded_by, quarantine_reason
on unified_memories
when (old.content is not new.content or old.file_scope_pattern is not new.file_scope_pattern
    or old.anchors is not new.anchors or old.status is not new.status
    or old.deleted_at is not new.deleted_at or old.superseded_by is not new.superseded_by
    or old.quarantine_reason is not new.quarantine_reason)
  and (new.file_scope_pattern is not null or new.anchors <> '[]' or instr(new.content, '`')
    or exists (select 1 from memory_sites where memory_seq = old.seq))
begin
  delete from memory_sites where memory_seq = old.seq;
  insert into memory_sites(memory_seq, kind, key, pattern) values (new.seq, 'due', '', '');
end;

create trigger memory_sites_ad after delete on unified_memories
when exists (select 1 from memory_sites where memory_seq = old.seq)
begin
  delete from memory_sites where memory_seq = old.seq;
  insert into memory_sites(memory_seq, kind, key, pattern) values (old.seq, 'due', '', '');
end;

insert into memory_sites(memory_seq, kind, key, pattern)
  select seq, 'due', '', '' from unified_memories
  where file_scope_pattern is not null or anchors <> '[]' or instr(content, '`');
