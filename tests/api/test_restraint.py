"""What an agent may change."""

import pytest

from ademem import api
from ademem.capture.gate import relating
from ademem.core.memory import Draft, Origin, Trust
from ademem.core.value import replace
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
    return api.write(memories, Draft(content=text, promoted=True, origin=origin)).memory


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
    return api.write(memories, Draft(content=text, origin=AGENT, **fields)).memory


def test_a_change_of_what_a_person_confirmed_becomes_a_candidate_beside_it(memories):
    confirmed = confirm(memories, candidate(memories))
    updated = api.update_by_agent(memories, confirmed.id, AGENT, find="ten", replacement="sixty")

    assert (updated.proposed_for, updated.memory.status) == (confirmed.id, "candidate")
    assert updated.memory.content == TEXT.replace("ten", "sixty")
    kept = api.get(memories, confirmed.id)
    assert (kept.content, kept.status) == (TEXT, "promoted")
    (pair,) = api.list_conflicts(memories)
    assert {pair.left, pair.right} == {confirmed.id, updated.memory.id}
    later = relations.find_later(memories.store, [confirmed])[confirmed.id]
    assert not later.replaces


def test_an_agent_edits_what_proved_useful_and_no_person_confirmed(memories):
    useful = confirm(memories, candidate(memories), actor="ademem")
    updated = api.update_by_agent(memories, useful.id, AGENT, find="ten", replacement="twenty")

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

    kept = api.get(memories, confirmed.id)
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
        api.pin_by_agent(memories, useful.id, pinned=False)

    assert api.get(memories, useful.id).pinned


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
        api.edit(memories, confirmed.id, content="They last ten hours")

    assert api.restore(memories, confirmed.id).content == TEXT


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
    updated = api.update_by_agent(memories, said.id, AGENT, content=text)

    assert (updated.proposed_for, updated.memory.status) == (said.id, "candidate")
    assert api.get(memories, said.id).content == TEXT
    (pair,) = api.list_conflicts(memories)
    assert {pair.left, pair.right} == {said.id, updated.memory.id}


def test_what_a_person_said_is_shown_beside_the_change_that_an_agent_proposes(memories):
    said = write(memories, TEXT, PERSON)
    proposed = api.update_by_agent(memories, said.id, AGENT, find="ten", replacement="sixty").memory

    later = relations.find_later(memories.store, [said])[said.id]
    assert (later.id, later.flag) == (proposed.id, f"contradicted-by-{proposed.id}")
    assert not later.replaces

    transitions.supersede(said.id, by_person(memories), proposed.id)
    assert relations.find_later(memories.store, [said])[said.id].replaces


def test_an_agent_edits_what_agents_wrote(memories):
    mine = write(memories, TEXT, AGENT)
    updated = api.update_by_agent(memories, mine.id, AGENT, find="ten", replacement="twenty")

    assert (updated.changed, updated.proposed_for) == (("content",), "")
    assert "twenty minutes" in api.get(memories, mine.id).content


@pytest.mark.parametrize(
    "act",
    [
        pytest.param(lambda m, id: api.remove_by_agent(m, id), id="archive"),
        pytest.param(lambda m, id: api.remove_by_agent(m, id, delete=True), id="delete"),
        pytest.param(lambda m, id: api.pin_by_agent(m, id, pinned=False), id="unpin"),
        pytest.param(api.archive, id="archive by command"),
        pytest.param(api.refuse, id="refuse"),
        pytest.param(api.delete, id="delete by command"),
        pytest.param(lambda m, id: api.pin(m, id, pinned=False), id="unpin by command"),
        pytest.param(lambda m, id: api.supersede(m, id, candidate(m, OTHER).id), id="supersede"),
        pytest.param(lambda m, id: api.merge(m, id, candidate(m, OTHER).id, OTHER), id="merge"),
        pytest.param(
            lambda m, id: api.merge(m, candidate(m, OTHER).id, id, OTHER), id="merge into"
        ),
        pytest.param(lambda m, id: api.edit(m, id, category="gotcha"), id="category"),
        pytest.param(lambda m, id: api.edit(m, id, tags=("x",)), id="tags"),
        pytest.param(lambda m, id: api.edit(m, id, file_scope_pattern="docs/**"), id="path"),
        pytest.param(api.mark_reviewed, id="review again later"),
        pytest.param(lambda m, id: api.settle_conflict(m, candidate(m, OTHER).id, id), id="settle"),
        pytest.param(lambda m, id: api.update_by_agent(m, id, AGENT, title="x"), id="title"),
        pytest.param(
            lambda m, id: api.update_by_agent(m, id, AGENT, content=f"{TEXT}."), id="the same"
        ),
    ],
)
@pytest.mark.parametrize("author", ["said", "confirmed"])
def test_what_a_person_said_or_confirmed_is_for_a_person_to_change(memories, act, author):
    origin = PERSON if author == "said" else AGENT
    said = api.write(memories, Draft(content=TEXT, pinned=True, origin=origin)).memory
    confirm(memories, said)
    transitions.pin(said.id, by_person(memories))
    before = api.get(memories, said.id)

    with pytest.raises(CannotDo, match="said or confirmed by a person") as raised:
        act(memories, said.id)
    assert said.id in raised.value.hint
    assert shown(api.get(memories, said.id)) == shown(before)


@pytest.mark.parametrize("remove", ["archive", "delete", "reject"])
@pytest.mark.parametrize("back", ["restore", "undo"])
def test_what_a_person_removed_is_for_a_person_to_bring_back(memories, remove, back):
    mine = candidate(memories)
    getattr(transitions, remove)(mine.id, by_person(memories))
    event = api.list_revisions(memories, mine.id)[-1]["event_id"]

    with pytest.raises(CannotDo) as raised:
        getattr(api, back)(memories, mine.id if back == "restore" else event)
    assert raised.value.hint.startswith("a person types /ademem:undo ")
    assert f"`ademem {back} " in raised.value.hint
    assert not api.get(memories, mine.id).live


def test_an_agent_brings_back_what_it_removed_itself(memories):
    mine = candidate(memories)
    api.remove_by_agent(memories, mine.id)
    assert api.restore(memories, mine.id).live

    api.remove_by_agent(memories, mine.id, delete=True)
    api.undo(memories, api.list_revisions(memories, mine.id)[-1]["event_id"])
    assert api.get(memories, mine.id).live


def test_an_agent_undoes_no_act_of_a_person(memories):
    confirmed = confirm(memories, candidate(memories))
    event = api.list_revisions(memories, confirmed.id)[-1]["event_id"]
    with pytest.raises(CannotDo, match="needs a person"):
        api.undo(memories, event)

    assert api.get(memories, confirmed.id).status == "promoted"


def test_an_agent_deletes_nothing_for_good(memories):
    mine = candidate(memories)
    with pytest.raises(CannotDo, match="for good is for a person"):
        api.delete(memories, mine.id, hard=True)

    assert api.get(memories, mine.id).live


@pytest.mark.parametrize("relation", ["supersedes", "not_conflict", "related"])
def test_an_agent_settles_no_pair_with_what_a_person_confirmed(memories, relation):
    confirmed = confirm(memories, candidate(memories))
    proposed = api.update_by_agent(memories, confirmed.id, AGENT, find="ten", replacement="sixty")
    judged = api.judge(memories, relation, id=proposed.memory.id, other=confirmed.id)

    assert judged["status"] == "pending"
    assert api.get(memories, confirmed.id).live
    assert [{pair.left, pair.right} for pair in api.list_conflicts(memories)] == [
        {confirmed.id, proposed.memory.id}
    ]


def test_an_agent_annotates_what_a_person_confirmed(memories):
    confirmed = confirm(memories, candidate(memories))
    judged = api.judge(memories, "related", id=candidate(memories, OTHER).id, other=confirmed.id)

    assert judged["status"] == "judged"


def test_an_agents_later_text_is_no_heir_of_what_a_person_confirmed(memories):
    earlier = confirm(memories, candidate(memories, "The queue of billing runs on Redis"))
    later = candidate(memories, "The queue of billing runs on Kafka now, no longer on Redis")
    relating.relate([later], memories.store, memories.clock())

    (pair,) = api.list_conflicts(memories)
    assert {pair.left, pair.right} == {earlier.id, later.id}
    assert pair.relation == "conflicts_with"


@pytest.mark.parametrize("delete", [False, True])
def test_the_reason_of_a_removal_is_in_the_history(memories, delete):
    mine = write(memories, TEXT, AGENT)
    api.remove_by_agent(memories, mine.id, delete=delete, reason="it is an hour by now")

    assert api.list_revisions(memories, mine.id)[-1]["reason"] == "it is an hour by now"


def test_agents_pin_five_confirmed_memories(memories):
    names = ("login", "billing", "search", "export", "mail", "audit")
    ids = [write(memories, f"The {name} service runs on its own host", AGENT).id for name in names]
    for id in ids[:5]:
        assert api.pin_by_agent(memories, id).pinned
    with pytest.raises(CannotDo, match="5 memories"):
        api.pin_by_agent(memories, ids[5])

    assert not api.pin_by_agent(memories, ids[0], pinned=False).pinned
    assert api.pin_by_agent(memories, ids[5]).pinned
    candidate = api.write(memories, Draft(content="Mails are sent at night", origin=AGENT)).memory
    with pytest.raises(CannotDo, match="not confirmed"):
        api.pin_by_agent(memories, candidate.id)
