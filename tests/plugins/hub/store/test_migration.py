"""Migrations of the hub's database while clients push and pull."""

import threading

from ademem.plugins.hub import server
from ademem.plugins.hub.store import database
from tests.examples import examples
from tests.plugins.hub.hubs import Served, mutation, wait_until
from tests.postgres import Database

SHIPPED = 6
"""Number of the schema from which each migration runs under load."""


def test_no_client_notices_a_migration_or_a_server_of_the_version_before(cluster, monkeypatch):
    with database.connect(cluster.dsn()) as db:
        db.execute("create database older owner hub_owner")
    place = Database(cluster, "older")
    with database.connect(place.owner) as owner:
        assert database.migrate(owner, to=SHIPPED) == ["0006_hub"]
        unlimited = {f"{kind}requests_per_minute": 10**6 for kind in ("", "project_", "hub_")}
        with Served(place, server.Limits(**unlimited)).serving() as hub:
            hub.join("ann", "reviewer")
            statuses, ended = [], threading.Event()

            def work(name):
                number = 0
                while not ended.is_set():
                    number += 1
                    pushed = hub.push(
                        "ann", mutation(hub.project, name, f"Text {number}", number % 60)
                    )
                    statuses.extend((pushed.status, hub.pull("ann", after=number).status))

            workers = [threading.Thread(target=work, args=(f"m{at}",)) for at in range(4)]
            for each in workers:
                each.start()
            try:
                for number in range(SHIPPED + 1, database.newest() + 1):
                    seen = len(statuses)
                    assert len(database.migrate(owner, to=number)) == 1
                    wait_until(lambda seen=seen: len(statuses) > seen + examples(300, share=10), 60)
                assert hub.ask("GET", "/ready").status == 200
                newest = database.newest()
                monkeypatch.setattr(database, "newest", lambda: newest - 1)  # the server before
                with database.connect(place.server) as db:
                    database.check_server(db)
                assert hub.ask("GET", "/ready").status == 200
            finally:
                ended.set()
                for each in workers:
                    each.join()
            assert {*statuses} == {200}
            heads = hub.rows("select head from hub.projects")
            (count,) = (row["count"] for row in hub.rows("select count(*) from hub.mutations"))

    assert [row["head"] for row in heads] == [count]


def test_a_server_of_two_versions_before_does_not_start():
    newest = database.newest()

    assert [database.is_served(newest + step) for step in (-2, -1, 0, 1, 2)] == [
        *(False, True, True, True, False)
    ]
