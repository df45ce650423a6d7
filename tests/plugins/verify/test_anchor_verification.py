"""Checking all places, following what moved, and what recall makes of the rest."""

import json
import os
import sys

import pytest

from ademem.core import anchor
from ademem.core.memory import Draft
from ademem.core.value import replace
from ademem.doors import cli
from ademem.operations import curation, init, open_memories, searching, upkeep, writing
from ademem.plugins.verify import anchor_verification, operations
from ademem.search.binding import update_bindings
from ademem.search.ranking import DEFAULTS
from ademem.store import bindings as table
from ademem.store import jobs
from ademem.store.memories import Change, set_anchors, update
from ademem.synthesis.anchoring import NoSuchPlace

CODE = "one\ntwo\nthree\n"
MOVED = "zero\none\ntwo\nthree\n"


@pytest.fixture
def memories(tmp_path):
    init(str(tmp_path))
    (tmp_path / "a.py").write_text(CODE)
    with open_memories(str(tmp_path), environment={}) as memories:
        yield memories


def keep(memories, content, *anchors):
    draft = Draft(content=content, anchors=tuple(anchors), promoted=True)
    memory = writing.write(memories, draft).memory
    update_bindings(memories.store)
    return memory


def write(memories, text, name="a.py"):
    with open(f"{memories.project.root}/{name}", "w") as file:
        file.write(text)


def states(memories):
    return [
        (each.location.noted.where, each.location.state) for each in operations.verify(memories)
    ]


def test_every_place_of_every_live_memory_is_checked(memories, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    keep(memories, "Of two places", "a.py:1", "a.py:3")
    keep(memories, "Of a command", "$ git push")
    gone = keep(memories, "Archived since", "a.py:2")
    curation.archive(memories, gone.id)
    write(memories, "one\n2\n3\n")

    assert states(memories) == [("a.py:1", "fresh"), ("a.py:3", "rewritten")]


def test_an_anchor_that_does_not_exist_is_refused_with_the_next_step(memories):
    with pytest.raises(NoSuchPlace, match="has 3 lines, not a") as refused:
        keep(memories, "Too far", "a.py:9")

    assert "FILE:FIRST-LAST" in refused.value.hint
    assert searching.list_memories(memories) == []


def test_fixing_follows_what_moved_in_one_act_that_can_be_undone(memories):
    moved = keep(memories, "Second line", "a.py:2")
    changed = keep(memories, "Of all three", "a.py:1-3")
    write(memories, "zero\none\ntwo\n3\n")
    fixed = operations.verify(memories, fix=True)

    assert [(each.fixed, each.location.state) for each in fixed] == [
        (True, "moved"),
        (False, "rewritten"),
    ]
    assert searching.get(memories, moved.id).anchors[0].startswith("a.py:3@")
    assert searching.get(memories, changed.id).anchors == changed.anchors
    assert states(memories) == [("a.py:3", "fresh"), ("a.py:1-3", "rewritten")]
    curation.undo(memories, curation.list_events(memories)[0].id)
    assert searching.get(memories, moved.id).anchors == moved.anchors


def test_fixing_twice_changes_nothing_more(memories):
    keep(memories, "Second line", "a.py:2")
    write(memories, MOVED)
    operations.verify(memories, fix=True)
    events = len(curation.list_events(memories))

    assert not any(each.fixed for each in operations.verify(memories, fix=True))
    assert len(curation.list_events(memories)) == events


def test_fixing_notes_what_an_older_anchor_never_had(memories):
    memory = keep(memories, "Second line")
    change = Change(operation="edit", actor="user", at=memory.created_at)
    update(memories.store, replace(memory, anchors=("a.py:2",)), change)
    operations.verify(memories, fix=True)
    write(memories, "one\n2\nthree\n")

    assert states(memories) == [("a.py:2", "rewritten")]


def test_a_memory_whose_value_is_gone_ranks_lower_from_then_on(memories):
    write(memories, "two = UTC\n")
    keep(memories, "Tokens expire in UTC always", "a.py:1")
    keep(memories, "Tokens expire in UTC mostly")
    scores = {
        hit.memory.content: hit.score
        for hit in searching.search(memories, "tokens expire UTC").hits
    }
    write(memories, "other\n")
    operations.verify(memories)
    hits = searching.search(memories, "tokens expire UTC").hits

    assert len(scores) == 2
    assert [hit.memory.content[-6:] for hit in hits] == ["mostly", "always"]
    discount = DEFAULTS.drift_discount
    assert hits[1].score == pytest.approx(discount * scores["Tokens expire in UTC always"])
    assert hits[1].signals["astray"] == discount
    assert "astray" not in hits[0].signals


def test_a_memory_that_only_moved_keeps_its_rank(memories):
    keep(memories, "Tokens expire in UTC", "a.py:2")
    write(memories, MOVED)
    operations.verify(memories)

    (hit,) = searching.search(memories, "tokens").hits
    assert "astray" not in hit.signals


def test_the_work_that_is_due_checks_the_places(memories):
    memory = keep(memories, "Tokens expire in UTC", "a.py:2")
    write(memories, "")
    jobs.queue(memories.store, "anchors", "project", memory.created_at)

    assert "anchors" in upkeep.work(memories)
    assert table.find_misplaced(memories.store, [memory.seq]) == {memory.seq}


@pytest.fixture
def type_(memories, monkeypatch, capsys):
    """A command line, its exit code, and what it prints."""

    def type_(*arguments):
        monkeypatch.chdir(memories.project.root)
        monkeypatch.setattr(sys, "argv", ["ademem", *arguments])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        said = capsys.readouterr()
        return stopped.value.code, said.out + said.err

    return type_


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        pytest.param(CODE, 0, "fresh    a.py:2  ", id="fresh"),
        pytest.param(MOVED, 1, "moved    a.py:2 -> a.py:3  ", id="moved"),
        pytest.param("one\n2\n", 0, "rewritten a.py:2  ", id="rewritten"),
        pytest.param("", 1, "gone     a.py:2  ", id="empty"),
        pytest.param(None, 1, "gone     a.py:2  ", id="gone"),
    ],
)
def test_verify_prints_a_line_a_place_and_fails_when_one_is_not_as_it_was(
    memories, type_, tmp_path, text, code, line
):
    type_("add", "Tokens expire in UTC", "--anchor", "a.py:2")
    if text is None:
        (tmp_path / "a.py").unlink()
    else:
        write(memories, text)
    stopped, said = type_("verify")

    assert (stopped, said.count("\n")) == (code, 1)
    assert said.startswith(line)


def test_verify_shows_the_old_the_new_value_and_the_corrected_text(memories, type_):
    write(memories, "def get(timeout=10):\n")
    type_("add", "The timeout of `get` is 10 s", "--anchor", "a.py:1")
    write(memories, "def get(url, timeout=20):\n")
    code, said = type_("verify")

    assert code == 1
    assert [line.strip() for line in said.splitlines()[1:]] == [
        "timeout: 10 -> 20",
        "corrected: The timeout of `get` is 20 s",
    ]


def test_a_review_offers_the_corrected_text_until_the_memory_has_it(memories, type_):
    write(memories, "def get(timeout=10):\n")
    memory = keep(memories, "The timeout of `get` is 10 s", "a.py:1")
    write(memories, "def get(timeout=20):\n")
    type_("verify")
    (waiting,) = json.loads(type_("review", "--json")[1])["memories"]

    assert waiting["id"] == memory.id
    assert waiting["why"].endswith(
        "a.py:1: timeout: 10 -> 20; corrected: The timeout of `get` is 20 s"
    )
    assert "corrected: The timeout" in type_("review", "--list")[1]
    type_("edit", memory.id, "--content", "The timeout of `get` is 20 s", "--anchor", "a.py:1")
    assert json.loads(type_("review", "--json")[1])["memories"] == []


def test_a_row_from_before_gets_its_values_at_the_next_verify(memories, type_):
    write(memories, "timeout = 10\n")
    memory = keep(memories, "timeout is 10 s", "a.py:1")
    plain = anchor.plain(memory.anchors)
    set_anchors(memories.store, memory, plain)
    revisions = len(curation.list_revisions(memories, memory.id))
    type_("verify")

    assert searching.get(memories, memory.id).anchors == memory.anchors != plain
    assert len(curation.list_revisions(memories, memory.id)) == revisions
    write(memories, "timeout = 20\n")
    assert states(memories) == [("a.py:1", "changed")]


def test_an_edited_text_depends_on_its_own_values(memories, type_):
    write(memories, "timeout = 10\nretries = 3\n")
    memory = keep(memories, "timeout is 10 s", "a.py:1-2")
    curation.edit(memories, memory.id, content="retries are 3")
    write(memories, "timeout = 20\nretries = 3\n")

    assert states(memories) == [("a.py:1-2", "rewritten")]


def test_verify_fixes_and_is_content(memories, type_):
    type_("add", "Tokens expire in UTC", "--anchor", "a.py:2")
    write(memories, MOVED)

    assert type_("verify", "--fix")[0] == 0
    code, said = type_("verify", "--json")
    (told,) = json.loads(said)["anchors"]
    assert (code, told["state"], told["anchor"]) == (0, "fresh", told["now"])


@pytest.mark.parametrize(
    ("text", "flag"),
    [
        pytest.param(CODE, None, id="fresh"),
        pytest.param(MOVED, "code-moved", id="moved"),
        pytest.param("one\n2\n", "code-rewritten", id="rewritten"),
        pytest.param("", "code-gone", id="empty"),
    ],
)
def test_recall_flags_a_memory_by_what_the_files_say_now(memories, type_, text, flag):
    type_("add", "Tokens expire in UTC", "--anchor", "a.py:2")
    write(memories, text)
    flags = [flag] if flag else []
    told = json.loads(type_("recall", "tokens", "--json")[1])["memories"][0]
    got = json.loads(type_("get", told["id"], "--json")[1])

    assert told["flags"] == got["flags"] == flags
    assert ("code-" in type_("recall", "tokens")[1]) == bool(flag)
    assert "anchor: a.py:2\n" in type_("get", told["id"])[1]


def test_a_command_line_that_names_no_place_says_what_to_write(type_):
    code, said = type_("add", "Tokens expire in UTC", "--anchor", "b.py:2")

    assert code == 2
    assert said.count("\n") == 1
    assert "FILE:LINE" in said


def test_a_person_who_read_the_changed_code_ties_the_memory_to_it_again(memories, type_):
    type_("add", "Tokens expire in UTC", "--anchor", "a.py:2", "--command", "git push")
    (memory,) = searching.list_memories(memories)
    write(memories, "")
    assert type_("verify")[0] == 1
    write(memories, "one\nnew\nthree\n")
    type_("edit", memory.id, "--anchor", "a.py:2")

    assert type_("verify")[0] == 0
    assert searching.get(memories, memory.id).anchors[1] == "$ git push"


def test_an_edited_path_and_command_are_redacted(memories, type_):
    memory = keep(memories, "Tokens expire in UTC")
    key = "ghp_" + "a1B2" * 9
    type_("edit", memory.id, "--path", f"{key}/*", "--command", f"login {key}")

    assert key not in str(searching.get(memories, memory.id))


def test_recall_does_not_ask_git(memories, type_, monkeypatch):
    type_("add", "Tokens expire in UTC", "--anchor", "a.py:2")
    os.remove(f"{memories.project.root}/a.py")
    monkeypatch.setattr(anchor_verification.git, "output", None)

    assert "code-gone" in type_("recall", "tokens")[1]


@pytest.mark.parametrize("command", ["", "  ", "$(date)", '"$editor" now'])
def test_what_is_no_command_is_refused_with_the_next_step(type_, command):
    code, said = type_("add", "Tokens expire in UTC", "--command", command)

    assert code == 2
    assert "names no command" in said
    assert '"git push"' in said
