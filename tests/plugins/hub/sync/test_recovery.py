"""A hub that PostgreSQL's own means bring back to a moment, as the documentation describes."""

import re
import shutil
from contextlib import ExitStack, suppress
from pathlib import Path

import psycopg

from ademem.plugins.hub.store import database
from tests import postgres
from tests.plugins.hub.hubs import Served, wait_until
from tests.plugins.hub.sync.clients import Clone
from tests.plugins.hub.sync.test_rounds import told
from tests.store.replicas import exported

PAGE = (Path(__file__).parents[4] / "docs/hub.md").read_text()
ARCHIVING = """
archive_mode = on
archive_command = 'cp %p {folder}/%f.archived'
restore_command = 'cp {folder}/%f.archived %p'
"""


def ask(cluster, query):
    with database.connect(cluster.dsn()) as db:
        return db.execute(query).fetchone()


def recover(cluster, moment):
    """Start the base backup, and let it replay the log up to the moment."""
    cluster.kill()
    shutil.rmtree(cluster.folder / "data")
    (cluster.folder / "base").rename(cluster.folder / "data")
    with (cluster.folder / "data/postgresql.conf").open("a") as file:
        file.write(f"recovery_target_time = '{moment}'\nrecovery_target_action = 'promote'\n")
    (cluster.folder / "data/recovery.signal").touch()
    cluster.start()

    def is_recovered():
        with suppress(psycopg.OperationalError):
            return not ask(cluster, "select pg_is_in_recovery() as is_in")["is_in"]

    wait_until(is_recovered, 60)


def test_after_a_recovery_to_a_moment_clones_tell_what_came_later(tmp_path):
    (epoch,) = re.findall(r"run `(update hub\.projects set epoch[^`]*)`", PAGE)
    with ExitStack() as opened:
        cluster = opened.enter_context(postgres.serving(ARCHIVING))
        hub = opened.enter_context(Served(postgres.make_database(cluster)).serving())
        ann, bob = (Clone(tmp_path / name, name).join(hub, "reviewer") for name in ("ann", "bob"))
        opened.callback(ann.store.close)
        opened.callback(bob.store.close)
        ann.learn("Deploys run at noon", id="m1")
        ann.sync()
        base = cluster.folder / "base"
        where = ("-D", base, "-h", cluster.folder, "-U", "postgres", "-X", "none")
        cluster.run("pg_basebackup", "--checkpoint=fast", *where)
        ann.learn("Tests run at one", id="m2")
        ann.sync()
        moment = ask(cluster, "select clock_timestamp()::text as now")["now"]
        ann.learn("Search is rebuilt on sundays", id="m3")
        ann.sync()
        bob.sync()
        last = ask(cluster, "select pg_walfile_name(pg_current_wal_lsn()) as name")["name"]
        ask(cluster, "select pg_switch_wal()")
        wait_until((cluster.folder / f"{last}.archived").exists, 60)

        recover(cluster, moment)
        assert [row["entity_key"] for row in told(hub)] == ["m1", "m2"]
        hub.execute(epoch)
        for each in (bob, ann):
            each.sync()

        assert sorted(row["entity_key"] for row in told(hub)) == ["m1", "m2", "m3"]
        assert exported(ann.store) == exported(bob.store)
