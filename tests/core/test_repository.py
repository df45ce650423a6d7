"""What git's own files tell: which branch this is, and which one is everybody's."""

from __future__ import annotations

import pytest

from ademem.core.project import at, worktrees
from ademem.core.repository import branch, default_branch, staging, under_way
from tests.sync.repository import git


@pytest.fixture
def root(tmp_path):
    """A repository with two commits on `main`, and `topic` checked out with one of its own."""
    root = tmp_path / "here"
    root.mkdir()
    git(root, "init", "--quiet", "--initial-branch=main")
    for number in (1, 2):
        (root / "code").write_text(str(number))
        git(root, "add", "code")
        git(root, "commit", "--quiet", "-m", f"{number}")
    git(root, "checkout", "--quiet", "-b", "topic", "main~1")
    (root / "code").write_text("three")
    git(root, "commit", "--quiet", "-am", "3")
    return str(root)


def test_what_is_learned_on_another_branch_waits(root):
    assert (branch(root), default_branch(root), staging(root)) == ("topic", "main", "topic")


@pytest.mark.parametrize(
    "commands",
    [
        pytest.param([["checkout", "-q", "main"]], id="on the default branch"),
        pytest.param([["checkout", "-q", "--detach"]], id="detached"),
        pytest.param([["branch", "-m", "main", "trunk"]], id="no default branch"),
    ],
)
def test_elsewhere_nothing_waits(root, commands):
    for command in commands:
        git(root, *command)

    assert staging(root) is None


def test_without_git_nothing_waits_and_nothing_is_under_way(tmp_path):
    assert (staging(str(tmp_path)), default_branch(str(tmp_path))) == (None, None)
    assert not under_way(str(tmp_path))
    assert worktrees(at(str(tmp_path))) == []


@pytest.mark.parametrize("packed", [False, True], ids=["loose", "packed"])
@pytest.mark.parametrize(
    ("configured", "commands", "expected"),
    [
        pytest.param("", [], "main", id="main"),
        pytest.param("", [["branch", "-m", "main", "master"]], "master", id="master"),
        pytest.param("topic", [], "topic", id="configured"),
        pytest.param("trunk", [], None, id="configured, and not there"),
        pytest.param("x/../main", [], None, id="configured, out of the folder of branches"),
        pytest.param(
            "",
            [
                ["branch", "develop"],
                ["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/develop"],
            ],
            "develop",
            id="as origin says",
        ),
        pytest.param(
            "",
            [
                ["update-ref", "refs/remotes/origin/main", "main"],
                ["branch", "-D", "main"],
            ],
            "main",
            id="only at origin",
        ),
    ],
)
def test_the_default_branch(root, configured, commands, expected, packed):
    for command in commands:
        git(root, *command)
    if packed:
        git(root, "pack-refs", "--all")

    assert default_branch(root, configured) == expected


def test_before_the_first_commit_nothing_waits(tmp_path):
    git(tmp_path, "init", "--quiet", "--initial-branch=whatever")

    assert branch(str(tmp_path)) == "whatever"
    assert staging(str(tmp_path)) is None


def test_while_a_branch_is_rebased_it_is_that_branch(root):
    git(root, "rebase", "main", check=False)

    assert under_way(root)
    assert (branch(root), staging(root)) == ("topic", "topic")
    git(root, "rebase", "--abort")
    assert not under_way(root)


def test_while_a_branch_is_bisected_it_is_that_branch(root):
    for step in (["start"], ["bad"], ["good", "main~1"], ["skip"]):
        git(root, "bisect", *step, check=False)
    git(root, "checkout", "--quiet", "--detach", "main~1")

    assert under_way(root)
    assert branch(root) == "topic"


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(["merge", "main"], id="a merge"),
        pytest.param(["cherry-pick", "main"], id="a cherry-pick"),
        pytest.param(["revert", "main"], id="a revert"),
    ],
)
def test_what_git_did_not_finish_is_under_way(root, command):
    assert not under_way(root)
    git(root, *command, check=False)

    assert under_way(root)
    assert branch(root) == "topic"


def test_each_worktree_knows_the_others(root, tmp_path):
    (tmp_path / "here" / ".ade").mkdir()
    git(root, "worktree", "add", "--quiet", "-b", "one", tmp_path / "one")
    git(root, "worktree", "add", "--quiet", "-b", "two", tmp_path / "two")
    places = {name: at(str(tmp_path / name)) for name in ("here", "one", "two")}

    for name, place in places.items():
        assert worktrees(place) == [places[other] for other in sorted(places) if other != name]


def test_a_worktree_whose_folder_is_gone_is_none(root, tmp_path):
    git(root, "worktree", "add", "--quiet", "-b", "one", tmp_path / "one")
    (tmp_path / "one").rename(tmp_path / "moved")

    assert worktrees(at(root)) == []


def test_a_branch_whose_name_is_no_text_is_nobodys(root, tmp_path):
    head = tmp_path / "here" / ".git" / "HEAD"
    head.write_bytes(b"ref: refs/heads/caf\xe9\n")

    assert branch(root) is None
