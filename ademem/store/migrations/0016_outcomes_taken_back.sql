-- Which act told how a use of a procedure ended, so that taking the act back takes the count back.

alter table memory_procedure_history add column event_id text;
alter table memory_procedure_history add column taken_back_by text;  -- the act that undid it

update memory_procedure_history set event_id = (
  select revision.event_id
  from memory_revisions as revision
  where revision.memory_id = procedure_memory_id
    and revision.operation = outcome
    and revision.created_at = recorded_at
);

create index idx_memory_procedure_history_event on memory_procedure_history(event_id);
