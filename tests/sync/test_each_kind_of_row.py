"""Rows of every kind go through a second clone and come back: both stores are equal then."""

from __future__ import annotations

from itertools import islice, product

import pytest

from ademem.capture import learned
from ademem.core.memory import Category, Status, Trust
from ademem.core.value import replace
from ademem.files import knowledge
from ademem.store import memories, replication, stamps
from ademem.store.memories import Change
from tests.examples import FULL
from tests.sync.clone import GOTCHAS, LINES, fork, gotcha, with_driver

CANDIDATE = {"status": Status.CANDIDATE, "promoted_at": None, "trust": Trust.IMPORT}
"""Of an import; what agents write here stays on this machine."""
STATES = (CANDIDATE, {"pinned": False}, {"pinned": True})
SOURCES = (
    {"source_type": "agent"},
    {"source_type": "orchestrator", "tags": ("learned", "async")},
    {"source_type": "user", "source_id": "1"},
    {"source_type": "import", "agent_id": "tester"},
)
KEYS = (
    lambda category, text, number: None,
    lambda category, text, number: learned.key_of(category, text),
    lambda category, text, number: learned.key_of("learned", text),
    lambda category, text, number: f"key-{number}",
    lambda category, text, number: "a key of several rows",
)
PATHS = (None, "src/*.py")
TEXTS = (
    lambda number: f"Fact {number} is known",
    lambda number: f"\u4e8b\u5b9f {number}",
    lambda number: "🙂" * (number + 1),
)
STEP = 7 if FULL else 31
"""Prime to the number of values of each dimension, so that each pair of values is met."""


def rows():
    every = product(Category, STATES, SOURCES, Trust, KEYS, PATHS)
    for number, (category, state, source, trust, key, path) in enumerate(
        islice(every, 0, None, STEP)
    ):
        text = TEXTS[number % 3](number)
        fields = {"category": category, "trust": trust, "file_scope_pattern": path}
        fields |= {"knowledge_key": key(category, text, number)}
        yield text, fields | state | source


def records(clone):
    """What stores share of the memories with a line, by id."""
    found = {record.id: record for record in replication.read_all(clone.store)}
    return {
        id: record
        for id, record in found.items()
        if knowledge.has_line(record.value("status"), record.value("key"))
    }


def pull(clone, other):
    clone.now = max(clone.now, other.now)
    clone.git("pull", "--quiet", str(other.root), "main")


@pytest.fixture
def team(repository, tmp_path_factory):
    with_driver(repository)

    def join():
        repository.refresh()
        repository.commit()
        return fork(repository, tmp_path_factory.mktemp("other") / "clone")

    return repository, join


def former_key_of(found):
    """As an older ademem reads it: each key that may come from the text does."""
    derived = knowledge.derived_key(found["category"], found["content"], found["id"])
    return None if found["key"] in (derived, f"{derived}-{found['id']}") else found["key"]


@pytest.mark.parametrize("is_older", [False, True], ids=["as new", "older"])
def test_rows_of_every_kind_come_back_from_a_second_clone_as_they_went(team, monkeypatch, is_older):
    ann, join = team
    for text, fields in rows():
        ann.know(text, **fields)
    before = records(ann)
    ben = join()
    with monkeypatch.context() as patched:
        if is_older:
            patched.setattr(knowledge, "key_of", former_key_of)
        ben.refresh()
        ben.commit()
    pull(ann, ben)
    ann.refresh()
    ann.commit()
    pull(ben, ann)
    ben.refresh()

    assert records(ann) == before
    assert records(ben).keys() == before.keys()
    assert is_older or records(ben) == before
    assert ann.read(LINES) == ben.read(LINES)


def test_a_line_that_an_older_ademem_wrote_for_a_candidate_keeps_its_key(clone):
    row = clone.know("retries end at 5", category=Category.DECISION, **CANDIDATE)
    line = knowledge.to_line(replication.read(clone.store, row.id))
    line |= {"key": learned.key_of("decision", row.content)}

    assert knowledge.from_line(line).value("key") == "decision-retries-end-at-5"


@pytest.mark.parametrize("key", ["conflict-0a1b2c3d4e5f", "conflict"])
def test_a_given_key_is_read_as_it_was_given_whatever_it_ends_with(clone, key):
    clone.know("retries end at 5", knowledge_key="conflict", id="000000000000")
    clone.know("the cache is cold at 5", knowledge_key=key, id="0a1b2c3d4e5f")
    clone.refresh()

    lines = map(knowledge.parse_line, clone.read(LINES).splitlines())
    read = {found.id: found.value("key") for found in map(knowledge.from_line, lines)}
    assert read == {"000000000000": "conflict", "0a1b2c3d4e5f": key}


def hold_back(clone, row, **changes):
    """Let this store alone see the memory in another way, as its admission of records does."""
    held = replace(clone.get(row), **changes)
    with clone.store.transaction():
        change = Change(operation="branch", actor="system", at=clone.tick())
        found = replication.read(clone.store, row.id)
        written = stamps.dump(found, memories.row_of(held))
        memories.put_back(clone.store, held, change, written)


@pytest.mark.parametrize(
    "held",
    [
        pytest.param({"quarantine_reason": "gives orders"}, id="in quarantine"),
        pytest.param({}, id="a candidate"),
    ],
)
def test_what_one_clone_holds_back_stays_in_the_files_of_all(team, held):
    ann, join = team
    row = gotcha(ann)
    ben = join()
    ben.refresh()
    files = ben.pages()
    hold_back(ben, row, **(CANDIDATE | held))
    gotcha(ben, "retries need a limit")
    ben.refresh()
    ben.commit()

    assert ben.item(GOTCHAS, row)
    assert row.id in ben.read(LINES)
    assert row.content not in ben.read(".ade/memory/MEMORY.md")
    assert row.content in files["MEMORY.md"]
    pull(ann, ben)
    ann.refresh()
    assert ann.get(row).live
    assert ann.live() == ["retries need a limit", "the cache is not thread safe"]
