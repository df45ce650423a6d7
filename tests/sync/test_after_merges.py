"""After a merge nothing is left to commit, as long as nobody learns something."""

from __future__ import annotations

import pytest

from ademem.files import enrolment
from ademem.sync.checks import check
from tests.sync.clone import FOLDER, fork, gotcha, with_driver

INDEX = f"{FOLDER}/MEMORY.md"


def commit(clone):
    clone.git("add", "-A", ".ade/cto", ".ade/.gitattributes")
    clone.commit()


@pytest.fixture
def merged(repository, tmp_path_factory):
    """Two clones that have the same merge of what both learned, and the one that made it first."""
    with_driver(repository)
    gotcha(repository)
    repository.refresh()
    commit(repository)
    other = fork(repository, tmp_path_factory.mktemp("other") / "clone")
    with_driver(other)
    other.refresh()
    other.tick()
    for clone, text in ((repository, "Alpha is a server"), (other, "Beta is a cache")):
        clone.know(text, category="fact")
        clone.refresh()
        commit(clone)
    other.git("pull", "--quiet", "--no-edit", "--no-rebase", str(repository.root), "main")
    repository.git("pull", "--quiet", "--no-edit", "--no-rebase", str(other.root), "main")
    yield repository, other
    other.store.close()


def test_a_merge_leaves_nothing_to_commit_in_any_clone(merged):
    for clone in merged:
        assert clone.refresh(lazily=True).written == ()
        assert clone.refresh(lazily=True).taken.count == 0
        assert clone.live()[:2] == ["Alpha is a server", "Beta is a cache"]
        assert clone.git("status", "--porcelain", FOLDER) == ""
        assert check(clone.project, clone.store, clone.settings.mirror) == ()
        clone.git("commit", "--quiet", "--allow-empty", "-m", "something else")
        assert check(clone.project, clone.store, clone.settings.mirror) == ()
    assert "Alpha" not in merged[0].read(INDEX)


def test_what_waits_after_a_merge_is_written_with_the_next_memory_or_on_request(merged):
    mine, theirs = merged
    mine.refresh(lazily=True)
    theirs.refresh(lazily=True)
    gotcha(mine, "Gamma needs a restart")
    assert INDEX in mine.refresh(lazily=True).written
    assert INDEX in theirs.refresh().written

    for clone in merged:
        index = clone.read(INDEX)
        assert all(text in index for text in ("Alpha", "Beta"))
        assert clone.refresh().written == ()


def test_an_index_with_changes_of_its_own_does_not_wait(merged):
    clone = merged[0]
    clone.refresh(lazily=True)
    clone.write(INDEX, clone.git("show", f"HEAD~2:{INDEX}") + "\n")
    assert INDEX in clone.refresh(lazily=True).written


def test_an_index_with_a_conflict_of_git_does_not_wait(merged):
    clone = merged[0]
    clone.refresh(lazily=True)
    clone.write(INDEX, "<<<<<<< HEAD\n" + clone.read(INDEX) + "=======\n>>>>>>> topic\n")
    clone.commit()
    assert INDEX in clone.refresh(lazily=True).written
    assert "<<<<<<<" not in clone.read(INDEX)


def test_line_ends_that_git_chose_are_no_edit(repository):
    with_driver(repository)
    gotcha(repository)
    repository.refresh()
    repository.git("config", "core.autocrlf", "true")
    commit(repository)
    for path in repository.git("ls-files", ".ade/memory").splitlines():
        repository.write(path, repository.read(path).replace("\n", "\r\n"))

    assert repository.refresh().kept == ()
    assert repository.git("status", "--porcelain", ".ade/memory") == ""


def test_an_index_with_the_line_ends_of_git_is_updated_in_a_fresh_clone(
    repository, tmp_path_factory
):
    with_driver(repository)
    gotcha(repository)
    repository.refresh()
    commit(repository)
    other = fork(repository, tmp_path_factory.mktemp("other") / "clone")
    other.write(INDEX, other.read(INDEX).replace("\n", "\r\n"))
    other.know("Beta is a cache", category="fact")

    assert INDEX in other.refresh().written
    assert "Beta" in other.read(INDEX)
    other.store.close()


def test_git_checks_files_out_with_the_line_ends_that_ademem_writes(repository, tmp_path_factory):
    enrolment.enrol(repository.project, "ademem")
    gotcha(repository)
    repository.refresh()
    commit(repository)
    other = tmp_path_factory.mktemp("other") / "clone"
    repository.git("clone", "--quiet", "--config", "core.autocrlf=true", repository.root, other)

    assert (other / INDEX).read_bytes() == (repository.root / INDEX).read_bytes()


def test_what_a_pull_brought_is_to_be_imported_and_no_other_fault(merged, tmp_path_factory):
    mine, theirs = merged
    mine.refresh(lazily=True)
    theirs.refresh(lazily=True)
    mine.know("Gamma is a queue", category="fact")
    mine.refresh()
    commit(mine)
    theirs.git("pull", "--quiet", "--ff-only", str(mine.root), "main")

    found = check(theirs.project, theirs.store, theirs.settings.mirror)
    assert {problem.message for problem in found if not problem.passes} == {
        "was edited by hand; `ademem files import` takes it over"
    }
    theirs.refresh(lazily=True)
    assert check(theirs.project, theirs.store, theirs.settings.mirror) == ()
