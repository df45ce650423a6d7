"""What is learned on a branch waits there until its line is on the default branch."""

from __future__ import annotations

from datetime import timedelta

import pytest

from ademem.core.memory import Origin, Status, Tier
from ademem.operations import curation, upkeep
from ademem.worker.running import FILES_RETRY
from tests.sync.repository import FOLDER, Worktree, enrolled

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


DISCARDS = pytest.mark.parametrize(
    "discard",
    [
        pytest.param(["stash", "--quiet"], id="stash"),
        pytest.param(["stash", "--quiet", "--include-untracked"], id="stash of all"),
        pytest.param(["checkout", "--quiet", "--", ".ade"], id="checkout of the files"),
        pytest.param(["restore", ".ade"], id="restore"),
        pytest.param(["reset", "--quiet", "--hard"], id="reset"),
        pytest.param(["clean", "--quiet", "--force", ".ade/memory"], id="clean"),
    ],
)


@DISCARDS
def test_what_git_takes_back_before_it_was_committed_is_written_again(main, discard):
    main.switch("-b", "topic")
    row = main.learn(LESSON)
    main.refresh()
    main.git(*discard)
    main.refresh()

    assert main.row(row).live
    assert main.shown() == sorted([LESSON, TRUNK])


@DISCARDS
def test_discarding_what_is_not_committed_neither_archives_nor_restores(main, discard):
    old = main.learn("the queue is a ring")
    main.commit()
    new = main.learn(LESSON)
    with main.open() as memories:
        curation.archive(memories, old.id)
    main.refresh()
    main.git(*discard)
    main.refresh()

    assert (main.row(old).live, main.row(new).live) == (False, True)
    assert main.shown() == sorted([LESSON, TRUNK])
    assert main.refresh().written == ()


def test_a_stash_that_is_popped_archives_nothing_that_was_learned_since(main):
    main.learn("the queue is a ring")
    main.refresh()
    main.git("stash", "--quiet")
    row = main.learn(LESSON)
    main.refresh()
    main.git("checkout", "--quiet", "--", ".ade")
    main.git("stash", "pop", "--quiet")
    main.refresh()

    assert main.row(row).live
    assert main.shown() == sorted([LESSON, "the queue is a ring", TRUNK])


@pytest.mark.parametrize(
    "path", [f"{FOLDER}/MEMORY.md", f"{FOLDER}/gotchas.md", f"{FOLDER}/knowledge.jsonl", FOLDER]
)
def test_a_page_of_an_earlier_commit_is_redrawn(main, path):
    first = main.learn(LESSON)
    main.commit()
    second = main.learn("the queue is a ring")
    main.commit()
    main.git("checkout", "HEAD~1", "--", path)
    main.refresh()

    assert main.row(first).live
    assert main.row(second).live
    assert main.git("diff", "HEAD", "--", FOLDER) == ""


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
        waiting = curation.review(memories)

    assert (left.status, left.source_branch) == (Status.CANDIDATE, "topic")
    assert waiting == [left]
    assert main.shown() == [TRUNK]
    with main.open() as memories:
        curation.promote(memories, row.id)
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
        return upkeep.work(memories)


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
    main.clock.now += FILES_RETRY
    work(main)
    assert main.shown() == sorted([LESSON, TRUNK])


def test_a_branch_merged_at_the_remote_and_deleted_before_the_pull_leaves_no_candidates(
    main, tmp_path
):
    main.git("clone", "--quiet", "--bare", str(main.root), str(tmp_path / "remote.git"))
    main.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    main.switch("-b", "topic")
    row = main.learn(LESSON)
    main.commit()
    main.git("push", "--quiet", "origin", "topic:main")
    main.git("fetch", "--quiet", "origin")
    main.switch("main")
    assert main.row(row).source_branch == "topic"

    main.git("branch", "-D", "topic")
    main.refresh()
    assert main.row(row).source_branch is None


def test_a_branch_that_only_a_remote_still_has_is_not_gone(main, tmp_path):
    main.git("clone", "--quiet", "--bare", str(main.root), str(tmp_path / "remote.git"))
    main.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    main.switch("-b", "topic")
    row = main.learn(LESSON)
    main.commit()
    main.git("push", "--quiet", "origin", "topic")
    main.switch("main")
    main.git("branch", "-D", "topic")
    main.refresh()

    assert main.row(row).source_branch == "topic"
    assert main.row(row).status is Status.PROMOTED


def test_what_a_teammate_learned_on_a_branch_waits_on_it_here_too(main, tmp_path):
    main.switch("-b", "topic")
    row = main.learn(LESSON)
    main.commit()
    main.git("checkout", "--quiet", "main")
    main.git("clone", "--quiet", str(main.root), str(tmp_path / "clone"))
    other = Worktree(tmp_path / "clone", main.clock)
    other.switch("topic")

    assert other.row(row).source_branch == "topic"
    assert other.live()[TRUNK] is None
    other.switch("main")
    assert other.shown() == [TRUNK]
    assert other.dirty() == ""


@pytest.mark.parametrize(
    "arguments", [["topic"], ["--detach", "origin/topic"]], ids=["branch", "commit"]
)
def test_a_fresh_clone_at_a_branch_tells_what_waits_from_what_does_not(main, tmp_path, arguments):
    main.switch("-b", "topic")
    row = main.learn(LESSON)
    main.commit()
    main.git("checkout", "--quiet", "main")
    main.git("clone", "--quiet", str(main.root), str(tmp_path / "clone"))
    other = Worktree(tmp_path / "clone", main.clock)
    other.git("checkout", "--quiet", *arguments)
    other.refresh()

    assert other.row(row).source_branch == "topic"
    assert other.live()[TRUNK] is None
    assert other.shown() == sorted([LESSON, TRUNK])


def test_what_a_person_types_into_a_file_of_a_branch_waits_on_it(main):
    main.switch("-b", "topic")
    page = main.root / ".ade/memory/gotchas.md"
    page.write_text(page.read_text() + f"\n- {LESSON}\n")
    main.refresh()

    assert main.live() == {TRUNK: None, LESSON: "topic"}


def test_a_candidate_without_a_line_is_a_candidate_like_any_when_its_branch_is_gone(main):
    main.switch("-b", "topic")
    row = main.learn(LESSON, origin=Origin(source_type="passive"))
    main.switch("main")
    main.git("branch", "-D", "topic")
    main.refresh()

    assert (main.row(row).status, main.row(row).source_branch) == (Status.CANDIDATE, None)


def test_what_a_person_confirms_elsewhere_than_on_its_branch_is_everybodys(main):
    main.switch("-b", "topic")
    here = main.learn(LESSON, origin=Origin(source_type="passive"))
    there = main.learn("dates are in UTC", origin=Origin(source_type="passive"))
    with main.open() as memories:
        curation.promote(memories, here.id)
    main.switch("main")
    with main.open() as memories:
        curation.promote(memories, there.id)
    main.refresh()

    assert main.live() == {TRUNK: None, LESSON: "topic", "dates are in UTC": None}
    assert main.shown() == sorted([TRUNK, "dates are in UTC"])


@pytest.mark.parametrize(
    ("new", "there"),
    [
        pytest.param(
            "- retries need a limit of three", ["retries need a limit of three"], id="edit"
        ),
        pytest.param("", [], id="deletion"),
    ],
)
def test_a_change_of_what_is_everybodys_holds_in_every_worktree_whatever_becomes_of_the_branch(
    main, tmp_path, new, there
):
    topic = main.worktree(tmp_path / "topic", "-b", "topic")
    topic.refresh()
    page = topic.root / FOLDER / "gotchas.md"
    item = next(line for line in page.read_text().split("\n") if TRUNK in line)
    page.write_text(page.read_text().replace(item, item.replace(f"- {TRUNK}", new) if new else ""))
    taken = topic.refresh().taken
    main.refresh()
    assert topic.shown() == main.shown() == there
    assert set(main.live().values()) <= {None}

    main.git("worktree", "remove", "--force", topic.root)
    main.git("branch", "-D", "topic")
    main.refresh()
    assert main.shown() == there
    with main.open() as memories:
        curation.undo(memories, taken.event)
    main.refresh()
    assert main.shown() == [TRUNK]
    assert main.dirty() in ("", f"M {FOLDER}/knowledge.jsonl")  # the stamps of the later act


def test_what_belongs_to_an_agent_waits_on_no_branch(main):
    main.switch("-b", "topic")

    assert main.learn(LESSON, scope="agent", owner="reviewer").source_branch is None


def test_a_memory_that_did_not_wait_does_not_begin_to_when_it_is_written_again(main):
    main.switch("-b", "topic")

    assert main.learn(f"{TRUNK}!").source_branch is None


def test_where_the_default_branch_has_no_files_nothing_waits(tmp_path):
    main = enrolled(tmp_path / "main")
    main.git("rm", "--quiet", "-r", "--cached", ".ade")
    main.git("commit", "--quiet", "-m", "keep memory to ourselves")
    (main.root / ".gitignore").write_text(".ade\n")
    main.switch("-b", "topic")
    row = main.learn(LESSON)
    main.refresh()
    main.switch("main")

    assert main.row(row).source_branch is None
    assert main.shown() == [LESSON]


def test_the_settings_name_the_default_branch(tmp_path):
    trunk = enrolled(tmp_path / "trunk", branch="trunk")
    trunk.git("branch", "main")
    (trunk.root / ".ade/config.toml").write_text('[mirror]\ndefault_branch = "trunk"\n')

    assert trunk.learn(LESSON).source_branch is None
    trunk.switch("main")
    assert trunk.learn("dates are in UTC").source_branch == "main"


def test_a_submodule_has_branches_of_its_own(main, tmp_path):
    outer = enrolled(tmp_path / "outer")
    outer.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", main.root, "sub")
    outer.switch("-b", "topic")
    inner = Worktree(outer.root / "sub", main.clock)

    assert inner.learn(LESSON).source_branch is None
    inner.git("checkout", "--quiet", "-b", "inside")
    assert inner.learn("dates are in UTC").source_branch == "inside"
    assert outer.live() == {}


def test_worktrees_of_a_bare_repository_share_what_waits(main, tmp_path):
    main.git("clone", "--quiet", "--bare", str(main.root), str(tmp_path / "bare.git"))
    bare = Worktree(tmp_path / "bare.git", main.clock)
    trunk = bare.worktree(tmp_path / "trunk", at="main")
    topic = bare.worktree(tmp_path / "topic", "-b", "topic", at="main")
    trunk.refresh()
    row = topic.learn(LESSON)
    topic.commit()
    trunk.refresh()
    assert (trunk.shown(), trunk.row(row).source_branch) == ([TRUNK], "topic")

    trunk.git("merge", "--quiet", "topic")
    trunk.refresh()
    assert trunk.row(row).source_branch is None
    assert trunk.shown() == sorted([LESSON, TRUNK])


def test_a_package_in_a_repository_has_its_own_files_looked_at(main, tmp_path):
    package = enrolled(main.root / "packages" / "api")
    (package.root / ".git").rename(tmp_path / "no-git")
    main.git("add", "packages")
    main.git("commit", "--quiet", "-m", "package")
    package.git("checkout", "--quiet", "-b", "topic")
    row = package.learn(LESSON)
    package.commit()
    package.git("checkout", "--quiet", "main")
    package.refresh()
    assert (package.shown(), package.row(row).source_branch) == ([], "topic")

    package.git("merge", "--quiet", "topic")
    package.refresh()
    assert package.row(row).source_branch is None


def test_without_the_git_program_nothing_moves_until_it_is_there(main, monkeypatch, tmp_path):
    main.switch("-b", "topic")
    row = main.learn(LESSON)
    main.commit()
    main.git("checkout", "--quiet", "main")
    main.git("branch", "-D", "topic")
    with monkeypatch.context() as without:
        without.setenv("PATH", str(tmp_path))
        main.refresh()
        assert main.shown() == [TRUNK]
        assert main.row(row).source_branch == "topic"
        assert main.row(row).status is Status.PROMOTED

    main.refresh()
    assert main.row(row).has_lost_branch


def test_a_typed_change_beside_a_switch_deletes_nothing_that_the_switch_took_away(main):
    main.switch("-b", "topic")
    row = main.learn(LESSON)
    main.refresh()
    main.git("commit", "--quiet", "-am", "memory")
    main.git("checkout", "--quiet", "main")
    page = main.root / ".ade/memory/gotchas.md"
    page.write_text(page.read_text() + "\n- dates are in UTC\n")
    main.refresh()

    assert main.row(row).live
    assert main.shown() == sorted([TRUNK, "dates are in UTC"])


def test_an_entry_that_was_deleted_before_a_branch_was_begun_is_deleted(main):
    main.refresh()
    page = main.root / ".ade/memory/gotchas.md"
    page.write_text("\n".join(line for line in page.read_text().split("\n") if TRUNK not in line))
    main.switch("-b", "topic")

    assert main.live() == {}


def test_nothing_is_given_up_while_git_cannot_read_every_branch(main):
    main.switch("-b", "topic")
    row = main.learn(LESSON)
    main.commit()
    main.switch("main")
    main.git("branch", "-D", "topic")
    broken = main.root / ".git/refs/heads/broken"
    broken.write_text(f"{'1' * 40}\n")
    main.refresh()
    assert main.row(row).status is Status.PROMOTED

    broken.unlink()
    main.refresh()
    assert main.row(row).has_lost_branch


def test_a_newer_line_that_comes_with_another_branch_does_not_move_what_waits(main, tmp_path):
    main.switch("-b", "topic")
    row = main.learn(LESSON)
    main.commit()
    main.switch("-b", "next")
    main.git("clone", "--quiet", str(main.root), str(tmp_path / "clone"))
    other = Worktree(tmp_path / "clone", main.clock)
    other.refresh()
    with other.open() as memories:
        curation.edit(memories, row.id, content="the cache is thread safe since 2.0")
    other.commit()
    main.git("pull", "--quiet", str(other.root), "next")
    main.refresh()

    assert main.row(row).content == "the cache is thread safe since 2.0"
    assert main.row(row).source_branch == "topic"


def test_a_clone_that_was_not_used_for_long_archives_nothing_that_its_colleagues_may_use(main):
    row = main.learn(LESSON)
    main.commit()
    main.clock.now += timedelta(days=400)
    with main.open() as memories:
        plan = upkeep.sweep(memories, dry_run=True)
        swept = upkeep.sweep(memories)

    assert plan.archived == swept.archived == 0
    assert (main.row(row).live, main.row(row).tier) == (True, Tier.FADING)
