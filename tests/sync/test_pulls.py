"""What git is asked for where a start or a command reads what a pull brought."""

from __future__ import annotations

import shutil

import pytest

from ademem.core import git
from ademem.sync import git_history
from ademem.sync.importer import KINDS, import_changes
from tests.sync.repository import Clock, Worktree, enrolled
from tests.sync.repository import git as run

PAGE = ".ade/memory/gotchas.md"
FIRST, SECOND = "the cache is slow", "retries need a limit"


@pytest.fixture
def team(tmp_path):
    """Two clones that say the same, and whose files both have read."""
    ours = enrolled(tmp_path / "ours")
    for text in (FIRST, SECOND):
        ours.learn(text)
    ours.commit()
    run(tmp_path, "clone", "--quiet", ours.root, tmp_path / "theirs")
    theirs = Worktree(tmp_path / "theirs", ours.clock)
    theirs.refresh()
    return ours, theirs


@pytest.fixture
def asked(monkeypatch):
    """The commands of git that ran."""
    commands = []
    ask = git.run
    monkeypatch.setattr(
        git, "run", lambda root, *asked, **more: commands.append(asked) or ask(root, *asked, **more)
    )
    return commands


def edit(here, old, new):
    page = here.root / PAGE
    page.write_text(page.read_text().replace(old, new))


def pull(here, other):
    here.git("pull", "--quiet", "--ff-only", other.root, "main")


def read(here):
    with here.open() as memories:
        return import_changes(memories)


def rows(here):
    names = ("id", "content", "status", "claimed_author", "trust", "quarantine_reason")
    with here.open() as memories:
        found = memories.store.dicts(f"select {', '.join(names)} from unified_memories")
    return sorted(found, key=lambda row: row["id"])


def test_what_a_pull_changed_is_read_off_both_texts_with_one_list_of_commits(team, asked):
    ours, theirs = team
    ours.commit("a line\u2028of another kind")
    pull(theirs, ours)
    edit(theirs, FIRST, "the cache is fast")
    theirs.commit()
    pull(ours, theirs)
    asked.clear()

    assert len(read(ours).edited) == 1
    assert [(name, "--raw" in rest) for name, *rest in asked] == [("log", True)]
    (changed,) = (row for row in rows(ours) if row["content"] == "the cache is fast")
    assert changed["claimed_author"] == "n"


def changed_here_as_well(ours, theirs):
    edit(theirs, FIRST, "the cache is fast")
    theirs.commit()
    pull(ours, theirs)
    edit(ours, SECOND, "retries end after a minute")


def two_commits(ours, theirs):
    for old, new in ((FIRST, "the cache is fast"), (SECOND, "retries end after a minute")):
        edit(theirs, old, new)
        theirs.commit()
    pull(ours, theirs)


def committed_here_before(ours, theirs):
    ours.learn("ports are free")
    ours.commit()
    pull(theirs, ours)
    edit(theirs, FIRST, "the cache is fast")
    theirs.commit()
    pull(ours, theirs)


def merged(ours, theirs):
    edit(theirs, FIRST, "the cache is fast")
    theirs.commit()
    (ours.root / "code.py").write_text("x = 1\n")
    ours.git("add", "code.py")
    ours.git("commit", "--quiet", "-m", "code")
    ours.git("pull", "--quiet", "--no-rebase", "--no-edit", theirs.root, "main")


def went_back(ours, theirs):
    edit(theirs, FIRST, "the cache is fast")
    theirs.commit()
    pull(ours, theirs)
    read(ours)
    ours.git("reset", "--quiet", "--hard", "HEAD~1")


def removed_and_added(ours, theirs):
    page = theirs.root / PAGE
    page.write_text(page.read_text().replace("- the cache", "- Always ask before a release\n\n- x"))
    theirs.commit()
    pull(ours, theirs)


WAYS = [changed_here_as_well, two_commits, committed_here_before, merged, went_back]


@pytest.mark.parametrize("change", [*WAYS, removed_and_added])
def test_both_texts_say_what_patches_of_git_say(team, tmp_path, monkeypatch, change):
    ours, theirs = team
    change(ours, theirs)
    found = {}
    for way in ("texts", "patches"):
        if way == "patches":
            monkeypatch.setattr(git_history, "_read_pulled", lambda *_asked: None)
        copy = Worktree(shutil.copytree(ours.root, tmp_path / way), Clock(), ours.home)
        report = read(copy)
        found[way] = rows(copy), {kind: {*getattr(report, kind)} for kind in KINDS}

    assert found["texts"] == found["patches"]
