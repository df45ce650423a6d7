"""Whether a session did something with what it was shown: ids and names, in the order of time."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from ademem.capture.transcript import Call, Message, Prompt, Result
from ademem.core.clock import parse
from ademem.core.settings import GuardSettings
from ademem.operations import inspecting, reports, searching, upkeep
from ademem.store import logs
from ademem.synthesis import usage
from ademem.synthesis.usage import Clue
from tests.builders import insert, memory

ID = "79a1d49e4dc0"


def clue(*names, id=ID, at="2026-03-01T12:00:00.000Z"):
    return Clue(id, at, names)


def call(tool, minute=5, **given):
    return Call(id="c", tool=tool, input=given, at=f"2026-03-01T12:{minute:02}:00.000Z")


def bash(command, minute=5):
    return call("Bash", minute, command=command)


def used(*events, clues=None):
    found = [clue("src/auth.py", "TokenStore")] if clues is None else clues
    return list(usage.find_used(events, found, GuardSettings()))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        pytest.param("Tokens live in src/auth.py", {"src/auth.py"}, id="a path"),
        pytest.param("Only conftest.py has it", {"conftest.py"}, id="a file"),
        pytest.param("Call `make release` last", {"make release"}, id="marked as code"),
        pytest.param("TokenStore and token_store", {"TokenStore", "token_store"}, id="identifiers"),
        pytest.param("Use readToken, not Token", {"readToken"}, id="humps"),
        pytest.param("Pass --no-cache to it", {"--no-cache"}, id="an option"),
        pytest.param("Deploys go through staging", set(), id="plain words"),
        pytest.param("Never use a.b or x_y", set(), id="too short"),
        pytest.param("It ends here.Then on", set(), id="a missing blank"),
        pytest.param("Sync is 03:30, 40ms, port 9001", {"03:30", "40ms", "9001"}, id="values"),
        pytest.param("48kHzだと9001番", {"48kHz", "9001"}, id="values without blanks"),
        pytest.param("e.g. 1.2.3, 12 kg, 15.000, in 2029", set(), id="short numbers, a year"),
    ],
)
def test_the_names_in_a_memory_are_those_of_things_in_the_code(text, names):
    assert usage.find_names(text) == names


@pytest.mark.parametrize(
    "event",
    [
        pytest.param(bash(f"ademem get {ID}"), id="read whole"),
        pytest.param(bash("ademem get 79a1"), id="by the beginning of its id"),
        pytest.param(bash("ademem get --history 79a1"), id="behind an option"),
        pytest.param(bash(f"ademem promote {ID} && ls"), id="decided about"),
        pytest.param(call("mcp__ademem__memory_get", id="79a1d4"), id="by MCP"),
        pytest.param(bash(f"git commit -m 'as {ID} says'"), id="quoted in a commit"),
        pytest.param(call("Task", prompt=f"mind {ID}"), id="handed on to a subagent"),
        pytest.param(call("Write", file_path="/p/src/auth.py", content="x"), id="its file written"),
        pytest.param(call("Edit", file_path="/p/a.py", new_string="s = TokenStore()"), id="a name"),
        pytest.param(
            call("MultiEdit", file_path="/p/a.py", edits=[{"new_string": "TokenStore"}]),
            id="a name in one of many edits",
        ),
        pytest.param(bash("rm src/auth.py"), id="a name in a changing command"),
        pytest.param(bash('ademem add "TokenStore caches"'), id="repeated in a memory"),
    ],
)
def test_what_was_done_with_a_memory_tells(event):
    assert used(event) == [ID]


@pytest.mark.parametrize(
    "events",
    [
        pytest.param([bash("ademem recall TokenStore")], id="a search"),
        pytest.param([bash("cat src/auth.py")], id="reading the file"),
        pytest.param([call("Read", file_path="/p/src/auth.py")], id="reading it by tool"),
        pytest.param([call("Edit", file_path="/p/a.py", old_string="TokenStore")], id="was there"),
        pytest.param([bash("rm lib/src/auth.pyc")], id="a longer name"),
        pytest.param([bash("rm MyTokenStores")], id="inside a word"),
        pytest.param([bash("ademem get 79b2")], id="another id"),
        pytest.param([bash("ademem get 79a")], id="too little of the id"),
        pytest.param([bash("rm src/auth.py", minute=0)], id="before it was shown"),
        pytest.param(
            [bash("touch src/auth.py TokenStore", minute=0), bash("rm src/auth.py")],
            id="named before it was shown",
        ),
        pytest.param(
            [
                Prompt(text="Move TokenStore out of src/auth.py", at="2026-03-01T12:04:00.000Z"),
                call("Write", file_path="/p/src/auth.py", content="class TokenStore"),
            ],
            id="named by the person",
        ),
    ],
)
def test_what_tells_nothing_of_the_memory_does_not_count(events):
    assert used(*events) == []


def said(text, minute=6):
    return Message(text=text, at=f"2026-03-01T12:{minute:02}:00.000Z")


def asked(text, minute=4):
    return Prompt(text=text, at=f"2026-03-01T12:{minute:02}:00.000Z")


READ = Result(call_id="c", text="class TokenStore:", failed=False, at="2026-03-01T12:05:30.000Z")
LIST = call("Bash", command="ls")


@pytest.mark.parametrize(
    ("events", "is_used"),
    [
        pytest.param([asked("Where?"), said("In TokenStore.")], True, id="the answer"),
        pytest.param([said("In TokenStore."), asked("Thanks", 7)], True, id="and then a prompt"),
        pytest.param([said("I look at TokenStore."), LIST, said("Done.")], False, id="on the way"),
        pytest.param([asked("What is TokenStore?"), said("TokenStore keeps.")], False, id="asked"),
        pytest.param([LIST, READ, said("It is in TokenStore.")], False, id="read from a file"),
        pytest.param([said("In TokenStore.", 0)], False, id="said before it was shown"),
    ],
)
def test_a_name_that_an_answer_has_first_tells(events, is_used):
    found = [clue("TokenStore", at="2026-03-01T12:02:00.000Z")]
    assert usage.find_used(events, found, GuardSettings()) == (
        {ID: "TokenStore in an answer"} if is_used else {}
    )


def test_of_several_memories_those_are_used_whose_names_come_up():
    clues = [clue("src/auth.py", id="a" * 12), clue("src/net.py", id="b" * 12)]

    assert used(bash("rm src/net.py"), clues=clues) == ["b" * 12]


def session(world, shown, *calls, id="s1"):
    """A session that is briefed, does this, and ends; the worker looks at it."""
    path = world.root.parent / f"{id}.jsonl"
    world.fire("session_start", source="startup", session_id=id, transcript_path=str(path))
    rows = []
    for number, (tool, given) in enumerate(calls, 1):
        at = f"2026-03-01T13:00:{number:02}.000Z"
        block = {"type": "tool_use", "id": f"t{number}", "name": tool, "input": given}
        message = {"role": "assistant", "content": [block]}
        rows.append({"type": "assistant", "timestamp": at, "message": message})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    world.fire("session_end", reason="other", session_id=id, transcript_path=str(path))
    with world.memories() as memories:
        upkeep.work(memories)
        return {
            row["id"]: row
            for row in reports.get_impressions(memories, 100)["by_memory"]
            if row["id"] in shown
        }


@pytest.fixture
def known(world):
    with world.memories() as memories:
        return [
            row.id
            for row in insert(
                memories.store,
                memory("Tokens are read in src/auth.py alone"),
                memory("Nobody reads vendor/legacy.c"),
            )
        ]


def test_a_session_that_used_a_memory_is_counted_once(world, known):
    edit = ("Edit", {"file_path": "/p/src/auth.py", "new_string": "x"})
    counts = session(world, known, edit, edit)
    assert (counts[known[0]]["shown"], counts[known[0]]["used"]) == (1, 1)
    assert (counts[known[1]]["shown"], counts[known[1]]["used"]) == (1, 0)
    assert world.row("select count(*) from recall_log where used = 1")[0] == 1

    world.fire("session_end", reason="other", session_id="s1")
    with world.memories() as memories:
        upkeep.work(memories)
        assert reports.get_impressions(memories)["used"] == 1


def test_a_use_takes_back_all_that_was_shown_in_vain(world, known):
    with world.memories() as memories:
        for _ in range(24):
            shown = [logs.Shown(memory_id=id) for id in known]
            logs.log_shown(memories.store, "briefing", shown, memories.now)
    counts = session(world, known, id="v0")
    assert counts[known[0]]["worth"] == counts[known[1]]["worth"] == 0.4

    counts = session(world, known, ("Bash", {"command": f"ademem get {known[0]}"}), id="u1")
    assert counts[known[0]]["worth"] == 1.0
    assert counts[known[1]]["worth"] == pytest.approx(10 / 26, abs=0.001)
    with world.memories() as memories:
        overall = reports.get_impressions(memories)
    assert {name: overall[name] for name in ("shown", "used", "used_memories", "sinking")} == {
        "shown": 52,
        "used": 1,
        "used_memories": 1,
        "sinking": 1,
    }


RULE = "Never run `npm publish` from a laptop"


def turn(world, *, prompt="Get the package out", calls=(), id="s1", then=()):
    """A session with one turn: hooks fire at each call, and the transcript has it with its end."""
    path = world.root.parent / f"{id}.jsonl"
    rows = []

    def write(kind, content, second):
        at = f"2026-03-01T13:00:{second:02}.000Z"
        message = {"role": kind, "content": content}
        rows.append({"type": kind, "timestamp": at, "message": message})
        return at

    start = world.now
    world.now = parse(write("user", prompt, 0))
    common = {"session_id": id, "prompt_id": f"p-{id}", "transcript_path": str(path)}
    world.fire("user_prompt_submit", prompt=prompt, **common)
    for number, (tool, given, failure) in enumerate(calls, 1):
        call = f"t{number}"
        block = {"type": "tool_use", "id": call, "name": tool, "input": given}
        world.now = parse(write("assistant", [block], 10 * number)) + timedelta(seconds=1)
        fields = {"tool_name": tool, "tool_input": given, "tool_use_id": call} | common
        denied = "deny" in str(world.fire("pre_tool_use", **fields))
        world.fire("post_tool_batch", **common)
        if failure and not denied:
            world.fire("post_tool_use_failure", error=failure, **fields)
        result = {"type": "tool_result", "tool_use_id": call, "content": failure or "ok"}
        result["is_error"] = bool(failure) or denied
        write("user", [result], 10 * number + 2)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    world.fire("stop", last_assistant_message="Done.", **common)
    world.fire("session_end", reason="other", **common)
    with world.memories() as memories:
        upkeep.work(memories)
        found = {row["text"]: row for row in reports.get_impressions(memories, 100)["by_memory"]}
    world.now = start
    return found


PACK = ("Bash", {"command": "npm pack"}, "")
PUBLISH = ("Bash", {"command": "npm publish"}, "")


def test_a_denial_that_is_heeded_counts_as_a_use_and_one_that_is_overruled_does_not(world):
    world.environment["ADEMEM_GUARD_MODE"] = "consult"
    world.know(RULE)

    overruled = turn(world, calls=[PUBLISH, PUBLISH], id="s0")
    assert (overruled[RULE]["shown"], overruled[RULE]["used"]) == (1, 0)
    for number in range(1, 14):
        heeded = turn(world, calls=[PUBLISH, PACK], id=f"s{number}")
    assert (heeded[RULE]["shown"], heeded[RULE]["used"], heeded[RULE]["worth"]) == (14, 13, 1.0)
    world.now = parse("2026-03-01T14:00:00.000Z")
    with world.memories() as memories:
        assert reports.get_ledger(memories).unused == ()
        (memory,) = searching.list_memories(memories)
        uses = inspecting.list_uses(memories, memory.id)
    assert {row["evidence"] for row in uses if row["used"]} == {"prevented npm publish"}
    assert {row["instead"] for row in uses if row["used"]} == {"npm pack"}


@pytest.mark.parametrize(
    ("text", "prompt", "calls", "used"),
    [
        pytest.param(
            "E4020 means that the ledger is closed: reopen it first",
            "go on",
            [("Bash", {"command": "./post"}, "E4020: no"), ("Bash", {"command": "./post"}, "")],
            1,
            id="a failure, and then success",
        ),
        pytest.param(
            "E4020 means that the ledger is closed: reopen it first",
            "go on",
            [("Bash", {"command": "./post"}, "E4020: no"), ("Bash", {"command": "./test"}, "")],
            0,
            id="a failure that stays",
        ),
        pytest.param(
            "The ledger locks; use `make ledger`",
            "why does the ledger lock?",
            [("Bash", {"command": "make ledger"}, "")],
            1,
            id="a prompt, and a call where it applies",
        ),
        pytest.param(
            "The ledger locks; use `make ledger`",
            "why does the ledger lock?",
            [("Bash", {"command": "make docs"}, "")],
            0,
            id="a prompt, and a call elsewhere",
        ),
        pytest.param(
            "The ledger locks; use make ledger, never `LedgerLock`",
            "why does the ledger lock?",
            [
                ("Bash", {"command": "make ledger"}, ""),
                ("Write", {"file_path": "a.py", "content": "LedgerLock()"}, ""),
            ],
            0,
            id="a prompt, and a call that writes what it forbids",
        ),
    ],
)
def test_a_memory_that_answered_a_prompt_or_a_failure_counts_as_used(
    world, text, prompt, calls, used
):
    world.know(text, category="fact")

    assert turn(world, prompt=prompt, calls=calls)[text]["used"] == used


def test_what_worked_is_not_ranked_lower_for_half_a_year(world, known):
    session(world, known, ("Bash", {"command": f"ademem get {known[0]}"}))
    used_at = world.now
    worth = []
    for days in (30, 200):
        world.now = used_at + timedelta(days=days)
        with world.memories() as memories:
            for _ in range(24):
                shown = [logs.Shown(memory_id=known[0])]
                logs.log_shown(memories.store, "briefing", shown, memories.now)
            rows = reports.get_impressions(memories, 100)["by_memory"]
            worth += [row["worth"] for row in rows if row["id"] == known[0]]

    assert worth == [1.0, pytest.approx(10 / 24, abs=0.001)]


def test_what_a_session_recalled_and_then_cited_is_used(world, known):
    world.fire("session_start", source="startup", session_id="s0")
    with world.memories() as memories:
        searching.recall(memories, "tokens auth")
    note = ("Bash", {"command": f'ademem add "Refresh is in auth too, see {known[0]}"'})

    assert session(world, known, note)[known[0]]["used"] == 1


@pytest.mark.parametrize("gone", [True, False], ids=["no transcript", "nothing in it"])
def test_a_session_that_left_no_trace_used_nothing(world, known, gone):
    counts = session(world, known)
    if gone:
        world.fire("session_start", source="startup", session_id="s9")
        world.fire("session_end", reason="other", session_id="s9", transcript_path="/nowhere")
        with world.memories() as memories:
            upkeep.work(memories)

    assert counts[known[0]]["used"] == 0
    assert world.failures() == []
