"""Texts that no colleague may have, and keys of every kind: none of them gets to the hub."""

from __future__ import annotations

import json

from ademem.capture import gate
from ademem.core.memory import Category, Draft, Origin, Scope, Trust
from ademem.core.settings import GateSettings
from ademem.plugins.hub.store import database
from ademem.plugins.hub.transport import Client
from tests import postgres
from tests.canaries import CANARIES, found_below, sentence
from tests.plugins.hub.hubs import Served, mutation
from tests.plugins.hub.sync.clients import Clone
from tests.plugins.hub.sync.test_rounds import HELD_BACK, STAYING

KINDS = {
    **STAYING,
    "person": {"scope": Scope.parse("personal"), "scope_owner_id": "ann"},
}
ORIGIN = Origin(trust=Trust.USER, source_type="user", source_id="session-of-the-canary")


def write(clone, content):
    draft = Draft(content=content, category=Category.FACT, promoted=True, origin=ORIGIN)
    return gate.write(draft, clone.store, GateSettings(), clone.now())


def test_no_canary_is_in_queue_traffic_files_logs_or_figures(tmp_path, monkeypatch):
    ask, traffic = Client.ask, []

    def recording(self, method, path, body=None):
        traffic.append(body or b"")
        return ask(self, method, path, body)

    monkeypatch.setattr(Client, "ask", recording)
    with postgres.serving() as cluster:
        with Served(postgres.make_database(cluster)).serving() as hub:
            ann = Clone(tmp_path / "ann", "ann").join(hub)
            ann.sync()
            for number, canary in enumerate(CANARIES.values()):
                write(ann, sentence(number, canary))
            write(ann, "Deploys run <private>as the canary sings</private> at noon")
            for name, fields in KINDS.items():
                ann.learn(f"The canary of {name} sings at noon", **fields)
            ann.store.db.execute(
                "insert into user_prompts (sync_id, project_id, session_id, prompt_id, content,"
                " created_at) values ('u1', ?, 's', 'p', 'What does the canary sing', '2026')",
                (ann.store.project_id,),
            )
            rows = ann.store.db.execute("select * from sync_mutations").fetchall()
            for number, (text, fields, *_) in enumerate(HELD_BACK.values()):
                ann.learn(text, id=f"held-{number}", **fields)
            done = ann.sync()
            keys = [
                mutation(hub.project, f"k{number}", sentence(number, canary))
                for number, canary in enumerate(CANARIES.values())
            ]
            rules = [one["rule"] for one in hub.push("ann", *keys).json()["verdicts"]]
            figures = hub.ask("GET", "/metrics").body
            ann.store.close()
        with database.connect(cluster.dsn()) as db:
            db.execute("checkpoint")
        seen = tmp_path / "seen"
        seen.mkdir()
        (seen / "traffic").write_bytes(b"\n".join(traffic))
        (seen / "lines").write_text("\n".join(hub.lines))
        (seen / "figures").write_bytes(figures)
        (seen / "queue").write_text(json.dumps([[*row] for row in rows]))
        leaks = found_below(cluster.folder, seen)
        of_canary = [
            path.name
            for folder in (cluster.folder, seen)
            for path in folder.rglob("*")
            if path.is_file() and b"canary" in path.read_bytes()
        ]

    assert len(CANARIES) >= 40
    assert done.sent > len(CANARIES) / 2  # the sentences themselves are told, without the keys
    assert {one.id for one in done.parked} >= {f"held-{at}" for at in range(len(HELD_BACK))}
    assert {*rules} == {"secret"}
    assert len(rows) > len(CANARIES) / 2
    assert leaks == {}
    assert of_canary == []
