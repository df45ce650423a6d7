"""A proposal is a commit on a branch of its own, and nothing else moves."""

from __future__ import annotations

import os
import subprocess

import pytest

from ademem.core.errors import AdememError
from ademem.core.memory import Status
from ademem.files import review_sheet
from ademem.sync import proposal
from tests.builders import insert, memory, open_project, opened, project

SHEET = ".ade/memory/candidates.md"
ROW = memory("the cache is not thread safe", status=Status.CANDIDATE, promoted_at=None)


class Repository:
    def __init__(self, root, project_root):
        self.root = root
        self.project = project(project_root)
        self.store = open_project(project_root)

    def git(self, *arguments):
        ran = subprocess.run(
            ["git", *arguments], cwd=self.root, capture_output=True, text=True, check=True
        )
        return ran.stdout.strip()

    def propose(self, *branch, **flags):
        return proposal.propose(opened(self.project, self.store), *branch, **flags)

    def state(self):
        """All that a person has under their hands."""
        index = self.root / ".git/index"
        files = [path for path in self.root.rglob("*") if path.is_file()]
        own = [path for path in files if ".git" not in path.parts and "ade.db" not in path.name]
        return (
            index.read_bytes() if index.exists() else b"",
            (self.root / ".git/HEAD").read_text(),
            self.git("rev-parse", "HEAD"),
            {path: path.read_bytes() for path in own},
        )


@pytest.fixture
def alone(tmp_path, monkeypatch):
    """Nobody's settings of git but those given here."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))


@pytest.fixture
def made(alone, tmp_path):
    made = []

    def make(inside="", *, commit=True):
        root = tmp_path / "work"
        (root / inside).mkdir(parents=True)
        made.append(Repository(root, root / inside))
        made[0].git("init", "--quiet", "--initial-branch=main")
        made[0].git("config", "user.name", "Ada")
        made[0].git("config", "user.email", "ada@example.org")
        if commit:
            (root / "a.txt").write_text("a\n")
            made[0].git("add", "a.txt")
            made[0].git("commit", "--quiet", "-m", "first")
        return made[0]

    yield make
    made[0].store.close()


@pytest.fixture
def repository(made):
    return made()


def test_the_sheet_is_committed_upon_head_and_nothing_the_person_has_moves(repository):
    insert(repository.store, ROW)
    (repository.root / "a.txt").write_text("edited\n")
    (repository.root / "staged.txt").write_text("s\n")
    repository.git("add", "staged.txt")
    before = repository.state()
    proposed = repository.propose()

    assert repository.state() == before
    assert repository.git("rev-parse", "ademem/candidates^") == repository.git("rev-parse", "main")
    assert proposed.commit == repository.git("rev-parse", "ademem/candidates")
    assert repository.git("diff", "--name-only", "main", "ademem/candidates") == SHEET
    assert repository.git("show", f"ademem/candidates:{SHEET}") + "\n" == proposed.text
    assert review_sheet.parse_sheet(proposed.text).offered == (ROW.id,)
    assert repository.git("log", "-1", "--format=%s", proposed.branch) == (
        "Propose 1 candidate of project memory"
    )


def test_a_project_inside_a_repository_has_its_sheet_inside(made):
    repository = made("services/billing")
    insert(repository.store, ROW)
    repository.propose("review")

    changed = repository.git("diff", "--name-only", "main", "review")
    assert changed == f"services/billing/{SHEET}"


def test_a_dry_run_writes_nothing_at_all(repository):
    insert(repository.store, ROW)
    count = repository.git("count-objects", "-v")
    proposed = repository.propose(dry_run=True)

    assert proposed.commit is None
    assert ROW.content in proposed.text
    assert repository.git("count-objects", "-v") == count
    assert repository.git("branch", "--list") == "* main"


def test_no_candidate_is_no_proposal(repository):
    insert(repository.store, memory("confirmed"), memory("held", quarantine_reason="gives a role"))

    with pytest.raises(AdememError, match="no candidate waits"):
        repository.propose()


def test_a_branch_that_exists_stays_as_it_is(repository):
    insert(repository.store, ROW)
    first = repository.propose().commit
    insert(repository.store, memory("another", status=Status.CANDIDATE))

    with pytest.raises(AdememError, match="the branch ademem/candidates exists") as refused:
        repository.propose()
    assert "--branch" in refused.value.hint
    assert repository.git("rev-parse", "ademem/candidates") == first


def test_what_head_offers_already_is_not_proposed_again(repository):
    insert(repository.store, ROW)
    repository.propose()
    repository.git("merge", "--quiet", "--ff-only", "ademem/candidates")

    with pytest.raises(AdememError, match="HEAD has this sheet already"):
        repository.propose("again")


def test_a_name_that_git_does_not_allow_is_reported(repository):
    insert(repository.store, ROW)

    with pytest.raises(AdememError, match=r"no branch named 'a\.\.b'"):
        repository.propose("a..b")


def test_a_repository_without_a_commit_is_reported(made):
    repository = made(commit=False)
    insert(repository.store, ROW)

    with pytest.raises(AdememError, match="no commit to build upon"):
        repository.propose()


def test_somebody_whom_git_does_not_know_is_reported(repository):
    insert(repository.store, ROW)
    repository.git("config", "--unset", "user.email")
    repository.git("config", "user.useConfigOnly", "true")

    with pytest.raises(AdememError, match="git commit-tree: "):
        repository.propose()
    assert repository.git("branch", "--list") == "* main"


def test_a_folder_without_git_is_reported(alone, tmp_path):
    store = open_project(tmp_path)
    insert(store, ROW)

    with pytest.raises(AdememError, match="is in no git repository"):
        proposal.propose(opened(project(tmp_path), store))
    store.close()


def test_a_machine_without_git_is_reported(repository, monkeypatch, tmp_path):
    insert(repository.store, ROW)
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(AdememError, match="git is not installed"):
        repository.propose()
