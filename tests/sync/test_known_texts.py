"""A refresh renders what changed since the last one, and writes what a full rendering would."""

from __future__ import annotations

import random

import pytest

from ademem.core import shared_files, trust
from ademem.core.memory import Category, Status
from ademem.core.settings import MirrorSettings, Settings
from ademem.core.value import replace
from ademem.files import knowledge, markdown
from ademem.store import memories
from ademem.store.memories import Change
from ademem.store.runtime import Runtime
from ademem.sync import mirror
from tests.builders import NOW, insert, memory, opened

SETTINGS = Settings(mirror=MirrorSettings(topic_entries=5))
TEXTS = [f"{name} tides{end}" for name in ("high", "low", 'the "spring"') for end in ".!?;:"]
"""Of each five the derived keys are equal."""
CATEGORIES = (Category.GOTCHA, Category.FACT)


@pytest.fixture
def rendered(monkeypatch):
    """The ids of lines that were rendered."""
    found, render = [], knowledge.to_line

    def to_line(record, key=None):
        found.append(record.id)
        return render(record, key)

    monkeypatch.setattr(knowledge, "to_line", to_line)
    return found


@pytest.fixture
def runtime(here, store, monkeypatch):
    monkeypatch.setattr(knowledge, "ROTATE_ABOVE", 8)
    return opened(here, store, SETTINGS, NOW)


def update(store, row, **fields):
    change = Change(operation="edit", actor="user", at=NOW)
    return memories.update(store, replace(row, **fields), change)


def add(draw, store, root):
    there = {row.content for row in memories.find(store, "true")}
    if left := [text for text in TEXTS if text not in there]:
        key = draw.choice([None, None, "tides", "gotcha-high-tides"])
        given = {"category": draw.choice(CATEGORIES), "knowledge_key": key}
        insert(store, memory(draw.choice(left), **given))


def edit(draw, store, root):
    for row in choose(draw, store):
        update(store, row, confidence=draw.choice([0.5, 0.75]), pinned=draw.random() < 0.5)


def archive(draw, store, root):
    for row in choose(draw, store):
        update(store, row, status=Status.ARCHIVED)


def annotate(draw, store, root):
    """Write a line of one's own into a page."""
    for page in sorted((root / ".ade/memory").glob("gotchas*.md"))[:1]:
        text = shared_files.read_text(page)
        shared_files.write_atomic(str(page), f"{text}\nSee the almanac.\n")


def choose(draw, store):
    return draw.sample(live := memories.find(store, "status = 'promoted'"), min(1, len(live)))


@pytest.mark.parametrize("seed", range(2, 4))
def test_known_texts_stand_where_a_full_rendering_has_them(seed, runtime, store, tmp_path):
    draw = random.Random(seed)
    for _ in range(16):
        for act in draw.choices((add, edit, archive, annotate), weights=(6, 2, 1, 1), k=2):
            act(draw, store, tmp_path)
        mirror.refresh(runtime)

        assert mirror.compare_with_copy(runtime).files == ()


def test_a_persons_line_stays_while_other_pages_change(runtime, store, tmp_path):
    insert(store, memory("high tides", category=Category.GOTCHA))
    mirror.refresh(runtime)
    annotate(None, store, tmp_path)
    for number in range(3):
        insert(store, memory(f"{number} tides"))
        mirror.refresh(runtime)

        assert "See the almanac." in shared_files.read_text(tmp_path / ".ade/memory/gotchas.md")


def test_the_line_of_a_memory_that_did_not_change_is_not_rendered_again(
    runtime, store, rendered, tmp_path
):
    insert(store, *(memory(f"{number} tides") for number in range(5)))
    mirror.refresh(runtime)
    rendered.clear()
    (row,) = insert(store, memory("one more"))
    mirror.refresh(runtime)

    assert rendered == [row.id]
    assert row.id in shared_files.read_text(tmp_path / ".ade/memory/knowledge.jsonl")


def test_a_page_without_a_changed_memory_is_not_rendered_again(runtime, store, monkeypatch):
    found, render = [], markdown.render_page
    monkeypatch.setattr(
        markdown, "render_page", lambda page, own: found.append(page.name) or render(page, own)
    )
    insert(store, memory("high tides", category=Category.GOTCHA), memory("low tides"))
    mirror.refresh(runtime)
    found.clear()
    update(store, memories.find(store, "category = 'fact'")[0], title="Neap")
    mirror.refresh(runtime)

    assert found == ["facts.md"]


def test_the_records_of_each_refresh_are_noted_as_the_persons_own(here, store, tmp_path):
    environment = {"ADEMEM_DATA_DIR": str(tmp_path / "data")}
    own = Runtime(here, SETTINGS, store, environment, NOW)
    for number in range(3):
        insert(store, memory(f"{number} tides"))
        mirror.refresh(own)

        assert len(trust.own_records(environment)) == number + 1


def test_a_line_that_rendering_did_not_give_is_rendered_again(runtime, store, rendered, tmp_path):
    (row,) = insert(store, memory("one tide"))
    mirror.refresh(runtime)
    rendered.clear()
    path = tmp_path / ".ade/memory/knowledge.jsonl"
    shared_files.write_atomic(str(path), shared_files.read_text(path).replace('"ts":', '"ts": '))
    mirror.refresh(runtime, force=True)

    assert row.id in rendered
    assert '"ts": ' not in shared_files.read_text(path)
