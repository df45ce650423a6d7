-- Sums over all projects for the figures of the server, which sees no project without a person.

create function hub.figures() returns table (name text, value double precision)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select 'hub_projects', count(*) from hub.projects
  union all select 'hub_heads_sum', coalesce(sum(head), 0) from hub.projects
  union all select 'hub_heads_max', coalesce(max(head), 0) from hub.projects
  union all select 'hub_live_rows', coalesce(sum(live_rows), 0) from hub.projects
  union all select 'hub_journal_rows', greatest(c.reltuples, 0) from pg_class c where c.oid = 'hub.mutations'::regclass
  union all select 'hub_oldest_cursor_seconds', coalesce(extract(epoch from now() - min(seen_at)), 0) from hub.cursors
$$;

revoke all on function hub.figures from public;
grant execute on function hub.figures to ademem_hub_server;
