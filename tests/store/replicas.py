"""Stores that exchange their records, and what is done in them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

from ademem.core import record_json
from ademem.core.registers import REMOVED
from ademem.core.settings import GateSettings
from ademem.core.value import replace
from ademem.store import memories, replication, transitions
from ademem.store.memories import Change
from ademem.store.transitions import Act
from tests.builders import memory

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
WORDS = ("deploys", "run", "at", "noon", "on", "fridays", "never")
BY_IMPORT = Change(operation="import", actor="import", at=NOON)


def learn(store, content, now=NOON, **fields):
    change = Change(operation="insert", actor="user", at=now)
    made = memory(content, project_id=store.project_id, created_at=now, updated_at=now, **fields)
    return memories.insert(store, made, change)


def send(source, target, now=NOON):
    for record in list(replication.read_all(source)):
        replication.apply(target, record, replace(BY_IMPORT, at=now))


def exported(store):
    found = (record_json.to_json(record) for record in replication.read_all(store))
    return sorted(json.dumps(one, sort_keys=True) for one in found)


def journalled(store):
    rows = store.db.execute("select registers from sync_mutations order by seq")
    return [record_json.from_json(json.loads(row[0])) for row in rows]


def act_of(store, minute):
    return Act(store=store, now=NOON + timedelta(minutes=minute))


ACTS = (
    *("learn", "learn", "edit", "edit", "edit", "tag", "archive", "restore", "reject"),
    *("promote", "pin", "delete", "remove", "supersede", "merge", "category"),
)


def act_at_random(choice, store, minute):
    act, settings = act_of(store, minute), GateSettings()
    text = " ".join(choice.sample(WORDS, 3))
    kind = choice.choice(ACTS)
    known = memories.find(store, "kept_of is null", "order by id")
    if kind == "learn" or not known:
        name = choice.choice((None, "m1", "m2"))
        names = {"id": name, "sync_id": f"s-{name}"} if name else {}
        was = replication.read(store, name or memory(text).id)
        if was and was.life == REMOVED:  # the gate uses no such id again
            return None
        return learn(store, text, act.now, topic_key=choice.choice((None, "deploy")), **names)
    id, other = (choice.choice(known).id for _ in range(2))
    match kind:
        case "edit":
            return transitions.edit(id, act, settings, content=text)
        case "tag":
            return transitions.edit(id, act, settings, tags=tuple(text.split()[:2]))
        case "category":
            return transitions.edit(id, act, settings, category=choice.choice(("fact", "gotcha")))
        case "remove":
            return choice.random() < 0.2 and transitions.delete(id, act, hard=True)
        case "supersede":
            return transitions.supersede(id, act, other)
        case "merge":
            return transitions.merge(id, act, other, text, settings)
        case _:
            return getattr(transitions, kind)(id, act)


def shown(store):
    everybodys = "source_type <> 'merge' and kept_of is null"
    found = memories.find(store, everybodys, "order by id")
    return [(one.id, one.content, one.live, one.topic_key if one.live else None) for one in found]
