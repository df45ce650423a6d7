"""Numbers, verdicts and rights of `hub.push`, and the walls between projects, in PostgreSQL."""

import threading
import time
from contextlib import contextmanager

import psycopg
import pytest
from psycopg.types.json import Jsonb

from ademem.core.errors import UnusableStore
from ademem.plugins.hub.store import administration, database
from ademem.plugins.hub.store.database import WrongRole
from tests.examples import examples
from tests.plugins.hub.hubs import wait_until


class Hub:
    """A project `team`, and connections of its members."""

    def __init__(self, found):
        self.database = found
        with database.connect(found.owner) as db:
            self.project = administration.add_project(db, "team")["id"]
        self.tokens = {}

    def join(self, name, role="writer", slug="team"):
        token = administration.new_secret(administration.TOKEN)
        with database.connect(self.database.owner) as db:
            code = administration.invite(db, slug, name, role, existing=True)
        with database.connect(self.database.server) as db:
            hashes = (administration.digest(code), administration.digest(token))
            db.execute("select * from hub.redeem(%s, %s, 'laptop')", hashes)
        self.tokens[name] = token

    @contextmanager
    def entered(self, name, project=None):
        with database.connect(self.database.server) as db, db.transaction():
            self.enter(db, name, project)
            yield db

    def enter(self, db, name, project=None):
        token = administration.digest(self.tokens[name])
        query = "select * from hub.enter(%s, %s)"
        return db.execute(query, (token, project or self.project)).fetchone()

    def push(self, name, *batch, project=None):
        with self.entered(name, project) as db:
            return push(db, project or self.project, *batch)

    def rows(self, query, *values):
        with database.connect(self.database.owner) as db:
            return db.execute(query, values).fetchall()


def push(db, project, *batch):
    rows = db.execute("select * from hub.push(%s, %s)", (project, Jsonb(list(batch))))
    return [row["verdict"] for row in rows]


def mutation(number, key="m1", op="upsert", **more):
    return {
        "mutation_id": f"00000000-0000-8000-8000-{number:012}",
        "entity": "memory",
        "entity_key": key,
        "op": op,
        "stamp": f"2026-01-31T12:00:00.{number % 1000:03}Z-0000-1a2b3c4d",
        "heard": 0,
        "fields": {"id": key, "content": f"text {number}"},
        "shows_promoted": False,
        "replica": "1a2b3c4d",
        "schema": 1,
    } | more


@pytest.fixture
def hub(hub_database):
    made = Hub(hub_database)
    made.join("ann")
    return made


def test_a_mutation_is_taken_once_and_the_later_stamp_is_the_row(hub):
    first, second, late = mutation(1), mutation(2), mutation(0)

    assert hub.push("ann", second, second) == ["taken", "known"]
    assert hub.push("ann", second, first, late) == ["known", "superseded", "superseded"]
    (row,) = hub.rows("select seq, stamp from hub.rows")
    assert row == {"seq": 1, "stamp": second["stamp"]}
    (project,) = hub.rows("select head, live_rows from hub.projects")
    assert project == {"head": 3, "live_rows": 1}


def test_what_a_later_mutation_contains_leaves_the_snapshot(hub):
    hub.join("bob")
    hub.push("ann", mutation(1), mutation(2, "m2"))
    hub.push("ann", mutation(3, heard=2), mutation(4, heard=0))

    live = hub.rows("select seq from hub.mutations where live order by seq")
    assert [row["seq"] for row in live] == [2, 3, 4]


@pytest.mark.parametrize("is_first", [True, False], ids=["an empty hub", "a hub with projects"])
def test_no_batch_of_a_first_upload_joins_each_of_its_rows_to_all_others(hub, is_first):
    project = hub.project
    if not is_first:
        hub.push("ann", *(mutation(number, f"m{number}") for number in range(2000)))
        with database.connect(hub.database.owner) as db:
            db.execute("analyze hub.mutations, hub.rows")
            project = administration.add_project(db, "new")["id"]
        hub.join("ann", slug="new")
    query = (
        "select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int as count"
        " from pg_stat_xact_user_tables where relname in ('mutations', 'rows')"
    )
    counts = []
    for at in range(0, 2000, 100):
        batch = [mutation(number, f"m{number}") for number in range(at, at + 100)]
        with hub.entered("ann", project) as db:
            push(db, project, *batch)
            counts.append(db.execute(query).fetchone()["count"])

    assert max(counts) <= 100 * 4_000  # ten times as many where all are joined to all


def test_a_writer_does_not_push_a_reviewers_word_out_of_the_snapshot(hub):
    hub.join("eve", "reviewer")
    hub.push("ann", mutation(1))
    hub.push("eve", mutation(2, heard=1))
    hub.push("ann", mutation(3, heard=2))

    live = hub.rows("select seq from hub.mutations where live order by seq")
    assert [row["seq"] for row in live] == [2, 3]


def test_a_writer_edits_only_what_they_told_first(hub):
    hub.join("bob")
    hub.join("eve", "reviewer")
    hub.push("ann", mutation(1))

    assert hub.push("bob", mutation(2), mutation(3, "m3")) == ["refused", "taken"]
    assert hub.push("eve", mutation(2)) == ["taken"]


def test_a_removal_blanks_all_texts_and_outranks_every_stamp(hub):
    gone = mutation(2, op="delete", fields={"id": "m1", "life": "removed"})
    hub.push("ann", mutation(1), mutation(5, "m5"))

    assert hub.push("ann", gone) == ["taken"]
    assert hub.push("ann", mutation(9)) == ["superseded"]
    texts = hub.rows("select seq from hub.mutations where fields ->> 'content' is not null")
    assert [row["seq"] for row in texts] == [2]
    assert hub.rows("select live_rows from hub.projects") == [{"live_rows": 1}]
    (row,) = hub.rows("select gone, seq from hub.rows where entity_key = 'm1'")
    assert row == {"gone": True, "seq": 3}


SEQUENCE = """
create sequence hub.numbers;
create or replace function hub.push(which uuid, batch jsonb)
returns table (place bigint, verdict text, seq bigint) language plpgsql as $$
begin
  insert into hub.mutations (project, seq, mutation_id, entity, entity_key, op, stamp, heard,
      fields, shows_promoted, replica, schema, person, role, device)
    select which, nextval('hub.numbers'), (o ->> 'mutation_id')::uuid, 'memory', '', 'upsert', '',
      0, o -> 'fields', false, '', 1, current_setting('hub.person')::uuid, 'writer',
      current_setting('hub.device')::uuid
    from jsonb_array_elements(batch) o;
end $$;
grant usage on sequence hub.numbers to ademem_hub_server;
"""
WRITERS = 8


def read_while_writers_commit_slowly(hub, batches):
    """Return the numbers that a reader with a cursor saw, and those that are there in the end."""

    def write(writer):
        for batch in range(batches):
            with hub.entered("ann") as db:
                numbers = (writer * 1000 + batch * 3 + at for at in range(3))
                push(db, hub.project, *(mutation(at, f"m{at}") for at in numbers))
                time.sleep(0.002 * ((writer + batch) % 4))  # before its commit

    writers = [threading.Thread(target=write, args=(at,)) for at in range(WRITERS)]
    seen, cursor = [], 0
    query = "select seq from hub.mutations where project = %s and seq > %s order by seq"
    for one in writers:
        one.start()
    working = True
    while working:
        working = any(one.is_alive() for one in writers)
        with hub.entered("ann") as db:
            page = [row["seq"] for row in db.execute(query, (hub.project, cursor))]
        seen += page
        cursor = max([cursor, *page])
    there = hub.rows("select seq from hub.mutations order by seq")
    return seen, [row["seq"] for row in there]


def test_no_number_is_missing_and_a_reader_misses_none(hub):
    batches = examples(50, share=5)
    seen, there = read_while_writers_commit_slowly(hub, batches)

    assert there == list(range(1, WRITERS * batches * 3 + 1))
    assert seen == there


def read_before_a_slow_commit(hub):
    """Return the same where a second writer pushes, and the reader reads, before the first ends."""

    def read(cursor):
        query = "select seq from hub.mutations where project = %s and seq > %s order by seq"
        with hub.entered("ann") as db:
            return [row["seq"] for row in db.execute(query, (hub.project, cursor))]

    def push_quickly():
        with hub.entered("ann") as db:
            push(db, hub.project, mutation(2, "m2"))

    quick = threading.Thread(target=push_quickly)
    with hub.entered("ann") as slow:
        push(slow, hub.project, mutation(1, "m1"))
        quick.start()
        wait_until(
            lambda: not quick.is_alive() or hub.rows("select from pg_locks where not granted"), 60
        )
        seen = read(0)
    quick.join()
    seen += read(max(seen, default=0))
    return seen, [row["seq"] for row in hub.rows("select seq from hub.mutations order by seq")]


def test_a_reader_misses_no_number_of_a_slow_commit(hub):
    assert read_before_a_slow_commit(hub) == ([1, 2], [1, 2])


def test_numbers_of_a_sequence_would_lose_rows(hub):
    with database.connect(hub.database.owner) as db:
        db.execute(SEQUENCE)

    assert read_before_a_slow_commit(hub) == ([2], [1, 2])


TABLES = """
    projects members people mutations rows cursors usage audit
""".split()


def test_a_person_sees_their_own_projects_and_nobody_sees_any(hub):
    with database.connect(hub.database.owner) as db:
        other = administration.add_project(db, "other")["id"]
    hub.join("bob", slug="other")
    hub.push("ann", mutation(1))
    hub.push("bob", mutation(1), project=other)
    mine = {"projects": "id", "people": "name"}

    for table in TABLES:
        column = mine.get(table, "project")
        owned = {"people": {"ann"}}.get(table, {hub.project})
        with hub.entered("ann") as db:
            found = {str(row[column]) for row in db.execute(f"select * from hub.{table}")}
        assert found <= owned
        with database.connect(hub.database.server) as db:
            assert db.execute(f"select * from hub.{table}").fetchall() == []
    with pytest.raises(psycopg.DatabaseError):
        hub.push("ann", mutation(2), project=other)
    with hub.entered("ann") as db:
        done = db.execute("update hub.mutations set fields = null where project = %s", (other,))
        assert done.rowcount == 0


@pytest.mark.parametrize("table", ["tokens", "invites", "devices"])
def test_the_server_cannot_read_secrets(hub, table):
    with hub.entered("ann") as db, pytest.raises(psycopg.errors.InsufficientPrivilege):
        db.execute(f"select * from hub.{table}")


def test_the_server_can_neither_change_nor_delete_what_was_audited(hub):
    for statement in ("update hub.audit set act = ''", "delete from hub.audit"):
        with hub.entered("ann") as db, pytest.raises(psycopg.errors.InsufficientPrivilege):
            db.execute(statement)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        pytest.param("create role {} login superuser", "superuser", id="superuser"),
        pytest.param("create role {} login bypassrls", "BYPASSRLS", id="bypassing"),
        pytest.param("create role {} login in role hub_owner", "owns", id="owner's member"),
    ],
)
def test_a_role_that_policies_do_not_hold_does_not_serve(hub, make, why):
    name = f"wrong_{hub.database.name}"
    with database.connect(hub.database.superuser) as db:
        db.execute(make.format(name))

    with (
        database.connect(hub.database.cluster.dsn(hub.database.name, name)) as db,
        pytest.raises(WrongRole, match=why),
    ):
        database.check_server(db)


def test_the_right_role_serves_unless_a_policy_is_off_or_the_schema_old(hub):
    with database.connect(hub.database.server) as db:
        database.check_server(db)
        with database.connect(hub.database.owner) as owner:
            owner.execute("alter table hub.rows disable row level security")
        with pytest.raises(WrongRole, match="off for rows"):
            database.check_server(db)
        with database.connect(hub.database.owner) as owner:
            owner.execute("alter table hub.rows enable row level security")
            owner.execute("delete from hub.migrations")
        with pytest.raises(UnusableStore, match="schema is 0"):
            database.check_server(db)


def test_a_migration_runs_once(hub):
    with database.connect(hub.database.owner) as db:
        assert database.migrate(db) == []
        assert database.version(db) == database.newest()


def test_an_invitation_is_good_for_one_device_and_may_be_repeated_by_it(hub):
    with database.connect(hub.database.owner) as db:
        code = administration.digest(administration.invite(db, "team", "bob", "reader"))
    with database.connect(hub.database.server) as db:
        query = "select person, role, slug from hub.redeem(%s, %s, 'laptop')"
        first = db.execute(query, (code, b"1")).fetchall()

        assert first == [{"person": "bob", "role": "reader", "slug": "team"}]
        assert db.execute(query, (code, b"1")).fetchall() == first
        assert db.execute(query, (code, b"2")).fetchall() == []
        assert db.execute(query, (b"none", b"2")).fetchall() == []


def test_a_token_ends(hub):
    def state():
        with database.connect(hub.database.server) as db, db.transaction():
            return hub.enter(db, "ann")["state"]

    assert state() == "valid"
    with database.connect(hub.database.owner) as db:
        (token,) = administration.list_tokens(db, "team")
        assert administration.revoke_token(db, "team", token["id"]) == 1
        assert state() == "revoked"
        db.execute("update hub.tokens set revoked_at = null, expires_at = now()")
    assert state() == "expired"
    hub.tokens["ann"] += "0"
    assert state() == "unknown"


def test_a_token_is_replaced_once(hub):
    old = administration.digest(hub.tokens["ann"])
    hub.tokens["ann"] = "adh_new"
    new = administration.digest("adh_new")
    with database.connect(hub.database.server) as db:
        query = "select hub.rotate(%s, %s) as until"
        assert db.execute(query, (old, new)).fetchone()["until"]
        assert db.execute(query, (old, b"other")).fetchone()["until"] is None
    assert hub.push("ann", mutation(1)) == ["taken"]


DAMAGES = {
    "removed": "delete from hub.audit where number = 2",
    "removed at the end": "delete from hub.audit where number = 9",
    "changed": "update hub.audit set act = 'nothing' where number = 2",
    "exchanged": "update hub.audit a set at = b.at, entity_key = b.entity_key, hash = b.hash"
    " from hub.audit b where a.number in (4, 6) and b.number = 10 - a.number",
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=list(DAMAGES))
def test_the_audit_names_where_it_was_changed(hub, damage):
    for number in range(6):
        hub.push("ann", mutation(number, f"m{number}"))
    with database.connect(hub.database.owner) as db:
        assert administration.broken_audit(db, "team") == []
        db.execute(damage)
        assert administration.broken_audit(db, "team")


def test_compaction_leaves_the_snapshot(hub):
    hub.push("ann", mutation(1), mutation(2, "m2"))
    hub.push("ann", mutation(3, heard=2))
    with database.connect(hub.database.owner) as db:
        assert administration.compact(db, "team", days=1) == 0
        db.execute("update hub.mutations set at = now() - interval '91 days'")
        db.execute(
            "insert into hub.usage (project, device, day, bytes)"
            " select project, device, current_date - n, 1 from hub.cursors, generate_series(0, 1) n"
        )
        assert administration.compact(db, "team", days=90) == 1

    assert [row["seq"] for row in hub.rows("select seq from hub.mutations order by seq")] == [2, 3]
    assert hub.rows("select floor from hub.projects") == [{"floor": 3}]
    assert [
        row["today"] for row in hub.rows("select day = current_date as today from hub.usage")
    ] == [True]


def test_a_receipt_names_who_has_received_a_deletion(hub):
    hub.join("bob")
    gone = mutation(2, op="delete", fields={"id": "m1", "life": "removed"})
    hub.push("ann", mutation(1), gone)
    with hub.entered("bob") as db:
        db.execute(
            "update hub.cursors set seq = 2 where device = current_setting('hub.device')::uuid"
        )

    with database.connect(hub.database.owner) as db:
        receipt = administration.receipts(db, "team", "m1")
    assert receipt["is_deleted"]
    heard = {one["person"]: one["has_received"] for one in receipt["devices"]}
    assert heard == {"ann": False, "bob": True}
