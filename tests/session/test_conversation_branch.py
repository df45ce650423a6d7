"""What was said to a prompt that the person took back is not in the conversation any more."""

import json
import os

import pytest

from ademem.core.memory import Origin, Trust
from ademem.session import conversation_branch

BY_PERSON = {"origin": Origin(trust=Trust.USER, source_type="user")}


def row(uuid, parent, **more):
    return {"type": "user", "uuid": uuid, "parentUuid": parent} | more


def call(uuid, parent, id):
    content = [{"type": "tool_use", "id": id, "name": "Bash", "input": {}}]
    return row(uuid, parent, type="assistant", message={"content": content})


REWOUND = (
    row("a", None, promptId="p1"),
    call("b", "a", "t1"),
    row("c", "b", promptId="p2"),
    call("d", "c", "t2"),
    row("e", "b", promptId="p3"),  # sent after `/rewind` to before p2
    call("f", "e", "t3"),
)


@pytest.fixture
def transcript(tmp_path):
    path = tmp_path / "s1.jsonl"
    path.write_text("".join(f"{json.dumps(each)}\n" for each in REWOUND))
    return path


@pytest.mark.parametrize(
    ("at", "left"),
    [
        pytest.param("t3", {"p2"}, id="a call after the rewind"),
        pytest.param("t2", {"p3"}, id="one on the branch that was left"),
        pytest.param("t9", None, id="a call that is not written yet"),
        pytest.param("", None, id="no call"),
    ],
)
def test_prompts_off_the_chain_of_a_call_were_left(transcript, at, left):
    assert conversation_branch.find_left(str(transcript), at) == left


def test_half_a_line_and_what_is_no_json_change_nothing(transcript):
    transcript.write_bytes(b'{"uuid": \xff}\n[1]\n' + transcript.read_bytes() + b'{"uuid": "g"')

    assert conversation_branch.find_left(str(transcript), "t3") == {"p2"}


def test_a_pipe_a_folder_and_nothing_tell_nothing(tmp_path):
    os.mkfifo(tmp_path / "pipe")

    for name in ("pipe", ".", "missing"):
        assert conversation_branch.find_left(str(tmp_path / name), "t3") is None


def test_a_rule_said_before_a_rewind_stops_its_call_again(world, transcript):
    world.know("Lock files are made by the bot", anchors=("@ `make lock`",), **BY_PERSON)
    tried = {"tool_name": "Bash", "tool_input": {"command": "make lock"}}

    def denied(prompt_id, tool_use_id):
        said = world.fire(
            "pre_tool_use",
            prompt_id=prompt_id,
            tool_use_id=tool_use_id,
            transcript_path=str(transcript),
            **tried,
        )
        world.fire("post_tool_batch", prompt_id=prompt_id, tool_calls=[])
        return '"deny"' in said

    for prompt_id in ("p1", "p2"):
        world.fire("user_prompt_submit", prompt="Tidy up", prompt_id=prompt_id)
    before = [denied("p2", "t2"), denied("p2", "t2b")]
    world.fire("user_prompt_submit", prompt="Tidy up differently", prompt_id="p3")

    assert before == [True, False]
    assert denied("p3", "t3")
