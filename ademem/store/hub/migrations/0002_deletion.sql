-- Deletion of all that a person wrote, removal of a name, and the move of a project to another hub.

-- Of the texts themselves the planner keeps no samples, which would outlive a deletion.
alter table hub.mutations alter column fields set statistics 0;
alter table hub.people alter column name set statistics 0;
alter table hub.devices alter column name set statistics 0;
alter table hub.invites alter column person set statistics 0;

create index relations_by_source on hub.mutations (project, (fields ->> 'source_id')) where entity = 'relation';
create index relations_by_target on hub.mutations (project, (fields ->> 'target_id')) where entity = 'relation';
create index deletions on hub.mutations (project, (coalesce(fields ->> 'sync_id', entity_key)))
  where entity = 'memory' and op = 'delete';

-- Draw the conclusions of the mutations after a number: what they contain, delete and say last.
create function hub.settle(which uuid, start bigint) returns void language plpgsql as $$
declare
  more_rows bigint;
begin
  update hub.mutations old set live = false from hub.mutations new
    where new.project = which and new.seq > start
      and old.project = which and old.live and old.entity = new.entity
      and old.entity_key = new.entity_key and old.seq <= new.heard and old.schema <= new.schema
      and hub.rank(old.role) <= hub.rank(new.role);
  update hub.mutations old set fields = null, live = false from hub.mutations new
    where new.project = which and new.seq > start and new.op = 'delete' and new.live
      and old.project = which and old.entity = new.entity and old.entity_key = new.entity_key
      and old.op <> 'delete';
  -- A relation goes with its memory: those of the memories deleted now, then those told now.
  with dangling as (
    update hub.mutations old set fields = null, live = false from hub.mutations deleted
      where deleted.project = which and deleted.seq > start
        and deleted.entity = 'memory' and deleted.op = 'delete'
        and old.project = which and old.entity = 'relation'
        and (old.fields ->> 'source_id' = coalesce(deleted.fields ->> 'sync_id', deleted.entity_key)
          or old.fields ->> 'target_id' = coalesce(deleted.fields ->> 'sync_id', deleted.entity_key))
      returning old.entity_key
  ), ended as (
    update hub.rows r set gone = true from (select distinct entity_key from dangling) d
      where r.project = which and r.entity = 'relation' and r.entity_key = d.entity_key and not r.gone
      returning 1
  )
  update hub.projects set live_rows = live_rows - (select count(*) from ended) where id = which;
  update hub.mutations old set fields = null, live = false
    where old.project = which and old.seq > start and old.entity = 'relation'
      and exists (select from hub.mutations deleted
        where deleted.project = which and deleted.entity = 'memory' and deleted.op = 'delete'
          and coalesce(deleted.fields ->> 'sync_id', deleted.entity_key)
            in (old.fields ->> 'source_id', old.fields ->> 'target_id'));
  with written as (
    insert into hub.rows as r (project, entity, entity_key, stamp, mutation_id, seq, author, gone)
    select distinct on (entity, entity_key) which, entity, entity_key, stamp, mutation_id, seq, person, fields is null or op = 'delete'
    from hub.mutations where project = which and seq > start and entity <> 'person'
    order by entity, entity_key, op = 'delete' desc, stamp desc, mutation_id desc
    on conflict (project, entity, entity_key) do update
      set stamp = excluded.stamp, mutation_id = excluded.mutation_id, seq = excluded.seq, gone = excluded.gone
      where not r.gone
        and (excluded.gone or (excluded.stamp, excluded.mutation_id) > (r.stamp, r.mutation_id))
    returning r.gone, r.xmax = 0 as is_new
  )
  select count(*) filter (where is_new and not gone) - count(*) filter (where not is_new and gone)
    into more_rows from written;
  update hub.projects p set live_rows = live_rows + more_rows, head = greatest(head,
      (select max(m.seq) from hub.mutations m where m.project = which and m.seq > start))
    where p.id = which;
end $$;

-- Write a batch in the order of its array, and return a verdict for each place in it.
create or replace function hub.push(which uuid, batch jsonb) returns table (place bigint, verdict text, seq bigint)
language plpgsql as $$
#variable_conflict use_column
declare
  me uuid := current_setting('hub.person')::uuid;
  from_device uuid := current_setting('hub.device')::uuid;
  my_role text;
  start bigint;
  added bigint;
begin
  select p.head into start from hub.projects p where p.id = which and p.closed_at is null for update;
  if start is null then raise exception 'the project is closed' using errcode = 'HB409'; end if;
  if exists (select from hub.projects p where p.id = which and p.node <> '') then
    raise exception 'the project is at another hub' using errcode = 'HB421';
  end if;
  select m.role into my_role from hub.members m where m.project = which and m.person = me;

  return query with offered as (
    select o.*, row_number() over (partition by o.mutation_id order by o.place) > 1 as is_double
    from rows from (jsonb_to_recordset(batch) as (
      mutation_id uuid, entity text, entity_key text, op text, stamp text, heard bigint, fields jsonb,
      shows_promoted boolean, replica text, schema int
    )) with ordinality as o (
      mutation_id, entity, entity_key, op, stamp, heard, fields, shows_promoted, replica, schema, place
    )
  ), judged as (
    select o.*, coalesce(r.gone, false) as was_gone, case
      when o.is_double or exists (
        select from hub.mutations m where m.project = which and m.mutation_id = o.mutation_id) then 'known'
      when r.author <> me and hub.rank(my_role) < hub.rank('reviewer') then 'refused'
      when r.gone or (o.stamp collate "C", o.mutation_id) < (r.stamp, r.mutation_id) then 'superseded'
      else 'taken' end as verdict
    from offered o left join hub.rows r
      on r.project = which and r.entity = o.entity and r.entity_key = o.entity_key
  ), numbered as (
    select *, start + row_number() over (order by place) as seq
    from judged where verdict in ('taken', 'superseded')
  ), written as (
    insert into hub.mutations (project, seq, mutation_id, entity, entity_key, op, stamp, heard, fields,
      shows_promoted, replica, schema, person, role, device, live)
    select which, seq, mutation_id, entity, entity_key, op, stamp, least(heard, start),
      case when op = 'delete' or not was_gone then fields end, shows_promoted, replica, schema, me,
      my_role, from_device, op = 'delete' or not was_gone
    from numbered
  )
  select judged.place, judged.verdict, numbered.seq from judged left join numbered using (place) order by place;

  select count(*) into added from hub.mutations where project = which and seq > start;
  if added > 0 then
    perform hub.settle(which, start);
    perform hub.note(which, 'push', format('%s-%s', start + 1, start + added));
    perform hub.note(which, 'delete', entity_key) from hub.mutations
      where project = which and seq > start and op = 'delete' and live order by seq;
  end if;
end $$;

revoke all on function hub.settle from public;
grant execute on function hub.settle to ademem_hub_server;
