-- Tokens and devices of a project for its owners, without the digests; the server reads neither table.

create index tokens_of_person on hub.tokens (person);

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

revoke all on function hub.devices_of from public;
grant execute on function hub.devices_of to ademem_hub_server;
