-- Where a memory applies: kinds of keys that a call has, too, with how surely they are meant.
drop trigger memory_sites_ai;
drop trigger memory_sites_au;
drop trigger memory_sites_ad;
drop table memory_sites;
create table memory_bindings (
  memory_seq integer not null,  -- no reference: `due` outlives its memory
  kind text not null check (kind in ('path', 'dir', 'glob', 'suffix', 'runs', 'program', 'family', 'act', 'literal', 'code', 'anchor', 'due')),  -- due: the memory is to be read again
  key text not null,  -- looked up; of a glob the name of its last plain folder, of a literal its longest word
  pattern text not null default '',  -- what must hold besides: glob, words, !exceptions, whole literal, lines
  op text not null default 'any' check (op in ('any', 'edit', 'create')),
  strength text not null default 'named' check (strength in ('given', 'read', 'named', 'learned', 'worded', 'guessed')),
  source text not null default '' check (source in ('', 'flag', 'text', 'session', 'tree', 'moved')),
  reach real not null default 0 check (reach between 0 and 1),  -- share of the tracked files that it meets
  weight real not null default 1,
  state text check (state in ('fresh', 'moved', 'changed', 'gone')),  -- of the place when last checked
  primary key (kind, key, memory_seq, pattern)
) without rowid;
create index idx_memory_bindings_memory on memory_bindings(memory_seq);
insert into memory_bindings (memory_seq, kind, key)
select seq, 'due', '' from unified_memories where deleted_at is null;

create trigger memory_bindings_ai after insert on unified_memories
begin
  insert or ignore into memory_bindings(memory_seq, kind, key) values (new.seq, 'due', '');
end;

create trigger memory_bindings_au
after update of content, title, category, file_scope_pattern, anchors, status, deleted_at, superseded_by, quarantine_reason
on unified_memories
when old.content is not new.content or old.title is not new.title
  or old.category is not new.category or old.file_scope_pattern is not new.file_scope_pattern
  or old.anchors is not new.anchors or old.status is not new.status
  or old.deleted_at is not new.deleted_at or old.superseded_by is not new.superseded_by
  or old.quarantine_reason is not new.quarantine_reason
begin
  delete from memory_bindings where memory_seq = old.seq and source <> 'session';
  insert or ignore into memory_bindings(memory_seq, kind, key) values (new.seq, 'due', '');
end;

create trigger memory_bindings_ad after delete on unified_memories
begin
  delete from memory_bindings where memory_seq = old.seq;
  insert into memory_bindings(memory_seq, kind, key) values (old.seq, 'due', '');
end;

alter table memory_exposure add column prevented integer not null default 0
  check (typeof(prevented) = 'integer' and prevented >= 0);  -- denials with it whose call did not come again
alter table memory_exposure add column answered integer not null default 0
  check (typeof(answered) = 'integer' and answered >= 0);  -- prompts and failures that it was an answer to
