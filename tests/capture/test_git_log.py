"""What `git log` says of new commits, whatever history and its people look like."""

import pytest

from ademem.capture import commits
from ademem.core import git
from ademem.core.clock import Deadline, TooLate
from tests.repositories import Repository


def root(repository):
    return str(repository.root)


def test_a_commit_has_its_author_its_times_and_its_files(tmp_path):
    repository = Repository(tmp_path / "r")
    seen = repository.commit("start", "README.md")
    sha = repository.commit("Mend \x1f the login", "src/auth.py", "docs/schön, ja.md", author="Bob")

    (found,) = commits.news(root(repository), sha, [seen], last=seen).commits
    assert (found.sha, found.author, found.subject) == (sha, "Bob", "Mend \x1f the login")
    assert found.files == ("docs/schön, ja.md", "src/auth.py")
    assert str(found.authored) == repository.git("log", "-1", "--format=%at")
    assert str(found.committed) == repository.git("log", "-1", "--format=%ct")


def test_a_merge_brings_the_commits_it_merged_and_no_files(tmp_path):
    repository = Repository(tmp_path / "r")
    seen = repository.commit("start")
    repository.git("checkout", "-q", "-b", "topic")
    topic = repository.commit("on the topic")
    repository.git("checkout", "-q", "main")
    repository.git("merge", "-q", "--no-ff", "-m", "merge", "topic")

    found = commits.news(root(repository), repository.head, [seen], last=seen).commits
    assert [(each.sha, each.files) for each in found] == [
        (repository.head, ()),
        (topic, ("on.txt",)),
    ]


def test_the_newest_commits_come_first(tmp_path):
    repository = Repository(tmp_path / "r")
    made = [repository.commit(f"commit {number}") for number in range(5)]

    found = commits.recent(root(repository), repository.head, 3)
    assert [each.sha for each in found] == made[:1:-1]


def test_what_was_rebased_is_not_new_and_the_rewriting_is_reported(tmp_path):
    repository = Repository(tmp_path / "r")
    repository.commit("base")
    repository.git("checkout", "-q", "-b", "work")
    repository.commit("mine one")
    seen = repository.commit("mine_too too")
    repository.git("checkout", "-q", "main")
    theirs = repository.commit("theirs")
    repository.git("checkout", "-q", "work")
    repository.git("rebase", "-q", "main")

    news = commits.news(root(repository), repository.head, [seen], last=seen)
    assert news.rewritten
    assert [commit.sha for commit in news.commits] == [theirs]


def test_what_was_only_added_to_is_not_rewritten(tmp_path):
    repository = Repository(tmp_path / "r")
    seen = repository.commit("one")
    repository.commit("two")

    assert not commits.news(root(repository), repository.head, [seen], last=seen).rewritten


def test_what_was_brought_in_from_another_branch_is_not_rewritten(tmp_path):
    repository = Repository(tmp_path / "r")
    last = repository.commit("one")
    repository.git("checkout", "-q", "-b", "topic")
    for number in range(3):
        repository.commit(f"topic {number}")

    news = commits.news(root(repository), repository.head, [last, repository.head], last=last)
    assert news == commits.News()


def test_going_back_is_rewriting_without_news(tmp_path):
    repository = Repository(tmp_path / "r")
    repository.commit("one")
    seen = repository.commit("two")
    repository.git("reset", "-q", "--hard", "HEAD~1")

    news = commits.news(root(repository), repository.head, [seen], last=seen)
    assert (news.rewritten, news.commits) == (True, ())


def test_where_what_was_seen_is_gone_for_good_only_later_commits_are_new(tmp_path):
    repository = Repository(tmp_path / "r")
    repository.commit("one")
    repository.commit("two")
    since = int(repository.git("log", "-1", "--format=%ct")) + 1
    late = repository.commit("three")

    news = commits.news(root(repository), late, ["0" * 40], last="0" * 40, since=since)
    assert news.rewritten
    assert [commit.sha for commit in news.commits] == [late]


def test_a_shallow_clone_ends_where_it_was_cut(tmp_path):
    origin = Repository(tmp_path / "origin")
    for number in range(5):
        origin.commit(f"commit {number}")
    origin.git("clone", "-q", "--depth", "2", f"file://{origin.root}", str(tmp_path / "clone"))

    clone = str(tmp_path / "clone")
    assert len(commits.news(clone, origin.head, []).commits) == 2
    assert len(commits.recent(clone, origin.head, 10)) == 2


def test_a_partial_clone_lists_commits_without_fetching_their_files(tmp_path):
    origin = Repository(tmp_path / "origin")
    origin.git("config", "uploadpack.allowFilter", "true")
    for number in range(3):
        origin.commit(f"commit {number}")
    url, clone = f"file://{origin.root}", str(tmp_path / "clone")
    origin.git("clone", "-q", "--no-checkout", "--filter=tree:0", url, clone)

    assert [each.files for each in commits.recent(clone, origin.head, 10)] == [(), (), ()]


@pytest.mark.parametrize("damage", [b"no zlib", b""], ids=["an object", "an empty object"])
def test_what_is_damaged_says_so(tmp_path, damage):
    repository = Repository(tmp_path / "r")
    head = repository.commit("one")
    path = repository.root / ".git/objects" / head[:2] / head[2:]
    path.chmod(0o600)
    path.write_bytes(damage)

    with pytest.raises(commits.GitFailed):
        commits.news(root(repository), head, [])


def test_without_git_there_is_nothing_to_read(tmp_path):
    with pytest.raises(commits.GitFailed):
        commits.recent(str(tmp_path), "0" * 40, 10)


@pytest.mark.parametrize("name", ["HEAD", "refs/heads/main"])
def test_what_is_no_commit_is_no_option_of_git_either(world, tmp_path, name):
    repository = Repository(world.root)
    repository.commit("one")
    victim = tmp_path / "victim"
    with world.memories() as memories:
        place = memories.project
        commits.look(place, memories.store, world.now)
        (repository.root / ".git" / name).write_text(f"--output={victim}\n")

        assert commits.look(place, memories.store, world.now)
        commits.catch_up(place, memories.store, world.now)
    assert not victim.exists()


def test_a_program_that_a_clone_names_is_not_started(tmp_path):
    repository = Repository(tmp_path / "r")
    head = repository.commit("one", "a.txt")
    victim = tmp_path / "victim"
    (repository.root / ".git/info/attributes").write_text("* diff=x\n")
    script = tmp_path / "program"
    script.write_text(f"#!/bin/sh\ntouch {victim}\n")
    script.chmod(0o700)
    for key in ("core.fsmonitor", "diff.x.textconv", "diff.x.command", "gpg.program"):
        repository.git("config", key, str(script))
    repository.git("config", "log.showSignature", "true")
    commits.recent(root(repository), head, 10)
    git.output(root(repository), "status", "--porcelain")
    git.output(root(repository), "log", "-p")
    git.output(root(repository), "show", "HEAD:./a.txt")

    assert not victim.exists()


def test_a_variable_of_git_leads_to_no_other_repository(tmp_path, monkeypatch):
    ours, other = Repository(tmp_path / "ours"), Repository(tmp_path / "other")
    head = ours.commit("ours")
    other.commit("other")
    monkeypatch.setenv("GIT_DIR", f"{other.root}/.git")

    assert git.text(root(ours), "rev-parse", "HEAD").strip() == head


def test_a_run_after_the_deadline_is_too_late(tmp_path):
    ticks = iter([0.0, 2.0, 2.0, 2.0])

    with pytest.raises(TooLate), git.limited(Deadline(lambda: next(ticks), 1.0)):
        git.output(str(tmp_path), "status")
