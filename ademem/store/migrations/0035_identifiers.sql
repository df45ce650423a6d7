-- The word index holds the words of identifiers in camelCase, too: of `useOrders` use and orders.
drop trigger unified_memories_fts_ai;
drop trigger unified_memories_fts_bd;
drop trigger unified_memories_fts_au;
drop table unified_memories_fts;

create view indexed_memories as
select
  seq, deleted_at, title, content, tags, file_scope_pattern, topic_key,
  case when content glob '*[a-z][A-Z][a-z]*' then (
    with recursive separated(letter, words) as (
      select unicode('A'), group_concat(value, ' ')
      from json_each('[' || replace(json_quote(content), ' ', '","') || ']')
      where value glob '*[a-z][A-Z][a-z]*'
      union all
      select letter + 1, replace(words, char(letter), ' ' || char(letter)) from separated
      where letter <= unicode('Z')
    )
    select words from separated order by letter desc limit 1
  ) end as identifier_words
from unified_memories;

-- Word index of memories; archived ones stay in it, deleted ones do not.
create virtual table unified_memories_fts using fts5(
  title, content, tags, file_scope_pattern, topic_key, identifier_words,
  content='indexed_memories', content_rowid='seq', tokenize='porter unicode61 remove_diacritics 2'
);
insert into unified_memories_fts(rowid, title, content, tags, file_scope_pattern, topic_key, identifier_words)
  select seq, title, content, tags, file_scope_pattern, topic_key, identifier_words
  from indexed_memories where deleted_at is null;

create trigger unified_memories_fts_ai after insert on unified_memories when new.deleted_at is null begin
  insert into unified_memories_fts(rowid, title, content, tags, file_scope_pattern, topic_key, identifier_words)
    select seq, title, content, tags, file_scope_pattern, topic_key, identifier_words
    from indexed_memories where seq = new.seq;
  insert into unified_memories_trigram(rowid, title, content) values (new.seq, new.title, new.content);
end;

create trigger unified_memories_fts_bd before delete on unified_memories when old.deleted_at is null begin
  insert into unified_memories_fts(
    unified_memories_fts, rowid, title, content, tags, file_scope_pattern, topic_key, identifier_words
  )
    select 'delete', seq, title, content, tags, file_scope_pattern, topic_key, identifier_words
    from indexed_memories where seq = old.seq;
  insert into unified_memories_trigram(unified_memories_trigram, rowid, title, content)
    values ('delete', old.seq, old.title, old.content);
end;

create trigger unified_memories_fts_bu
before update of title, content, tags, file_scope_pattern, topic_key, deleted_at on unified_memories
when old.deleted_at is null and (
  old.title is not new.title or old.content is not new.content or old.tags is not new.tags
  or old.file_scope_pattern is not new.file_scope_pattern or old.topic_key is not new.topic_key
  or new.deleted_at is not null
)
begin
  insert into unified_memories_fts(
    unified_memories_fts, rowid, title, content, tags, file_scope_pattern, topic_key, identifier_words
  )
    select 'delete', seq, title, content, tags, file_scope_pattern, topic_key, identifier_words
    from indexed_memories where seq = old.seq;
  insert into unified_memories_trigram(unified_memories_trigram, rowid, title, content)
    values ('delete', old.seq, old.title, old.content);
end;

create trigger unified_memories_fts_au
after update of title, content, tags, file_scope_pattern, topic_key, deleted_at on unified_memories
when new.deleted_at is null and (
  old.title is not new.title or old.content is not new.content or old.tags is not new.tags
  or old.file_scope_pattern is not new.file_scope_pattern or old.topic_key is not new.topic_key
  or old.deleted_at is not null
)
begin
  insert into unified_memories_fts(rowid, title, content, tags, file_scope_pattern, topic_key, identifier_words)
    select seq, title, content, tags, file_scope_pattern, topic_key, identifier_words
    from indexed_memories where seq = new.seq;
  insert into unified_memories_trigram(rowid, title, content) values (new.seq, new.title, new.content);
end;
