"""What is learned on a branch waits there until its line is on the default branch."""

from __future__ import annotations

import pytest

from ademem.model import Status
from ademem.work.kinds import GIT_AT_IT
from tests.mirror.repository import enrolled

LESSON = "the cache is not thread safe"
TRUNK = "retries need a limit"


@pytest.fixture
def main(tmp_path):
    main = enrolled(tmp_path / "main")
    main.learn(TRUNK)
    main.commit()
    return main


def test_what_is_learned_on_a_branch_is_in_the_files_of_that_branch_alone(main, tmp_path):
    topic = main.worktree(tmp_path / "topic", "-b", "topic")
    row = topic.learn(LESSON)
    topic.refresh()
    main.refresh()

    assert row.source_branch == "topic"
    assert topic.shown() == sorted([LESSON, TRUNK])
    assert main.shown() == [TRUNK]
    assert main.dirty() == ""
    assert topic.row(row).source_branch == "topic"


@pytest.mark.parametrize("how", ["merge", "squash", "rebase", "cherry-pick"])
def test_it_is_everybodys_once_its_line_is_on_the_default_branch(main, how):
    main.switch("-b", "topic")
    row = main.learn(LESSON)
    tip = main.commit()
    main.switch("main")
    assert main.shown() == [TRUNK]

    if how == "merge":
        main.git("merge", "--quiet", "--no-ff", "-m", "merge", "topic")
    elif how == "squash":
        main.git("merge", "--quiet", "--squash", "topic")
        main.git("commit", "--quiet", "-m", "squashed")
    elif how == "rebase":
        main.git("commit", "--quiet", "--allow-empty", "-m", "more")
        main.git("rebase", "--quiet", "main", "topic")
        main.git("checkout", "--quiet", "main")
        main.git("merge", "--quiet", "--ff-only", "topic")
    else:
        main.git("cherry-pick", tip)
    main.refresh()

    assert main.row(row).source_branch is None
    last = main.history(row)[-1]
    assert (last["operation"], last["actor"]) == ("branch", "system")
    assert last["reason"] == "its line is on the default branch"
    assert main.shown() == sorted([LESSON, TRUNK])
    assert main.dirty() == ""


def test_a_switch_deletes_nothing_and_writes_nothing_that_is_committed(main):
    main.switch("-b", "topic")
    row = main.learn(LESSON)
    main.commit()
    for _ in range(2):
        assert main.switch("main").bytes == 0
        assert main.switch("topic").bytes == 0

    assert main.row(row).live
    assert len(main.history(row)) == 1


@pytest.mark.parametrize(
    "leave",
    [
        pytest.param(["stash", "--quiet"], id="stash"),
        pytest.param(["checkout", "--quiet", "--", ".ade"], id="checkout of the files"),
        pytest.param(["reset", "--quiet", "--hard"], id="reset"),
    ],
)
def test_what_git_takes_back_before_it_was_committed_is_written_again(main, leave):
    main.switch("-b", "topic")
    row = main.learn(LESSON)
    main.refresh()
    main.git(*leave)
    main.refresh()

    assert main.row(row).live
    assert main.shown() == sorted([LESSON, TRUNK])


def test_what_a_switch_carries_along_uncommitted_goes_back_to_its_branch(main):
    main.switch("-b", "topic")
    main.learn(LESSON)
    main.refresh()
    main.switch("main")
    assert (main.shown(), main.dirty()) == ([TRUNK], "")

    main.switch("topic")
    assert main.shown() == sorted([LESSON, TRUNK])


def test_a_branch_from_a_branch_keeps_what_its_own_tree_has(main):
    main.switch("-b", "topic")
    row = main.learn(LESSON)
    main.commit()
    main.switch("-b", "next")

    assert main.shown() == sorted([LESSON, TRUNK])
    assert main.dirty() == ""
    assert main.row(row).source_branch == "topic"


def test_a_deleted_branch_leaves_candidates_with_the_reason(main):
    main.switch("-b", "topic")
    row = main.learn(LESSON)
    main.commit()
    main.switch("main")
    main.git("branch", "-D", "topic")
    main.refresh()
    left = main.row(row)
    with main.open() as memories:
        waiting = memories.review()

    assert (left.status, left.source_branch) == (Status.CANDIDATE, "topic")
    assert waiting == [left]
    assert main.shown() == [TRUNK]
    with main.open() as memories:
        memories.promote(row.id)
    main.refresh()
    assert main.row(row).source_branch is None
    assert main.shown() == sorted([LESSON, TRUNK])


def test_a_branch_that_comes_back_has_its_memories_again(main):
    main.switch("-b", "topic")
    row = main.learn(LESSON)
    tip = main.commit()
    main.switch("main")
    main.git("branch", "-D", "topic")
    main.refresh()
    main.git("branch", "topic", tip)
    main.switch("topic")

    assert main.row(row).status is Status.PROMOTED
    assert main.shown() == sorted([LESSON, TRUNK])
    assert main.dirty() == ""


def test_a_renamed_branch_takes_its_memories_along(main):
    main.switch("-b", "topic")
    row = main.learn(LESSON)
    main.refresh()
    main.git("branch", "-m", "topic", "feature/one")
    main.git("branch", "-m", "feature/one", "feature/two")
    main.refresh()

    assert main.row(row).source_branch == "feature/two"
    assert main.shown() == sorted([LESSON, TRUNK])


def test_a_deleted_branch_that_another_one_contains_lives_on_there(main):
    main.switch("-b", "topic")
    row = main.learn(LESSON)
    main.commit()
    main.switch("-b", "next")
    main.git("branch", "-D", "topic")
    main.refresh()

    assert main.row(row).source_branch == "next"
    assert main.shown() == sorted([LESSON, TRUNK])


def test_what_two_branches_learned_waits_on_neither(main, tmp_path):
    one = main.worktree(tmp_path / "one", "-b", "one")
    two = main.worktree(tmp_path / "two", "-b", "two")
    one.learn(LESSON)
    row = two.learn(LESSON)

    assert row.source_branch is None


def test_a_detached_head_shows_what_is_in_its_tree_and_learns_for_everybody(main):
    main.switch("-b", "topic")
    main.learn(LESSON)
    main.commit()
    main.switch("main")
    main.switch("--detach")
    assert main.shown() == [TRUNK]

    main.switch("--detach", "topic")
    assert main.shown() == sorted([LESSON, TRUNK])
    assert main.learn("dates are in UTC").source_branch is None


def work(worktree):
    """What a worker does at one moment."""
    now = worktree.clock()
    with worktree.open(lambda: now) as memories:
        return memories.work()


def test_one_worker_brings_the_files_of_every_worktree_up_to_date(main, tmp_path):
    topic = main.worktree(tmp_path / "topic", "-b", "topic")
    topic.refresh()
    topic.learn(LESSON)
    main.learn("dates are in UTC")
    work(main)

    assert topic.shown() == sorted([LESSON, TRUNK, "dates are in UTC"])
    assert main.shown() == sorted([TRUNK, "dates are in UTC"])


def test_files_are_left_alone_while_git_merges(main, tmp_path):
    (main.root / "code").write_text("one")
    main.git("add", "code")
    main.commit()
    main.git("checkout", "--quiet", "-b", "topic")
    (main.root / "code").write_text("two")
    main.git("commit", "--quiet", "-am", "two")
    main.git("checkout", "--quiet", "main")
    (main.root / "code").write_text("three")
    main.git("commit", "--quiet", "-am", "three")
    work(main)
    main.learn(LESSON)
    main.git("merge", "--quiet", "topic", check=False)
    work(main)
    assert main.shown() == [TRUNK]

    main.git("merge", "--abort")
    main.clock.now += GIT_AT_IT
    work(main)
    assert main.shown() == sorted([LESSON, TRUNK])
