"""What an agent may change."""

import pytest

from ademem.core.memory import Draft, Origin, Trust
from ademem.core.value import replace
from ademem.operations import curation, searching, writing
from ademem.operations.relating import judge
from ademem.store import memories as rows
from ademem.store import relations, transitions
from ademem.store.transitions import Act, CannotDo

PERSON = Origin(trust=Trust.USER, source_type="user")
AGENT = Origin(trust=Trust.AGENT, source_type="mcp")
TEXT = "Login sessions expire after ten minutes"
OTHER = "The panel has its own login"


@pytest.fixture
def memories(world):
    with world.memories() as opened:  # in the session s1, so that an agent acts
        yield opened


def write(memories, text, origin):
    return writing.write(memories, Draft(content=text, promoted=True, origin=origin)).memory


def by_person(memories):
    return Act(store=memories.store, now=memories.clock())


def confirm(memories, memory, actor="user"):
    """A person reads an agent's candidate and promotes it; or ademem does, after its use."""
    return transitions.promote(memory.id, replace(by_person(memories), actor=actor))


def shown(memory):
    """What a person sees of it, apart from how often it was observed."""
    counts = ("observation_count", "confidence", "write_gate_reason", "revision_count")
    hidden = {*counts, "updated_at", "last_accessed_at"}
    return {name: value for name, value in memory.__dict__.items() if name not in hidden}


def candidate(memories, text=TEXT, **fields):
    return writing.write(memories, Draft(content=text, origin=AGENT, **fields)).memory


def test_a_change_of_what_a_person_confirmed_becomes_a_candidate_beside_it(memories):
    confirmed = confirm(memories, candidate(memories))
    updated = curation.update_by_agent(
        memories, confirmed.id, AGENT, find="ten", replacement="sixty"
    )

    assert (updated.proposed_for, updated.memory.status) == (confirmed.id, "candidate")
    assert updated.memory.content == TEXT.replace("ten", "sixty")
    kept = searching.get(memories, confirmed.id)
    assert (kept.content, kept.status) == (TEXT, "promoted")
    (pair,) = curation.list_conflicts(memories)
    assert {pair.left, pair.right} == {confirmed.id, updated.memory.id}
    newer = relations.find_proposals(memories.store, [confirmed.id])[confirmed.id]
    assert newer.id == updated.memory.id


def test_an_agent_edits_what_proved_useful_and_no_person_confirmed(memories):
    useful = confirm(memories, candidate(memories), actor="ademem")
    updated = curation.update_by_agent(memories, useful.id, AGENT, find="ten", replacement="twenty")

    assert (updated.changed, updated.proposed_for) == (("content",), "")


@pytest.mark.parametrize(
    ("key", "text"),
    [
        pytest.param({"topic_key": "login"}, "Sessions of the panel last an hour", id="topic"),
        pytest.param({"knowledge_key": "login"}, "Sessions of the panel last an hour", id="key"),
        pytest.param({}, f"{TEXT} each", id="nearly the same words, and more"),
        pytest.param({"title": "Panel"}, f"{TEXT}", id="a title"),
    ],
)
def test_no_save_of_an_agent_changes_what_a_person_confirmed(memories, key, text):
    confirmed = confirm(memories, candidate(memories, **key | {"title": None}))
    saved = candidate(memories, text, **key)

    kept = searching.get(memories, confirmed.id)
    assert (kept.title, kept.content, kept.status) == (None, TEXT, "promoted")
    assert saved.id == confirmed.id or saved.status == "candidate"


def test_an_agent_that_says_it_again_adds_nothing_beside_what_a_person_confirmed(memories):
    confirmed = confirm(memories, candidate(memories))
    fields = {"tags": ("stop",), "path": "docs/**", "importance": "high"}
    again = candidate(memories, **fields)

    assert again.id == confirmed.id
    assert again.observation_count == confirmed.observation_count + 1
    assert shown(again) == shown(confirmed)


def test_what_a_person_pinned_is_for_a_person_to_unpin(memories):
    useful = confirm(memories, candidate(memories), actor="ademem")
    transitions.pin(useful.id, by_person(memories))
    with pytest.raises(CannotDo, match="said or confirmed by a person"):
        curation.pin_by_agent(memories, useful.id, pinned=False)

    assert searching.get(memories, useful.id).pinned


def test_no_other_act_of_an_agent_changes_the_text_that_a_person_confirmed(memories):
    confirmed = confirm(memories, candidate(memories))
    for actor in ("agent", "web", "tool"):
        act = Act(store=memories.store, now=memories.clock(), actor=actor)
        with pytest.raises(CannotDo, match="confirmed by a person"):
            transitions.edit(confirmed.id, act, memories.settings.gate, content="Ten hours")


def test_an_agent_changes_nothing_of_what_a_person_confirmed_and_was_archived_since(memories):
    confirmed = confirm(memories, candidate(memories))
    transitions.archive(confirmed.id, replace(by_person(memories), actor="ademem"))
    with pytest.raises(CannotDo, match="confirmed by a person"):
        curation.edit(memories, confirmed.id, content="They last ten hours")

    assert curation.restore(memories, confirmed.id).content == TEXT


def test_a_confirmation_counts_for_the_text_that_was_confirmed_alone(memories):
    confirmed = confirm(memories, candidate(memories))
    assert rows.find_confirmed(memories.store, [confirmed.id]) == {confirmed.id}
    changed = replace(rows.get(memories.store, confirmed.id), content="They last ten hours")
    rows.update(
        memories.store,
        changed,
        rows.Change(operation="edit", actor="agent", at=memories.clock()),
    )  # as agents could before

    assert rows.find_confirmed(memories.store, [confirmed.id]) == set()


def test_a_change_of_what_a_person_said_becomes_a_candidate_beside_it(memories):
    said = write(memories, TEXT, PERSON)
    text = "Sessions of the admin panel last an hour since the audit of May"
    updated = curation.update_by_agent(memories, said.id, AGENT, content=text)

    assert (updated.proposed_for, updated.memory.status) == (said.id, "candidate")
    assert searching.get(memories, said.id).content == TEXT
    (pair,) = curation.list_conflicts(memories)
    assert {pair.left, pair.right} == {said.id, updated.memory.id}


def test_what_a_person_said_is_shown_beside_the_change_that_an_agent_proposes(memories):
    said = write(memories, TEXT, PERSON)
    proposed = curation.update_by_agent(
        memories, said.id, AGENT, find="ten", replacement="sixty"
    ).memory

    newer = relations.find_proposals(memories.store, [said.id])[said.id]
    assert (newer.id, newer.is_said) == (proposed.id, False)

    transitions.supersede(said.id, by_person(memories), proposed.id)
    assert relations.find_later(memories.store, [said])[said.id].replaces


def test_an_agent_edits_what_agents_wrote(memories):
    mine = write(memories, TEXT, AGENT)
    updated = curation.update_by_agent(memories, mine.id, AGENT, find="ten", replacement="twenty")

    assert (updated.changed, updated.proposed_for) == (("content",), "")
    assert "twenty minutes" in searching.get(memories, mine.id).content


@pytest.mark.parametrize(
    "act",
    [
        pytest.param(lambda m, id: curation.remove_by_agent(m, id), id="archive"),
        pytest.param(lambda m, id: curation.remove_by_agent(m, id, delete=True), id="delete"),
        pytest.param(lambda m, id: curation.pin_by_agent(m, id, pinned=False), id="unpin"),
        pytest.param(curation.archive, id="archive by command"),
        pytest.param(curation.refuse, id="refuse"),
        pytest.param(curation.delete, id="delete by command"),
        pytest.param(lambda m, id: curation.pin(m, id, pinned=False), id="unpin by command"),
        pytest.param(
            lambda m, id: curation.supersede(m, id, candidate(m, OTHER).id), id="supersede"
        ),
        pytest.param(
            lambda m, id: curation.merge(m, id, candidate(m, OTHER).id, OTHER), id="merge"
        ),
        pytest.param(
            lambda m, id: curation.merge(m, candidate(m, OTHER).id, id, OTHER), id="merge into"
        ),
        pytest.param(lambda m, id: curation.edit(m, id, category="gotcha"), id="category"),
        pytest.param(lambda m, id: curation.edit(m, id, tags=("x",)), id="tags"),
        pytest.param(lambda m, id: curation.edit(m, id, file_scope_pattern="docs/**"), id="path"),
        pytest.param(curation.mark_reviewed, id="review again later"),
        pytest.param(
            lambda m, id: curation.settle_conflict(m, candidate(m, OTHER).id, id), id="settle"
        ),
        pytest.param(lambda m, id: curation.update_by_agent(m, id, AGENT, title="x"), id="title"),
        pytest.param(
            lambda m, id: curation.update_by_agent(m, id, AGENT, content=f"{TEXT}."), id="the same"
        ),
    ],
)
@pytest.mark.parametrize("author", ["said", "confirmed"])
def test_what_a_person_said_or_confirmed_is_for_a_person_to_change(memories, act, author):
    origin = PERSON if author == "said" else AGENT
    said = writing.write(memories, Draft(content=TEXT, pinned=True, origin=origin)).memory
    confirm(memories, said)
    transitions.pin(said.id, by_person(memories))
    before = searching.get(memories, said.id)

    with pytest.raises(CannotDo, match="said or confirmed by a person") as raised:
        act(memories, said.id)
    assert said.id in raised.value.hint
    assert shown(searching.get(memories, said.id)) == shown(before)


@pytest.mark.parametrize("remove", ["archive", "delete", "reject"])
@pytest.mark.parametrize("back", ["restore", "undo"])
def test_what_a_person_removed_is_for_a_person_to_bring_back(memories, remove, back):
    mine = candidate(memories)
    getattr(transitions, remove)(mine.id, by_person(memories))
    event = curation.list_revisions(memories, mine.id)[-1]["event_id"]

    with pytest.raises(CannotDo) as raised:
        getattr(curation, back)(memories, mine.id if back == "restore" else event)
    assert raised.value.hint.startswith("a person types /ademem:undo ")
    assert f"`ademem {back} " in raised.value.hint
    assert not searching.get(memories, mine.id).live


def test_an_agent_brings_back_what_it_removed_itself(memories):
    mine = candidate(memories)
    curation.remove_by_agent(memories, mine.id)
    assert curation.restore(memories, mine.id).live

    curation.remove_by_agent(memories, mine.id, delete=True)
    curation.undo(memories, curation.list_revisions(memories, mine.id)[-1]["event_id"])
    assert searching.get(memories, mine.id).live


def test_an_agent_undoes_no_act_of_a_person(memories):
    confirmed = confirm(memories, candidate(memories))
    event = curation.list_revisions(memories, confirmed.id)[-1]["event_id"]
    with pytest.raises(CannotDo, match="needs a person"):
        curation.undo(memories, event)

    assert searching.get(memories, confirmed.id).status == "promoted"


def test_an_agent_deletes_nothing_for_good(memories):
    mine = candidate(memories)
    with pytest.raises(CannotDo, match="for good is for a person"):
        curation.delete(memories, mine.id, hard=True)

    assert searching.get(memories, mine.id).live


@pytest.mark.parametrize("relation", ["supersedes", "not_conflict", "related"])
def test_an_agent_settles_no_pair_with_what_a_person_confirmed(memories, relation):
    confirmed = confirm(memories, candidate(memories))
    proposed = curation.update_by_agent(
        memories, confirmed.id, AGENT, find="ten", replacement="sixty"
    )
    judged = judge(memories, relation, id=proposed.memory.id, other=confirmed.id)

    assert judged["status"] == "pending"
    assert searching.get(memories, confirmed.id).live
    assert [{pair.left, pair.right} for pair in curation.list_conflicts(memories)] == [
        {confirmed.id, proposed.memory.id}
    ]


def test_an_agent_annotates_what_a_person_confirmed(memories):
    confirmed = confirm(memories, candidate(memories))
    judged = judge(memories, "related", id=candidate(memories, OTHER).id, other=confirmed.id)

    assert judged["status"] == "judged"


@pytest.mark.parametrize("delete", [False, True])
def test_the_reason_of_a_removal_is_in_the_history(memories, delete):
    mine = write(memories, TEXT, AGENT)
    curation.remove_by_agent(memories, mine.id, delete=delete, reason="it is an hour by now")

    assert curation.list_revisions(memories, mine.id)[-1]["reason"] == "it is an hour by now"


def test_agents_pin_five_confirmed_memories(memories):
    names = ("login", "billing", "search", "export", "mail", "audit")
    ids = [write(memories, f"The {name} service runs on its own host", AGENT).id for name in names]
    for id in ids[:5]:
        assert curation.pin_by_agent(memories, id).pinned
    with pytest.raises(CannotDo, match="5 memories"):
        curation.pin_by_agent(memories, ids[5])

    assert not curation.pin_by_agent(memories, ids[0], pinned=False).pinned
    assert curation.pin_by_agent(memories, ids[5]).pinned
    candidate = writing.write(
        memories, Draft(content="Mails are sent at night", origin=AGENT)
    ).memory
    with pytest.raises(CannotDo, match="not confirmed"):
        curation.pin_by_agent(memories, candidate.id)
