-- Where near duplicates meet: a memory has a signature in common with all that share most of its words.
create table unified_memory_signatures (
  signature integer not null,
  seq integer not null,                 -- of the memory, which takes its signatures along when it goes
  primary key (signature, seq)
) without rowid;

-- Up to which memory there are none yet; no row: all have theirs.
create table unified_memory_unsigned (
  seq integer not null
);
insert into unified_memory_unsigned select max(seq) from unified_memories having max(seq) is not null;
