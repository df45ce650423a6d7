"""Deletion for good: who has heard of it, and that no byte is left with hub and clones."""

import subprocess

import pytest

from ademem.core.clock import now, timedelta
from ademem.core.errors import NotFound
from ademem.core.settings import GateSettings
from ademem.core.untrusted import import_label
from ademem.plugins.hub import mutations
from ademem.plugins.hub.store import administration, database
from ademem.store import kept_copies, memories, relations, transitions
from tests import postgres
from tests.plugins.hub.hubs import Served
from tests.plugins.hub.sync.clients import Clone
from tests.plugins.hub.sync.test_background import Worker
from tests.plugins.hub.sync.test_rounds import told
from tests.postgres import make_database
from tests.store.replicas import exported

NAMES = ("ann", "bob", "kim", "lee", "joe")


def files_with(word, *folders):
    """Return the files that have the word in any bytes, as `grep` finds them."""
    found = subprocess.run(
        ["grep", "-rlai", word, *folders], capture_output=True, text=True, check=False
    )
    assert found.returncode in (0, 1), found.stderr
    return found.stdout.split()


def heard(hub, id):
    with database.connect(hub.database.owner) as db:
        found = administration.receipts(db, hub.slug, id)
    return found, {one["device"] for one in found["devices"] if one["has_received"]}


def relate(clone, one, other, reason):
    given = {"score": 0.9, "actor": "test", "now": clone.now()}
    relations.add(clone.store, one, other, relations.RELATED, reason=reason, **given)


@pytest.fixture
def away(tmp_path):
    """A hub on a PostgreSQL of its own, and five clones that all have heard of a canary."""
    with postgres.serving() as cluster:
        for name, value in {"wal_recycle": "off", "min_wal_size": "'32MB'"}.items():
            with database.connect(cluster.dsn()) as db:
                db.execute(f"alter system set {name} = {value}")
                db.execute("select pg_reload_conf()")
        with Served(make_database(cluster)).serving() as hub:
            hub.slug, hub.cluster = "team", cluster
            hub.clones = [Clone(tmp_path / name, name).join(hub) for name in NAMES]
            ann, bob, *_ = hub.clones
            other = ann.learn("Deploys run at noon", id="m1")
            bird = ann.learn("The quetzal sings at noon", id="c1", tags=("quetzal",))
            relate(ann, other, bird, "both name the quetzal")
            ann.sync()
            bob.sync()
            transitions.edit("c1", bob.act, GateSettings(), content="The quetzal sings at one")
            bob.sync()
            for clone in hub.clones:
                clone.sync()
                Worker(clone).later(1).work()
            try:
                yield hub
            finally:
                for clone in hub.clones:
                    clone.store.close()


def recycle_log(cluster):
    """Bring PostgreSQL to where its write-ahead log of today is overwritten."""
    with database.connect(cluster.dsn()) as db:
        for _ in range(3):
            db.execute("select pg_switch_wal()")
            db.execute("checkpoint")


def test_of_a_purged_memory_no_byte_is_left_once_all_have_heard(away, tmp_path):
    hub, clones = away, away.clones
    assert files_with("quetzal", tmp_path, hub.cluster.folder)
    assert len(files_with("quetzal", *(tmp_path / name for name in NAMES))) > len(NAMES)
    with database.connect(hub.database.owner) as db:
        assert mutations.purge(db, "team", ["c1"], now()) == ["c1"]
    for clone in clones[:2]:
        clone.sync()
    assert clones[0].sync().received == 0  # it tells how far it heard

    clones[1].sync()
    found, names = heard(hub, "c1")
    assert names == {"ann", "bob"}
    assert found["is_deleted"]
    assert found["vacuumed_at"] > found["deleted_at"]
    assert (found["backups_until"] - found["deleted_at"]).days == 30
    assert "quetzal" in clones[2].memory("c1").content

    transitions.edit("c1", clones[2].act, GateSettings(), content="The quetzal is back")
    for clone in clones:
        clone.sync()
        clone.sync()
        Worker(clone).later(1).work()
    assert heard(hub, "c1")[1] == set(NAMES)
    with database.connect(hub.database.owner) as db:
        assert mutations.purge(db, "team", ["c1"], now()) == []
        assert administration.broken_audit(db, "team") == []
        (project,) = administration.list_projects(db)
    assert project["memories"] == 1
    recycle_log(hub.cluster)
    for clone in clones:
        kept_copies.remove_ended(clone.store, clone.now() + timedelta(days=31))
        clone.store.close()
    assert files_with("quetzal", *(tmp_path / name for name in NAMES)) == []
    assert files_with("quetzal", hub.cluster.folder) == []


def purge_person(hub, name, **options):
    with database.connect(hub.database.owner) as db:
        return mutations.purge_person(db, hub.slug, name, now(), keep_texts=False, **options)


def label(clone, id):
    return import_label(clone.memory(id).claimed_author)


@pytest.fixture
def texts(ann, bob, hub):
    """Ann's and Bob's memories, each with a change by the other, and what the hub has of them."""
    ann.learn("Deploys run at noon", id="m1")
    bob.learn("Tests run at one", id="m2")
    for one in (ann, bob, ann):
        one.sync()
    transitions.edit("m1", bob.act, GateSettings(), tags=("deploy",))
    transitions.edit("m2", ann.act, GateSettings(), tags=("test",))
    for one in (ann, bob, ann):
        one.sync()
    assert {label(bob, id) for id in ("m1", "m2")} == {"came from the hub, by ann"}
    return lambda: {row["entity_key"] for row in told(hub) if "content" in (row["fields"] or {})}


def test_what_a_person_told_first_is_deleted_and_their_name_is_off_the_rest(
    ann, bob, clone, hub, texts
):
    with database.connect(hub.database.owner) as db:
        exported_rows = administration.list_memories_of(db, hub.slug, "ann")
        person = administration.person_id(db, "ann")
    assert [row["fields"]["content"] for row in exported_rows] == ["Deploys run at noon"]

    assert purge_person(hub, "ann") == ["m1"]
    assert texts() == {"m2"}
    assert hub.pull("ann").status == 401
    bob.sync()
    assert [one.id for one in memories.find(bob.store, "1", "")] == ["m2"]
    assert label(bob, "m2") == "came from the hub"
    late = clone("late")
    late.sync()
    assert exported(late.store) == exported(bob.store)
    for name in ("ann.", '"ann"', '"hub:ann"'):
        assert files_with(name, bob.project.home) == []
    with database.connect(hub.database.owner) as db:
        assert administration.broken_audit(db, hub.slug) == []
        acts = {row["act"]: row for row in administration.list_audit(db, hub.slug, 20)}
        assert acts["purge person"]["key"] == person
        assert all(row["person"] != "ann" for row in acts.values())
        with pytest.raises(NotFound):
            administration.person_id(db, "ann")


def test_a_persons_texts_may_stay_without_the_name(ann, bob, hub, texts):
    with database.connect(hub.database.owner) as db:
        done = mutations.purge_person(db, hub.slug, "ann", now(), keep_texts=True)
    assert done == []
    assert texts() == {"m1", "m2"}
    bob.sync()
    assert {label(bob, id) for id in ("m1", "m2")} == {"came from the hub"}
    transitions.edit("m1", bob.act, GateSettings(), content="Deploys run at two")
    assert bob.sync().parked == ()


def test_a_person_of_two_projects_is_purged_from_the_one(hub, clone, texts):
    hub.projects["other"] = hub.add_project(f"other-{hub.slug}")
    token = hub.tokens["ann"]
    hub.join("ann", slug=f"other-{hub.slug}")

    assert purge_person(hub, "ann") == ["m1"]
    assert hub.ask("GET", hub.path(), token=token).status == 403
    assert hub.pull("ann", slug="other").status == 200


def test_a_relation_goes_with_its_memory_whichever_the_hub_hears_first(ann, bob, clone, hub):
    away = clone("away")
    one, two = (ann.learn(f"The quetzal sings at {at}", id=f"m{at}") for at in (1, 2))
    relate(ann, one, two, "both name the quetzal")
    ann.sync()
    for each in (bob, away):
        each.sync()
    three = away.learn("It sings at three", id="m3")
    relate(away, three, away.memory("m1"), "both name the quetzal")
    transitions.delete("m1", bob.act, hard=True)
    for each in (bob, away, ann, bob):
        each.sync()

    assert "both name" not in str([row["fields"] for row in told(hub)])
    for each in (ann, bob, away):
        query = "select count(*) from memory_relations where reason is not null"
        assert each.store.db.execute(query).fetchone()[0] == 0
    (project,) = hub.rows("select live_rows from hub.projects where id = %s", hub.project)
    assert project["live_rows"] == 2
