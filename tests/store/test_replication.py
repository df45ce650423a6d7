"""Three databases that exchange their records come to the same ones, whatever was done in each."""

import json
import random
import shutil
import sqlite3
from contextlib import suppress

import pytest

from ademem.core import record_json
from ademem.core.clock import timedelta
from ademem.core.errors import AdememError
from ademem.core.memory import Scope, Status
from ademem.core.registers import (
    REMOVED,
    changes,
    conflict_candidates,
    is_ahead,
    next_stamp,
    replica_of,
    write,
)
from ademem.core.settings import GateSettings
from ademem.core.value import replace
from ademem.store import database, journal, memories, relations, replication, stamps, transitions
from ademem.store.opening import open_store
from tests.builders import project
from tests.examples import examples
from tests.store.replicas import (
    BY_IMPORT,
    NOON,
    act_at_random,
    act_of,
    exported,
    journalled,
    learn,
    send,
    shown,
)


@pytest.fixture
def opened(tmp_path):
    """Open the store of a new project of this name."""
    stores = []

    def open_named(name):
        (tmp_path / name).mkdir(exist_ok=True)
        stores.append(open_store(project(tmp_path / name), NOON))
        return stores[-1]

    yield open_named
    for store in stores:
        store.close()


def open_edited(opened):
    """Open two stores that edited a memory of both; the first one sent its edit."""
    anna, ben = opened("anna"), opened("ben")
    known = learn(anna, "Deploys run at noon.")
    send(anna, ben)
    transitions.edit(known.id, act_of(anna, 1), GateSettings(), content="Deploys run at one.")
    transitions.edit(known.id, act_of(ben, 2), GateSettings(), content="Deploys run at two.")
    send(anna, ben)
    return anna, ben, known


def test_a_new_memory_has_one_stamp(opened):
    store = opened("anna")
    known = learn(store, "Deploys run at noon.")

    record = replication.read(store, known.id)
    written = {stamp for stamp, _ in record.registers.values()} | set(record.texts)
    assert written == {f"2026-01-31T12:00:00.000Z-0000-{store.replica}"}
    row = memories.raw_row(store.db, known.id)
    assert row["stamps"] == f'{{"{record.last_stamp}":[]}}'


def test_a_memory_from_before_there_were_stamps_reads_as_written_when_it_was_updated(opened):
    store = opened("anna")
    known = learn(store, "Deploys run at noon.")
    store.db.execute("update unified_memories set stamps = '{}'")

    record = replication.read(store, known.id)
    assert {stamp for stamp, _ in record.registers.values()} | set(record.texts) == {
        "2026-01-31T12:00:00.000Z-0000-00000000"
    }
    transitions.pin(known.id, act_of(store, 5))
    pinned = replication.read(store, known.id)
    assert pinned.registers["pinned"][0] == f"2026-01-31T12:05:00.000Z-0000-{store.replica}"
    assert pinned.texts == record.texts


@pytest.mark.parametrize(
    ("act", "written"),
    [
        pytest.param(
            lambda id, act: transitions.edit(id, act, GateSettings(), content="At one."),
            {"text", "life"},
            id="edit",
        ),
        pytest.param(
            lambda id, act: transitions.edit(id, act, GateSettings(), tags=("deploy", "new")),
            {"tags/new", "life"},
            id="a tag",
        ),
        pytest.param(transitions.archive, {"life"}, id="archive"),
        pytest.param(transitions.pin, {"pinned"}, id="pin"),
        pytest.param(transitions.delete, {"life"}, id="delete"),
        pytest.param(
            lambda id, act: memories.touch(act.store, memories.get(act.store, id), 1.0, act.now),
            set(),
            id="an access",
        ),
    ],
)
def test_an_act_stamps_what_it_writes(act, written, opened):
    store = opened("anna")
    known = learn(store, "Deploys run at noon.", tags=("deploy",), status=Status.PROMOTED)

    act(known.id, act_of(store, 5))

    record = replication.read(store, known.id)
    registers = record.registers | {"text": (max(record.texts), None)}
    now = f"2026-01-31T12:05:00.000Z-0000-{store.replica}"
    assert {name for name, (stamp, _) in registers.items() if stamp == now} == written


def test_of_two_edits_the_later_counts_and_the_other_is_a_candidate_for_review(opened):
    anna, ben, known = open_edited(opened)

    send(ben, anna)

    for store in (anna, ben):
        assert memories.get(store, known.id).content == "Deploys run at two."
        (other,) = memories.find(store, "source_type = 'merge'")
        assert (other.content, other.status) == ("Deploys run at one.", Status.CANDIDATE)
        assert replication.read(store, other.id) is None
    transitions.edit(known.id, act_of(anna, 3), GateSettings(), content="Deploys run at three.")
    send(anna, ben)
    for store in (anna, ben):
        assert [one.content for one in memories.find(store, "1")] == ["Deploys run at three."]


@pytest.mark.parametrize("end", ["archive", "delete", "reject"])
def test_a_text_that_an_archiving_did_not_know_waits_for_a_decision(end, opened):
    anna, ben = opened("anna"), opened("ben")
    known = learn(anna, "Deploys run at noon.", status=Status.CANDIDATE)
    send(anna, ben)
    transitions.edit(known.id, act_of(ben, 1), GateSettings(), content="Deploys run at one.")
    getattr(transitions, end)(known.id, act_of(anna, 2))

    send(anna, ben)
    send(ben, anna)

    for store in (anna, ben):
        (other,) = memories.find(store, "source_type = 'merge'")
        assert not memories.get(store, known.id).live
        assert (other.content, other.live) == ("Deploys run at one.", True)
    assert exported(anna) == exported(ben)
    transitions.restore(known.id, act_of(ben, 3))
    send(ben, anna)
    for store in (anna, ben):
        assert [one.content for one in memories.find(store, "1")] == ["Deploys run at one."]


def test_an_edit_to_the_text_of_a_candidate_takes_its_place(opened):
    _anna, ben, known = open_edited(opened)

    transitions.edit(known.id, act_of(ben, 3), GateSettings(), content="Deploys run at one.")

    assert [one.content for one in memories.find(ben, "1")] == ["Deploys run at one."]


def test_an_archive_decides_on_the_candidates_and_a_restore_shows_them_at_once(opened):
    _anna, ben, known = open_edited(opened)

    transitions.archive(known.id, act_of(ben, 3))
    assert memories.find(ben, "source_type = 'merge'") == []
    assert conflict_candidates(replication.read(ben, known.id)) == []
    transitions.restore(known.id, act_of(ben, 4))

    (other,) = memories.find(ben, "source_type = 'merge'")
    assert (other.content, other.status) == ("Deploys run at one.", Status.CANDIDATE)


def test_an_edit_of_a_candidate_that_was_rejected_waits_for_the_rejection(opened):
    ann, ben = opened("ann"), opened("ben")
    known = learn(ann, "Deploys run at noon.")
    send(ann, ben)
    for store, text in ((ann, "They run at one."), (ben, "They run at two.")):
        transitions.edit(known.id, act_of(store, 1), GateSettings(), content=text)
    send(ben, ann), send(ann, ben)
    (candidate,) = memories.find(ben, "source_type = 'merge'")
    transitions.reject(candidate.id, act_of(ben, 2))
    rejected = replication.read(ben, candidate.id)
    transitions.edit(candidate.id, act_of(ben, 3), GateSettings(), content="They run at three.")
    edited = replication.read(ben, candidate.id)

    for record in (changes(rejected, edited), rejected):
        replication.receive(ann, "memory", record_json.to_json(record), BY_IMPORT)
    assert replication.read(ann, candidate.id) == edited


def test_a_candidate_that_a_person_promotes_becomes_a_memory_everywhere(opened):
    anna, ben, _known = open_edited(opened)

    (other,) = memories.find(ben, "source_type = 'merge'")
    transitions.promote(other.id, act_of(ben, 3))
    send(ben, anna)

    assert memories.get(anna, other.id).status is Status.PROMOTED
    assert exported(anna) == exported(ben)


def test_the_same_text_learned_under_two_ids_shows_the_elder_until_its_text_changes(opened):
    anna, ben = opened("anna"), opened("ben")
    elder = learn(anna, "Deploys run at noon.", id="elder", sync_id="s-elder")
    younger = learn(
        ben, "Deploys run at noon.", NOON + timedelta(hours=1), id="younger", sync_id="s-younger"
    )

    send(ben, anna)
    send(anna, ben)

    for store in (anna, ben):
        assert memories.get(store, younger.id).superseded_by == elder.id
        assert replication.read(store, younger.id).life == "live"
    asked = []
    ben.db.set_trace_callback(asked.append)
    transitions.edit(elder.id, act_of(ben, 90), GateSettings(), content="Deploys run at one.")
    ben.db.set_trace_callback(None)
    send(ben, anna)
    for store in (anna, ben):
        assert memories.get(store, younger.id).live
    hidden = [query for query in asked if "superseded_by is not null" in query]
    plans = [
        row["detail"] for query in hidden for row in ben.db.execute(f"explain query plan {query}")
    ]
    assert {plan.partition("_superseded ")[2] for plan in plans} == {"(dedupe_key=?)"}
    assert exported(anna) == exported(ben)


def test_a_memory_removed_for_good_comes_back_from_no_store(opened):
    anna, ben = opened("anna"), opened("ben")
    known = learn(anna, "Deploys run at noon.")
    send(anna, ben)
    transitions.delete(known.id, act_of(anna, 1), hard=True)
    transitions.edit(known.id, act_of(ben, 9), GateSettings(), content="Deploys run at one.")

    send(ben, anna)
    send(anna, ben)

    for store in (anna, ben):
        assert memories.find(store, "1") == []
        assert replication.read(store, known.id).life == REMOVED


def test_an_id_that_was_removed_and_is_used_again_has_one_record(opened):
    store = opened("anna")
    known = learn(store, "Deploys run at noon.")
    transitions.delete(known.id, act_of(store, 1), hard=True)
    learn(store, "Deploys run at noon.")

    assert [one.id for one in replication.read_all(store)] == [known.id]


def test_an_archiving_of_an_unknown_memory_waits_for_its_text(opened):
    anna, ben = opened("anna"), opened("ben")
    known = learn(anna, "Deploys run at noon.")
    before = replication.read(anna, known.id)
    transitions.archive(known.id, act_of(anna, 1))
    after = replication.read(anna, known.id)
    life = replace(before, texts={}, over={}, registers={"life": after.registers["life"]})

    replication.apply(ben, life, BY_IMPORT)
    assert memories.find(ben, "1") == []
    replication.apply(ben, before, BY_IMPORT)

    assert memories.get(ben, known.id).status is Status.ARCHIVED
    assert exported(anna) == exported(ben)


def test_a_relation_waits_for_both_memories_and_a_decision_travels(opened):
    anna, ben = opened("anna"), opened("ben")
    one, other = learn(anna, "Deploys run at noon."), learn(anna, "Deploys run at one.")
    database.set_value(anna.db, "sync/folder", "0")
    known = {"score": 0.9, "reason": "they differ", "actor": "system", "now": NOON}
    relations.add(anna, one, other, relations.CONFLICT, **known)
    query = "select registers from sync_mutations where entity = 'relation'"
    pending = json.loads(anna.db.execute(query).fetchone()[0])
    relations.resolve(anna, one, other, "user", NOON + timedelta(minutes=1))
    ((found,),) = anna.db.execute(query)
    judged = json.loads(found)

    assert not replication.apply_relation(ben, pending, BY_IMPORT)
    for waited_for in (one, other):
        assert journal.find_deferred(ben).count == 1
        assert relations.list_conflicts(ben) == []
        replication.apply(ben, replication.read(anna, waited_for.id), BY_IMPORT)

    assert journal.find_deferred(ben).count == 0
    assert len(relations.list_conflicts(ben)) == 1
    for _ in range(2):
        replication.apply_relation(ben, judged, BY_IMPORT)
        replication.apply_relation(ben, pending, BY_IMPORT)
    assert relations.list_conflicts(ben) == []
    assert relations.read_shared(ben, judged["sync_id"]) == judged


def test_what_cannot_be_applied_is_kept_until_it_can(opened):
    """Row E20 of deferred records."""

    anna, ben = opened("anna"), opened("ben")
    known = learn(anna, "Deploys run at noon.")
    own = learn(ben, "Mine.", id=known.id, sync_id="mine", scope=Scope.AGENT, scope_owner_id="me")
    send(anna, ben)
    assert journal.find_deferred(ben).count == 1
    replication.receive(ben, "relation", {"relation": []}, BY_IMPORT)
    assert len(journal.find_deferred(ben).dead) == 1

    transitions.delete(own.id, act_of(ben, 1), hard=True)
    ben.db.execute("delete from tombstones")
    replication.apply(ben, replication.read(anna, learn(anna, "A tag.").id), BY_IMPORT)

    assert memories.get(ben, known.id).content == "Deploys run at noon."
    assert journal.find_deferred(ben).count == 0
    assert len(journal.find_deferred(ben).dead) == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"scope": Scope.AGENT, "scope_owner_id": "me"},
        {"scope": Scope.MISSION, "scope_owner_id": "m1"},
        {"quarantine_reason": "orders a model"},
        {"source_type": "episode"},
        {"source_branch": "feature"},
    ],
    ids=lambda fields: next(iter(fields)),
)
def test_what_is_no_one_elses_never_leaves(fields, opened):
    store = opened("anna")
    database.set_value(store.db, "sync/folder", "0")
    known = learn(store, "Deploys run at noon.", **fields)

    assert replication.read(store, known.id) is None
    assert list(replication.read_all(store)) == []
    assert store.db.execute("select count(*) from sync_mutations").fetchone()[0] == 0


def test_the_journal_has_what_acts_wrote_once_a_target_is_enrolled(opened):
    """Row E19 of the queue."""

    anna, ben = opened("anna"), opened("ben")
    known = learn(anna, "Deploys run at noon.")
    assert journalled(anna) == []

    database.set_value(anna.db, "sync/folder", "0")
    transitions.pin(known.id, act_of(anna, 1))
    assert [one.registers.keys() for one in journalled(anna)] == [{"pinned"}]
    transitions.edit(known.id, act_of(anna, 2), GateSettings(), tags=("deploy",))
    other = learn(anna, "Releases need a tag.", NOON + timedelta(minutes=3))
    first, second = journalled(anna)
    assert (first.id, first.registers.keys()) == (known.id, {"pinned", "tags/deploy", "life"})
    assert second.id == other.id
    transitions.delete(known.id, act_of(anna, 4), hard=True)

    assert [one.id for one in journalled(anna)] == [other.id, known.id]
    for one in journalled(anna):
        replication.apply(ben, one, BY_IMPORT)
    assert exported(ben) == exported(anna)


def test_a_removal_that_arrives_shows_what_was_hidden_and_drops_the_candidates(opened):
    anna, ben = opened("anna"), opened("ben")
    elder = learn(anna, "Deploys run at noon.")
    younger = learn(ben, "Deploys run at noon.", NOON + timedelta(minutes=1), id="m2", sync_id="s2")
    send(anna, ben)
    send(ben, anna)
    assert memories.get(ben, younger.id).superseded_by == elder.id
    other = learn(anna, "We use pnpm.")
    send(anna, ben)
    transitions.edit(other.id, act_of(anna, 2), GateSettings(), content="We use npm.")
    transitions.edit(other.id, act_of(ben, 3), GateSettings(), content="We use yarn.")
    send(anna, ben)
    assert len(memories.find(ben, "1")) == 4
    transitions.delete(other.id, act_of(anna, 4), hard=True)
    transitions.delete(elder.id, act_of(anna, 5), hard=True)
    send(anna, ben)

    (left,) = memories.find(ben, "1")
    assert (left.id, left.live) == (younger.id, True)


def test_a_removed_candidate_enters_the_journal(opened):
    _anna, ben, _known = open_edited(opened)
    database.set_value(ben.db, "sync/folder", "0")
    (candidate,) = memories.find(ben, "source_type = 'merge'")

    transitions.delete(candidate.id, act_of(ben, 3), hard=True)
    assert [(one.id, one.life) for one in journalled(ben)] == [(candidate.id, REMOVED)]


def test_an_edit_to_the_text_of_a_memory_that_lost_its_topic_hides_the_younger(opened):
    anna, ben = opened("anna"), opened("ben")
    elder = learn(anna, "Deploys run at noon.", topic_key="deploy")
    later = NOON + timedelta(minutes=1)
    younger = learn(ben, "Deploys run at one.", later, topic_key="deploy")
    send(anna, ben)
    assert memories.get(ben, younger.id).topic_key is None
    transitions.edit(elder.id, act_of(anna, 2), GateSettings(), content="Deploys run at one.")
    send(anna, ben)
    send(ben, anna)

    assert shown(anna) == shown(ben)
    assert [one.id for one in memories.find(ben, "1") if one.live] == [elder.id]


@pytest.mark.parametrize("ends", [transitions.archive, transitions.delete])
def test_a_topic_comes_back_to_the_eldest_that_lost_it_when_its_owner_goes(opened, ends):
    anna, ben = opened("anna"), opened("ben")
    elder = learn(anna, "Deploys run at noon.", topic_key="deploy")
    younger = learn(ben, "Deploys run at one.", NOON + timedelta(minutes=1), topic_key="deploy")
    send(anna, ben)
    send(ben, anna)
    assert memories.get(anna, younger.id).topic_key is None
    ends(elder.id, act_of(anna, 2))
    send(anna, ben)

    for store in (anna, ben):
        assert memories.get(store, younger.id).topic_key == "deploy"
    assert exported(anna) == exported(ben)


def test_a_copy_of_a_database_writes_as_another_replica(opened, tmp_path):
    anna = opened("anna")
    known = learn(anna, "Deploys run at noon.")
    anna.close()
    shutil.copytree(tmp_path / "anna", tmp_path / "ben")
    again, ben = opened("anna"), opened("ben")

    for store in (again, ben):
        transitions.edit(known.id, act_of(store, 1), GateSettings(), content=f"At {id(store)}.")

    assert again.replica == anna.replica
    assert ben.replica != anna.replica
    send(again, ben)
    assert len(replication.read(ben, known.id).texts) == 2


def test_a_clock_far_ahead_is_named_and_not_followed(opened):
    anna, ben = opened("anna"), opened("ben")
    known = learn(anna, "Deploys run at noon.", NOON + timedelta(days=400))
    send(anna, ben)

    assert list(stamps.far_ahead(ben, NOON)) == [anna.replica]
    other = learn(ben, "Releases need a tag.")
    assert not is_ahead(replication.read(ben, other.id).last_stamp, NOON)
    transitions.edit(known.id, act_of(ben, 1), GateSettings(), content="Deploys run at one.")
    edited = replication.read(ben, known.id)
    assert replica_of(max(edited.texts)) == ben.replica
    send(ben, anna)
    assert memories.get(anna, known.id).content == "Deploys run at one."


def test_a_secret_in_a_text_of_another_store_is_replaced_everywhere(opened):
    anna, ben = opened("anna"), opened("ben")
    known = learn(anna, "Deploys run at noon.")
    record = replication.read(anna, known.id)
    secret = "The token is ghp_" + "a1B2" * 9 + "."
    leaked = write(record, {"content": secret}, next_stamp(record.last_stamp, NOON, "eeeeeeee"))

    replication.apply(ben, leaked, BY_IMPORT)
    send(ben, anna)

    assert secret not in "\n".join([*exported(anna), *anna.db.iterdump(), *ben.db.iterdump()])
    assert exported(anna) == exported(ben)


@pytest.mark.parametrize("seed", range(examples(60, share=6)))
def test_three_stores_come_to_the_same_records(seed, opened, monkeypatch):
    choice, ids = random.Random(seed), random.Random(-seed)
    monkeypatch.setattr(transitions, "scrub", lambda store: None)
    monkeypatch.setattr(stamps, "new_replica", lambda: f"{ids.getrandbits(32):08x}")
    stores = [opened(name) for name in ("anna", "ben", "cleo")]
    for minute in range(40):
        store, other = choice.sample(stores, 2)
        if choice.random() < 0.3:
            records = list(replication.read_all(store))
            for record in choice.sample(records, len(records)):
                now = NOON + timedelta(minutes=minute)
                replication.apply(other, record, replace(BY_IMPORT, at=now))
        else:
            with suppress(AdememError, sqlite3.IntegrityError):
                act_at_random(choice, store, minute)
    for _ in range(2):
        for store in stores:
            for other in stores:
                send(store, other, NOON + timedelta(minutes=60))

    first, *others = map(exported, stores)
    assert first
    assert all(one == first for one in others)
    for store in stores:
        assert not [one for one in replication.read_all(store) if one.texts and not one.text[0]]
        assert shown(store) == shown(stores[0])
