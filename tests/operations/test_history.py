"""What was done to memories can be read, looked back at, and taken back."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ademem.capture import gate
from ademem.core.errors import NotFound
from ademem.core.memory import Draft, Origin, Trust
from ademem.core.settings import GateSettings
from ademem.files import records
from ademem.operations import curation
from ademem.store import LIVE, memories, transitions
from ademem.store.transitions import Act, CannotDo
from ademem.synthesis.undoing import undo_event
from tests import builders
from tests.builders import NOW
from tests.examples import examples
from tests.store.stores import in_memory


class Past:
    """A store where each act happens a minute after the one before."""

    def __init__(self, store):
        self.store = store
        self.now = NOW
        self.environment = {"ADEMEM_MISSION": "m1"}

    def with_own(self):
        return [self]

    @property
    def act(self):
        self.now += timedelta(minutes=1)
        return Act(store=self.store, now=self.now)

    def write(self, content, **fields):
        draft = Draft(content=content, promoted=True, **fields)
        return gate.write(draft, self.store, GateSettings(), self.act.now).memory

    def edit(self, id, content):
        return transitions.edit(id, self.act, GateSettings(), content=content)

    def newest(self):
        return curation.list_events(self, 1)[0]

    def undo(self, event=None):
        return undo_event(event or self.newest().id, self.act)

    def export(self):
        """Without stamps: to take back is a later write, with stamps of its own."""
        lines = records.export_lines(self.store, True)
        return [json.dumps(line | {"stamps": None}) for line in lines]

    def live(self):
        return sorted(memory.content for memory in memories.find(self.store, LIVE))

    def then(self, moment):
        return sorted(memory.content for memory in curation.list_at(self, moment).memories)


@pytest.fixture
def past(tmp_path):
    store = builders.open_project(tmp_path)
    yield Past(store)
    store.close()


def test_the_log_tells_newest_first_what_was_done_and_by_whom(past):
    row = past.write("Tabs are forbidden in this code")
    transitions.archive(row.id, past.act)

    archived, inserted = curation.list_events(past, 5)
    assert (archived.operations, archived.memories) == ({"archive": 1}, (row.id,))
    assert (inserted.operations, inserted.actor) == ({"insert": 1}, "agent")
    assert archived.at - inserted.at == timedelta(minutes=1)
    assert inserted.text == "Tabs are forbidden in this code"


def test_a_past_moment_has_no_more_than_a_list_of_now(past):
    past.write("Deploys run on Mondays")
    past.write("Notes of the planner", scope="agent", owner="planner")
    past.write("Findings of this mission", scope="mission", owner="m1")
    past.write("Findings of another mission", scope="mission", owner="m2")

    assert past.then(past.now) == ["Deploys run on Mondays", "Findings of this mission"]


def test_a_past_moment_comes_in_pages_and_only_a_page_is_read(past, monkeypatch):
    texts = [f"Rule number {n} holds everywhere" for n in range(5)]
    for text in texts:
        past.write(text)
    read = []
    reader = memories.from_snapshot
    monkeypatch.setattr(
        memories, "from_snapshot", lambda row: read.append(row["id"]) or reader(row)
    )

    pages, after, has_more = [], "", True
    while has_more:
        page = curation.list_at(past, past.now, 2, after)
        assert page.total == 5
        assert set(read) == {memory.id for memory in page.memories}
        read.clear()
        pages.append([memory.content for memory in page.memories])
        after, has_more = page.memories[-1].id, page.has_more
    assert pages == [texts[4:2:-1], texts[2:0:-1], texts[:1]]


def test_memories_of_a_past_moment_are_counted_up_to_a_limit(past, monkeypatch):
    monkeypatch.setattr(curation, "COUNTED", 2)
    for n in range(5):
        past.write(f"Rule number {n} holds everywhere")

    page = curation.list_at(past, past.now, 4)
    assert (page.total, len(page.memories), page.has_more) == (3, 4, True)


def test_changes_of_one_act_are_one_event(past):
    rows = [past.write(f"Rule number {n} holds everywhere") for n in (1, 2)]
    change = memories.Change(operation="archive", actor="user", at=past.act.now, event_id="sweep-1")
    for row in rows:
        memories.update(past.store, row, change)

    event = past.newest()
    assert (event.id, event.operations) == ("sweep-1", {"archive": 2})
    assert event.memories == tuple(row.id for row in rows)


def test_the_log_reads_one_revision_of_an_act_on_many(past, monkeypatch):
    rows = [past.write(f"Rule number {n} holds everywhere") for n in range(5)]
    change = memories.Change(operation="archive", actor="user", at=past.act.now, event_id="sweep-1")
    for row in rows:
        memories.update(past.store, row, change)
    read, reader = [], memories.from_snapshot
    monkeypatch.setattr(
        memories, "from_snapshot", lambda row: read.append(row["id"]) or reader(row)
    )

    event = past.newest()
    assert event.text == "Rule number 0 holds everywhere"
    assert event.memories == tuple(row.id for row in rows)
    assert read == [rows[0].id]


def test_the_log_tells_of_an_act_of_which_the_first_revision_cannot_be_read(past):
    rows = [past.write(f"Rule number {n} holds everywhere") for n in range(2)]
    change = memories.Change(operation="archive", actor="user", at=past.act.now, event_id="sweep-1")
    for row in rows:
        memories.update(past.store, row, change)
    past.store.db.execute(
        "update memory_revisions set snapshot = '{}' where event_id = 'sweep-1' and memory_id = ?",
        (rows[0].id,),
    )

    assert past.newest().text == "Rule number 1 holds everywhere"


def test_an_edit_is_taken_back_with_the_time_it_had(past):
    row = past.write("Tabs are forbidden in this code")
    past.edit(row.id, "Spaces are forbidden in this code")
    past.undo()

    now = memories.get(past.store, row.id)
    assert (now.content, now.updated_at) == ("Tabs are forbidden in this code", row.updated_at)
    assert now.dedupe_key == row.dedupe_key


def test_what_an_act_brought_is_hidden_when_it_is_taken_back(past):
    row = past.write("Tabs are forbidden in this code")
    past.undo()

    assert memories.get(past.store, row.id).deleted_at
    assert past.export() == []


def test_a_merge_is_taken_back(past):
    row = past.write("Tabs are forbidden in this code", importance="low")
    origin = Origin(trust=Trust.USER, session_id="another")
    merged = past.write("tabs are forbidden in this code!", importance="high", origin=origin)
    assert (merged.id, merged.observation_count) == (row.id, 2)
    past.undo()

    now = memories.get(past.store, row.id)
    assert (now.observation_count, now.importance) == (1, "low")
    assert now.confidence == row.confidence


def test_undoing_an_undo_does_the_act_again(past):
    row = past.write("Tabs are forbidden in this code")
    past.edit(row.id, "Spaces are forbidden in this code")
    past.undo()
    past.undo()

    assert memories.get(past.store, row.id).content == "Spaces are forbidden in this code"


def test_access_is_not_history(past):
    row = past.write("Tabs are forbidden in this code")
    past.edit(row.id, "Spaces are forbidden in this code")
    memories.touch(past.store, row, 0.7, past.now)
    past.undo()

    now = memories.get(past.store, row.id)
    assert (now.access_count, now.access_score) == (1, 0.7)


def test_what_was_changed_since_is_not_overwritten(past):
    row = past.write("Tabs are forbidden in this code")
    first = past.newest().id
    past.edit(row.id, "Spaces are forbidden in this code")

    with pytest.raises(CannotDo) as refused:
        past.undo(first)
    assert past.newest().id in refused.value.hint
    assert memories.get(past.store, row.id).content == "Spaces are forbidden in this code"


def test_what_was_deleted_for_good_stays_so(past):
    row = past.write("Tabs are forbidden in this code")
    transitions.delete(row.id, past.act, hard=True)

    with pytest.raises(CannotDo, match="for good"):
        past.undo()


def test_a_text_that_another_memory_has_by_now_does_not_come_back(past):
    row = past.write("Tabs are forbidden in this code")
    transitions.archive(row.id, past.act)
    archiving = past.newest().id
    past.write("Tabs are forbidden in this code")

    with pytest.raises(CannotDo, match="says the same"):
        past.undo(archiving)
    assert memories.get(past.store, row.id).status == "archived"


def test_an_unknown_event_is_named(past):
    with pytest.raises(NotFound, match="no event has the id 'nothing'"):
        past.undo("nothing")


def test_a_dry_run_shows_the_memories_and_changes_nothing(past):
    row = past.write("Tabs are forbidden in this code")
    before = past.newest()

    assert [one.id for one in undo_event(before.id, past.act, dry_run=True)] == [row.id]
    assert past.newest() == before


def test_the_memories_of_a_moment_are_those_that_were_live_then(past):
    empty = past.now
    row = past.write("Tabs are forbidden in this code")
    written = past.now
    past.edit(row.id, "Spaces are forbidden in this code")
    edited = past.now
    transitions.archive(row.id, past.act)

    assert past.then(empty) == []
    assert past.then(written) == ["Tabs are forbidden in this code"]
    assert past.then(edited) == ["Spaces are forbidden in this code"]
    assert past.then(past.now) == []


CONTENTS = [f"The {thing} service keeps its own clock" for thing in ("login", "mail", "billing")]
ACTS = {
    "write": lambda past, content, id: past.write(content),
    "keyed": lambda past, content, id: past.write(content, topic_key="clocks"),
    "edit": lambda past, content, id: past.edit(id, content + ", always"),
    "archive": lambda past, content, id: transitions.archive(id, past.act),
    "restore": lambda past, content, id: transitions.restore(id, past.act),
    "delete": lambda past, content, id: transitions.delete(id, past.act),
    "pin": lambda past, content, id: transitions.pin(id, past.act),
}


@settings(max_examples=examples(60))
@given(
    acts=st.lists(
        st.tuples(st.sampled_from(sorted(ACTS)), st.sampled_from(CONTENTS), st.integers(0, 5)),
        max_size=14,
    ),
    kept=st.integers(0, 14),
)
def test_any_moment_is_listed_and_restored_by_taking_back_what_followed(acts, kept):
    past = Past(in_memory())
    states = [(past.export(), past.live())]
    moments = [past.now]
    for name, content, which in acts:
        before = [row.id for row in memories.find(past.store, "true", "order by seq")]
        try:
            ACTS[name](past, content, before[which % len(before)] if before else "none")
        except (CannotDo, memories.NoSuchMemory):
            continue
        states.append((past.export(), past.live()))
        moments.append(past.now)
    kept = min(kept, len(states) - 1)
    done = [event.id for event in curation.list_events(past, 100)]
    assert len(done) == len(states) - 1
    for event in done[: len(done) - kept]:
        past.undo(event)

    assert (past.export(), past.live()) == states[kept]
    assert [past.then(moment) for moment in moments] == [live for _, live in states]
    past.store.close()
