"""What makes a folder a project, once."""

import subprocess

import pytest

from ademem.core.project import at
from ademem.files import enrolment
from tests.sync.repository import git


def config(root):
    return (root / ".git/config").read_text()


@pytest.fixture
def repository(tmp_path):
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    return tmp_path


def test_git_learns_how_to_merge_the_files_of_memory(repository):
    before = config(repository)
    done = enrolment.enrol(at(str(repository)), "/opt/my tools/ademem")

    assert len(done) == 3
    assert "ademem' merge-file %O %A %B %P" in config(repository)
    attributes = subprocess.run(
        ["git", "-C", str(repository), "check-attr", "merge", ".ade/memory/facts.md", "src/x.md"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert attributes.stdout.splitlines() == [
        ".ade/memory/facts.md: merge: ademem",
        "src/x.md: merge: unspecified",
    ]
    enrolment.leave(at(str(repository)))
    assert config(repository) == before


def test_what_is_there_is_left_as_it_is(repository):
    enrolment.enrol(at(str(repository)), "ademem")
    (repository / ".ade/.gitattributes").write_text("mine\n")

    assert enrolment.enrol(at(str(repository)), "ademem") == []
    assert (repository / ".ade/.gitattributes").read_text() == "mine\n"


def test_a_clone_of_an_enrolled_project_lacks_the_driver_until_it_is_set(repository):
    project = at(str(repository))
    assert enrolment.lacks_driver(project)
    assert enrolment.set_driver(project, "ademem")
    assert not enrolment.lacks_driver(project)
    assert enrolment.set_driver(project, "ademem") == []


def test_a_folder_without_git_needs_no_driver(tmp_path):
    assert not enrolment.lacks_driver(at(str(tmp_path)))
    done = enrolment.enrol(at(str(tmp_path)), "ademem")

    assert [line.rpartition("/")[2] for line in done] == [".gitignore", ".gitattributes"]
    enrolment.leave(at(str(tmp_path)))


def test_a_branch_from_before_gets_no_database(repository):
    git(repository, "commit", "--allow-empty", "-m", "before")
    git(repository, "branch", "older")
    enrolment.enrol(at(str(repository)), "ademem")
    (repository / ".ade/ade.db").write_bytes(b"rows")
    git(repository, "add", "-A")
    git(repository, "commit", "-m", "memory")
    git(repository, "checkout", "older")
    git(repository, "add", "-A")

    assert not (repository / ".ade/.gitignore").exists()
    assert git(repository, "ls-files") == ""


@pytest.mark.parametrize("link", [".git", ".git/info", ".git/info/exclude"])
def test_a_link_in_git_is_not_followed(repository, tmp_path_factory, link):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (repository / link).rename(elsewhere / "moved")
    (repository / link).symlink_to(elsewhere / "moved")
    enrolment.enrol(at(str(repository)), "ademem")
    texts = [path.read_bytes() for path in elsewhere.rglob("*") if path.is_file()]

    assert not any(b"ade.db" in text for text in texts)
    assert (repository / ".ade/.gitignore").exists()


@pytest.mark.parametrize("layout", ["repo.git", "a `.git` that leads to it"])
def test_a_bare_repository_is_not_enrolled_but_its_worktrees(repository, tmp_path_factory, layout):
    git(repository, "commit", "--allow-empty", "-m", "first")
    top = tmp_path_factory.mktemp("top")
    bare = top / "repo.git"
    git(top, "clone", "--bare", repository, bare)
    where = bare
    if layout != "repo.git":
        where = top
        (top / ".git").write_text("gitdir: ./repo.git\n")
    with pytest.raises(enrolment.IsBare) as refused:
        enrolment.enrol(at(str(where)), "ademem")
    assert "git worktree add" in refused.value.hint
    git(bare, "worktree", "add", "-b", "one", top / "one")

    for folder in (where, bare / "refs"):
        with pytest.raises(enrolment.IsBare) as refused:
            enrolment.enrol(at(str(folder)), "ademem")
        assert refused.value.hint == f"`cd {top / 'one'}` first"
        assert not (folder / ".ade").exists()
    enrolment.enrol(at(str(top / "one")), "ademem")
    assert at(str(top / "one")).home == str(bare / "ademem")


def test_what_was_enrolled_in_a_bare_repository_stays_a_project(tmp_path):
    git(tmp_path, "init", "--bare")
    (tmp_path / ".ade").mkdir()

    assert enrolment.enrol(at(str(tmp_path)), "ademem")[0].endswith(".ade/.gitignore")
