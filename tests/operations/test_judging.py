"""Six verbs, who may judge, and what a verdict does."""

import json
import random
from datetime import timedelta

import pytest

from ademem import operations
from ademem.core.errors import NoSuchMemory, UsageError
from ademem.core.memory import Draft, Origin, Trust
from ademem.operations import browsing, curation, files, relating, searching, writing
from ademem.operations.relating import NoSuchRelation
from ademem.store import verdicts
from ademem.store.transitions import CannotDo
from tests.builders import insert, memory
from tests.examples import examples
from tests.world import World

FLYWAY, LIQUIBASE = (
    "Migrations run with Flyway at deploy",
    "Migrations run with Liquibase at deploy",
)


@pytest.fixture
def world(tmp_path):
    root = tmp_path / "project"
    root.mkdir()
    world = World(root)
    world.environment.pop("CLAUDE_CODE_SESSION_ID")
    return world


def write(memories, text, trust=Trust.AGENT, **changes):
    origin = Origin(trust=trust, source_type=trust.value)
    return writing.write(memories, Draft(content=text, origin=origin, promoted=True, **changes))


def agents(world):
    """The project as an agent opens it."""
    world.environment["CLAUDE_CODE_SESSION_ID"] = "s1"
    return world.memories()


def test_a_save_names_at_most_three_memories_on_its_subject_once_each(world):
    """Row E16 of candidates at save; few of the memories have the words of the subject."""
    others = [json.dumps({"content": f"Plot {number} grows kale"}) for number in range(120)]

    with world.memories() as memories:
        files.import_lines(memories, others)
        write(memories, "The billing worker retries webhooks five times with a delay")
        first = write(memories, "The billing worker retries failed webhooks, and pages the team")
        write(memories, "Coffee is roasted in Berlin on Mondays")
        for step in ("alerts", "traces", "audits"):
            last = write(memories, f"The billing worker retries webhooks and {step} them at night")

        assert len(first.candidates) == 1
        assert len(last.candidates) == 3
        ids = [each.judgment_id for each in last.candidates]
        assert all(len(id) == len("rel-") + 16 and id.startswith("rel-") for id in ids)
        pending = relating.list_relations(memories, last.memory.id, "pending")
        assert {each.id for each in pending} == set(ids)
        assert not any("Coffee" in each.memory.content for each in last.candidates)
        assert not any(each.memory.id == last.memory.id for each in last.candidates)


@pytest.mark.parametrize("verb", ["related", "compatible", "scoped"])
def test_an_annotation_is_all_that_three_verbs_do(world, verb):
    with world.memories() as memories:
        left, right = (write(memories, text).memory.id for text in (FLYWAY, "Redis keeps sessions"))
        with pytest.raises(UsageError, match="reason"):
            relating.judge(memories, "scoped", id=left, other=right)
        judged = relating.judge(memories, verb, id=left, other=right, reason="one is for tests")
        (row,) = browsing.find(memories, "Flyway")["memories"]

        assert judged["status"] == "judged"
        assert row["relations"] == {verb: [right]}
        assert curation.list_conflicts(memories) == []


def test_a_conflict_is_shown_by_both_until_it_is_settled(world):
    with world.memories() as memories:
        left, right = (write(memories, text).memory.id for text in (FLYWAY, "Redis keeps sessions"))
        relating.judge(memories, "conflicts_with", id=left, other=right)
        rows = browsing.find(memories, "Flyway sessions")["memories"]

        assert {row["id"]: row["relations"] for row in rows} == {
            left: {"conflicts_with": [right]},
            right: {"conflicts_with": [left]},
        }
        assert [row["id"] for row in rows] == [right, left]
        assert f"contradicted-by-{right}" in rows[1]["flags"]
        assert len(curation.list_conflicts(memories)) == 1
        relating.judge(memories, "not_conflict", id=right, other=left)
        assert curation.list_conflicts(memories) == []


def test_what_is_superseded_leaves_search_and_comes_back_by_undo_or_another_verdict(world):
    """Row E18 of superseding."""

    with world.memories() as memories:
        old, new = (write(memories, text).memory.id for text in (FLYWAY, "Redis keeps sessions"))
        relating.judge(memories, "supersedes", id=new, other=old, evidence="commit abc")
        assert searching.get(memories, old).superseded_by == new
        assert old not in [row["id"] for row in browsing.find(memories, "Flyway")["memories"]]
        (verdict,) = relating.list_relations(memories, old)
        assert (verdict.source, verdict.target, verdict.evidence) == (new, old, "commit abc")

        event = curation.list_events(memories, 1)[0].id
        curation.undo(memories, event)
        assert searching.get(memories, old).live
        relating.judge(memories, "supersedes", id=new, other=old)
        relating.judge(memories, "compatible", id=new, other=old)
        assert searching.get(memories, old).live


def test_a_cycle_is_refused_and_the_other_direction_replaces_the_first(world):
    with world.memories() as memories:
        one, two, three = (
            write(memories, f"{text} keeps the sessions of {text}").memory.id
            for text in ("Redis", "Postgres", "Kafka")
        )
        for heir, old in ((two, one), (three, two)):
            relating.judge(memories, "supersedes", id=heir, other=old)
        with pytest.raises(CannotDo):
            relating.judge(memories, "supersedes", id=one, other=three)
        relating.judge(memories, "supersedes", id=two, other=three)

        assert [searching.get(memories, id).superseded_by for id in (one, two, three)] == [
            two,
            None,
            two,
        ]


@pytest.mark.parametrize(
    ("target", "confidence", "status"),
    [
        pytest.param(Trust.AGENT, 1.0, "judged", id="an agent about an agent"),
        pytest.param(Trust.WEB, 0.7, "judged", id="about the web, rather sure"),
        pytest.param(Trust.AGENT, 0.69, "pending", id="unsure"),
        pytest.param(Trust.USER, 1.0, "pending", id="about a person's"),
    ],
)
def test_a_verdict_takes_effect_if_its_judge_is_trusted_and_sure(world, target, confidence, status):
    with world.memories() as memories:
        old = write(memories, FLYWAY, target).memory.id
        new = write(memories, "Redis keeps sessions").memory.id
    with agents(world) as memories:
        judged = relating.judge(
            memories, "supersedes", id=new, other=old, confidence=confidence, reason="newer"
        )
        assert judged["status"] == status
        assert searching.get(memories, old).live == (status == "pending")
        waiting = relating.list_proposals(memories)
        assert [each.id for each in waiting] == (
            [judged["relation_id"]] if status == "pending" else []
        )
        assert ("ask the person" in judged["effect"]) == (status == "pending")


def test_a_person_decides_about_a_proposal_by_its_id(world):
    with world.memories() as memories:
        old = write(memories, FLYWAY, Trust.USER).memory.id
        new = write(memories, "Redis keeps sessions").memory.id
    with agents(world) as memories:
        proposed = relating.judge(memories, "supersedes", id=new, other=old)
    del world.environment["CLAUDE_CODE_SESSION_ID"]
    with world.memories() as memories:
        judged = relating.judge(memories, "supersedes", judgment_id=proposed["relation_id"])

        assert judged["status"] == "judged"
        assert searching.get(memories, old).superseded_by == new
        assert relating.list_proposals(memories) == []


def test_the_verdict_of_the_most_trusted_stands_and_others_beside_it(world):
    with world.memories() as memories:
        left, right = (write(memories, text).memory.id for text in (FLYWAY, "Redis keeps sessions"))
    with agents(world) as memories:
        first = relating.judge(memories, "conflicts_with", id=left, other=right)
        again = relating.judge(memories, "related", id=right, other=left)
        assert again["relation_id"] == first["relation_id"]
    del world.environment["CLAUDE_CODE_SESSION_ID"]
    with world.memories() as memories:
        relating.judge(memories, "not_conflict", id=left, other=right)
    with agents(world) as memories:
        late = relating.judge(memories, "conflicts_with", id=left, other=right)
        rows = {each.kind: each for each in relating.list_relations(memories, left)}

        assert late["status"] == "overruled"
        assert {kind: (row.relation, row.status) for kind, row in rows.items()} == {
            "user": ("not_conflict", "judged"),
            "agent": ("conflicts_with", "ignored"),
        }
        assert relating.list_proposals(memories) == []
        assert curation.list_conflicts(memories) == []


def test_what_was_judged_is_not_proposed_again(world):
    with world.memories() as memories:
        write(memories, FLYWAY)
        (pair,) = write(memories, LIQUIBASE).candidates
        relating.judge(memories, "not_conflict", judgment_id=pair.judgment_id)

        assert curation.list_neighbours(memories) == []
        edited = write(memories, LIQUIBASE + " and at start")
        assert pair.judgment_id not in [each.judgment_id for each in edited.candidates]


def test_a_deleted_memory_is_named_so_and_its_relation_is_kept(world):
    """Row E14 of hard deletion."""

    with world.memories() as memories:
        left, right = (write(memories, text).memory.id for text in (FLYWAY, "Redis keeps sessions"))
        judged = relating.judge(memories, "related", id=left, other=right)
        curation.delete(memories, right, hard=True)
        (row,) = browsing.find(memories, "Flyway")["memories"]
        (kept,) = relating.list_relations(memories, left)

        assert row["relations"] == {"related": ["(deleted)"]}
        assert (kept.id, kept.status, kept.target) == (judged["relation_id"], "orphaned", "")


@pytest.mark.parametrize(
    ("given", "error"),
    [
        pytest.param({"id": "ffff", "other": "eeee"}, NoSuchMemory, id="of another project"),
        pytest.param({"judgment_id": "rel-0"}, NoSuchRelation, id="no relation"),
        pytest.param({"id": "ffff"}, UsageError, id="one alone"),
        pytest.param({}, UsageError, id="none"),
        pytest.param({"id": "a", "other": "b", "confidence": 2}, UsageError, id="confidence"),
    ],
)
def test_an_unknown_pair_is_refused(world, given, error):
    with world.memories() as memories, pytest.raises(error):
        relating.judge(memories, "related", **given)


def test_whichever_way_round_a_pair_has_the_verdict_of_the_most_trusted_then_the_latest(world):
    """E17: random verdicts about (a, b) and (b, a) of a person and an agent."""
    of_client = world.environment | {"CLAUDE_CODE_SESSION_ID": "s1"}
    of_agent = operations.open_memories(
        str(world.root), environment=of_client, now=lambda: world.now
    )
    with world.memories() as memories, of_agent:
        judges = {Trust.USER: memories, Trust.AGENT: of_agent}
        for seed in range(examples(1000, share=50)):
            chance, effective = random.Random(seed), None
            trusts = chance.choices([Trust.USER, Trust.AGENT], k=2)
            pair = insert(
                memories.store,
                *(memory(f"Text {at} of {seed}", trust=trust) for at, trust in enumerate(trusts)),
            )
            for _ in range(chance.randrange(1, 7)):
                world.now += timedelta(seconds=1)
                source, target = chance.sample(pair, 2)
                kind, verb = chance.choice(list(judges)), chance.choice(verdicts.VERBS)
                sure = chance.choice([0.5, 1.0])
                given = {"id": source.id, "other": target.id, "confidence": sure, "reason": "x"}
                status = relating.judge(judges[kind], verb, **given)["status"]

                about = [target] if verb == "supersedes" else [source, target]
                may = kind is Trust.USER or (sure >= 0.7 and {m.trust for m in about} == {kind})
                overruled = effective is not None and effective[0] is Trust.USER is not kind
                expected = "judged" if may else "pending"
                assert status == ("overruled" if overruled else expected), seed
                if status == "judged":
                    effective = kind, verb, source.id, target.id
                rows = relating.list_relations(memories, source.id)
                (row,) = (row for row in rows if row.status in ("judged", "pending"))
                assert len({(row.actor, row.status) for row in rows}) == len(rows), seed
                if effective:
                    found = Trust(row.kind), row.relation, row.source, row.target
                    assert (found, row.status) == (effective, "judged"), seed
                gone = {effective[3]} if effective and effective[1] == "supersedes" else set()
                dead = {each.id for each in pair if not searching.get(memories, each.id).live}
                assert dead == gone, seed
                waiting = {each.id for each in relating.list_proposals(memories)}
                assert (status == "pending") == any(each.id in waiting for each in rows), seed


def test_an_unsure_verdict_beside_an_earlier_one_waits_for_a_person(world):
    with world.memories() as memories:
        left, right = (write(memories, text).memory.id for text in (FLYWAY, "Redis keeps sessions"))
    with agents(world) as memories:
        relating.judge(memories, "related", id=left, other=right)
        world.now += timedelta(seconds=1)
        unsure = relating.judge(memories, "supersedes", id=right, other=left, confidence=0.5)

        assert [each.id for each in relating.list_proposals(memories)] == [unsure["relation_id"]]
