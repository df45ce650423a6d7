"""The lists by which a shell tells that a call can meet no memory, complete, and of each reader."""

import json
import os
import subprocess
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ademem.core import bytecode
from ademem.core.client import TurnKey
from ademem.core.memory import Status
from ademem.core.project import at
from ademem.core.settings import GuardSettings
from ademem.core.value import replace
from ademem.guard import acts
from ademem.guard.touch import touch
from ademem.search import binding as lists
from ademem.search import reader_lists
from ademem.search.meeting import meet
from ademem.store import bindings as table
from ademem.store import memories
from ademem.store.bindings import Binding
from ademem.store.memories import Change
from tests import builders
from tests.builders import NOW, memory
from tests.examples import examples

HOOKS = Path(__file__).parents[2] / "hooks"
SESSION = TurnKey(session_id="s1", prompt_id="p1")
AGENT = TurnKey(session_id="s1", agent_id="a1")


class Listed:
    def __init__(self, root):
        self.root = root
        self.store = builders.open_project(root)
        self.project = at(str(root))
        self.folder = root / ".ade/run/keys"

    def know(self, content, **changes):
        (row,) = builders.insert(self.store, memory(content, **changes))
        lists.update_bindings(self.store)
        lists.write_lists(self.project, self.store)
        return row

    def files(self):
        paths = sorted(self.folder.iterdir()) if self.folder.exists() else []
        return {path.name: path.read_text().splitlines() for path in paths}

    def lets_through(self, tool_input, tool="Bash"):
        """Start the shell part of the hook: does Python hear of the call?"""
        given = {
            "session_id": "s1",
            "cwd": str(self.root),
            "prompt_id": "p1",
            "tool_name": tool,
            "tool_input": tool_input,
            "tool_use_id": "toolu_1",
        }
        (self.root / ".ade/run/clear").mkdir(parents=True, exist_ok=True)
        (self.root / ".ade/run/clear/p1").touch()
        line = 'payload=$(cat) folder=$1 hooks=${2%/*}; . "$2"; echo Python'
        found = subprocess.run(
            ["sh", "-c", line, "sh", str(self.root), str(HOOKS / "pre_tool_use.sh")],
            input=json.dumps(given, ensure_ascii=False, separators=(",", ":")),
            capture_output=True,
            text=True,
            check=True,
        )
        assert not found.stderr
        return bool(found.stdout)


@pytest.fixture
def listed(tmp_path):
    made = Listed(tmp_path)
    yield made
    made.store.close()


def test_a_project_that_knows_nothing_lists_what_python_always_reads(listed):
    listed.know("Tokens expire in UTC")

    empty = {name: [] for name in reader_lists.LISTS}
    assert listed.files() == empty | {"always": list(lists.ALWAYS)}


def test_a_binding_lists_what_each_call_that_meets_it_holds(listed):
    listed.know("one", file_scope_pattern="src/*.py")
    listed.know("two", anchors=("docs/a[1].md:3-9@0123456789abcdef", "$ git push"))
    listed.know("three", anchors=("@ text:console.log", "@ act:deploy"))
    found = listed.files()

    assert "a[1].md" in found["words"]
    assert {".py", 'src"', "docs/ ", 'docs"'} <= {*found["pieces"]}
    assert ("push" in found["runs"], "deploy" in found["always"]) == (True, True)
    assert found["texts"] == ["console"]


def test_a_program_whose_subcommands_have_several_names_is_listed_by_its_own():
    assert acts.RENAMED <= lists.RENAMING


def test_a_reader_has_lists_of_what_is_left(listed):
    told = listed.know("one", file_scope_pattern="src/*")
    listed.know("two", file_scope_pattern="docs/*")
    assert reader_lists.lacks(listed.project, SESSION)
    lists.write_rest(listed.project, listed.store, SESSION, {told.id})
    lists.write_rest(listed.project, listed.store, AGENT, set())

    assert not reader_lists.lacks(listed.project, SESSION)
    assert [name in listed.files()["s1.words"] for name in ("src", "docs")] == [False, True]
    assert "a1.words" not in listed.files()  # nothing was said to it: the lists of all are its own


def test_news_make_every_reader_start_anew(listed):
    told = listed.know("one", file_scope_pattern="src/*")
    lists.write_rest(listed.project, listed.store, SESSION, {told.id})
    lists.write_lists(listed.project, listed.store)
    assert "s1.words" in listed.files()
    listed.know("two", file_scope_pattern="docs/*")

    assert "s1.words" not in listed.files()


def test_a_start_writes_no_lists_of_the_places_that_it_had(listed, monkeypatch):
    listed.know("Never edit docs/licence.md")
    with monkeypatch.context() as patch:
        patch.setattr(lists, "_listed", None)
        lists.renew_lists(builders.opened(listed.project, listed.store), is_start=True)

    assert "licence.md" in listed.files()["words"]


def archive(listed, row):
    change = Change(operation="archive", actor="user", at=NOW)
    memories.update(listed.store, replace(row, status=Status.ARCHIVED), change)
    lists.update_bindings(listed.store)


def learn(listed, row):
    builders.insert(listed.store, memory("Never edit docs/rates.md"))
    lists.update_bindings(listed.store)


def move(listed, row):
    table.drop(listed.store, row)
    table.put(listed.store, row, [Binding(kind="path", key="docs/copyright.md")])


def wait(listed, row):
    table.mark_due(listed.store, None)


def forget(listed, row):
    (listed.folder / "words").unlink()


@pytest.mark.parametrize("change", [archive, learn, move, wait, forget])
def test_a_start_writes_what_changed_where_no_list_was_written(change, listed):
    change(listed, listed.know("Never edit docs/licence.md"))
    lists.renew_lists(builders.opened(listed.project, listed.store), is_start=True)
    found = listed.files()
    lists.write_lists(listed.project, listed.store)

    assert listed.files() == found


def test_a_start_writes_lists_that_could_not_be_written_before(listed, monkeypatch):
    listed.know("Never edit docs/rates.md")
    write = lists.confined.write_text

    def write_all_but_words(root, path, text, **options):
        if path.endswith("words"):
            raise OSError("no space left")
        return write(root, path, text, **options)

    with monkeypatch.context() as patch:
        patch.setattr(lists.confined, "write_text", write_all_but_words)
        listed.know("Never edit docs/licence.md")
    assert "licence.md" not in listed.files()["words"]
    lists.renew_lists(builders.opened(listed.project, listed.store), is_start=True)

    assert "licence.md" in listed.files()["words"]


def test_a_start_lists_what_was_not_judged_yet_when_the_lists_were_written(listed):
    listed.know("Never edit docs/licence.md")
    other = Listed(listed.root).store
    other.judged = 0
    other.distrust()
    lists.write_lists(listed.project, other)
    other.close()
    assert listed.files()["words"] == []
    lists.renew_lists(builders.opened(listed.project, listed.store), is_start=True)

    assert "licence.md" in listed.files()["words"]


def test_a_start_writes_lists_that_another_version_of_their_modules_compiled(
    listed, monkeypatch, tmp_path
):
    source = tmp_path / "package/guard/acts.py"
    source.parent.mkdir(parents=True)
    source.write_text("FAMILIES = {}\n")
    monkeypatch.setattr(bytecode, "PACKAGE", str(tmp_path / "package"))
    monkeypatch.setattr(lists, "rooms_state", bytecode.rooms_state.__wrapped__)
    listed.know("Never edit docs/licence.md")
    source.write_text("FAMILIES = {'test': 'tox'}\n")
    with monkeypatch.context() as patch:
        patch.setattr(lists, "_listed", lambda *_: {name: ["tox"] for name in reader_lists.LISTS})
        lists.renew_lists(builders.opened(listed.project, listed.store), is_start=True)

    assert listed.files()["words"] == ["tox"]


@pytest.fixture
def meanwhile(listed, monkeypatch):
    """Let another process learn a rule and write the lists while this one has read its own."""
    other, read = Listed(listed.root), lists._listed

    def read_late(*given):
        monkeypatch.setattr(lists, "_listed", read)
        found = read(*given)
        other.know("Never edit docs/rates.md")
        return found

    yield lambda: monkeypatch.setattr(lists, "_listed", read_late)
    other.store.close()


def test_lists_have_a_rule_that_another_process_learned_meanwhile(listed, meanwhile):
    listed.know("Never edit docs/licence.md")
    meanwhile()
    lists.write_lists(listed.project, listed.store)

    assert {"licence.md", "rates.md"} <= {*listed.files()["words"]}


def test_a_reader_has_no_lists_without_what_another_process_learned_meanwhile(listed, meanwhile):
    told = listed.know("Never edit docs/licence.md")
    meanwhile()
    lists.write_rest(listed.project, listed.store, SESSION, {told.id})

    assert "s1.words" not in listed.files()
    assert "rates.md" in listed.files()["words"]


def test_who_forgot_starts_anew_alone(listed):
    told = listed.know("one", file_scope_pattern="src/*")
    for key in (SESSION, AGENT):
        lists.write_rest(listed.project, listed.store, key, {told.id})
    reader_lists.remove(listed.project, SESSION)

    assert [name for name in listed.files() if "." in name] == sorted(
        f"a1.{name}" for name in reader_lists.LISTS
    )


def test_lists_of_readers_long_gone_are_removed(listed):
    told = listed.know("one", file_scope_pattern="src/*")
    for key, age in ((SESSION, 0), (AGENT, reader_lists.MAX_AGE_S + 1)):
        lists.write_rest(listed.project, listed.store, key, {told.id})
        moment = (NOW - timedelta(seconds=age)).timestamp()
        for kind in reader_lists.LISTS:
            name = f"{key.agent_id or key.session_id}.{kind}"
            os.utime(listed.folder / name, (moment, moment))
    reader_lists.prune(listed.project, NOW)

    assert [name for name in listed.files() if "." in name] == sorted(
        f"s1.{name}" for name in reader_lists.LISTS
    )


def test_what_is_forgotten_for_good_leaves_no_word_in_the_lists(listed):
    row = listed.know("one", file_scope_pattern="zebra/*")
    assert "zebra" in listed.files()["words"]
    with listed.store.transaction() as db:
        db.execute("delete from unified_memories where id = ?", (row.id,))
    assert lists.update_bindings(listed.store)
    lists.write_lists(listed.project, listed.store)

    assert "zebra" not in str(listed.files())


@pytest.mark.parametrize(
    "key",
    [
        pytest.param(TurnKey(session_id="../../x"), id="a path"),
        pytest.param(TurnKey(session_id=""), id="nobody"),
    ],
)
def test_a_reader_whose_name_is_no_name_has_no_lists(listed, key):
    listed.know("one", file_scope_pattern="src/*")
    lists.write_rest(listed.project, listed.store, key, ())
    reader_lists.remove(listed.project, key)

    assert list(listed.files()) == sorted(reader_lists.LISTS)


def test_too_many_lines_and_memories_that_are_not_read_yet_let_everything_through():
    many = [Binding(kind="suffix", key=f".{n}") for n in range(lists.MOST_LINES)]
    anything = {name: [lists.ANYTHING] for name in reader_lists.LISTS}

    assert lists.list_lines(many) == anything
    assert lists.list_lines(None) == anything
    assert lists.list_lines(many[:100]) != anything


PLACES = (
    *("src/auth.py", "legacy/**", "src/**/*.sql", "*.svelte", "docs/a b.md", "Makefile"),
    *("`git push`", "`npm install`", "`pytest`", "`./check.sh`", "`docker compose up`"),
    *("act:deploy", "act:commit", "act:delete", "act:format", "act:test", "act:discard"),
    *("text:console.log", "family:js packages !pnpm", "`make db`", "`npm run build`"),
    *("src/ with text:/b/", "`kubectl` on edit with text:-m", "`docker` with text:up"),
)
OPERANDS = st.sampled_from(
    "src/auth.py legacy legacy/a.py legacy/* src . ./ .. src/db/x.sql a.svelte 'docs/a b.md' -rf -i"
    " s/a/b/ > >> origin main install push commit up test run build db Makefile *.py"
    " src/{auth,b}.py $X --fix --write -delete -m x console.log('a') add left-pad".split(" ")
)
PROGRAMS = st.sampled_from(
    "rm cp mv git npm pnpm yarn pytest ./check.sh docker make sed tee touch prettier black eslint"
    " find rsync echo cd kubectl terraform sudo env sh python3 cat bash xargs sqlite3".split()
)
COMMANDS = st.lists(
    st.builds(
        lambda program, words: " ".join([program, *words]), PROGRAMS, st.lists(OPERANDS, max_size=4)
    ),
    min_size=1,
    max_size=3,
).flatmap(lambda parts: st.sampled_from([" && ", "; ", " | ", "\n"]).map(lambda by: by.join(parts)))


@pytest.fixture(scope="module")
def bound(tmp_path_factory):
    root = tmp_path_factory.mktemp("bound")
    made = Listed(root)
    for path in ("src/auth.py", "src/db/x.sql", "legacy/a.py", "a.svelte", "docs/a b.md"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).touch()
    (root / "Makefile").write_text("db:\n\trm legacy/a.py\n")
    (root / "package.json").write_text('{"scripts": {"build": "eslint --fix src"}}')
    for place in PLACES:
        made.know(f"About {place!r}", anchors=(f"@ {place}",))
    yield made
    made.store.close()


@settings(max_examples=examples(250), deadline=None)
@given(command=COMMANDS)
def test_no_command_that_meets_a_memory_is_kept_from_python(bound, command):
    root = str(bound.root)
    met = meet(touch("Bash", {"command": command}, root, GuardSettings()), root, bound.store)

    if met:
        assert bound.lets_through({"command": command}), [each.binding for each in met]


def write(path, content="x"):
    return {"file_path": path, "content": content}


@pytest.mark.parametrize(
    ("place", "tool", "tool_input"),
    [
        pytest.param("src/auth.py", "Bash", {"command": 'rm -rf "src"'}, id="quoted folder"),
        pytest.param("src/auth.py", "Bash", {"command": "rm -rf src\nls"}, id="end of line"),
        pytest.param("src/auth.py", "Bash", {"command": "rm -rf src\tb"}, id="tab"),
        pytest.param("src/auth.py", "Bash", {"command": "rm src/au\\th.py"}, id="escape"),
        pytest.param("src/auth.py", "Bash", {"command": "rm src/au'th'.py"}, id="quotes inside"),
        pytest.param("src/auth.py", "Bash", {"command": 'rm src/au""th.py'}, id="empty quotes"),
        pytest.param("src/auth.py", "Bash", {"command": "rm src/{auth,b}.py"}, id="braces"),
        pytest.param('a/"b".md', "Write", write('a/"b".md'), id="quote in a path"),
        pytest.param("text:größe", "Write", write("a.py", "GRÖßE"), id="capitals"),
        pytest.param("text:консоль", "Write", write("a.py", "Консоль"), id="first letter"),
    ],
)
def test_python_hears_of_a_place_however_the_call_spells_it(listed, place, tool, tool_input):
    (listed.root / "src").mkdir()
    (listed.root / "src/auth.py").touch()
    listed.know("one", anchors=(f"@ {place}",))
    root = str(listed.root)

    assert meet(touch(tool, tool_input, root, GuardSettings()), root, listed.store)
    assert listed.lets_through(tool_input, tool)


@pytest.mark.parametrize("named", ["link/new.py", "alias.md"])
def test_a_file_behind_a_link_is_at_the_place_it_leads_to(listed, named):
    (listed.root / "legacy").mkdir()
    (listed.root / "legacy/a.md").touch()
    (listed.root / "link").symlink_to("legacy")
    (listed.root / "alias.md").symlink_to("legacy/a.md")
    listed.know("one", anchors=("@ legacy/",))
    tool_input, root = write(str(listed.root / named)), str(listed.root)

    assert meet(touch("Write", tool_input, root, GuardSettings()), root, listed.store)
    assert listed.lets_through(tool_input, "Write")
    assert not listed.lets_through(write(str(listed.root / "other.md")), "Write")


@pytest.mark.parametrize(
    "command", ["ls lib", "head a.txt", "cat <a.txt >b.txt; cd lib", 'find . -name "*.py" | head']
)
def test_a_command_about_something_else_starts_no_python(listed, command):
    listed.know("one", anchors=("@ src/auth.py", "@ act:deploy"))

    assert not listed.lets_through({"command": command, "description": "Look at the library"})
