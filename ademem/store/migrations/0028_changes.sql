-- A count that moves with each change that files may show, so that an idle refresh reads nothing else.

create trigger unified_memories_changes_ai after insert on unified_memories begin
  insert into store_values values ('changes', 1) on conflict do update set value = value + 1;
end;

create trigger unified_memories_changes_au after update on unified_memories
when old.revision_count <> new.revision_count or old.access_count = new.access_count  -- no counted access
begin
  insert into store_values values ('changes', 1) on conflict do update set value = value + 1;
end;

create trigger unified_memories_changes_ad after delete on unified_memories begin
  insert into store_values values ('changes', 1) on conflict do update set value = value + 1;
end;
