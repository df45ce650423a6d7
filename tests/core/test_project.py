"""Which project is meant, and where its database is."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from ademem.core.errors import NotEnrolled
from ademem.core.project import Ambiguous, Project, at, enclosing, find
from ademem.core.repository import branch, common_dir, git_root


@pytest.fixture
def tree(tmp_path):
    """Make these folders and hand back the one they are in."""

    def tree(*folders):
        for folder in folders:
            (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        return tmp_path

    return tree


@pytest.fixture
def git(tmp_path, monkeypatch):
    """Run git here, untouched by whose machine this is."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "Ann",
        "GIT_AUTHOR_EMAIL": "ann@example.org",
        "GIT_COMMITTER_NAME": "Ann",
        "GIT_COMMITTER_EMAIL": "ann@example.org",
    }

    def git(*arguments, cwd=tmp_path):
        subprocess.run(
            ["git", "-c", "protocol.file.allow=always", *map(str, arguments)],
            cwd=cwd,
            env=environment,
            check=True,
            capture_output=True,
        )

    return git


@pytest.fixture
def repository(git, tmp_path):
    """`main`, a repository with one commit in which `.ade/` is tracked, also that of a package."""
    root = tmp_path / "main"
    for folder in (root / ".ade", root / "packages" / "api" / ".ade"):
        folder.mkdir(parents=True)
        (folder / "config.toml").touch()
    git("init", "-q", "-b", "main", root)
    git("add", ".", cwd=root)
    git("commit", "-q", "-m", "start", cwd=root)
    return root


def roots(start=None, cwd=".", **environment):
    return find(start, environment, str(cwd)).root


@pytest.mark.parametrize(
    ("folders", "cwd", "expected"),
    [
        pytest.param(["a/.ade"], "a", "a", id="here"),
        pytest.param(["a/.ade", "a/b/c"], "a/b/c", "a", id="above"),
        pytest.param(["a/.ade", "a/b/.ade", "a/b/c"], "a/b/c", "a/b", id="the nearest above"),
        pytest.param(["a/.git", "a/.ade", "a/b"], "a/b", "a", id="at the git root"),
        pytest.param(["a/.git", "a/b/.ade"], "a/b", "a/b", id="below the git root"),
        pytest.param(["a/.git", "a/..b/.ade"], "a/..b", "a/..b", id="a name that begins with dots"),
        pytest.param(["a/b/.ade"], "a", "a/b", id="the only child"),
        pytest.param(["a/.git", "a/b/.ade", "a/c"], "a", "a/b", id="the only child of a git root"),
    ],
)
def test_the_project_is_the_nearest_enrolled_folder(tree, folders, cwd, expected):
    root = tree(*folders)

    assert roots(cwd=root / cwd) == str(root / expected)


@pytest.mark.parametrize(
    ("folders", "cwd"),
    [
        pytest.param(["a/b"], "a/b", id="nothing enrolled"),
        pytest.param(["a/.ade", "a/b/.git"], "a/b", id="only above the git root"),
        pytest.param(["a/.ade", "a/b/.git", "a/b/c"], "a/b/c", id="above the git root, from below"),
        pytest.param(["a", "b/.ade"], "a", id="a sibling"),
        pytest.param(["a/b/c/.ade"], "a", id="a grandchild"),
        pytest.param([], "missing", id="no such folder"),
    ],
)
def test_what_is_not_enrolled_is_reported(tree, folders, cwd):
    root = tree(*folders)

    with pytest.raises(NotEnrolled, match=cwd) as refusal:
        roots(cwd=root / cwd)
    assert "ademem init" in refusal.value.hint


def test_a_file_called_ade_enrols_nothing(tree):
    root = tree("a/b")
    (root / "a" / ".ade").touch()

    with pytest.raises(NotEnrolled):
        roots(cwd=root / "a" / "b")


@pytest.mark.parametrize(
    ("start", "environment", "expected"),
    [
        pytest.param("a", {"ADEMEM_PROJECT": "b", "CLAUDE_PROJECT_DIR": "c"}, "a", id="told"),
        pytest.param(None, {"ADEMEM_PROJECT": "b", "CLAUDE_PROJECT_DIR": "c"}, "b", id="ours"),
        pytest.param(None, {"CLAUDE_PROJECT_DIR": "c"}, "c", id="the client's"),
        pytest.param(None, {"ADEMEM_PROJECT": "", "CLAUDE_PROJECT_DIR": ""}, "here", id="blank"),
        pytest.param(None, {}, "here", id="none"),
    ],
)
def test_the_first_that_names_the_project_counts(tree, start, environment, expected):
    """Row E23 of finding the project."""

    root = tree("a/.ade", "b/.ade", "c/.ade", "here/.ade")
    named = {name: value and str(root / value) for name, value in environment.items()}

    assert roots(start and str(root / start), cwd=root / "here", **named) == str(root / expected)


@pytest.mark.parametrize("named", ["a/b", "../here/a/b", "./a/"])
def test_a_named_folder_is_seen_from_here_and_may_lie_in_the_project(tree, named):
    root = tree("here/a/.ade", "here/a/b")

    assert roots(named, cwd=root / "here") == str(root / "here" / "a")


def test_a_named_folder_is_meant_and_not_its_children(tree):
    root = tree("a/b/.ade")

    with pytest.raises(NotEnrolled):
        roots(str(root / "a"))


def test_of_several_children_none_is_guessed(tree):
    """Row E23 of finding the project."""

    root = tree("a/c/.ade", "a/b/.ade", "a/d")

    with pytest.raises(Ambiguous) as refusal:
        roots(cwd=root / "a")
    assert refusal.value.candidates == (str(root / "a" / "b"), str(root / "a" / "c"))
    assert "--project" in refusal.value.hint


def test_a_link_to_a_child_is_no_second_child(tree):
    root = tree("a/b/.ade")
    (root / "a" / "link").symlink_to("b")

    assert roots(cwd=root / "a") == str(root / "a" / "b")


def test_a_project_reached_through_a_link_is_the_same_project(tree):
    root = tree("real/.ade", "real/b")
    (root / "link").symlink_to("real")

    assert find(None, {}, str(root / "link" / "b")) == find(None, {}, str(root / "real"))


def test_paths_of_a_project(tree):
    root = tree("My_Atlas App/.ade") / "My_Atlas App"
    project = at(str(root))

    assert project == Project(root=str(root), home=f"{root}/.ade")
    assert project.database == f"{root}/.ade/ade.db"
    assert project.config == f"{root}/.ade/config.toml"
    assert project.memory == f"{root}/.ade/memory"
    assert (project.run, project.log) == (f"{root}/.ade/run", f"{root}/.ade/log")
    assert project.name == "my-atlas-app"


@pytest.mark.parametrize(
    ("folders", "cwd", "expected"),
    [
        pytest.param(["a/.ade", "a/b"], "a/b", "a", id="the enrolled one"),
        pytest.param(["a/.git", "a/b"], "a/b", "a", id="else the git root"),
        pytest.param(["a/b"], "a/b", "a/b", id="else the folder itself"),
        pytest.param(["a/.ade", "a/b/.git", "a/b/c"], "a/b/c", "a/b", id="never beyond git"),
    ],
)
def test_the_folder_around_a_place(tree, folders, cwd, expected):
    root = tree(*folders)

    assert enclosing(str(root / cwd)) == str(root / expected)


def test_a_linked_worktree_has_its_own_files_and_shares_the_database(git, repository, tmp_path):
    git("worktree", "add", "-q", "-b", "topic", tmp_path / "linked", cwd=repository)
    main, linked = at(str(repository)), find(None, {}, str(tmp_path / "linked"))

    assert linked.root == str(tmp_path / "linked")
    assert linked.memory == str(tmp_path / "linked" / ".ade" / "memory")
    assert linked.database == main.database == str(repository / ".ade" / "ade.db")
    assert linked.name == main.name == "main"


def test_a_package_in_a_linked_worktree_shares_the_packages_database(git, repository, tmp_path):
    git("worktree", "add", "-q", "-b", "topic", tmp_path / "linked", cwd=repository)
    linked = find(None, {}, str(tmp_path / "linked" / "packages" / "api"))

    assert linked.root == str(tmp_path / "linked" / "packages" / "api")
    assert linked.home == at(str(repository / "packages" / "api")).home
    assert linked.name == "api"


def test_a_worktree_inside_the_main_one_is_one_like_any_other(git, repository):
    inside = repository / ".claude" / "worktrees" / "topic"
    git("worktree", "add", "-q", "-b", "topic", inside, cwd=repository)

    assert find(None, {}, str(inside)).root == str(inside)
    assert find(None, {}, str(inside)).home == str(repository / ".ade")


def test_worktrees_of_a_bare_repository_share_a_database_in_it(git, repository, tmp_path):
    bare = tmp_path / "Atlas.git"
    git("clone", "-q", "--bare", repository, bare)
    for name in ("one", "two"):
        git("worktree", "add", "-q", "-b", name, tmp_path / name, cwd=bare)
    one, two = (find(None, {}, str(tmp_path / name)) for name in ("one", "two"))
    package = find(None, {}, str(tmp_path / "two" / "packages" / "api"))

    assert one.home == two.home == str(bare / "ademem")
    assert one.name == two.name == "atlas"
    assert package.home == str(bare / "ademem" / "packages" / "api")
    assert package.name == "api"


def test_a_bare_repository_called_git_counts_as_the_folder_around_it(git, repository, tmp_path):
    git("clone", "-q", "--bare", repository, tmp_path / "atlas" / ".git")
    git("worktree", "add", "-q", "-b", "one", tmp_path / "atlas" / "one", cwd=tmp_path / "atlas")
    one = find(None, {}, str(tmp_path / "atlas" / "one"))

    assert one.home == str(tmp_path / "atlas" / ".ade")
    assert one.name == "atlas"


def test_a_submodule_is_a_project_of_its_own_with_its_worktrees(git, repository, tmp_path):
    outer = tmp_path / "outer"
    (outer / ".ade").mkdir(parents=True)
    git("init", "-q", outer)
    git("submodule", "add", "-q", repository, "sub", cwd=outer)
    before = find(None, {}, str(outer / "sub"))
    git("worktree", "add", "-q", "-b", "topic", tmp_path / "linked", cwd=outer / "sub")
    after, linked = find(None, {}, str(outer / "sub")), find(None, {}, str(tmp_path / "linked"))

    assert before.root == str(outer / "sub")
    assert before.home == after.home == linked.home == str(outer / "sub" / ".ade")
    assert linked.root == str(tmp_path / "linked")


def test_a_git_folder_elsewhere_holds_the_database_of_all_worktrees(git, tmp_path):
    root = tmp_path / "main"
    (root / ".ade").mkdir(parents=True)
    (root / ".ade" / "config.toml").touch()
    git("init", "-q", f"--separate-git-dir={tmp_path / 'store'}", root)
    git("add", ".", cwd=root)
    git("commit", "-q", "-m", "start", cwd=root)
    git("worktree", "add", "-q", "-b", "topic", tmp_path / "linked", cwd=root)

    assert at(str(root)).home == at(str(tmp_path / "linked")).home
    assert at(str(root)).home == str(tmp_path / "store" / "ademem")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("gitdir: /nowhere/.git/worktrees/x\n", id="leads nowhere"),
        pytest.param("what is this", id="says nothing"),
        pytest.param("", id="is empty"),
    ],
)
def test_a_worktree_that_lost_its_repository_keeps_its_database_with_it(tree, text):
    root = tree("a/.ade") / "a"
    (root / ".git").write_text(text)

    assert find(None, {}, str(root)).home == str(root / ".ade")
    assert common_dir(str(root)) is None
    assert branch(str(root)) is None


def link_to_a_worktree(git, theirs, root):
    return f"gitdir: {theirs}/.git/worktrees/their-topic"


def link_to_a_repository(git, theirs, root):
    return f"gitdir: {theirs}/.git"


def link_to_a_bare_repository(git, theirs, root):
    git("clone", "-q", "--bare", theirs, theirs.parent / "bare")
    return f"gitdir: {theirs.parent}/bare"


def own_folder_that_names_their_worktree(git, theirs, root):
    (root / "git").mkdir()
    (root / "git" / "HEAD").write_text("ref: refs/heads/main\n")
    (root / "git" / "config").write_text(f"[core]\n\tworktree = {theirs}\n")
    return "gitdir: git"


def own_folder_that_shares_theirs(git, theirs, root):
    own_folder_that_names_their_worktree(git, theirs, root)
    (root / "git" / "config").unlink()
    (root / "git" / "commondir").write_text(f"{theirs}/.git\n")
    (root / "git" / "gitdir").write_text(f"{root}/.git\n")
    return "gitdir: git"


def own_worktrees_of_a_folder_that_names_theirs(git, theirs, root):
    folder = root / "git" / "worktrees" / "one"
    folder.mkdir(parents=True)
    (folder / "commondir").write_text("../..\n")
    (folder / "gitdir").write_text(f"{root}/.git\n")
    (root / "git" / "config").write_text(f"[core]\n\tworktree = {theirs}\n")
    return "gitdir: git/worktrees/one"


def main_worktree_that_links_to_theirs(git, theirs, root):
    folder = root / "outer" / ".git" / "worktrees" / "one"
    folder.mkdir(parents=True)
    (folder / "commondir").write_text("../..\n")
    (folder / "gitdir").write_text(f"{root}/.git\n")
    (root / "outer" / "packages").symlink_to(theirs / "packages")
    return "gitdir: outer/.git/worktrees/one"


def pipe_for_a_folder(git, theirs, root):
    (root / "git").mkdir()
    for name in ("HEAD", "commondir", "config"):
        os.mkfifo(root / "git" / name)
    return "gitdir: git"


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(make, id=make.__name__.replace("_", " "))
        for make in (
            link_to_a_worktree,
            link_to_a_repository,
            link_to_a_bare_repository,
            own_folder_that_names_their_worktree,
            own_folder_that_shares_theirs,
            own_worktrees_of_a_folder_that_names_theirs,
            main_worktree_that_links_to_theirs,
            pipe_for_a_folder,
        )
    ],
)
@pytest.mark.parametrize("inside", ["", "packages/api"])
def test_a_git_file_out_of_an_archive_leads_to_no_database_of_another_repository(
    git, repository, tmp_path, make, inside
):
    git("worktree", "add", "-q", "-b", "t", tmp_path / "their-topic", cwd=repository)
    root = tmp_path / "unpacked"
    (root / inside / ".ade").mkdir(parents=True)
    (root / ".git").write_text(make(git, repository, root))

    assert at(str(root / inside)).home.startswith(f"{root}/")
    assert find(str(root / inside), {}, "/").home.startswith(f"{root}/")


def test_a_pipe_in_the_place_of_git_keeps_nobody_waiting(tree):
    root = tree("a/.ade") / "a"
    os.mkfifo(root / ".git")

    assert at(str(root)).home == str(root / ".ade")
    assert branch(str(root)) is None


@pytest.mark.parametrize("where", ["main", "linked", "main/packages/api"])
def test_the_branch_is_that_of_the_worktree(git, repository, tmp_path, where):
    git("worktree", "add", "-q", "-b", "topic/one", tmp_path / "linked", cwd=repository)

    assert branch(str(tmp_path / where)) == ("topic/one" if where == "linked" else "main")


def test_a_detached_head_and_a_folder_without_git_have_no_branch(git, repository, tmp_path):
    git("checkout", "-q", "--detach", cwd=repository)

    assert branch(str(repository)) is None
    assert branch(str(tmp_path)) is None
    assert git_root(str(tmp_path)) is None


def test_git_agrees_on_what_worktrees_share(git, repository, tmp_path):
    git("worktree", "add", "-q", "-b", "topic", tmp_path / "linked", cwd=repository)

    assert common_dir(str(tmp_path / "linked")) == common_dir(str(repository))
    assert Path(common_dir(str(repository))) == repository / ".git"


def test_a_worktree_that_does_not_track_the_files_takes_part_all_the_same(git, tmp_path):
    main = tmp_path / "atlas"
    main.mkdir()
    git("init", "-q", cwd=main)
    git("commit", "-q", "--allow-empty", "-m", "start", cwd=main)
    (main / ".ade").mkdir()
    git("worktree", "add", "-q", "-b", "topic", tmp_path / "linked", cwd=main)
    found = find(str(tmp_path / "linked"), {}, "/")

    assert (found.root, found.home) == (str(tmp_path / "linked"), str(main / ".ade"))


def test_a_home_folder_enrols_itself_and_not_all_that_is_in_it(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".ade").mkdir()
    (tmp_path / "notes").mkdir()

    assert find(str(tmp_path), {}, "/").root == str(tmp_path)
    with pytest.raises(NotEnrolled):
        find(str(tmp_path / "notes"), {}, "/")
