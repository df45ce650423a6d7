"""The client's record is read as far as it goes, whatever stands in it."""

import json
import os
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ademem.capture import transcript
from ademem.capture.transcript import Call, Interruption, MachineText, Message, Prompt, Result
from ademem.core.clock import stamp
from ademem.core.transcript_lines import LINE_BYTES
from tests.capture.talk import Talk


@pytest.fixture
def read(tmp_path):
    """The events of a talk, or of raw bytes."""

    def read(talk, **options):
        path = tmp_path / "s1.jsonl"
        path.write_bytes(talk.raw() if isinstance(talk, Talk) else talk)
        return list(transcript.events(str(path), **options))

    return read


def texts(events, kind=Prompt):
    return [event.text for event in events if isinstance(event, kind)]


def test_a_conversation_is_read_in_its_order(read):
    talk = Talk().types("Fix the login").says("I look.").runs("ls", "README.md").says("Fixed.")
    events = read(talk)

    assert [type(event) for event in events] == [Prompt, Message, Call, Result, Message]
    assert (events[2].tool, events[2].input) == ("Bash", {"command": "ls"})
    assert (events[3].call_id, events[3].text, events[3].failed) == (
        events[2].id,
        "README.md",
        False,
    )
    assert events[0].at == talk.rows[0]["timestamp"]


@pytest.mark.parametrize(
    "add",
    [
        pytest.param(lambda t: t.types("x", isMeta=True), id="the client's own words"),
        pytest.param(lambda t: t.types("x", isCompactSummary=True), id="a summary"),
        pytest.param(lambda t: t.types("x", isVisibleInTranscriptOnly=True), id="never shown"),
        pytest.param(lambda t: t.types("x", isSidechain=True), id="an order to a subagent"),
        pytest.param(lambda t: t.types("<command-name>/compact</command-name>"), id="/compact"),
        pytest.param(lambda t: t.types("<system-reminder>x</system-reminder>"), id="a reminder"),
        pytest.param(lambda t: t.types("<system-reminder>x"), id="a reminder without an end"),
        pytest.param(lambda t: t.types("<ademem-memory>\nx\n</ademem-memory>"), id="a memory"),
        pytest.param(lambda t: t.types("- [fact] x (79a1d49e4dc0, user, 2026-01-01)"), id="a line"),
        pytest.param(lambda t: t.says("x", isApiErrorMessage=True), id="an error of the API"),
        pytest.param(lambda t: t.says("x", isSidechain=True), id="an answer to the model"),
        pytest.param(lambda t: t.row("system", content="x"), id="the system"),
        pytest.param(lambda t: t.row("queue-operation", content="x"), id="the queue"),
        pytest.param(lambda t: t.row("what-comes-next", message={"content": "x"}), id="unknown"),
        pytest.param(
            lambda t: t.row("attachment", attachment={"type": "hook_additional_context"}),
            id="context of a hook",
        ),
        pytest.param(lambda t: t.row("user", message="x"), id="no message"),
        pytest.param(lambda t: t.row("user", message={"content": [1, None]}), id="no blocks"),
        pytest.param(lambda t: t.row("assistant", message={"content": {"a": 1}}), id="no list"),
    ],
)
def test_what_no_person_or_model_wrote_is_left_out(read, add):
    assert read(add(Talk())) == []


@pytest.mark.parametrize(
    "add",
    [
        pytest.param(lambda t: t.types("<local-command-stdout>x</...>"), id="a command's output"),
        pytest.param(lambda t: t.types("<bash-input>ls</bash-input>"), id="a shell of the person"),
        pytest.param(lambda t: t.types("<task-notification>x"), id="news of a subagent"),
        pytest.param(lambda t: t.queues("<agent-message>never use x"), id="a queued message"),
        pytest.param(lambda t: t.types("[SYSTEM NOTIFICATION] x"), id="a notification"),
        pytest.param(lambda t: t.types("x", origin={"kind": "peer"}), id="another session"),
        pytest.param(
            lambda t: t.types("<channel>\n<command-name>fix</command-name>"),
            id="a message that quotes a command",
        ),
    ],
)
def test_a_text_of_a_machine_is_no_prompt(read, add):
    (event,) = read(add(Talk()))

    assert isinstance(event, MachineText)
    assert event.text


def test_a_prompt_has_the_id_that_hooks_know(read):
    (event,) = read(Talk().types("Fix it", promptId="p1"))

    assert event.prompt_id == "p1"


def test_an_answer_that_the_client_made_up_is_none(read):
    message = {"model": "<synthetic>", "content": [{"type": "text", "text": "No response"}]}

    assert read(Talk().row("assistant", message=message)) == []


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("<command-name>/release</command-name><command-args>1.2</command-args>", "/release 1.2"),
        ("<command-name>fix</command-name>", "/fix"),
        ("Fix it<system-reminder>be brief</system-reminder> now", "Fix it now"),
        ([{"text": "<ide_opened_file>a.py</ide_opened_file>"}, {"text": "Fix it"}], "Fix it"),
        ("See\n<ademem-memory>\nold\n</ademem-memory>\nabove", "See\nabove"),
        ("x" * 99_999, "x" * transcript.TEXT_CHARS),
    ],
    ids=[
        "a command",
        "a command without words",
        "a reminder",
        "an open file",
        "a memory",
        "too long",
    ],
)
def test_what_a_person_typed_is_left(read, typed, said):
    assert texts(read(Talk().types(typed))) == [said]


def test_what_is_typed_while_a_turn_runs_counts(read):
    assert texts(read(Talk().queues("no, use pnpm instead of npm"))) == [
        "no, use pnpm instead of npm"
    ]


def test_blocks_of_text_are_one_prompt(read):
    blocks = [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]

    assert texts(read(Talk().types(blocks))) == ["a\nb"]


def test_an_interruption_is_no_prompt(read):
    (event,) = read(Talk().types("[Request interrupted by user for tool use]"))

    assert isinstance(event, Interruption)


def test_of_a_long_result_beginning_and_end_are_kept(read):
    events = read(Talk().runs("make", "first " + "x" * 100_000 + " last"))

    (text,) = texts(events, Result)
    assert text.startswith("first ")
    assert text.endswith(" last")
    assert len(text) < transcript.TEXT_CHARS + 10


def test_a_fork_begins_after_what_it_was_copied_from(read):
    talk = Talk().types("old")
    since = talk.now
    talk.types("new")

    assert texts(read(talk, since=stamp(since))) == ["old", "new"]
    assert texts(read(talk, since=talk.rows[1]["timestamp"])) == ["new"]


def test_subagents_are_read_in_the_order_of_time(tmp_path):
    talk = Talk().types("Fix it")
    agent = Talk()
    agent.now = talk.now
    agent.types("look", isSidechain=True).does("Bash", "found", aside=True, command="grep x")
    talk.now = agent.now
    talk.says("Done.")
    path = talk.write(tmp_path / "s1.jsonl")
    agent.write(tmp_path / "s1/subagents/agent-1.jsonl")
    (tmp_path / "s1/subagents/notes.txt").write_text("x")
    events = list(transcript.all_events(str(path)))

    assert [type(event) for event in events] == [Prompt, Call, Result, Message]


LONG = "y" * LINE_BYTES


@pytest.mark.parametrize(
    "junk",
    [
        pytest.param(b"\n\n", id="empty lines"),
        pytest.param(b'{"type":"user","message"\n', id="broken JSON"),
        pytest.param(b'["type":"user"]\n"type":"user"\n[1]\n', id="no object"),
        pytest.param(b'\xff\xfe{"type":"user"}\n', id="no text"),
        pytest.param(b'{"type":"user","message":' + b"[" * 200_000 + b"\n", id="depth"),
        pytest.param(json.dumps({"type": "user", "x": LONG}).encode() + b"\n", id="a huge line"),
    ],
)
def test_what_cannot_be_read_hides_nothing_behind_it(read, junk):
    raw = Talk().types("before").raw() + junk + Talk().types("after").raw()

    assert texts(read(raw)) == ["before", "after"]


def test_half_a_line_waits_for_its_end(read):
    raw = Talk().types("whole").types("half").raw()

    assert texts(read(raw[:-1])) == ["whole"]
    assert texts(read(raw)) == ["whole", "half"]


WHOLE = Talk().types("Fix").says("Ja: ü").runs("ls", "x").queues("no").edits("/p/a.py")


@given(cut=st.integers(min_value=0, max_value=len(WHOLE.raw())))
def test_any_beginning_tells_a_beginning(tmp_path_factory, cut):
    path = tmp_path_factory.mktemp("t") / "s1.jsonl"
    path.write_bytes(WHOLE.raw())
    all_ = list(transcript.events(str(path)))
    path.write_bytes(WHOLE.raw()[:cut])
    some = list(transcript.events(str(path)))

    assert some == all_[: len(some)]


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)
KEYS = "type message attachment timestamp isMeta content role name input id text prompt".split()


@pytest.mark.parametrize("kind", ["device", "pipe", "folder", "nothing"])
def test_what_is_no_file_is_not_read(tmp_path, kind):
    places = {"device": "/dev/zero", "folder": str(tmp_path), "nothing": str(tmp_path / "none")}
    if kind == "pipe":
        os.mkfifo(tmp_path / "pipe")
        places["pipe"] = str(tmp_path / "pipe")

    with pytest.raises(OSError, match=places[kind]):
        list(transcript.events(places[kind]))


@given(row=st.dictionaries(st.sampled_from(KEYS), ANY), kind=st.sampled_from(["user", "assistant"]))
def test_no_row_is_too_strange(tmp_path_factory, row, kind):
    path = tmp_path_factory.mktemp("t") / "s1.jsonl"
    row = {"type": kind} | row | {"message": {"content": [row, {"type": "tool_use"} | row]}}
    path.write_text(json.dumps(row) + "\n")

    assert all(hasattr(event, "at") for event in transcript.events(str(path)))


@pytest.mark.slow
def test_fifty_megabytes_are_read_in_a_few(tmp_path):
    path = tmp_path / "s1.jsonl"
    body = Talk().runs("make", "x" * 40_000).raw()
    blob = json.dumps({"type": "api-request-blob", "blob": "z" * 900_000}).encode() + b"\n"
    with path.open("wb") as file:
        while file.tell() < 50_000_000:
            file.write(body * 4 + blob)
    tracemalloc.start()
    try:
        count = sum(1 for _ in transcript.events(str(path)))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert count > 300
    assert peak < 20_000_000
