-- What the index files beside the database hold, and what changed since they were written.

-- Files of the search index that belong together; a file without a row here means nothing.
create table search_files (
  name text primary key,                -- of the file; never used twice
  embedding_model text not null,
  place integer,                        -- 0 every memory | 1 what changed since, which overrides | null being written
  last_seq integer not null,            -- later memories are not in it
  last_change integer not null          -- nor are later changes
);

-- Memories that changed since those files were written; new ones tell by their `seq`.
create table search_changes (
  number integer primary key,
  seq integer not null,
  embedding_model text                  -- null: the text
);

-- What is peculiar to the vectors of a store, so that searches can look past it.
create table search_lenses (
  embedding_model text primary key,
  mean blob not null,                   -- little-endian float32, as many as a vector has
  axes blob not null,                   -- the square of that
  learned_from integer not null         -- vectors
);

create trigger search_changes_text
after update of title, content, tags, file_scope_pattern, topic_key, deleted_at, source_session_id on unified_memories
when (old.title is not new.title or old.content is not new.content or old.tags is not new.tags
  or old.file_scope_pattern is not new.file_scope_pattern or old.topic_key is not new.topic_key
  or (old.deleted_at is null) <> (new.deleted_at is null)
  or old.source_session_id is not new.source_session_id)
  and exists (select 1 from search_files)
begin
  insert into search_changes (seq) values (new.seq);
end;

create trigger search_changes_gone after delete on unified_memories
when exists (select 1 from search_files)
begin
  insert into search_changes (seq) values (old.seq);
end;

create trigger search_changes_vector after insert on unified_memory_embeddings
when exists (select 1 from search_files)
begin
  insert into search_changes (seq, embedding_model)
    select seq, new.embedding_model from unified_memories where id = new.memory_id;
end;

create trigger search_changes_other_vector after update of embedding_blob on unified_memory_embeddings
when exists (select 1 from search_files)
begin
  insert into search_changes (seq, embedding_model)
    select seq, new.embedding_model from unified_memories where id = new.memory_id;
end;

create trigger search_changes_no_vector after delete on unified_memory_embeddings
when exists (select 1 from search_files)
begin
  insert into search_changes (seq, embedding_model)
    select seq, old.embedding_model from unified_memories where id = old.memory_id;
end;
