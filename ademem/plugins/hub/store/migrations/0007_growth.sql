-- A first upload of many memories, of which PostgreSQL's figures about the tables know nothing yet.
--
-- Where the planner takes a project for empty, it joins each of its mutations to all others. So the
-- statements of a push leave it one way, from each new mutation to its entity; the figures follow the
-- growth of the tables, and have no list of the projects that were there.

alter table hub.mutations alter column project set statistics 0;
alter table hub.rows alter column project set statistics 0;

create function hub.analyze_grown() returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  grown text;
begin
  for grown in select relname from pg_class
    where oid in ('hub.mutations'::regclass, 'hub.rows'::regclass)
      and pg_relation_size(oid) > 2 * greatest(relpages, 8) * current_setting('block_size')::bigint
  loop
    execute format('analyze (skip_locked) hub.%I', grown);
  end loop;
end $$;

revoke all on function hub.analyze_grown from public;
grant execute on function hub.analyze_grown to ademem_hub_server;

-- Draw the conclusions of the mutations after a number: what they contain, delete and say last.
create or replace function hub.settle(which uuid, start bigint) returns void language plpgsql as $$
declare
  has_deletions boolean;
  has_relations boolean;
  contained bigint[];
  more_rows bigint;
begin
  perform hub.analyze_grown();
  select bool_or(op = 'delete'), bool_or(entity = 'relation') into has_deletions, has_relations
    from hub.mutations where project = which and seq > start;
  contained := array(
    select old.seq from hub.mutations new cross join lateral (
      select o.seq from hub.mutations o
      where o.project = which and o.live and o.entity = new.entity and o.entity_key = new.entity_key
        and o.seq + 0 <= new.heard and o.schema <= new.schema and hub.rank(o.role) <= hub.rank(new.role)
      offset 0
    ) old
    where new.project = which and new.seq > start and new.heard > 0);
  update hub.mutations set live = false where project = which and seq = any (contained);
  if has_deletions then
    with deleted as materialized (
      select entity, entity_key from hub.mutations
      where project = which and seq > start and op = 'delete' and live
    )
    update hub.mutations old set fields = null, live = false from deleted
      where old.project = which and old.entity = deleted.entity and old.entity_key = deleted.entity_key
        and old.op <> 'delete';
    with deleted as materialized (
      select coalesce(fields ->> 'sync_id', entity_key) as sync_id from hub.mutations
      where project = which and seq > start and entity = 'memory' and op = 'delete'
    ), dangling as (
      update hub.mutations old set fields = null, live = false from deleted
        where old.project = which and old.entity = 'relation'
          and (old.fields ->> 'source_id' = deleted.sync_id or old.fields ->> 'target_id' = deleted.sync_id)
        returning old.entity_key
    ), ended as (
      update hub.rows r set gone = true from (select distinct entity_key from dangling) d
        where r.project = which and r.entity = 'relation' and r.entity_key = d.entity_key and not r.gone
        returning 1
    )
    update hub.projects set live_rows = live_rows - (select count(*) from ended) where id = which;
  end if;
  if has_relations then  -- a relation goes with its memory, also one that is told after the deletion
    update hub.mutations old set fields = null, live = false
      where old.project = which and old.seq > start and old.entity = 'relation'
        and exists (select from hub.mutations deleted
          where deleted.project = which and deleted.entity = 'memory' and deleted.op = 'delete'
            and coalesce(deleted.fields ->> 'sync_id', deleted.entity_key)
              in (old.fields ->> 'source_id', old.fields ->> 'target_id'));
  end if;
  with written as (
    insert into hub.rows as r (project, entity, entity_key, stamp, mutation_id, seq, author, gone)
    select distinct on (entity, entity_key) which, entity, entity_key, stamp, mutation_id, seq,
      coalesce(author, person), fields is null or op = 'delete'
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
