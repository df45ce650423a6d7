"""A hub that is restored to an earlier state while its clients work: they tell what it lost."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress

from psycopg.errors import DeadlockDetected

from ademem.core.clock import now
from ademem.plugins.hub.store import administration, copies, database
from ademem.plugins.hub.transport import HubError
from tests.examples import examples
from tests.plugins.hub.hubs import Served
from tests.plugins.hub.sync.clients import Clone
from tests.plugins.hub.sync.test_rounds import told
from tests.postgres import make_database
from tests.store.replicas import exported

CLIENTS = examples(20, share=5)


class Client:
    """A person who learns and syncs in a thread, whatever the hub answers."""

    def __init__(self, root, name, hub):
        self.root, self.name = root, name
        self.learned, self.failures, self.minute = [], 0, 0
        clone = Clone(root / name, name)
        with closing(clone.store):
            clone.join(hub)

    def work(self, words=(), rounds=1):
        """Learn each of the words, and sync after each; nothing more to learn is a round, too."""
        clone = Clone(self.root / self.name, self.name)
        with closing(clone.store):
            clone.minute = self.minute
            for word in words or [""] * rounds:
                if word:
                    self.learned.append(f"{self.name}-{word}")
                    clone.learn(f"{self.name} deploys {word}", id=self.learned[-1])
                try:
                    clone.sync()
                except HubError as error:
                    if error.needs_person:
                        raise
                    self.failures += 1
            self.minute = clone.minute
            self.said = exported(clone.store)


def drop_schema(hub):
    """Drop all tables, again after each deadlock with a push that PostgreSQL ends it for."""
    while hub.rows("select from pg_namespace where nspname = 'hub'"):
        with suppress(DeadlockDetected):
            hub.execute("drop schema hub cascade")


def test_nothing_of_today_is_lost_when_yesterday_is_restored_under_its_clients(cluster, tmp_path):
    with Served(found := make_database(cluster)).serving() as hub:
        clients = [Client(tmp_path, f"c{at}", hub) for at in range(CLIENTS)]
        for one in clients:
            hub.execute("update hub.members set role = 'reviewer'")
            one.work(["yesterday"])
        backup, _ = copies.back_up(found.owner, tmp_path / "backups", now())
        before = len(told(hub))
        for one in clients:
            one.work(["today"])

        with ThreadPoolExecutor(CLIENTS) as threads:
            words = [f"now{at}" for at in range(4)]
            working = [threads.submit(one.work, words) for one in clients]
            drop_schema(hub)
            restored = copies.restore(found.owner, backup)
        assert [each.result() for each in working] == [None] * CLIENTS
        assert restored["team"]["head"] == before
        assert any(one.failures for one in clients)
        for _ in range(2):
            for one in clients:
                one.work()

        rows = told(hub)
        assert [row["seq"] for row in rows] == [*range(1, len(rows) + 1)]
        assert {row["entity_key"] for row in rows} == {id for one in clients for id in one.learned}
        assert len(clients[0].said) == 6 * CLIENTS
        assert all(one.said == clients[0].said for one in clients)
        with database.connect(found.owner) as db:
            assert administration.broken_audit(db, "team") == []
