"""Types, dictations, topics, retries, edits with conflicts and dates of review."""

from datetime import timedelta

import pytest

from ademem.core.errors import Conflict, NoSuchMemory, UsageError
from ademem.core.memory import Draft, Origin
from ademem.core.value import replace
from ademem.doors.person_call import PersonCall
from ademem.operations import curation, memory_operations, reports, searching, writing
from ademem.store import transitions
from tests.world import World


@pytest.fixture
def world(tmp_path):
    root = tmp_path / "project"
    root.mkdir()
    return World(root)


@pytest.mark.parametrize(
    ("category", "type", "expected"),
    [
        pytest.param(None, "bugfix", "bugfix", id="a type"),
        pytest.param(None, "decision", "decision", id="a category"),
        pytest.param("pattern", "bugfix", "pattern", id="both"),
        pytest.param(None, "perf", "fact", id="a tag"),
        pytest.param(None, None, "fact", id="neither"),
    ],
)
def test_the_category_comes_from_a_known_type(category, type, expected):
    assert writing.categorize(category, type) == expected


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        ("remember: use tabs", "use tabs"),
        ("Merke dir: Tabs statt Leerzeichen", "Tabs statt Leerzeichen"),
        ("Please remember: use tabs", "Please remember: use tabs"),
        ("remember:", "remember:"),
    ],
)
def test_the_word_that_begins_a_dictation_is_no_part_of_the_text(world, typed, stored):
    with world.memories() as memories:
        added = memory_operations.add(memories, PersonCall(memories, "cli"), typed)

    assert added.written.memory.content == stored


def test_a_retry_with_its_id_gives_the_first_answer_and_writes_nothing(world):
    with world.memories() as memories:
        first = writing.write(memories, "Deploys need a lock", operation_id="op1")
        again = writing.write(memories, "Deploys need a lock", operation_id="op1")

        assert (again.memory.id, again.rule, again.deduped) == (first.memory.id, "insert", False)
        assert searching.get(memories, first.memory.id).observation_count == 1
        with pytest.raises(Conflict) as raised:
            writing.write(memories, "Deploys need two locks", operation_id="op1")
        assert raised.value.id == first.memory.id
        curation.delete(memories, first.memory.id)
        with pytest.raises(NoSuchMemory):
            writing.write(memories, "Deploys need a lock", operation_id="op1")


def test_a_retry_from_another_session_gives_the_first_answer_with_its_questions(world):
    with world.memories() as memories:
        writing.write(memories, "The billing service retries failed invoices three times")
        draft = Draft(content="Failed invoices are retried five times by the billing service")
        first = writing.write(memories, draft, operation_id="op1")
        elsewhere = replace(draft, origin=Origin(session_id="after-a-restart", branch="main"))
        again = writing.write(memories, elsewhere, operation_id="op1")

        assert first.candidates
        assert again == replace(first, memory=again.memory)
        assert again.memory.id == first.memory.id


def test_a_refusal_is_repeated_as_well(world):
    with world.memories() as memories:
        first = writing.write(memories, "<private>x</private>", operation_id="op1")
        again = writing.write(memories, "<private>x</private>", operation_id="op1")

        assert (again.accepted, again.rule) == (first.accepted, first.rule) == (False, "redaction")
        assert len(reports.list_refusals(memories)) == 1


def test_a_topic_keeps_one_memory_and_warns_of_an_unlike_text(world):
    with world.memories() as memories:
        first = writing.write(
            memories, Draft(content="Deploys need a lock", topic_key="Ops / Deploys")
        )
        near = writing.write(
            memories, Draft(content="Deploys need two locks", topic_key="ops/deploys")
        )
        other = writing.write(
            memories, Draft(content="Coffee is in Berlin", topic_key="ops/deploys")
        )
        apart = writing.write(memories, Draft(content="Coffee is in Paris", topic_key="ops/coffee"))

        assert first.memory.topic_key == "ops/deploys"
        assert first.memory.id == near.memory.id == other.memory.id != apart.memory.id
        assert not any("stated something else" in note for note in near.notes)
        assert any("stated something else before" in note for note in other.notes)
        texts = [
            row["snapshot"]["content"] for row in curation.list_revisions(memories, other.memory.id)
        ]
    assert texts == ["Deploys need a lock", "Deploys need two locks", "Coffee is in Berlin"]


def test_a_part_of_a_text_is_found_and_replaced_everywhere(world):
    with world.memories() as memories:
        id = writing.write(memories, "Redis keeps locks, and Redis expires them").memory.id
        edited = curation.edit(memories, id, find="Redis", replacement="Valkey")

        assert edited.content == "Valkey keeps locks, and Valkey expires them"
        for wrong in (
            {"find": "Redis", "replacement": "x"},
            {"find": "", "replacement": "x"},
            {"find": "Valkey"},
            {"find": "Valkey", "replacement": "x", "content": "y"},
        ):
            with pytest.raises(UsageError):
                curation.edit(memories, id, **wrong)
        assert searching.get(memories, id).revision_count == 2


def test_an_edit_of_an_older_revision_is_a_conflict_that_shows_the_text(world):
    with world.memories() as memories:
        id = writing.write(memories, "Deploys need a lock").memory.id
        curation.edit(memories, id, revision=1, content="Deploys need two locks")
        with pytest.raises(Conflict, match="at revision 2, not 1") as raised:
            curation.edit(memories, id, revision=1, content="Deploys need no lock")

        assert raised.value.hint == "its text is now: Deploys need two locks"
        assert raised.value.id == id


@pytest.mark.parametrize(
    ("type", "days"),
    [
        pytest.param("decision", 183, id="decision"),
        pytest.param("policy", 366, id="policy"),
        pytest.param("preference", 92, id="preference"),
        pytest.param("gotcha", None, id="gotcha"),
    ],
)
def test_what_ages_is_to_be_reviewed_and_marking_it_renews_the_date(world, type, days):
    """Row E30 of reviews."""

    with world.memories() as memories:
        id = writing.write(memories, Draft(content="Invoices use Decimal", category=type)).memory.id
        assert curation.list_due(memories) == []
    world.now += timedelta(days=days or 3650)
    with world.memories() as memories:
        assert [each.id for each in curation.list_due(memories)] == ([id] if days else [])
        curation.mark_reviewed(memories, id)
        assert curation.list_due(memories) == []
    world.now += timedelta(days=days or 3650)
    with world.memories() as memories:
        assert [each.id for each in curation.list_due(memories)] == ([id] if days else [])


def test_many_memories_are_tagged_as_they_were_read(world):
    with world.memories() as memories:
        read = writing.write(memories, "Deploys need a lock").memory
        curation.edit(memories, read.id, tags=("ops",))

        with pytest.raises(Conflict):
            curation.tag_all(memories, [read], "deploy")
        assert searching.get(memories, read.id).tags == ("ops",)


def test_a_memory_is_deleted_at_the_revision_that_is_looked_at(world, monkeypatch):
    is_locked = []
    delete = transitions.delete

    def look_and_delete(id, act, **options):
        is_locked.append(act.store.db.in_transaction)
        return delete(id, act, **options)

    monkeypatch.setattr(transitions, "delete", look_and_delete)
    with world.memories() as memories:
        memory = writing.write(memories, "Deploys need a lock").memory
        curation.delete(memories, memory.id, revision=memory.revision_count)
        assert is_locked == [True]
