-- A memory belongs to the member who wrote it, also where another one, who had it by git, told it first.

alter table hub.mutations add column author uuid;  -- the member that its teller names; null: the teller

-- Both functions stay as they are but for the author, so they are changed where it is written.
do $$
declare
  one record;
  old text;
begin
  for one in select * from (values
    ('hub.settle(uuid, bigint)', 'mutation_id, seq, person, fields is null',
      'mutation_id, seq, coalesce(author, person), fields is null'),
    ('hub.push(uuid, jsonb)', 'replica text, schema int
    )) with ordinality as o (
      mutation_id, entity, entity_key, op, stamp, heard, fields, shows_promoted, replica, schema, place',
      'replica text, schema int, author text
    )) with ordinality as o (
      mutation_id, entity, entity_key, op, stamp, heard, fields, shows_promoted, replica, schema, author, place'),
    ('hub.push(uuid, jsonb)', 'replica, schema, person, role, device, live)',
      'replica, schema, author, person, role, device, live)'),
    ('hub.push(uuid, jsonb)', 'shows_promoted, replica, schema, me,', 'shows_promoted, replica, schema,
      (select m.person from hub.members m join hub.people p on p.id = m.person
        where m.project = which and p.name = numbered.author), me,')
  ) as parts (name, part, new) loop
    old := pg_get_functiondef(one.name::regprocedure);
    if strpos(old, one.part) = 0 then raise exception '% is not what it was', one.name; end if;
    execute replace(old, one.part, one.new);
  end loop;
end $$;
