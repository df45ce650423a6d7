"""A hub's database is put back to an earlier state, and no new epoch is started."""

import shutil
from contextlib import ExitStack

import pytest

from ademem.plugins.hub.store import database
from tests import postgres
from tests.examples import some
from tests.plugins.hub.hubs import Served
from tests.plugins.hub.sync.clients import Clone
from tests.plugins.hub.sync.test_rounds import told
from tests.store.replicas import exported


class Dump:
    def __init__(self, cluster, name):
        self._at = ("-h", cluster.folder, "-U", "postgres")
        self._cluster, self._name = cluster, name
        cluster.run("pg_dump", *self._at, "-Fc", "-f", cluster.folder / "dump", name)

    def put_back(self):
        with database.connect(self._cluster.dsn()) as db:
            db.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s",
                (self._name,),
            )
        where = (*self._at, "-d", self._name)
        file = self._cluster.folder / "dump"
        self._cluster.run("pg_restore", *where, "--clean", "--if-exists", file)


class Volume:
    def __init__(self, cluster, name):
        self._cluster = cluster
        cluster.kill()
        self._copy("data", "volume")

    def _copy(self, one, other):
        folder = self._cluster.folder
        shutil.rmtree(folder / other, ignore_errors=True)
        self._cluster.copy(folder / one, folder / other)
        self._cluster.start()

    def put_back(self):
        self._cluster.kill()
        self._copy("volume", "data")


@pytest.fixture(scope="module")
def own_cluster():
    with postgres.serving() as made:
        yield made


@pytest.mark.parametrize(
    ("copy", "since"),
    some(
        [
            pytest.param(Dump, 5, id="by pg_restore, with newer changes of others"),
            pytest.param(Dump, 0, id="by pg_restore, behind its clones"),
            pytest.param(Volume, 0, id="from a volume, behind its clones"),
            pytest.param(Volume, 5, id="from a volume, with newer changes of others"),
        ],
        2,
    ),
)
def test_what_a_hub_lost_is_sent_again_by_the_clones_that_have_it(
    own_cluster, tmp_path, copy, since
):
    with ExitStack() as opened:
        found = postgres.make_database(own_cluster)
        hub = opened.enter_context(Served(found).serving())
        ann, bob, eve = (Clone(tmp_path / name, name).join(hub) for name in ("ann", "bob", "eve"))
        for each in (ann, bob, eve):
            opened.callback(each.store.close)
        ann.learn("Deploys run at noon", id="m1")
        for each in (ann, bob, eve):
            each.sync()
        saved = copy(own_cluster, found.name)
        ann.learn("Tests run at one", id="m2")
        ann.sync()
        bob.learn("Search is rebuilt on sundays", id="m3")
        bob.sync()
        assert [row["entity_key"] for row in told(hub)] == ["m1", "m2", "m3"]

        saved.put_back()
        assert [row["entity_key"] for row in told(hub)] == ["m1"]
        for at in range(since):
            eve.learn(f"Port {at} is taken", id=f"e{at}")
            eve.sync()
        for each in (ann, bob, eve, ann, bob):
            each.sync()

        keys = {"m1", "m2", "m3", *(f"e{at}" for at in range(since))}
        assert {row["entity_key"] for row in told(hub)} == keys
        assert exported(ann.store) == exported(bob.store) == exported(eve.store)
        assert len(exported(ann.store)) == len(keys)
        assert all(each.state.lifecycle == "healthy" for each in (ann, bob, eve))
        assert ann.state.put_back_at
        assert not eve.state.put_back_at
        again = len(told(hub))
        for each in (ann, bob, eve):
            each.sync()
        assert len(told(hub)) == again
