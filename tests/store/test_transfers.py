"""One project's memory in another's database."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing, suppress
from datetime import timedelta

import pytest

from ademem.core.errors import AdememError
from ademem.store import (
    journal,
    memories,
    memory_queries,
    sessions,
    transfers,
    transitions,
    verdicts,
)
from tests.examples import examples
from tests.store.replicas import NOON, act_at_random
from tests.store.stores import in_memory

LATER = NOON + timedelta(days=1)


def live(store):
    return [memory for memory in memory_queries.everything(store) if memory.live]


def relate_at_random(choice, store, minute):
    """Judge a pair in one of its two directions."""
    known = live(store)
    if len(known) > 1:
        one, other = choice.sample(known, 2)
        verdicts.put(
            store,
            one,
            other,
            choice.choice(verdicts.SYMMETRIC),
            in_effect=choice.random() < 0.7,
            reason="x",
            evidence="",
            confidence=1.0,
            actor=choice.choice(("user", "agent")),
            kind="agent",
            now=NOON + timedelta(minutes=minute),
        )


def work_at_random(choice, store, name):
    for minute in range(1, choice.randrange(2, 12)):
        with suppress(AdememError, sqlite3.IntegrityError):
            act_at_random(choice, store, minute)
        if choice.random() < 0.4:
            relate_at_random(choice, store, minute)
    for number in range(choice.randrange(3)):
        id = choice.choice(("shared", f"{name}-{number}"))
        sessions.start(store, id, source="startup", directory="/p", branch=None, now=NOON)
        sessions.add_prompt(store, id, f"p{number}", f"prompt {number} of {name}", NOON)


def find_image(store, memory):
    """Return the live memory that another project's became."""
    found = [each for each in live(store) if each.dedupe_key == memory.dedupe_key]
    found += [
        each for each in live(store) if memory.topic_key and each.topic_key == memory.topic_key
    ]
    return found[0]


def texts_of(store, memory):
    return {memories.from_snapshot(row).content for row in snapshots(store, memory)}


def snapshots(store, memory):
    return [row["snapshot"] for row in memories.revisions(store, memory.id)]


def related(store, found):
    """Return the pairs of these memories of which there is a relation."""
    named = {memory.id: memory for memory in found}
    rows = verdicts.list_all(store)
    return [(named[r.source], named[r.target]) for r in rows if {r.source, r.target} <= set(named)]


def dangling(store):
    """Return ids of memories that took another's place and are deleted for good."""
    heirs = ids(store, "unified_memories", "superseded_by") - {None}
    return heirs - ids(store, "unified_memories", "id")


def count_observations(store):
    return sum(memory.observation_count for memory in live(store))


def ids(store, table, column):
    return {row[0] for row in store.db.execute(f"select {column} from {table}")}


@pytest.mark.parametrize("block", range(10))
def test_whatever_two_projects_hold_their_merge_loses_nothing(block, monkeypatch):
    """E24: memories, history, relations, sessions, prompts and the journal add up."""
    monkeypatch.setattr(transitions, "scrub", lambda store: None)
    for seed in range(block * 100, block * 100 + examples(100, share=50)):
        choice = random.Random(seed)
        with closing(in_memory()) as source, closing(in_memory()) as target:
            journal.enrol(target, "folder")
            journal.advance(target, "folder", 0)
            for name, store in (("source", source), ("target", target)):
                work_at_random(choice, store, name)
            lost = dangling(source) | dangling(target)
            moved, there = live(source), live(target)
            total = count_observations(source) + count_observations(target)
            pairs = related(source, moved)
            rows = {
                (table, column): ids(source, table, column) | ids(target, table, column)
                for table, column in (("sessions", "id"), ("user_prompts", "content"))
            }

            transfers.merge_all(source, target, LATER)

            assert count_observations(target) == total, seed
            for memory in moved:
                assert memory.content in texts_of(target, find_image(target, memory)), seed
            for memory in there:
                assert memory.content in texts_of(target, memories.get(target, memory.id)), seed
                assert memories.get(target, memory.id).live, seed
            linked = {frozenset(one.id for one in pair) for pair in related(target, live(target))}
            for pair in pairs:
                ends = frozenset(find_image(target, one).id for one in pair)
                assert len(ends) == 1 or ends in linked, seed
            for table, column in rows:
                assert ids(target, table, column) == rows[table, column], seed
            new = {find_image(target, memory).id for memory in moved} - {one.id for one in there}
            waiting = {row["entity_id"] for row in journal.rows_since(target, "folder")}
            assert new <= waiting, seed
            assert dangling(target) <= lost, seed
