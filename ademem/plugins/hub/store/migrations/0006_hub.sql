-- The hub: what projects tell each other, numbered without holes, and who may hear it.
--
-- The server logs in as a member of `ademem_hub_server`, owns nothing and is held by the policies.
-- Each of its transactions begins with hub.enter or with no rights at all.

create schema if not exists hub;

do $$ begin
  if not exists (select from pg_roles where rolname = 'ademem_hub_server') then
    create role ademem_hub_server nologin;
  end if;
exception when duplicate_object or unique_violation then null;  -- another database made it just now
end $$;

create table hub.projects (
  id uuid primary key default gen_random_uuid(),
  slug text not null unique,
  head bigint not null default 0,  -- number of the last mutation
  floor bigint not null default 0,  -- mutations up to here may be compacted: whoever heard less takes the snapshot
  epoch uuid not null default gen_random_uuid(),  -- another one after a restore
  live_rows bigint not null default 0,
  acts bigint not null default 0,  -- rows of its audit
  node text not null default '',
  created_at timestamptz not null default now(),
  closed_at timestamptz
);

create table hub.people (
  id uuid primary key default gen_random_uuid(),
  name text not null unique
);

create table hub.devices (
  id uuid primary key default gen_random_uuid(),
  person uuid not null references hub.people,
  name text not null,
  created_at timestamptz not null default now()
);

create table hub.members (
  project uuid not null references hub.projects,
  person uuid not null references hub.people,
  role text not null check (role in ('former', 'reader', 'writer', 'reviewer', 'owner')),
  primary key (project, person)
);
create index members_of_person on hub.members (person);

create table hub.tokens (
  hash bytea primary key,  -- SHA-256
  person uuid not null references hub.people,
  device uuid not null references hub.devices,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  revoked_at timestamptz
);

create table hub.invites (
  hash bytea primary key,
  project uuid not null references hub.projects,
  person text not null,  -- name
  role text not null check (role in ('reader', 'writer', 'reviewer', 'owner')),
  expires_at timestamptz not null,
  token bytea  -- hash of the one that was made of it
);

create table hub.mutations (
  project uuid not null references hub.projects,
  seq bigint not null,
  mutation_id uuid not null,
  entity text not null,  -- memory | relation | procedure | core | uses | person
  entity_key text not null,
  op text not null check (op in ('upsert', 'delete')),
  stamp text not null collate "C",
  heard bigint not null,  -- number up to which its writer had read: these it contains
  fields jsonb,  -- the whole record; null: deleted for good
  shows_promoted boolean not null,
  replica text not null,
  schema int not null,
  person uuid not null,
  role text not null,
  device uuid not null,
  at timestamptz not null default clock_timestamp(),
  live boolean not null default true,  -- no later mutation contains it: it is part of the snapshot
  author uuid,  -- the member that its teller names; null: the teller
  primary key (project, seq),
  unique (project, mutation_id)
);
create index live_of_entity on hub.mutations (project, entity, entity_key) where live;
create index live_by_number on hub.mutations (project, seq) where live;
create index relations_by_source on hub.mutations (project, (fields ->> 'source_id')) where entity = 'relation';
create index relations_by_target on hub.mutations (project, (fields ->> 'target_id')) where entity = 'relation';
create index deletions on hub.mutations (project, (coalesce(fields ->> 'sync_id', entity_key)))
  where entity = 'memory' and op = 'delete';

create table hub.rows (
  project uuid not null references hub.projects,
  entity text not null,
  entity_key text not null,
  stamp text not null collate "C",
  mutation_id uuid not null,
  seq bigint not null,
  author uuid not null,  -- who told it first
  gone boolean not null,
  primary key (project, entity, entity_key)
);

create table hub.cursors (
  project uuid not null references hub.projects,
  device uuid not null references hub.devices,
  seq bigint not null,
  seen_at timestamptz not null default now(),
  primary key (project, device)
);

create table hub.usage (
  project uuid not null references hub.projects,
  device uuid not null,
  day date not null default current_date,
  bytes bigint not null,
  primary key (project, device, day)
);

create table hub.audit (
  project uuid not null references hub.projects,
  number bigint not null,
  at timestamptz not null,
  person uuid,
  device uuid,
  act text not null,
  entity_key text not null,
  previous bytea not null,
  hash bytea not null,
  primary key (project, number)
);

-- A person who is purged is looked up in each table that names them or their devices.
create index tokens_of_person on hub.tokens (person);
create index devices_of_person on hub.devices (person);
create index tokens_of_device on hub.tokens (device);
create index cursors_of_device on hub.cursors (device);
create index invites_of_project on hub.invites (project);

-- Of the texts themselves the planner keeps no samples, which would outlive a deletion.
alter table hub.mutations alter column fields set statistics 0;
alter table hub.people alter column name set statistics 0;
alter table hub.devices alter column name set statistics 0;
alter table hub.invites alter column person set statistics 0;

create function hub.rank(role text) returns int language sql immutable as $$
  select array_position(array['former', 'reader', 'writer', 'reviewer', 'owner'], role)
$$;

-- The projects in which the person of this transaction has at least this role.
create function hub.mine(role_or_more text) returns uuid[] language sql stable security definer
set search_path = pg_catalog, pg_temp as $$
  select coalesce(array_agg(project), '{}') from hub.members
  where person = nullif(current_setting('hub.person', true), '')::uuid
    and hub.rank(role) >= hub.rank(role_or_more)
$$;

alter table hub.projects enable row level security;
alter table hub.people enable row level security;
alter table hub.devices enable row level security;
alter table hub.members enable row level security;
alter table hub.tokens enable row level security;
alter table hub.invites enable row level security;
alter table hub.mutations enable row level security;
alter table hub.rows enable row level security;
alter table hub.cursors enable row level security;
alter table hub.usage enable row level security;
alter table hub.audit enable row level security;

create policy heard on hub.projects for select using (id = any ((select hub.mine('reader'))::uuid[]));
create policy told on hub.projects for update using (id = any ((select hub.mine('reader'))::uuid[]));
create policy heard on hub.members for select using (project = any ((select hub.mine('reader'))::uuid[]));
create policy heard on hub.people for select using (id in (
  select person from hub.members where project = any ((select hub.mine('reader'))::uuid[])));
create policy heard on hub.mutations for select using (project = any ((select hub.mine('reader'))::uuid[]));
create policy told on hub.mutations for insert with check (project = any ((select hub.mine('writer'))::uuid[]));
create policy changed on hub.mutations for update using (project = any ((select hub.mine('writer'))::uuid[]));
create policy heard on hub.rows for select using (project = any ((select hub.mine('reader'))::uuid[]));
create policy told on hub.rows for insert with check (project = any ((select hub.mine('writer'))::uuid[]));
create policy changed on hub.rows for update using (project = any ((select hub.mine('writer'))::uuid[]));
create policy own on hub.cursors using (project = any ((select hub.mine('reader'))::uuid[]));
create policy own on hub.usage using (project = any ((select hub.mine('writer'))::uuid[]));
create policy heard on hub.audit for select using (project = any ((select hub.mine('reader'))::uuid[]));
create policy told on hub.audit for insert with check (project = any ((select hub.mine('reader'))::uuid[]));

grant usage on schema hub to ademem_hub_server;
grant select on hub.projects, hub.members, hub.people to ademem_hub_server;
grant update (head, live_rows, acts) on hub.projects to ademem_hub_server;
grant select, insert on hub.mutations, hub.rows, hub.audit to ademem_hub_server;
grant update (fields, live) on hub.mutations to ademem_hub_server;
grant update (stamp, mutation_id, seq, gone) on hub.rows to ademem_hub_server;
grant select, insert, update on hub.cursors, hub.usage to ademem_hub_server;

create function hub.audit_hash(
  previous bytea, number bigint, at timestamptz, person uuid, device uuid, act text, entity_key text
) returns bytea language sql stable as $$
  select sha256(previous || convert_to(jsonb_build_array(
    number, (extract(epoch from at) * 1000000)::bigint, person, device, act, entity_key
  )::text, 'UTF8'))
$$;

-- Append to the audit of a project, and lock its row until the end of the transaction.
create function hub.note(which uuid, act text, key text) returns void language plpgsql as $$
declare
  place bigint;
  before bytea;
  moment timestamptz := clock_timestamp();
  who uuid := nullif(current_setting('hub.person', true), '')::uuid;
  from_device uuid := nullif(current_setting('hub.device', true), '')::uuid;
begin
  update hub.projects set acts = acts + 1 where id = which returning acts into place;
  select a.hash into before from hub.audit a where a.project = which and a.number = place - 1;
  before := coalesce(before, '');
  insert into hub.audit (project, number, at, person, device, act, entity_key, previous, hash)
    values (which, place, moment, who, from_device, act, key, before,
      hub.audit_hash(before, place, moment, who, from_device, act, key));
end $$;

-- Begin a transaction of the person of a token; the answer tells why there is none, or the role.
create function hub.enter(token bytea, which uuid)
returns table (state text, person uuid, device uuid, role text, expires_at timestamptz)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  found_token hub.tokens;
begin
  perform set_config('hub.person', '', true), set_config('hub.device', '', true);
  select * into found_token from hub.tokens t where t.hash = token;
  if found_token is null then return query select 'unknown', null::uuid, null::uuid, null, null::timestamptz; return; end if;
  state := case when found_token.revoked_at is not null then 'revoked'
    when found_token.expires_at <= now() then 'expired' else 'valid' end;
  if state <> 'valid' then return query select state, null::uuid, null::uuid, null, null::timestamptz; return; end if;
  perform set_config('hub.person', found_token.person::text, true),
    set_config('hub.device', found_token.device::text, true);
  return query select state, found_token.person, found_token.device,
    (select m.role from hub.members m where m.project = which and m.person = found_token.person),
    found_token.expires_at;
end $$;

-- Make a token of an invitation, once; the same request again has the same answer.
create function hub.redeem(code bytea, new_token bytea, device_name text)
returns table (project uuid, slug text, person text, role text, epoch uuid, expires_at timestamptz)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  invite hub.invites;
  who uuid;
  made uuid;
begin
  select * into invite from hub.invites i where i.hash = code for update;
  if invite is null or invite.expires_at <= now()
    or (invite.token is not null and invite.token <> new_token) then return; end if;
  if invite.token is null then
    insert into hub.people (name) values (invite.person) on conflict do nothing;
    select p.id into who from hub.people p where p.name = invite.person;
    insert into hub.devices (person, name) values (who, device_name) returning id into made;
    insert into hub.tokens (hash, person, device, expires_at) values (new_token, who, made, now() + interval '90 days');
    perform 1 from hub.projects p where p.id = invite.project for update;
    insert into hub.members (project, person, role) values (invite.project, who, invite.role)
      on conflict on constraint members_pkey do update set role = excluded.role
      where hub.rank(excluded.role) > hub.rank(members.role);
    insert into hub.cursors (project, device, seq) values (invite.project, made, 0);
    update hub.invites set token = new_token where hash = code;
    perform set_config('hub.person', who::text, true), set_config('hub.device', made::text, true);
    perform hub.note(invite.project, 'join', '');
  end if;
  return query
    select p.id, p.slug, invite.person, m.role, p.epoch, t.expires_at
    from hub.tokens t join hub.members m on m.person = t.person and m.project = invite.project
      join hub.projects p on p.id = m.project
    where t.hash = new_token;
end $$;

-- Replace a valid token by another of the same device.
create function hub.rotate(old_token bytea, new_token bytea) returns timestamptz
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  until timestamptz := now() + interval '90 days';
begin
  update hub.tokens set revoked_at = now()
    where hash = old_token and revoked_at is null and expires_at > now();
  if not found then return null; end if;
  insert into hub.tokens (hash, person, device, expires_at)
    select new_token, person, device, until from hub.tokens where hash = old_token;
  return until;
end $$;

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

-- Write a batch in the order of its array, and return a verdict for each place in it.
create function hub.push(which uuid, batch jsonb) returns table (place bigint, verdict text, seq bigint)
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
      shows_promoted boolean, replica text, schema int, author text
    )) with ordinality as o (
      mutation_id, entity, entity_key, op, stamp, heard, fields, shows_promoted, replica, schema, author, place
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
      shows_promoted, replica, schema, author, person, role, device, live)
    select which, seq, mutation_id, entity, entity_key, op, stamp, least(heard, start),
      case when op = 'delete' or not was_gone then fields end, shows_promoted, replica, schema,
      (select m.person from hub.members m join hub.people p on p.id = m.person
        where m.project = which and p.name = numbered.author), me,
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

-- Tokens and devices of a project for its owners, without the digests; the server reads neither table.
create function hub.devices_of(which uuid)
returns table (id text, person text, device text, expires_at timestamptz, revoked_at timestamptz,
  heard bigint, seen_at timestamptz)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select left(encode(t.hash, 'hex'), 12), p.name, d.name, t.expires_at, t.revoked_at, c.seq, c.seen_at
  from hub.members m join hub.tokens t on t.person = m.person
    join hub.people p on p.id = m.person join hub.devices d on d.id = t.device
    left join hub.cursors c on c.project = m.project and c.device = t.device
  where m.project = which and which = any (hub.mine('owner'))
  order by p.name, d.name, t.created_at
$$;

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

revoke all on all functions in schema hub from public;
grant execute on function hub.rank, hub.mine, hub.audit_hash, hub.note, hub.enter, hub.redeem, hub.rotate, hub.settle,
  hub.push, hub.devices_of, hub.figures
  to ademem_hub_server;
