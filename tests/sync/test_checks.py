"""What `files check` finds."""

from __future__ import annotations

import subprocess

import pytest

from ademem.core import bytecode, redaction, shared_files
from ademem.core.memory import Category, Scope, Status
from ademem.core.settings import MirrorSettings, Settings
from ademem.core.value import replace
from ademem.files import project_brief
from ademem.store import memories
from ademem.store.memories import Change
from ademem.sync import checks, mirror, searched_texts
from tests.builders import NOW, insert, memory, open_project, opened

SETTINGS = MirrorSettings()
INDEX = ".ade/memory/MEMORY.md"
GOTCHAS = ".ade/memory/gotchas.md"
LINES = ".ade/memory/knowledge.jsonl"
BRIEF = ".ade/cto/core-memory.json"
SECRET = "AKIA" + "A1B2C3D4E5F6G7H8"
HEAD = "-----BEGIN " + "RSA PRIVATE KEY-----"
KEY = f"{HEAD}\nMIIEpAIBAAKCAQEA7x\n{HEAD.replace('BEGIN', 'END')}\n"


@pytest.fixture
def store(tmp_path, here):
    store = open_project(tmp_path)
    insert(
        store,
        memory("one", id="a1", category=Category.GOTCHA),
        memory("two", id="a2", category=Category.GOTCHA),
        memory("mine", id="p1", scope=Scope.AGENT, scope_owner_id="me"),
    )
    project_brief.patch(store, here, {"notes": ["ours"]}, NOW)
    mirror.refresh(opened(here, store, Settings(mirror=SETTINGS), NOW))
    yield store
    store.close()


@pytest.fixture
def found(store, here):
    """Problems as `path:line: message`, after an edit of one file."""

    def found(path=None, old="", new="", settings=SETTINGS):
        if path:
            target = f"{here.root}/{path}"
            shared_files.write_atomic(target, shared_files.read_text(target).replace(old, new))
        problems = checks.check(here, store, settings)
        return [f"{p.path}:{p.line}: {p.message}" for p in problems]

    return found


def test_fresh_files_have_no_problem(found):
    assert found() == []


def test_files_that_nothing_changed_since_the_refresh_are_not_rendered(found, monkeypatch):
    monkeypatch.setattr(checks, "survey", None)

    assert found() == []


@pytest.fixture
def searched(monkeypatch):
    """Texts that are searched for secrets, in order."""
    texts = []

    def redact(text):
        texts.append(text)
        return redaction.redact(text)

    monkeypatch.setattr(searched_texts, "redact", redact)
    return texts


def test_a_sound_tree_is_read_once(found, searched):
    first = found(), len(searched)
    again = found()

    assert (first, again, len(searched)) == (([], first[1]), [], first[1])
    assert first[1] > 1


def test_blocks_that_an_edit_left_as_they_were_are_not_searched_again(found, here, searched):
    found()
    searched.clear()
    said = found(GOTCHAS, "one", f"one {SECRET}")

    page = shared_files.read_text(f"{here.root}/{GOTCHAS}")
    assert [text for text in searched if text not in page] == []
    assert any("secret" in line for line in said)
    searched.clear()
    assert (found(), searched) == (said, [])  # it is told each time, and searched once


def test_what_other_rules_found_sound_is_searched_anew(found, searched, monkeypatch):
    found()
    before = len(searched)
    monkeypatch.setattr(bytecode, "source_state", lambda: [("other", 1, 1)])
    monkeypatch.setattr(searched_texts, "source_state", bytecode.source_state)
    monkeypatch.setattr(mirror, "source_state", bytecode.source_state)
    found()

    assert len(searched) == 2 * before


def test_a_secret_in_a_long_file_is_named_by_its_line(found, store, here, monkeypatch):
    insert(store, *(memory(f"note {number}") for number in range(5)))
    mirror.refresh(opened(here, store, Settings(mirror=SETTINGS), NOW))
    monkeypatch.setattr(searched_texts, "MOST_LINES", 2)

    said = found(LINES, "note 3", SECRET)
    (secret,) = [line for line in said if "secret" in line]
    lines = shared_files.read_text(f"{here.root}/{LINES}").splitlines()
    number = next(at for at, line in enumerate(lines, 1) if SECRET in line)
    assert number > 2
    assert secret.startswith(f"{LINES}:{number}: has what looks like a secret (")


def test_a_key_made_of_a_text_is_no_secret_but_one_of_other_words_is(found, store, here):
    insert(store, memory("42195 metres is the length of the course"))
    mirror.refresh(opened(here, store, Settings(mirror=SETTINGS), NOW))
    key = "fact-42195-metres-is-the-length"

    assert key in shared_files.read_text(f"{here.root}/{LINES}")
    assert found() == []
    assert any("secret" in line for line in found(LINES, key, "fact-73915-acres-is-the-length"))


def test_checking_writes_nothing(store, here, found):
    document = shared_files.read_text(project_brief.file_path(here)).replace(
        '"version": 1', '"version": 3'
    )
    shared_files.write_atomic(project_brief.file_path(here), document)
    changes = store.db.total_changes

    assert found() == []
    assert store.db.total_changes == changes
    assert shared_files.read_text(project_brief.file_path(here)) == document


def test_files_behind_the_store_are_out_of_date(store, found):
    row = memories.get(store, "a2")
    change = Change(operation="archive", actor="user", at=NOW)
    memories.update(store, replace(row, status=Status.ARCHIVED), change)

    problems = found()
    assert f"{GOTCHAS}:None: is out of date; `ademem files refresh` updates it" in problems
    assert f"{GOTCHAS}:7: is about a2, which may not be shown here" in problems
    assert f"{LINES}:2: is about a2, which may not be shown here" in problems


def test_a_missing_file_is_reported(here, found):
    shared_files.remove(f"{here.root}/{GOTCHAS}")

    assert found() == [f"{GOTCHAS}:None: is missing; `ademem files refresh` writes it"]


def test_an_edit_by_hand_is_reported_with_its_line_and_the_way_out(found):
    assert found(GOTCHAS, "- two", "- three") == [
        f"{GOTCHAS}:7: was changed by hand or by git; `ademem files import` takes it over"
    ]


def test_a_file_that_is_not_text_is_reported(here, found):
    with open(f"{here.root}/{GOTCHAS}", "wb") as file:
        file.write(b"\xff")

    assert found() == [f"{GOTCHAS}:None: is not UTF-8 text; delete it, then `ademem files refresh`"]


def test_a_file_that_is_not_needed_any_more_is_reported(store, here, found):
    insert(store, memory("three", category=Category.GOTCHA, tags=("api",)))
    mirror.refresh(opened(here, store, Settings(mirror=MirrorSettings(topic_entries=2)), NOW))

    expected = ".ade/memory/gotchas-api.md:None: is out of date; `ademem files refresh` removes it"
    assert expected in found()


def test_a_brief_that_cannot_be_read_is_reported_with_its_reason(here, found):
    (problem,) = found(BRIEF, "{", "")

    assert problem.startswith(f"{BRIEF}:None: ")
    assert problem.endswith("mend the file, or delete it and refresh")


@pytest.mark.parametrize(
    ("path", "old", "new", "problem"),
    [
        pytest.param(GOTCHAS, "- two", "<<<<<<< HEAD\n- two", "7: a conflict", id="conflict"),
        pytest.param(GOTCHAS, "- two", "- two\n>>>>>>> x", "8: a conflict", id="half-settled"),
        pytest.param(GOTCHAS, "a2", "a1", "7: is about a1, like an earlier one", id="an id twice"),
        pytest.param(GOTCHAS, "a2", "p1", "7: is about p1, which may not", id="a personal row"),
        pytest.param(GOTCHAS, "a2", "zz", "7: is about zz, which may not", id="an unknown id"),
        pytest.param(LINES, '{"key":"gotcha-two"', "{", "2: is not an object", id="no JSON"),
        pytest.param(LINES, '"bead":"",', "", "1: is not an object with key", id="no bead"),
        pytest.param(LINES, '"ts":1', '"ts":"1", "x":1', "1: has a wrong ts", id="a text for a ts"),
        pytest.param(
            LINES, '"a2"', '"a1"', "2: is about a1, like an earlier one", id="a line twice"
        ),
        pytest.param(LINES, '"a2"', '"p1"', "2: is about p1, which may not", id="personal line"),
        pytest.param(LINES, '"a2"', "[]", "2: has a wrong id", id="a list for an id"),
        pytest.param(GOTCHAS, "- two", f"- {SECRET}", "7: has what looks like", id="a secret"),
        pytest.param(LINES, '"two"', f'"{SECRET}"', "2: has what looks like", id="secret in line"),
        pytest.param(
            INDEX,
            "# Project memory",
            KEY + "# Project memory",
            "None: has what looks like",
            id="key of lines",
        ),
        pytest.param(GOTCHAS, "- two", "- two " * 400, "7: has 2,3", id="a long text"),
        pytest.param(
            LINES, '"bead":"",', '"bead":"","scope":"agent",', "1: is of the scope", id="an agent's"
        ),
        pytest.param(INDEX, "`gotchas.md`", "x", "None: has no line for gotchas.md", id="no line"),
        pytest.param(
            INDEX,
            "# Project memory",
            "a\n" * 200 + "# Project memory",
            "None: has 222 lines",
            id="lines",
        ),
        pytest.param(
            INDEX,
            "# Project memory",
            "漢" * 9000 + "# Project memory",
            "None: has 22 lines and",
            id="bytes",
        ),
    ],
)
def test_damage_is_reported_with_its_line(found, path, old, new, problem):
    problems = found(path, old, new)

    assert [line for line in problems if line.startswith(f"{path}:{problem}")]


@pytest.mark.parametrize("path", [GOTCHAS, LINES])
def test_of_a_conflict_the_place_alone_is_reported(here, found, path):
    with open(f"{here.root}/{path}", encoding="utf-8") as file:
        text = file.read()
    shared_files.write_atomic(f"{here.root}/{path}", f"<<<<<<< a\n{text}=======\n{text}>>>>>>> b\n")

    assert found() == [f"{path}:1: a conflict of a git merge; resolve it and commit"]


def test_entries_that_a_person_added_are_no_damage(found):
    (only,) = found(GOTCHAS, "- two", "- my own\n\n- two")

    assert "was changed by hand or by git" in only


def test_a_page_of_a_split_topic_is_listed_with_its_first(store, here, found):
    small = MirrorSettings(topic_entries=1)
    mirror.refresh(opened(here, store, Settings(mirror=small), NOW))

    assert shared_files.read_text(f"{here.root}/.ade/memory/gotchas.2.md")
    assert found(settings=small) == []


def test_what_belongs_to_one_machine_is_not_in_git(here, found):
    for command in (("init", "--quiet"), ("add", "--force", ".ade/agents/me/core-memory.json")):
        shared_files.write_atomic(f"{here.root}/.ade/agents/me/core-memory.json", "{}\n")
        shared_files.write_atomic(f"{here.root}/.ade/.gitignore", "agents/\n")
        subprocess.run(["git", *command], cwd=here.root, check=True)
    path = ".ade/agents/me/core-memory.json"

    assert found() == [
        f"{path}:None: belongs to one machine and is in git; `git rm --cached {path}` takes it out"
    ]
