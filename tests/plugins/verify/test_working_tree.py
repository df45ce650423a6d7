"""Places in a working tree: noted, found again, lost; with git and without."""

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ademem.core.anchor import Place, place
from ademem.plugins.verify import anchor_verification
from ademem.plugins.verify.anchor_verification import TracedTree, locate
from ademem.synthesis.anchoring import NoSuchPlace, blob_hash, resolve_place
from tests.examples import examples

CODE = "import os\n\n\ndef login():\n    return utc()\n\n\ndef logout():\n    pass\n"


class Checkout:
    """A project folder with one file, whose login function was noted."""

    def __init__(self, root):
        self.root = root
        self.write("src/auth.py", CODE)
        self.place = self.note("src/auth.py:4-5")

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())

    def move(self, old, new):
        (self.root / new).parent.mkdir(parents=True, exist_ok=True)
        (self.root / old).rename(self.root / new)

    def note(self, text):
        return resolve_place(place(text), TracedTree(str(self.root)), str(self.root))

    def git(self, *arguments):
        who = ["-c", "user.name=n", "-c", "user.email=e", "-c", "init.defaultBranch=main"]
        command = ["git", *who, "-C", str(self.root), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-qm", "x")

    def stands(self, noted=None):
        """The state, and where the text is now."""
        found = locate(noted or self.place, TracedTree(str(self.root)))
        return found.state, found.now and found.now.where


@pytest.fixture
def checkout(tmp_path):
    return Checkout(tmp_path)


@pytest.fixture
def repository(checkout):
    checkout.git("init", "-q")
    checkout.commit()
    return checkout


HERE = "src/auth.py:4-5"


@pytest.mark.parametrize(
    ("text", "stands"),
    [
        pytest.param(CODE, ("fresh", HERE), id="as it was"),
        pytest.param(CODE.replace("import os", "import sys"), ("fresh", HERE), id="around it"),
        pytest.param(CODE.replace("\n", "\r\n"), ("fresh", HERE), id="other line ends"),
        pytest.param("# new\n" + CODE, ("moved", "src/auth.py:5-6"), id="a line above"),
        pytest.param(CODE[11:], ("moved", "src/auth.py:2-3"), id="lines above gone"),
        pytest.param(CODE.replace("utc", "local"), ("rewritten", None), id="rewritten"),
        pytest.param("", ("gone", None), id="emptied"),
        pytest.param(CODE[: CODE.index("\n\n\ndef logout")], ("fresh", HERE), id="end of file"),
    ],
)
def test_a_place_is_fresh_moved_rewritten_or_gone(checkout, text, stands):
    checkout.write("src/auth.py", text)

    assert checkout.stands() == stands


def test_of_two_copies_the_nearer_one_is_it(checkout):
    checkout.write("src/auth.py", "#\n" + CODE + "#\n" * 20 + CODE)

    assert checkout.stands() == ("moved", "src/auth.py:5-6")


@pytest.mark.parametrize(
    ("now", "stands"),
    [
        pytest.param({"src/auth.py": CODE}, ("fresh", "src/auth.py"), id="as it was"),
        pytest.param({"src/auth.py": CODE + "x"}, ("rewritten", None), id="longer"),
        pytest.param({}, ("gone", None), id="deleted"),
    ],
)
def test_a_whole_file_can_be_a_place(checkout, now, stands):
    whole = checkout.note("src/auth.py")
    (checkout.root / "src/auth.py").unlink()
    for path, text in now.items():
        checkout.write(path, text)

    assert checkout.stands(whole) == stands


def test_a_file_that_is_gone_is_gone_where_there_is_no_git(checkout):
    checkout.move("src/auth.py", "src/login.py")

    assert checkout.stands() == ("gone", None)


def _committed(repository):
    repository.move("src/auth.py", "lib/login.py")
    repository.commit()


def _staged(repository):
    repository.move("src/auth.py", "lib/login.py")
    repository.git("add", "-A")


def _unknown_to_git(repository):
    repository.move("src/auth.py", "lib/login.py")


def _renamed_twice(repository):
    repository.move("src/auth.py", "src/between.py")
    repository.commit()
    _committed_from(repository, "src/between.py")


def _committed_from(repository, old):
    repository.move(old, "lib/login.py")
    repository.commit()


@pytest.mark.parametrize("rename", [_committed, _staged, _unknown_to_git, _renamed_twice])
def test_git_knows_where_a_renamed_file_is(repository, rename):
    rename(repository)

    assert repository.stands() == ("moved", "lib/login.py:4-5")
    assert repository.stands(place("src/auth.py:4-5")) == ("gone", None)


def test_a_renamed_file_that_lost_the_text_is_gone(repository):
    repository.move("src/auth.py", "lib/login.py")
    repository.write("lib/login.py", CODE.replace("utc", "local"))
    repository.commit()

    assert repository.stands() == ("gone", None)


def test_a_project_inside_a_repository_has_paths_of_its_own(tmp_path):
    outer = Checkout(tmp_path)
    outer.git("init", "-q")
    inner = Checkout(tmp_path / "app")
    outer.commit()
    inner.move("src/auth.py", "lib/login.py")
    outer.commit()

    assert inner.stands() == ("moved", "lib/login.py:4-5")


def test_git_is_asked_once_for_many(repository, monkeypatch):
    _committed(repository)
    asked = []
    renames = anchor_verification._renames
    monkeypatch.setattr(
        anchor_verification, "_renames", lambda root: asked.append(root) or renames(root)
    )
    files = TracedTree(str(repository.root))
    states = [locate(repository.place, files).state for _ in range(5)]

    assert (states, len(asked)) == (["moved"] * 5, 1)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        pytest.param("src/nowhere.py", "no file 'src/nowhere.py'", id="no file"),
        pytest.param("src", "no file 'src'", id="a folder"),
        pytest.param("/etc/hostname", "no file '/etc/hostname'", id="elsewhere"),
        pytest.param("src/auth.py:9-10", "has 9 lines", id="too far"),
        pytest.param("src/auth.py:5-4", "has 9 lines", id="backwards"),
    ],
)
def test_a_place_that_does_not_exist_cannot_be_noted(checkout, given, why):
    with pytest.raises(NoSuchPlace, match=why):
        checkout.note(given)


def test_a_place_is_named_from_where_one_is(checkout):
    files, folder = TracedTree(str(checkout.root)), str(checkout.root / "src")

    assert resolve_place(place("auth.py:4-5"), files, folder) == checkout.place
    assert resolve_place(place("src/auth.py:4-5"), files, folder) == checkout.place


def test_an_anchor_that_was_never_noted_is_fresh_while_it_exists(checkout):
    assert checkout.stands(place("src/auth.py:4-5")) == ("fresh", HERE)
    assert checkout.stands(place("src/auth.py:40-50")) == ("rewritten", None)


@pytest.mark.parametrize("text", ["", "x\n", "é\n" * 300])
def test_the_hash_is_that_of_git(tmp_path, text):
    (tmp_path / "file").write_text(text)
    command = ["git", "hash-object", "--no-filters", str(tmp_path / "file")]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert told.startswith(blob_hash(text.encode()))


LINES = st.lists(st.sampled_from(["a", "b", "", "c d"]), max_size=8)


@settings(max_examples=examples(60), deadline=None)
@given(above=LINES, span=LINES.filter(any), below=LINES, new=LINES)
def test_a_text_that_is_still_there_is_found(tmp_path_factory, above, span, below, new):
    root = tmp_path_factory.mktemp("project")
    file = root / "f"
    file.write_text("\n".join([*above, *span, *below]) + "\n")
    given = Place(path="f", first=len(above) + 1, last=len(above) + len(span))
    was = resolve_place(given, TracedTree(str(root)), str(root))
    file.write_text("\n".join([*new, *span, *below]) + "\n")
    found = locate(was, TracedTree(str(root)))

    assert found.state in ("fresh", "moved")
    now = file.read_text().split("\n")[found.now.first - 1 : found.now.last]
    assert now == span
