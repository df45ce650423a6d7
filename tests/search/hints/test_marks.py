"""The lists by which a shell tells that memory knows nothing of a call."""

import json
import os
import subprocess
from datetime import timedelta

import pytest

from ademem.core.client import TurnKey
from ademem.core.project import at
from ademem.search import binding as hints
from ademem.store.bindings import Binding
from tests import builders
from tests.builders import NOW, memory

SESSION = TurnKey(session_id="s1", prompt_id="p1")
AGENT = TurnKey(session_id="s1", agent_id="a1")


class Marked:
    def __init__(self, root):
        self.store = builders.open_project(root)
        self.project = at(str(root))
        self.folder = root / ".ade/run/sites"

    def know(self, content, **changes):
        (row,) = builders.insert(self.store, memory(content, **changes))
        hints.update_bindings(self.store)
        hints.write_lists(self.project, self.store)
        return row

    def lists(self):
        paths = sorted(self.folder.iterdir()) if self.folder.exists() else []
        return {path.name: path.read_text() for path in paths}


@pytest.fixture
def marked(tmp_path):
    marked = Marked(tmp_path)
    yield marked
    marked.store.close()


def test_a_project_that_knows_nothing_has_no_lists(marked):
    marked.know("Tokens expire in UTC")

    assert marked.lists() == {}


def test_there_is_a_list_for_files_and_one_for_commands(marked):
    marked.know("one", file_scope_pattern="src/*.py")
    marked.know("two", anchors=("docs/a[1].md:3-9@0123456789abcdef", "$ git push"))

    assert marked.lists() == {
        "files": "/docs/a\\[1\\]\\.md$\n/src/.*\\.py$\n",
        "commands": "git.*push\n",
    }


def test_a_reader_has_lists_of_what_is_left(marked):
    told = marked.know("one", file_scope_pattern="src/*")
    marked.know("two", file_scope_pattern="docs/*")
    assert hints.lacks_lists(marked.project, SESSION)
    hints.write_rest(marked.project, marked.store, SESSION, {told.id})
    hints.write_rest(marked.project, marked.store, AGENT, set())

    assert not hints.lacks_lists(marked.project, SESSION)
    assert marked.lists()["s1.files"] == "/docs/.*$\n"
    assert marked.lists()["a1.files"] == "/docs/.*$\n/src/.*$\n"


def test_news_make_every_reader_start_anew(marked):
    told = marked.know("one", file_scope_pattern="src/*")
    hints.write_rest(marked.project, marked.store, SESSION, {told.id})
    hints.write_lists(marked.project, marked.store)
    assert "s1.files" in marked.lists()
    marked.know("two", file_scope_pattern="docs/*")

    assert "s1.files" not in marked.lists()


def test_who_forgot_starts_anew_alone(marked):
    told = marked.know("one", file_scope_pattern="src/*")
    for key in (SESSION, AGENT):
        hints.write_rest(marked.project, marked.store, key, {told.id})
    hints.remove_lists(marked.project, SESSION)

    assert [name for name in marked.lists() if "." in name] == ["a1.commands", "a1.files"]


def test_lists_of_readers_long_gone_are_removed(marked):
    told = marked.know("one", file_scope_pattern="src/*")
    for key, age in ((SESSION, 0), (AGENT, hints.MAX_AGE_S + 1)):
        hints.write_rest(marked.project, marked.store, key, {told.id})
        moment = (NOW - timedelta(seconds=age)).timestamp()
        for kind in hints.KINDS:
            name = f"{key.agent_id or key.session_id}.{kind}"
            os.utime(marked.folder / name, (moment, moment))
    hints.prune_lists(marked.project, NOW)

    assert [name for name in marked.lists() if "." in name] == ["s1.commands", "s1.files"]


def test_what_is_forgotten_for_good_leaves_no_word_in_the_lists(marked):
    row = marked.know("one", file_scope_pattern="zebra/*")
    with marked.store.transaction() as db:
        db.execute("delete from unified_memories where id = ?", (row.id,))
    assert hints.update_bindings(marked.store)
    hints.write_lists(marked.project, marked.store)

    assert marked.lists() == {"files": ""}


@pytest.mark.parametrize(
    "key",
    [
        pytest.param(TurnKey(session_id="../../x"), id="a path"),
        pytest.param(TurnKey(session_id=""), id="nobody"),
    ],
)
def test_a_reader_whose_name_is_no_name_has_no_lists(marked, key):
    marked.know("one", file_scope_pattern="src/*")
    hints.write_rest(marked.project, marked.store, key, ())
    hints.remove_lists(marked.project, key)

    assert list(marked.lists()) == ["files"]


def test_too_many_lines_become_one_for_anything():
    sites = [Binding(kind="glob", key=f"{n}", pattern=f"{n}") for n in range(hints.MOST_LINES + 1)]

    assert len(hints.list_lines(sites[1:], "files")) == hints.MOST_LINES
    assert hints.list_lines(sites, "files") == [hints.ANYTHING]


@pytest.mark.parametrize(
    ("words", "command"),
    [
        pytest.param("git push", "git -C app push origin main", id="options between"),
        pytest.param("git push", "cd app\n\tgit push", id="a line of its own"),
        pytest.param("git push", "git \\\n  push", id="over two lines"),
        pytest.param("make a.b", 'make "a.b"', id="quotes"),
        pytest.param("run [x]", "run [x]", id="signs of a pattern"),
    ],
)
def test_a_command_as_the_client_writes_it_is_let_through(tmp_path, words, command):
    (tmp_path / "list").write_text("\n".join(_lines_of(words)) + "\n")
    about = json.dumps({"command": command}, ensure_ascii=False).encode() + b"\n"
    ran = subprocess.run(["grep", "-q", "-f", tmp_path / "list"], input=about, check=False)

    assert ran.returncode == 0


def _lines_of(words):
    return hints.list_lines([Binding(kind="program", key="", pattern=words)], "commands")
