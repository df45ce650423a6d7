"""Reading git's objects: the same commits and files as git tells, in every form it keeps them."""

import random
import shutil

import pytest

from ademem.capture.commits import history
from ademem.capture.commits.objects import Damaged, Objects, TooMuch
from tests.repositories import Repository


def objects(repository, most=None):
    return Objects.at(str(repository.root), most)


def grow(repository, rng, count):
    """Commits and merges on a few branches."""
    names = ["main"]
    repository.commit("start", "README.md")
    for number in range(count):
        turn = rng.random()
        if turn < 0.15:
            names.append(f"b{number}")
            repository.git("checkout", "-q", "-b", names[-1])
        elif turn < 0.4:
            repository.git("checkout", "-q", rng.choice(names))
        elif turn < 0.6 and len(names) > 1:
            repository.git("merge", "-q", "-m", f"merge {number}", "-X", "ours", rng.choice(names))
        else:
            folder = rng.choice(["", "src/", "src/deep/er/", "docs/"])
            paths = [f"{folder}{rng.choice('abc')}{number % 3}.txt" for _ in range(2)]
            repository.commit(f"commit {number}", *paths)
    return names


def packed(repository):
    repository.git("gc", "-q", "--aggressive", "--prune=now")


def half_packed(repository):
    repository.git("repack", "-q", "-d")
    repository.commit("after packing", "src/deep/er/z.txt")


def borrowed(repository):
    """A clone that has no objects of its own."""
    bare = repository.root.parent / "lender.git"
    repository.git("clone", "-q", "--bare", str(repository.root), str(bare))
    shutil.rmtree(repository.root / ".git/objects")
    (repository.root / ".git/objects/info").mkdir(parents=True)
    (repository.root / ".git/objects/info/alternates").write_text(f"{bare}/objects\n")


def loose(_repository):
    pass


@pytest.mark.parametrize("form", [loose, packed, half_packed, borrowed], ids=lambda f: f.__name__)
@pytest.mark.parametrize("kind", ["sha1", "sha256"])
def test_what_is_new_and_what_it_changed_is_what_git_says(tmp_path, form, kind):
    rng = random.Random(f"{form.__name__} {kind}")
    repository = Repository(tmp_path / "r", f"--object-format={kind}")
    grow(repository, rng, 30)
    form(repository)
    everything = repository.git("rev-list", "--all").split()

    for _ in range(6):
        head, *seen = rng.sample(everything, 4)
        known = repository.git("rev-list", head, "--not", *seen).split()
        news = history.news(objects(repository), head, seen)
        assert {commit.id for commit in news.commits} == set(known)
        for commit in news.commits:
            asked = ("show", "--format=", "--name-only", "--no-renames", commit.id)
            told = repository.git(*asked).split() if len(commit.parents) < 2 else []
            assert history.changed(objects(repository), commit) == sorted(told)


def test_the_newest_commits_are_those_that_git_lists_first(tmp_path):
    repository = Repository(tmp_path / "r")
    grow(repository, random.Random(5), 25)

    found = history.recent(objects(repository), repository.head, 10)
    assert [c.id for c in found] == repository.git("rev-list", "-10", "HEAD").split()
    assert found[0].subject == repository.git("log", "-1", "--format=%s")
    assert str(found[0].authored) == repository.git("log", "-1", "--format=%at")


def test_what_was_rebased_is_not_new_and_the_rewriting_is_told(tmp_path):
    repository = Repository(tmp_path / "r")
    repository.commit("base")
    repository.git("checkout", "-q", "-b", "work")
    repository.commit("mine one")
    seen = repository.commit("mine_too too")
    repository.git("checkout", "-q", "main")
    theirs = repository.commit("theirs")
    repository.git("checkout", "-q", "work")
    repository.git("rebase", "-q", "main")

    news = history.news(objects(repository), repository.head, [seen], last=seen)
    assert news.rewritten
    assert [commit.id for commit in news.commits] == [theirs]


def test_what_was_only_added_to_is_not_rewritten(tmp_path):
    repository = Repository(tmp_path / "r")
    seen = repository.commit("one")
    repository.commit("two")

    assert not history.news(objects(repository), repository.head, [seen], last=seen).rewritten


def test_what_was_brought_in_from_another_branch_is_not_rewritten(tmp_path):
    repository = Repository(tmp_path / "r")
    last = repository.commit("one")
    repository.git("checkout", "-q", "-b", "topic")
    for number in range(3):
        repository.commit(f"topic {number}")

    news = history.news(objects(repository), repository.head, [last, repository.head], last=last)
    assert news == history.News()


def test_going_back_is_rewriting_without_news(tmp_path):
    repository = Repository(tmp_path / "r")
    repository.commit("one")
    seen = repository.commit("two")
    repository.git("reset", "-q", "--hard", "HEAD~1")

    news = history.news(objects(repository), repository.head, [seen], last=seen)
    assert (news.rewritten, news.commits) == (True, ())


def test_where_what_was_seen_is_gone_for_good_only_later_commits_are_new(tmp_path):
    repository = Repository(tmp_path / "r")
    repository.commit("one")
    repository.commit("two")
    since = int(repository.git("log", "-1", "--format=%ct")) + 1
    late = repository.commit("three")

    news = history.news(objects(repository), late, ["0" * 40], last="0" * 40, since=since)
    assert news.rewritten
    assert [commit.id for commit in news.commits] == [late]


def test_a_shallow_clone_ends_where_it_was_cut(tmp_path):
    origin = Repository(tmp_path / "origin")
    for number in range(5):
        origin.commit(f"commit {number}")
    origin.git("clone", "-q", "--depth", "2", f"file://{origin.root}", str(tmp_path / "clone"))

    found = Objects.at(str(tmp_path / "clone"))
    assert len(history.news(found, origin.head, []).commits) == 2
    assert len(history.recent(found, origin.head, 10)) == 2


def test_no_more_objects_are_read_than_allowed(tmp_path):
    repository = Repository(tmp_path / "r")
    for number in range(9):
        repository.commit(f"commit {number}")

    with pytest.raises(TooMuch):
        history.news(objects(repository, 5), repository.head, [])
    assert len(history.news(objects(repository, 12), repository.head, []).commits) == 9


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda path: path.write_bytes(b"no zlib"), id="an object"),
        pytest.param(lambda path: path.write_bytes(b""), id="an empty object"),
    ],
)
def test_what_is_damaged_says_so(tmp_path, damage):
    repository = Repository(tmp_path / "r")
    head = repository.commit("one")
    path = repository.root / ".git/objects" / head[:2] / head[2:]
    path.chmod(0o600)
    damage(path)

    with pytest.raises(Damaged):
        history.news(objects(repository), head, [])


@pytest.mark.parametrize("cut", [8, 1100, -30])
def test_a_damaged_pack_says_so(tmp_path, cut):
    repository = Repository(tmp_path / "r")
    for number in range(9):
        repository.commit(f"commit {number}")
    packed(repository)
    (index,) = (repository.root / ".git/objects/pack").glob("*.idx")
    whole = index.read_bytes()
    index.chmod(0o600)
    index.write_bytes(whole[:cut])

    with pytest.raises(Damaged):
        history.news(objects(repository), repository.head, [])


def test_without_git_there_is_nothing_to_read(tmp_path):
    assert Objects.at(str(tmp_path)) is None
