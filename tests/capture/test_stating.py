"""What the author of a text states of it: a relation to a memory, the question that it answers."""

from __future__ import annotations

import pytest

from ademem.capture import stating
from ademem.capture.stating import Stated
from ademem.core.errors import NoSuchMemory, UsageError
from ademem.core.memory import Draft, Origin, Stage, Status, Trust
from ademem.core.settings import GateSettings
from ademem.store import evidence, memories, relations, transitions
from ademem.store.transitions import Act, CannotDo
from tests.builders import NOW, insert, memory
from tests.store.stores import in_memory

OLD, NEW = "Feature flags are read from the environment", "Feature flags live in flags.toml"
OPEN = {"status": Status.CANDIDATE, "promoted_at": None}
HEARD = {"stage": Stage.HEARD}
AGENT = Origin(trust=Trust.AGENT, session_id="s1")
PERSON = Origin(trust=Trust.USER, source_type="user")


@pytest.fixture
def store():
    store = in_memory()
    yield store
    store.close()


def put(store, text=OLD, **changes):
    return insert(store, memory(text, **changes))[0]


def state(store, relation="", known=None, text=NEW, origin=AGENT, heard=""):
    stated = Stated(relation=relation, id=known.id if known else "", heard=heard)
    draft = Draft(content=text, origin=origin)
    return stating.write(draft, stated, store, GateSettings(), NOW)


def kinds(store, memory):
    return [row.kind for row in evidence.list_of(store, memory.id)]


def test_a_text_that_repeats_a_memory_adds_evidence_and_the_known_text_stays(store):
    known = put(store, **OPEN)
    written = state(store, "repeats", known)

    assert (written.memory.id, written.memory.content, written.deduped) == (known.id, OLD, True)
    assert written.memory.observation_count == known.observation_count + 1
    assert [row.quote for row in evidence.list_of(store, known.id)] == [NEW]
    assert len(memories.find(store, "true")) == 1


def test_a_text_that_was_written_before_goes_into_what_it_repeats(store):
    known, first = put(store, **OPEN), state(store)
    state(store, "repeats", known)

    assert memories.get(store, first.memory.id).superseded_by == known.id
    assert kinds(store, known) == ["claude_add"]


@pytest.mark.parametrize("how", ["answered", "repeated"])
def test_all_that_a_text_changes_is_one_act(store, how):
    """A question ends with its answer, and a text that was written before with what it repeats."""
    ended = put(store, "flags are in flags.toml" if how == "answered" else NEW, **OPEN | HEARD)
    heir = put(store, NEW if how == "answered" else OLD, **OPEN)
    state(store, *(("repeats", heir) if how == "repeated" else ()), heard=ended.id)

    assert memories.get(store, ended.id).superseded_by == heir.id
    last = [memories.revisions(store, each.id)[-1]["event_id"] for each in (ended, heir)]
    assert last[0] == last[1]


def test_a_person_who_repeats_a_memory_confirms_it(store):
    known = put(store, **OPEN)

    assert state(store, "repeats", known, origin=PERSON).memory.status is Status.PROMOTED


def test_a_text_takes_the_place_of_an_unconfirmed_memory(store):
    known = put(store, **OPEN)
    written = state(store, "replaces", known)

    assert memories.get(store, known.id).superseded_by == written.memory.id


@pytest.mark.parametrize("relation", ["replaces", "contradicts"])
def test_against_a_confirmed_memory_an_agents_text_is_a_proposal(store, relation):
    known = put(store)
    written = state(store, relation, known)

    assert memories.get(store, known.id).live
    assert written.memory.stage is Stage.CANDIDATE
    (newer,) = relations.find_proposals(store, [known.id]).values()
    assert newer.line == f"newer, written on 2026-01-31, not confirmed: {NEW} ({newer.id})"
    assert relations.find_later(store, [known]) == {}  # it does not come first


def test_a_proposal_ends_with_the_decision_of_a_person(store):
    known = put(store)
    written = state(store, "replaces", known)
    done = transitions.promote(written.memory.id, Act(store=store, now=NOW))

    assert done.stage is Stage.CONFIRMED
    assert memories.get(store, known.id).superseded_by == done.id
    assert relations.find_proposals(store, [known.id]) == {}


def test_a_proposal_that_a_person_drops_is_shown_no_longer(store):
    known = put(store)
    written = state(store, "replaces", known)
    transitions.reject(written.memory.id, Act(store=store, now=NOW))

    assert relations.find_proposals(store, [known.id]) == {}


def test_a_person_replaces_a_confirmed_memory_at_once(store):
    known = put(store)
    written = state(store, "replaces", known, origin=PERSON)

    assert memories.get(store, known.id).superseded_by == written.memory.id


def test_what_is_stated_takes_the_place_of_what_was_computed_and_stays(store):
    known, new = put(store), put(store, NEW, **OPEN)
    add = {"score": 0.4, "reason": "", "now": NOW}
    relations.add(store, known, new, relations.SUPERSEDES, actor="ademem", **add)
    relations.add(store, known, new, relations.CONFLICT, actor="agent", stated=True, **add)
    relations.add(store, known, new, relations.SUPERSEDES, actor="ademem", **add | {"score": 0.9})

    assert relations.find(store, known, new) == (relations.CONFLICT, "pending")


def test_an_answer_goes_into_the_row_of_its_question_and_supports_it(store):
    heard = put(store, "flags are in flags.toml, you know", stage=Stage.HEARD, **OPEN)
    evidence.add(store, heard.id, "said", NOW, quote=heard.content, session_id="s1")
    written = state(store, heard=heard.id[:6])

    assert (written.memory.id, written.memory.content) == (heard.id, NEW)
    assert written.memory.stage is Stage.SUPPORTED
    assert (written.memory.trust, written.unanswered) == (Trust.AGENT, "")
    assert kinds(store, heard) == ["said", "claude_add"]


@pytest.mark.parametrize(
    ("text", "trust", "expected"),
    [
        pytest.param("Deploys need a lock", Trust.AGENT, Stage.CANDIDATE, id="another matter"),
        pytest.param(NEW, Trust.WEB, Stage.CANDIDATE, id="after reading a page"),
        pytest.param(NEW, Trust.TOOL, Stage.CANDIDATE, id="after a foreign tool"),
    ],
)
def test_an_answer_that_may_come_from_elsewhere_supports_nothing(store, text, trust, expected):
    heard = put(store, "flags are in flags.toml, you know", stage=Stage.HEARD, **OPEN)
    evidence.add(store, heard.id, "said", NOW, quote=heard.content, session_id="s1")
    origin = Origin(trust=trust, session_id="s1")

    assert state(store, heard=heard.id, text=text, origin=origin).memory.stage is expected


def test_an_answer_that_is_known_already_supports_what_is_known(store):
    known = put(store, NEW, **OPEN)
    heard = put(store, "flags are in flags.toml, you know", stage=Stage.HEARD, **OPEN)
    evidence.add(store, heard.id, "said", NOW, quote=heard.content, session_id="s1")
    written = state(store, heard=heard.id)

    assert written.memory.id == known.id
    assert written.memory.stage is Stage.SUPPORTED
    assert memories.get(store, heard.id).superseded_by == known.id


@pytest.mark.parametrize("state_of_row", ["unknown", "ended", "answered"])
def test_without_its_question_an_answer_is_a_candidate_of_its_own(store, state_of_row):
    stage = Stage.CANDIDATE if state_of_row == "answered" else Stage.HEARD
    heard = put(store, "flags are in flags.toml, you know", stage=stage, **OPEN)
    if state_of_row == "ended":
        transitions.archive(heard.id, Act(store=store, now=NOW))
    id = "7f3a" if state_of_row == "unknown" else heard.id
    written = state(store, heard=id)

    assert (written.unanswered, written.memory.stage) == (id, Stage.CANDIDATE)
    assert written.memory.id != heard.id


def test_a_relation_needs_a_live_memory(store):
    with pytest.raises(NoSuchMemory):
        stating.write(
            Draft(content=NEW, origin=AGENT),
            Stated(relation="replaces", id="abcdef"),
            store,
            GateSettings(),
            NOW,
        )
    known = put(store, **OPEN)
    transitions.archive(known.id, Act(store=store, now=NOW))
    with pytest.raises(CannotDo):
        state(store, "repeats", known)

    assert memories.find(store, "content = :text", text=NEW) == []


def test_a_text_has_one_relation():
    assert stating.read_relation(repeats="a", replaces=None) == Stated(relation="repeats", id="a")
    assert stating.read_relation(repeats=None) == Stated()
    with pytest.raises(UsageError):
        stating.read_relation(repeats="a", replaces="b")
