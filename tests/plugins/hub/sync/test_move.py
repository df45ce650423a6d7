"""A project that moves to the hub of another PostgreSQL while it is written to."""

import threading
from contextlib import ExitStack

import pytest

from ademem.core.errors import UsageError
from ademem.plugins.hub import rounds
from ademem.plugins.hub.store import administration, copies, database
from tests import postgres
from tests.examples import examples
from tests.plugins.hub.hubs import Served, mutation, wait_until
from tests.plugins.hub.sync.clients import Clone
from tests.postgres import make_database
from tests.store.replicas import exported

BEFORE = examples(100_000, share=50)
"""Mutations before the move."""


@pytest.fixture(scope="module")
def servers(cluster):
    """A hub each on two servers of PostgreSQL; the first has the projects."""
    with ExitStack() as opened:
        there = opened.enter_context(postgres.serving())
        here = opened.enter_context(Served(make_database(cluster)).serving())
        with database.connect(there.dsn("template_hub", "hub_owner")) as db:
            administration.add_project(db, "team of others")
        yield here, opened.enter_context(Served(make_database(there)).serving())


def move(here, there, slug):
    return copies.move(here.database.owner, slug, there.database.owner, there.url)


def tell(hub, name, number, slug):
    batch = [mutation(hub.projects[slug], f"{name}{number}-{at}", f"Text {at}") for at in range(5)]
    return hub.push(name, *batch, slug=slug), [one["mutation_id"] for one in batch]


def test_a_project_moves_while_it_is_written_to(servers):
    here, there = servers
    names = [f"w{at}" for at in range(4)]
    for slug in ("shop", "beside"):
        here.projects[slug] = here.add_project(slug)
        for name in names:
            here.join(name, slug=slug)
    here.execute(
        "insert into hub.mutations select project, n, gen_random_uuid(), 'memory', 'old' || n,"
        " 'upsert', '', 0, jsonb_build_object('content', repeat('x', 200)), false, '', 1, person,"
        " 'writer', person from generate_series(1, %s) n,"
        " (select project, person from hub.members where project = %s limit 1) m",
        BEFORE,
        here.projects["shop"],
    )
    here.execute(
        "insert into hub.rows select project, entity, entity_key, stamp, mutation_id, seq, person,"
        " false from hub.mutations where project = %s",
        here.projects["shop"],
    )
    here.execute("update hub.projects set head = %s where slug = 'shop'", BEFORE)
    here.execute("analyze hub.mutations, hub.rows")
    heard, errors = set(), []

    def write(name):
        for number in range(10_000):
            answer, ids = tell(here, name, number, "shop")
            if answer.status != 200:
                errors.append(answer.json()["error"])
                return
            heard.update(ids)

    writers = [threading.Thread(target=write, args=(name,)) for name in names]
    for each in writers:
        each.start()
    wait_until(lambda: len(heard) > 40, 60)
    before = len(heard)
    done = move(here, there, "shop")
    for each in writers:
        each.join()

    assert set(errors) <= {"moved", "store"}
    assert len(heard) > before
    assert done.pause_s < 2, done
    arrived = there.rows(
        "select * from hub.mutations where project = %s order by seq", here.projects["shop"]
    )
    assert [row["seq"] for row in arrived] == [*range(1, done.head + 1)]
    assert {str(row["mutation_id"]) for row in arrived} >= heard
    assert len(arrived) == BEFORE + len(heard)
    with database.connect(there.database.owner) as db:
        assert administration.digest_project(db, here.projects["shop"]) == done.digest
        assert administration.broken_audit(db, "shop") == []
    assert {row["slug"] for row in there.rows("select slug from hub.projects")} >= {"shop"}
    assert not there.rows("select from hub.projects where slug = 'beside'")
    assert told_of(here, "shop") == 0
    assert tell(here, "w0", 1, "beside")[0].status == 200


def told_of(hub, slug):
    query = "select count(*) as n from hub.mutations where project = %s"
    return hub.rows(query, hub.projects[slug])[0]["n"]


def test_clones_follow_a_project_and_it_may_come_back(servers, tmp_path):
    here, there = servers
    slug = "follow"
    here.projects["team"] = here.add_project(slug)
    with ExitStack() as opened:
        clones = []
        for name in ("ann", "bob"):
            clone = Clone(tmp_path / name, name)
            opened.callback(clone.store.close)
            code = here.invite(name, "reviewer", slug)
            rounds.join(clone.store, clone.project, here.url, code, name)
            clones.append(clone)
        ann, bob = clones
        for number, (source, target) in enumerate(((here, there), (there, here))):
            ann.learn(f"Deploys run at {number}", id=f"a{number}")
            ann.sync()
            bob.learn(f"Tests run at {number}", id=f"b{number}")
            move(source, target, slug)
            for clone in (bob, ann, bob):
                clone.sync()
                assert clone.state.url == target.url
            assert exported(ann.store) == exported(bob.store)
            assert len(exported(ann.store)) == 2 * (number + 1)


def test_a_move_that_was_cut_off_goes_on_and_loses_nothing(servers, monkeypatch):
    here, there = servers
    here.projects["cut"] = there.projects["cut"] = here.add_project("cut")
    here.join("ann", slug="cut")
    there.tokens["ann"] = here.tokens["ann"]
    ids = tell(here, "ann", 1, "cut")[1]

    def die(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(administration, "note", die)  # in the pause, before anything is decided
        with pytest.raises(KeyboardInterrupt):
            move(here, there, "cut")
    ids += tell(here, "ann", 2, "cut")[1]
    with monkeypatch.context() as patch:
        patch.setattr(copies, "_open", die)  # when both have decided
        with pytest.raises(KeyboardInterrupt):
            move(here, there, "cut")
    answers = [tell(hub, "ann", 3, "cut")[0].json()["error"] for hub in (here, there)]
    assert answers == ["moved", "arriving"]

    done = move(here, there, "cut")
    arrived = there.rows(
        "select mutation_id from hub.mutations where project = %s", here.projects["cut"]
    )
    assert {str(row["mutation_id"]) for row in arrived} == set(ids)
    assert done.head == len(ids)
    assert tell(there, "ann", 3, "cut")[0].status == 200
    with pytest.raises(UsageError, match="is at"):
        move(here, there, "cut")


def test_a_project_or_person_of_the_same_name_is_in_the_way(servers):
    here, there = servers
    for slug, name in (("twin", "tom"), ("lone", "tim")):
        here.projects[slug] = here.add_project(slug)
        here.join(name, slug=slug)
    there.projects |= {slug: there.add_project(slug) for slug in ("twin", "elsewhere")}
    there.join("tim", slug="elsewhere")

    for slug, why in (("twin", "has a project twin"), ("lone", "another tim")):
        with pytest.raises(UsageError, match=why):
            move(here, there, slug)
        assert tell(here, {"twin": "tom", "lone": "tim"}[slug], 1, slug)[0].status == 200
