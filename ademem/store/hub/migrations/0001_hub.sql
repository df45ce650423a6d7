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
  entity text not null,  -- memory | relation
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
  primary key (project, seq),
  unique (project, mutation_id)
);
create index live_of_entity on hub.mutations (project, entity, entity_key) where live;
create index live_by_number on hub.mutations (project, seq) where live;

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
  more_rows bigint;
begin
  select p.head into start from hub.projects p where p.id = which and p.closed_at is null for update;
  if start is null then raise exception 'the project is closed' using errcode = 'HB409'; end if;
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

  update hub.mutations old set live = false from hub.mutations new
    where new.project = which and new.seq > start
      and old.project = which and old.live and old.entity = new.entity
      and old.entity_key = new.entity_key and old.seq <= new.heard and old.schema <= new.schema
      and hub.rank(old.role) <= hub.rank(new.role);
  update hub.mutations old set fields = null, live = false from hub.mutations new
    where new.project = which and new.seq > start and new.op = 'delete' and new.live
      and old.project = which and old.entity = new.entity and old.entity_key = new.entity_key
      and old.op <> 'delete';
  with written as (
    insert into hub.rows as r (project, entity, entity_key, stamp, mutation_id, seq, author, gone)
    select distinct on (entity, entity_key) which, entity, entity_key, stamp, mutation_id, seq, me, op = 'delete'
    from hub.mutations where project = which and seq > start
    order by entity, entity_key, op = 'delete' desc, stamp desc, mutation_id desc
    on conflict (project, entity, entity_key) do update
      set stamp = excluded.stamp, mutation_id = excluded.mutation_id, seq = excluded.seq, gone = excluded.gone
      where not r.gone
        and (excluded.gone or (excluded.stamp, excluded.mutation_id) > (r.stamp, r.mutation_id))
    returning r.gone, r.xmax = 0 as is_new
  )
  select count(*) filter (where is_new and not gone) - count(*) filter (where not is_new and gone)
    into more_rows from written;
  select count(*) into added from hub.mutations where project = which and seq > start;
  if added > 0 then
    update hub.projects set head = start + added, live_rows = live_rows + more_rows where id = which;
    perform hub.note(which, 'push', format('%s-%s', start + 1, start + added));
    perform hub.note(which, 'delete', entity_key) from hub.mutations
      where project = which and seq > start and op = 'delete' and live order by seq;
  end if;
end $$;

revoke all on all functions in schema hub from public;
grant execute on function hub.rank, hub.mine, hub.audit_hash, hub.note, hub.enter, hub.redeem, hub.rotate, hub.push
  to ademem_hub_server;
