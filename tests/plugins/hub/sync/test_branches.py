"""Memories that wait on a branch of git, in clones that share by the hub."""

from __future__ import annotations

from pathlib import Path

import pytest

from ademem.core.memory import Status, flags
from ademem.core.settings import GateSettings, Settings
from ademem.core.value import replace
from ademem.store import journal, memories, relations, replication, transitions
from ademem.store.memories import Change
from ademem.sync import branches, mirror
from tests.builders import opened
from tests.store.replicas import exported
from tests.sync.repository import git


def share(clone, id):
    """What a look at git does once the line is on the default branch."""
    change = Change(operation="branch", actor="system", at=clone.act.now)
    memories.put_back(clone.store, replace(clone.memory(id), source_branch=None), change)


def lines_of(clone):
    return Path(clone.project.root) / ".ade/memory/knowledge.jsonl"


def follow(clone):
    place = branches.Place(clone.project, Settings().mirror)
    branches.follow_branches(place, clone.store, clone.now())
    return clone.memory("m1").source_branch


@pytest.fixture
def heard(ann, bob):
    ann.learn("Deploys run at noon", id="m1", source_branch="feature")
    ann.sync()
    bob.sync()
    return bob


def test_a_memory_of_a_branch_waits_elsewhere_too(heard):
    assert heard.memory("m1").source_branch == "feature"
    assert "branch-feature" in flags(heard.memory("m1"))
    assert exported(heard.store) == []
    mirror.refresh(opened(heard.project, heard.store, Settings(), heard.now()))
    assert "m1" not in lines_of(heard).read_text()


def test_it_is_everybodys_once_git_says_so_to_one(ann, heard):
    share(ann, "m1")
    ann.sync()
    heard.sync()

    assert heard.memory("m1").source_branch is None
    assert exported(heard.store) == exported(ann.store) != []
    heard.sync()
    assert heard.waiting() == ann.waiting() == 0


def test_an_edit_on_the_branch_stays_there(ann, heard):
    transitions.edit("m1", heard.act, GateSettings(), content="Deploys run at one")
    heard.sync()
    ann.sync()

    assert ann.memory("m1").content == "Deploys run at one"
    assert ann.memory("m1").source_branch == heard.memory("m1").source_branch == "feature"


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["shared", "edited"])
def test_whoever_tells_first_a_late_clone_has_it_shared(ann, heard, clone, order):
    acts = (
        lambda: (share(ann, "m1"), ann.sync()),
        lambda: (transitions.edit("m1", heard.act, GateSettings(), tags=("x",)), heard.sync()),
    )
    for place in order:
        acts[place]()
    late = clone("late")
    for each in (late, ann, heard, late):
        each.sync()

    assert [each.memory("m1").source_branch for each in (late, ann, heard)] == [None] * 3
    assert exported(late.store) == exported(ann.store) == exported(heard.store)


def test_a_memory_of_two_branches_belongs_to_neither(ann, bob):
    for one, name in ((ann, "feature"), (bob, "other")):
        one.learn("Deploys run at noon", id="m1", source_branch=name)
        one.sync()
    ann.sync()
    bob.sync()

    assert [one.memory("m1").source_branch for one in (ann, bob)] == [None, None]


def test_a_removal_on_a_branch_reaches_the_others(ann, heard):
    transitions.delete("m1", ann.act, hard=True)
    ann.sync()
    heard.sync()

    assert memories.find(heard.store, "1") == []


def test_a_relation_follows_when_both_its_memories_are_shared(ann, heard):
    later = ann.learn("Deploys run at one", id="m2")
    found = {"score": 0.9, "reason": "test", "actor": "test", "now": ann.now()}
    relations.add(ann.store, ann.memory("m1"), later, relations.RELATED, **found)
    ann.sync()
    heard.sync()
    assert relations.list_shared(heard.store) == []
    share(ann, "m1")
    ann.sync()
    heard.sync()

    assert relations.list_shared(heard.store) == relations.list_shared(ann.store) != []


def test_a_folder_gets_nothing_of_a_branch(ann, heard):
    journal.enrol(ann.store, "a folder")
    journal.advance(ann.store, "a folder", 0)
    transitions.edit("m1", ann.act, GateSettings(), content="Deploys run at one")

    assert list(replication.outgoing(ann.store, "a folder")) == []
    assert [*replication.outgoing(ann.store, ann.state.target)] != []


def test_a_branch_that_was_never_fetched_is_no_deleted_one(heard):
    root = heard.project.root
    git(root, "init", "--quiet", "--initial-branch=main")
    heard.learn("Tests run at one", id="m2", status=Status.PROMOTED)
    mirror.refresh(opened(heard.project, heard.store, Settings(), heard.now()))
    git(root, "add", "-Af")
    git(root, "commit", "--quiet", "-m", "files")
    assert follow(heard) == "feature"
    assert heard.memory("m1").has_unseen_branch
    git(root, "branch", "feature")
    assert follow(heard) == "feature"
    assert not heard.memory("m1").has_unseen_branch
    git(root, "branch", "-D", "feature")
    follow(heard)
    assert heard.memory("m1").has_lost_branch


def test_it_is_shared_once_its_line_is_on_the_default_branch_here(ann, heard):
    root = heard.project.root
    git(root, "init", "--quiet", "--initial-branch=main")
    share(ann, "m1")
    mirror.refresh(opened(ann.project, ann.store, Settings(), ann.now()))
    mirror.refresh(opened(heard.project, heard.store, Settings(), heard.now()))
    lines_of(heard).write_text(lines_of(ann).read_text())
    git(root, "add", "-Af")
    git(root, "commit", "--quiet", "-m", "files")

    assert follow(heard) is None
    assert not heard.memory("m1").write_gate_reason


@pytest.mark.parametrize("branch", [None, "feature"])
def test_a_line_that_git_has_stays_in_the_files_whoever_told_it_first(clone, branch):
    kim, lee = clone("kim", "writer"), clone("lee")
    kim.learn("Deploys run at noon", id="m1", status=Status.PROMOTED)
    mirror.refresh(opened(kim.project, kim.store, Settings(), kim.now()))
    if branch:
        change = Change(operation="branch", actor="system", at=kim.act.now)
        memories.put_back(kim.store, replace(kim.memory("m1"), source_branch=branch), change)
    kim.sync()
    lee.sync()
    root = lee.project.root
    git(root, "init", "--quiet", "--initial-branch=main")
    mirror.refresh(opened(lee.project, lee.store, Settings(), lee.now()))
    git(root, "add", "-Af")
    git(root, "commit", "--quiet", "-m", "files")
    git(root, "checkout", "--quiet", "-b", "feature")
    written = lines_of(kim).read_text()
    lines_of(lee).write_text(written)
    git(root, "commit", "--quiet", "-am", "the line of kim")
    assert lee.memory("m1").status is Status.CANDIDATE
    for _ in range(2):
        mirror.refresh(opened(lee.project, lee.store, Settings(), lee.now()))

    assert '"id":"m1"' in lines_of(lee).read_text()
    assert '"status":"promoted"' in lines_of(lee).read_text()
