"""What goes wrong at the terminal: one line, the next step, and whose turn it is by the code."""

import io
import json
import sys
from pathlib import Path

import pytest

from ademem import operations
from ademem.core import who
from tests import builders, persons

LESSON = "Login tokens expire in UTC"


def mistake(ademem, *arguments):
    """The one line that is printed, and the exit code."""
    said = ademem(*arguments)
    assert said.count("\n") == 1, said
    return said.removeprefix("ademem: ").rstrip(), ademem.exit_code


def test_a_word_of_no_list_is_told_in_words_of_ours(ademem):
    said = ademem("status", "foo")
    assert "no topic 'foo' (known: commits, cost, guard, impressions)" in said
    assert ademem.exit_code == 2


@pytest.mark.parametrize("command", ["add", "recall"])
def test_a_text_that_begins_with_a_dash_is_told_from_an_option(ademem, command):
    assert "write -- before a text that begins with a dash" in ademem(command, "- noon")
    assert ademem.exit_code == 2
    ademem("add", "--", "- deploys run at noon")
    assert "- deploys run at noon" in ademem("recall", "--", "- noon")


def test_what_an_argument_that_is_missing_stands_for_is_told(ademem):
    assert "Missing argument 'ID'. Of a memory, or its start (`ademem pin" in ademem("pin")
    assert ademem.exit_code == 2


@pytest.mark.parametrize("forged", ["@ src/**", "@ none", " @not src/", "@read src/"])
def test_no_anchor_is_stored_as_the_choice_of_a_place(ademem, forged):
    id = ademem.json("add", LESSON)["memory"]["id"]
    for arguments in (["add", "Backups run at night"], ["edit", id]):
        said, code = mistake(ademem, *arguments, "--anchor", forged)
        assert (said, code) == ("an anchor is a file or a command (choose a place with `at`)", 2)

    assert ademem.json("list")["count"] == 1
    assert ademem.json("get", id)["anchors"] == []


@pytest.mark.parametrize("arguments", [["list"], ["add", "x"], ["recall", "x"]], ids=str)
def test_a_damaged_database_is_reported_with_what_rebuilds_it(ademem, arguments):
    for left in (ademem.root / ".ade").glob("ade.db*"):
        left.write_bytes(b"SQLite format 3\0" + b"rubbish" * 1000)

    told, code = mistake(ademem, *arguments)
    assert (told, code) == (
        "the database cannot be used: file is not a database"
        " (`ademem doctor --fix` rebuilds it from the files)",
        6,
    )


@pytest.mark.parametrize(
    ("arguments", "told", "code"),
    [
        pytest.param(["get", "nope"], "no memory has the id 'nope' (`ademem list`", 1, id="no id"),
        pytest.param(["undo", "nope"], "no event has the id 'nope' (`ademem log`", 1, id="no act"),
        pytest.param(["list", "--at", "noon"], "'noon' is not a time (2026-01-31", 2, id="no time"),
        pytest.param(
            ["list", "--at", "9999-12-31"], "'9999-12-31' is not a time", 2, id="last day"
        ),
        pytest.param(
            ["list", "-c", "x"], "no category 'x' (known: convention, ", 2, id="no category"
        ),
        pytest.param(["list", "--scope", "x"], "no scope 'x' (known: agent, ", 2, id="no scope"),
        pytest.param(
            ["list", "--scope", "agent"], "each agent has its own memories (name", 2, id="whose"
        ),
        pytest.param(
            ["list", "--at", "2h", "-c", "fact"], "--at lists all memories of", 2, id="at and more"
        ),
        pytest.param(["core", "set", "x", "y"], "the brief has no field 'x' (", 2, id="no field"),
        pytest.param(["import", "x"], "cannot read x: No such file", 2, id="no file"),
        pytest.param(["import", "."], "cannot read .: Is a directory", 2, id="a folder to read"),
        pytest.param(["export", "no/x"], "cannot write no/x: No such file", 2, id="no folder"),
        pytest.param(["export", "."], "cannot write .: Is a directory", 2, id="a folder to write"),
        pytest.param(["init", "--project", "x"], "there is no folder x (name", 2, id="no project"),
        pytest.param(
            ["install", "--shared", "--user"], "--shared and --user exclude", 2, id="two places"
        ),
        pytest.param(["install", "--project", "x"], "there is no folder x (name", 2, id="no root"),
        pytest.param(
            ["list", "--project", "/"], "no ademem project at / (`ademem init`", 5, id="/"
        ),
        pytest.param(
            ["restore", "--backup", "latest", "--to", "1"],
            "a backup has no `--to` (leave it out",
            2,
            id="revision of a backup",
        ),
        pytest.param(["recall"], "recall what? (ademem recall", 2, id="no words"),
        pytest.param(["recall", " "], "recall what? (ademem recall", 2, id="blank words"),
    ],
)
def test_a_mistake_is_one_line_with_the_next_step(ademem, arguments, told, code):
    said, exit_code = mistake(ademem, *arguments)

    assert said.startswith(told)
    assert said.endswith(")")
    assert exit_code == code


def test_the_beginning_of_several_ids_is_not_enough(ademem):
    with_one_beginning = ("abcd11111111", "abcd22222222")
    lines = [
        json.dumps(
            {"ademem": 1, "id": id, "sync_id": id, "category": "fact", "content": f"It is {id}"}
        )
        for id in with_one_beginning
    ]
    (ademem.root / "lines.jsonl").write_text("\n".join(lines))
    ademem("import", "lines.jsonl")

    assert mistake(ademem, "get", "abcd") == (
        "more than one memory has an id that begins with 'abcd' (give more of it)",
        1,
    )
    assert "It is abcd1" in ademem("get", "abcd1")


@pytest.mark.parametrize(
    ("arguments", "told", "code"),
    [
        pytest.param(["add", "-"], "standard input is not UTF-8 text", 2, id="add"),
        pytest.param(["import", "-"], '"message": "is not UTF-8', 0, id="import"),
        pytest.param(["import", "--format", "pr", "-"], "the input is not JSON", 2, id="capture"),
    ],
)
def test_bytes_that_are_no_text_are_reported(ademem, monkeypatch, arguments, told, code):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xa0\xff\x00"), "utf-8"))

    assert told in ademem(*arguments)
    assert ademem.exit_code == code


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        pytest.param(["log", "--refused"], "nothing was refused", id="refusals"),
        pytest.param(["log", "--guard"], "the guard was not asked yet", id="decisions"),
        pytest.param(["list"], "no memories", id="memories"),
        pytest.param(["log"], "nothing was done yet", id="acts"),
    ],
)
def test_an_empty_list_says_so(ademem, arguments, told):
    assert ademem(*arguments) == f"{told}\n"
    assert ademem.exit_code == 0


STORED = (
    "The capital of the fund is booked in cents",
    "Deploys wait for the lock of the pipeline",
    "The lock of the queue is held for ten minutes",
)


def test_a_recall_that_nothing_answers_says_how_many_come_near_and_fails(ademem):
    for text in STORED:
        ademem("add", text)

    query = "which river flows through the capital where the museum keeps old clocks of kings"
    assert ademem("recall", query) == f'nothing in memory answers "{query}" (1 weaker: --all)\n'
    assert ademem.exit_code == 1
    assert ademem("search", query) == "nothing in memory answers that (1 weaker: --all)\n"
    assert ademem.exit_code == 1
    assert STORED[0] in ademem("recall", query, "--all")
    assert STORED[0] in ademem("search", query, "--all")
    found = ademem.json("recall", query)
    assert (found["count"], found["weaker"], found["confidence"]) == (1, 1, "weak")
    assert ademem.exit_code == 1


@pytest.mark.parametrize(
    ("query", "answers"),
    [
        pytest.param("what is the capital of France", False, id="the other word is nowhere"),
        pytest.param("the capital", True, id="no other word"),
        pytest.param("capital in the pipeline", True, id="the other word is elsewhere"),
        pytest.param("which funds book capital in France", True, id="more words than one"),
    ],
)
def test_one_word_of_a_question_about_something_unknown_is_no_answer(ademem, query, answers):
    with operations.open_memories(str(ademem.root)) as memories:
        others = (f"The job of night {at} writes its log to shelf {at}" for at in range(100))
        builders.insert(memories.store, *map(builders.memory, (*STORED, *others)))

    shown = ademem("recall", query)

    assert (STORED[0] in shown, ademem.exit_code == 0) == (answers, answers)


def test_a_recall_leaves_weaker_hits_out_beside_one_that_answers(ademem):
    for text in STORED:
        ademem("add", text)

    shown = ademem("recall", "do deploys wait for the pipeline or its lock")
    assert STORED[1] in shown
    assert STORED[2] not in shown
    assert "(1 weaker: --all)" in shown
    assert ademem.exit_code == 0


def test_a_recall_without_hits_fails_in_a_terminal_and_names_its_query_everywhere(ademem):
    assert ademem("recall", "zebra stripes") == 'nothing in memory answers "zebra stripes"\n'
    assert ademem.exit_code == 1

    ademem.inside()

    assert ademem("recall", "zebra stripes") == 'nothing in memory answers "zebra stripes"\n'
    assert (ademem.exit_code, ademem.printed.count("\n")) == (0, 1)


@pytest.fixture
def at_home(ademem, monkeypatch):
    home = ademem.root.parent / "home"
    home.mkdir(exist_ok=True)
    monkeypatch.chdir(home)
    return home


@pytest.mark.parametrize(("answer", "enrolled"), [("y", True), ("n", False), ("", False)])
def test_the_home_folder_is_enrolled_only_on_request(
    ademem, at_home, monkeypatch, answer, enrolled
):
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{answer}\n"))

    ademem("init")
    assert (at_home / ".ade").exists() == enrolled


def test_without_a_terminal_the_home_folder_has_to_be_named(ademem, at_home, monkeypatch):
    persons.set_who(monkeypatch, persons.UNKNOWN)

    assert "is your home folder" in ademem("init")
    assert not (at_home / ".ade").exists()
    ademem("init", "--project", str(at_home))
    assert (at_home / ".ade").exists()


@pytest.mark.parametrize(
    ("saves", "told"),
    [
        pytest.param(LESSON, "another live memory says the same", id="refused"),
        pytest.param("so it goes " * 300, "the text has 3,299 characters; 2,000", id="too long"),
        pytest.param(b"\xff Tokens", "the text is not UTF-8", id="another encoding"),
    ],
)
def test_a_text_that_is_not_stored_is_left_where_the_editor_saved_it(ademem, saves, told):
    ademem("add", LESSON)
    id = ademem.json("add", "Releases are cut on Mondays")["memory"]["id"]
    typed = ademem.root / "typed"
    typed.write_bytes(saves if isinstance(saves, bytes) else saves.encode())
    ademem.monkeypatch.setenv("EDITOR", f"cp {typed}")
    where, error = ademem("edit", id).splitlines()

    assert told in error
    assert Path(where.removeprefix("your text is in ")).read_bytes() == typed.read_bytes()
    assert ademem.json("get", id)["content"] == "Releases are cut on Mondays"


@pytest.mark.parametrize("editor", ['vi "', "rm", "false", "no-such-editor"])
def test_an_editor_that_cannot_be_used_is_the_persons_to_set(ademem, editor):
    id = ademem.json("add", LESSON)["memory"]["id"]
    ademem.monkeypatch.setenv("EDITOR", editor)
    told, code = mistake(ademem, "edit", id)

    assert (told.startswith(f"{editor}: "), "set $EDITOR" in told, code) == (True, True, 2)


def test_no_editor_opens_without_a_terminal(ademem):
    id = ademem.json("add", LESSON)["memory"]["id"]
    ademem.monkeypatch.delenv("VISUAL", raising=False)
    ademem.monkeypatch.delenv("EDITOR", raising=False)
    ademem.monkeypatch.setattr(who, "has_terminal", lambda: False)

    assert mistake(ademem, "edit", id) == (
        "there is no terminal to edit the text in (--content gives the new one)",
        2,
    )


@pytest.mark.parametrize("given", [["--find", "Mondays"], ["--replace", "Fridays"]], ids=str)
def test_a_part_is_replaced_where_both_texts_are_given(ademem, given):
    id = ademem.json("add", "Releases are cut on Mondays")["memory"]["id"]
    told, code = mistake(ademem, "edit", id, *given)

    assert ("needs" in told, code) == (True, 2)
