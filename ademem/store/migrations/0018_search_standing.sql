-- The index files say of each memory who may see it, so what decides that is a change, too.

create trigger search_changes_standing
after update of project_id, status, scope, source_type, source_branch, superseded_by, quarantine_reason
on unified_memories
when (old.project_id <> new.project_id or old.status <> new.status or old.scope <> new.scope
  or old.source_type is not new.source_type or old.source_branch is not new.source_branch
  or (old.superseded_by is null) <> (new.superseded_by is null)
  or (old.quarantine_reason is null) <> (new.quarantine_reason is null))
  and exists (select 1 from search_files)
begin
  insert into search_changes (seq) values (new.seq);
end;
