"""After a merge nothing is left to commit, as long as nobody learns something."""

from __future__ import annotations

import shutil
from datetime import timedelta

import pytest

from ademem import operations
from ademem.core import clock
from ademem.core.settings import GateSettings
from ademem.files import enrolment
from ademem.operations import searching
from ademem.store import memories, transitions
from ademem.store.transitions import Act
from ademem.sync.checks import check
from tests.builders import NOW
from tests.sync.clone import FACTS, FOLDER, GOTCHAS, LINES, fork, gotcha, with_driver
from tests.sync.repository import git

INDEX = f"{FOLDER}/MEMORY.md"
NOT_SAFE = "the cache is not thread safe"


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


@pytest.mark.parametrize("act", [operations.init, operations.open_memories])
def test_a_new_clone_of_a_merge_has_nothing_to_commit(merged, tmp_path_factory, act):
    root = tmp_path_factory.mktemp("new") / "clone"
    merged[0].git("clone", "--quiet", str(merged[0].root), str(root))
    act(str(root), environment={"HOME": str(root), "PATH": "/usr/bin:/bin"})
    with operations.open_memories(str(root), environment={"HOME": str(root)}) as memories:
        found = [memory.content for memory in searching.list_memories(memories)]

    assert {"Alpha is a server", "Beta is a cache"} <= {*found}
    assert git(root, "status", "--porcelain", FOLDER) == ""


def test_a_merge_that_stopped_without_our_driver_is_settled_as_the_check_says(
    repository, tmp_path_factory
):
    (repository.root / ".ade/.gitattributes").write_text(enrolment.MERGED)
    repository.refresh()
    repository.git("add", "-A", ".ade/.gitattributes")
    repository.commit()
    other = fork(repository, tmp_path_factory.mktemp("other") / "clone")
    for clone, text in ((repository, "Alpha is a server"), (other, "Beta is a cache")):
        clone.know(text, category="fact")
        clone.refresh()
        clone.commit()
    pulled = ("pull", "--quiet", "--no-edit", "--no-rebase", str(repository.root), "main")
    other.git(*pulled, check=False)

    def told():
        found = check(other.project, other.store, other.settings.mirror)
        return next(one.message.partition("; ")[2] for one in found if one.path == FACTS)

    assert told().startswith("`ademem init`, then `git checkout -m -- .ade`, then")
    with_driver(other)
    assert told().startswith("`git checkout -m -- .ade`, then")

    other.git("checkout", "-m", "--", ".ade")
    other.commit("merge")
    other.refresh()
    assert other.live() == ["Alpha is a server", "Beta is a cache"]
    assert check(other.project, other.store, other.settings.mirror) == ()


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


def test_pages_that_a_formatter_committed_stay_as_it_left_them(repository):
    gotcha(repository, "Alpha is a server\nof two parts")
    gotcha(repository, "Beta is a cache", tags=("cache",))
    repository.refresh()
    for path in (INDEX, GOTCHAS):
        text = repository.read(path).replace("\n- ", "\n* ").replace("\n\n* ", "\n* ")
        repository.write(path, text)
    repository.commit()

    assert repository.refresh(lazily=True).written == ()
    assert GOTCHAS in repository.refresh().written


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


@pytest.fixture
def on_the_web(repository, tmp_path_factory, monkeypatch):
    """Two clones that pulled what a colleague without ademem committed, by what they changed."""
    monkeypatch.setenv("GIT_COMMITTER_DATE", NOW.isoformat())
    with_driver(repository)
    gotcha(repository)
    repository.refresh()
    commit(repository)
    other, web = (
        fork(repository, tmp_path_factory.mktemp(name) / "clone") for name in ("other", "web")
    )
    other.refresh()

    def pulled(old, new):
        web.edit(GOTCHAS, old, new)
        web.commit("from the web")
        for clone in (repository, other):
            clone.git("pull", "--quiet", "--no-edit", "--no-rebase", str(web.root), "main")
            clone.refresh()
        return repository, other

    yield pulled
    other.store.close()
    web.store.close()


CHANGES_ON_THE_WEB = pytest.mark.parametrize(
    ("old", "new", "live"),
    [
        pytest.param("is not", "is", "the cache is thread safe", id="an edit"),
        pytest.param(
            "- the cache",
            "- Alpha is a server\n\n- the cache",
            "Alpha is a server",
            id="a new entry",
        ),
    ],
)


@CHANGES_ON_THE_WEB
def test_each_clone_writes_the_same_of_a_change_that_a_commit_brought(on_the_web, old, new, live):
    mine, theirs = on_the_web(old, new)

    assert live in mine.live()
    assert mine.read(LINES) == theirs.read(LINES)


@CHANGES_ON_THE_WEB
def test_a_later_edit_of_it_in_one_clone_contradicts_nobody(on_the_web, old, new, live):
    mine, theirs = on_the_web(old, new)
    (row,) = memories.find(theirs.store, "content = :live", live=live)
    act = Act(store=theirs.store, now=theirs.tick())
    transitions.edit(row.id, act, GateSettings(), content="Beta is another server")
    theirs.refresh()
    for clone in (mine, theirs):
        commit(clone)
    with_driver(mine)
    mine.git("pull", "--quiet", "--no-edit", "--no-rebase", str(theirs.root), "main")
    mine.refresh()

    assert "Beta is another server" in mine.live()
    assert live not in mine.live()
    assert not memories.find(mine.store, "status = 'candidate'")


@pytest.mark.parametrize("seconds", ["9" * 23, "999999999999", "0", "x", ""])
def test_a_forged_date_of_a_commit_is_no_obstacle(repository, seconds):
    row = gotcha(repository)
    repository.refresh()
    base = repository.commit()
    repository.edit(GOTCHAS, "is not", "is")
    tree = repository.git("rev-parse", f"{repository.commit()}^{{tree}}")
    forged = repository.root / ".git/forged"
    head = f"tree {tree}\nparent {base}\nauthor a <b> 0 +0000"
    forged.write_text(f"{head}\ncommitter a <b> {seconds} +0000\n\nedit\n")
    made = repository.git("hash-object", "-t", "commit", "-w", "--literally", str(forged))
    repository.git("reset", "--quiet", "--hard", made)

    assert repository.taken().count == 1
    assert repository.get(row).content == "the cache is thread safe"
    assert repository.refresh().written == ()


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
        "was changed by hand or by git; `ademem files import` takes it over"
    }
    theirs.refresh(lazily=True)
    assert check(theirs.project, theirs.store, theirs.settings.mirror) == ()


@pytest.fixture
def moved_on(repository):
    """A default branch that has changed its memories since another one began."""
    with_driver(repository)
    edited, archived = gotcha(repository), gotcha(repository, "Retries need a limit")
    repository.refresh()
    commit(repository)
    repository.git("branch", "old")
    repository.know("Alpha is a server", category="fact")
    act = Act(store=repository.store, now=repository.tick())
    transitions.edit(edited.id, act, GateSettings(), content="the cache is thread safe by now")
    transitions.archive(archived.id, act)
    repository.refresh()
    commit(repository)
    return repository


@pytest.mark.parametrize("where", [["old"], ["--detach", "old"]], ids=" ".join)
def test_what_the_default_branch_says_is_not_written_elsewhere_before_something_is_learned(
    moved_on, where
):
    moved_on.git("switch", "--quiet", *where)
    for _ in range(2):
        assert moved_on.refresh(lazily=True).written == ()
    assert check(moved_on.project, moved_on.store, moved_on.settings.mirror) == ()
    assert moved_on.git("status", "--porcelain", ".ade/memory", ".ade/cto") == ""
    moved_on.git("switch", "--quiet", "main")
    assert moved_on.refresh().written == ()
    assert moved_on.live() == ["Alpha is a server", "the cache is thread safe by now"]

    moved_on.git("switch", "--quiet", *where)
    moved_on.know("Beta is a cache", category="fact")
    assert FACTS in moved_on.refresh(lazily=True).written
    assert "Alpha" in moved_on.read(FACTS)


def test_an_edit_that_the_default_branch_lacks_is_written_elsewhere_at_once(moved_on):
    moved_on.git("switch", "--quiet", "old")
    moved_on.refresh(lazily=True)
    act = Act(store=moved_on.store, now=moved_on.tick())
    (edited,) = memories.find(moved_on.store, "content like 'the cache%'")
    transitions.edit(edited.id, act, GateSettings(), content="the cache is gone")

    assert GOTCHAS in moved_on.refresh(lazily=True).written
    assert "the cache is gone" in moved_on.read(GOTCHAS)


@pytest.mark.parametrize("is_committed", [True, False])
def test_files_that_git_rm_removed_stay_away_until_something_is_learned(repository, is_committed):
    row = gotcha(repository)
    repository.refresh()
    repository.commit()
    repository.git("rm", "-r", "--quiet", ".ade")
    if is_committed:
        repository.git("commit", "--quiet", "-m", "without memory")

    for _ in range(2):
        assert repository.refresh(lazily=True).written == ()
    assert not (repository.root / FOLDER).exists()
    assert repository.get(row).live

    repository.now = clock.now() + timedelta(days=1)
    gotcha(repository, "Gamma needs a restart")
    assert {GOTCHAS, INDEX} <= {*repository.refresh(lazily=True).written}
    assert row.id in repository.read(GOTCHAS)


def test_files_that_git_rm_removed_are_written_on_request(repository):
    gotcha(repository)
    repository.refresh()
    repository.commit()
    repository.git("rm", "-r", "--quiet", ".ade")

    assert GOTCHAS in repository.refresh().written


@pytest.fixture
def mate(repository, tmp_path_factory):
    """A colleague's clone, whose page of pitfalls `git rm` has removed."""
    with_driver(repository)
    gotcha(repository)
    repository.know("Alpha is a server", category="fact")
    repository.refresh()
    commit(repository)
    other = fork(repository, tmp_path_factory.mktemp("mate") / "clone")
    with_driver(other)
    other.refresh()
    other.git("rm", "--quiet", GOTCHAS)
    other.git("commit", "--quiet", "-m", "without the page")
    yield other
    other.store.close()


def pull(clone, other):
    clone.tick()
    clone.git("pull", "--quiet", "--ff-only", str(other.root), "main")
    return clone.refresh(lazily=True)


def test_a_page_that_a_colleague_removed_comes_back_by_a_pull(repository, mate):
    assert GOTCHAS not in pull(repository, mate).written
    repository.know("Beta is a cache", category="fact")
    assert GOTCHAS not in repository.refresh(lazily=True).written
    assert check(repository.project, repository.store, repository.settings.mirror) == ()
    repository.commit()
    mate.git("revert", "--no-edit", "HEAD")
    mate.git("pull", "--quiet", "--no-edit", "--no-rebase", str(repository.root), "main")

    report = pull(repository, mate)
    assert (report.written, report.taken.count) == ((), 0)
    assert repository.live() == ["Alpha is a server", "Beta is a cache", NOT_SAFE]
    assert NOT_SAFE in repository.read(GOTCHAS)


def test_a_page_that_a_colleague_removed_stays_away_in_a_new_clone(mate, tmp_path):
    new = fork(mate, tmp_path / "new")
    assert GOTCHAS not in new.refresh(lazily=True).written
    assert NOT_SAFE in new.live()
    assert GOTCHAS in new.refresh().written
    new.store.close()


def test_a_page_that_git_rm_removed_is_written_with_the_first_news_for_it(repository, mate):
    (row,) = memories.find(repository.store, "category = 'gotcha'")
    pull(repository, mate)
    act = Act(store=repository.store, now=repository.tick())
    transitions.edit(row.id, act, GateSettings(), content="the cache is gone")

    assert GOTCHAS in repository.refresh(lazily=True).written
    assert "the cache is gone" in repository.read(GOTCHAS)


def test_files_that_were_deleted_without_git_are_written_again(repository):
    gotcha(repository)
    repository.refresh()
    repository.commit()
    shutil.rmtree(repository.root / FOLDER)

    assert GOTCHAS in repository.refresh(lazily=True).written
