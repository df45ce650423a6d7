"""Which commits count as a session's own."""

import subprocess

import pytest

from ademem.capture import commits
from ademem.store import commits as table
from tests.repositories import Repository


@pytest.mark.parametrize(
    "command",
    [
        "git commit -m x",
        "git -C sub commit -qam 'x y'",
        "npm test && git commit -m x",
        "sudo git merge topic",
        "git cherry-pick abc",
        "git pull --rebase",
        "/usr/bin/git revert HEAD",
        "bash -c 'git am < x.patch'",
        "git commit -m 'unclosed",
    ],
)
def test_a_command_that_makes_commits_is_known(command):
    assert commits.makes_commits(command)


@pytest.mark.parametrize(
    "command",
    ["git log", "git status", "echo git commit", "ls", "grep -r 'git commit' .", "git push", ""],
)
def test_a_command_that_makes_none_is_known_too(command):
    assert not commits.makes_commits(command)


@pytest.fixture
def place(world):
    """The world's project as a repository whose clock is the world's."""
    repository = Repository(world.root)
    repository.epoch = int(world.now.timestamp()) - 60
    repository.minutes = 0
    return repository


def ran(world, calls, command, event="post_tool_use", seconds=1, **changes):
    world.fire(event, **calls.ran(command) | {"duration_ms": seconds * 1000} | changes)


def noted(world):
    return {row[0] for row in world.rows("select sha from commits where session_id is not null")}


def sync(world, repository):
    """The next commit is made now."""
    repository.epoch = int(world.now.timestamp()) - 60 * (repository.minutes + 1)


def commit(world, repository, *arguments):
    sync(world, repository)
    repository.git("commit", "-q", "--allow-empty", *arguments)
    return repository.git("rev-parse", "HEAD")


@pytest.mark.parametrize("event", ["post_tool_use", "post_tool_use_failure"])
def test_what_git_wrote_down_while_the_command_ran_is_the_sessions(world, calls, place, event):
    before = commit(world, place, "-m", "a person's")
    world.now = world.now.replace(hour=13)
    ours = commit(world, place, "-m", "ours")

    ran(world, calls, "git commit -m ours && npm test", event, seconds=60, error="Exit code 1")
    assert noted(world) == {ours}
    assert before != ours


def test_each_commit_that_a_rebase_made_anew_is_the_sessions(world, calls, place):
    commit(world, place, "-m", "base")
    place.git("checkout", "-q", "-b", "topic")
    for name in ("one", "two"):
        sync(world, place)
        place.commit(name)
    place.git("checkout", "-q", "main")
    sync(world, place)
    place.commit("other")
    place.git("checkout", "-q", "topic")
    world.now = world.now.replace(hour=14)
    sync(world, place)
    place.git("rebase", "-q", "main")

    ran(world, calls, "git rebase main", seconds=300)
    assert noted(world) == set(place.git("rev-list", "main..topic").split())


@pytest.mark.parametrize(
    ("options", "makes"), [(("--ff-only",), False), (("--no-ff", "-m", "merge"), True)]
)
def test_what_a_merge_brings_is_not_the_sessions_but_its_own_commit_is(
    world, calls, place, options, makes
):
    commit(world, place, "-m", "base")
    place.git("checkout", "-q", "-b", "theirs")
    sync(world, place)
    place.commit("theirs")
    place.git("checkout", "-q", "main")
    world.now = world.now.replace(hour=13)
    sync(world, place)
    place.git("merge", "-q", *options, "theirs")

    ran(world, calls, "git pull")
    assert noted(world) == ({place.head} if makes else set())


def test_where_git_keeps_no_log_what_is_checked_out_is_the_sessions(world, calls, place):
    head = commit(world, place, "-m", "ours")
    subprocess.run(["rm", "-r", str(world.root / ".git/logs")], check=True)

    ran(world, calls, "git commit -m ours")
    assert noted(world) == {head}


@pytest.mark.parametrize("command", ["git log", "git status"])
def test_looking_at_commits_makes_none_ones_own(world, calls, place, command):
    commit(world, place, "-m", "a person's")

    ran(world, calls, command)
    assert noted(world) == set()


def test_without_git_nothing_is_noted(world, calls):
    ran(world, calls, "git commit -m x")

    assert noted(world) == set()
    assert world.failures() == []


def test_the_commits_of_sessions_are_asked_for_by_name(world):
    with world.memories() as memories:
        store = memories.store
        table.add_session_commits(store, ["a", "b"], "s1", world.now)
        table.add_session_commits(store, ["b"], "s2", world.now)

        assert table.find_session_commits(store, ["a", "c"]) == {"a"}
        assert table.find_session_commits(store, []) == set()
