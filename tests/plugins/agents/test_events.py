"""Events of Codex and Gemini CLI, as recorded from 0.169 and 0.61, in a project with a rule."""

import json
import os
import time

import pytest

from ademem.core.memory import Origin, Trust
from ademem.plugins.agents.events import CODEX, GEMINI, answer

BY_PERSON = {"origin": Origin(trust=Trust.USER, source_type="user")}
RULE, FACT = "Never edit src/auth.py by hand; `make auth` writes it", "Uploads go to the spool"
HEAD = {"session_id": "01a209cc-e7d6-7743-8456-fc56d0f5bb4c"}
CODEX_TURN = {"turn_id": "01a209cc-e83a-7150-804c-86fb5358675d", "model": "gpt-5"}
PATCH = "*** Begin Patch\n*** Update File: a.txt\n@@\n-x\n+y\n{}*** End Patch\n"


@pytest.fixture
def send(world, monkeypatch):
    """Send events of a client in order; each answer is the JSON object it reads."""
    world.know(RULE, **BY_PERSON)
    world.know(FACT, path="src/upload.py", category="fact", **BY_PERSON)
    monkeypatch.chdir(world.root)

    def send(agent, event, **more):
        payload = HEAD | {"cwd": str(world.root), "hook_event_name": event} | more
        raw = json.dumps(payload).encode()
        text = answer(agent, raw, world.environment, world.now)
        return json.loads(text) if text else {}

    return send


def output(answered):
    return answered["hookSpecificOutput"]


@pytest.mark.parametrize(
    ("name", "command", "denied"),
    [
        pytest.param(
            "apply_patch",
            PATCH.format("*** Update File: src/auth.py\n+x\n"),
            True,
            id="second file",
        ),
        pytest.param("apply_patch", PATCH.format(""), False, id="another file"),
        pytest.param(
            "Bash",
            "apply_patch <<'E'\n" + PATCH.format("*** Add File: src/auth.py\n") + "E",
            True,
            id="by shell",
        ),
    ],
)
def test_a_patch_of_codex_is_judged_by_each_of_its_files(send, name, command, denied):
    send(CODEX, "UserPromptSubmit", prompt="Change a.txt", **CODEX_TURN)
    call = {"tool_name": name, "tool_input": {"command": command}, "tool_use_id": "call_2"}

    answered = send(CODEX, "PreToolUse", **CODEX_TURN, **call)

    if denied:
        assert output(answered)["permissionDecision"] == "deny"
        assert RULE in output(answered)["permissionDecisionReason"]
        again = send(CODEX, "PreToolUse", **CODEX_TURN, **call | {"tool_use_id": "call_3"})
        assert "permissionDecision" not in again.get("hookSpecificOutput", {})
    else:
        assert answered == {}


def test_gemini_gets_the_memory_of_a_file_with_the_result_of_its_call(send):
    send(GEMINI, "BeforeAgent", prompt="<hook_context>brief</hook_context>\n\nChange the file")
    call = {"tool_name": "replace", "tool_input": {"file_path": "src/upload.py"}}

    assert send(GEMINI, "BeforeTool", **call) == {}
    result = {"tool_response": {"llmContent": "Successfully modified file"}}
    shown = output(send(GEMINI, "AfterTool", **call, **result))
    assert shown["hookEventName"] == "AfterTool"
    assert FACT in shown["additionalContext"]
    assert send(GEMINI, "AfterTool", **call, **result) == {}, "once"


def test_a_text_whose_call_never_ran_is_not_held_for_ever(send, world):
    held = world.root / ".ade/run/held"
    held.mkdir(parents=True)
    for name, age_h in (("0123456789abcdef", 25), ("fedcba9876543210", 1)):
        (held / name).write_text("of a call that was refused")
        os.utime(held / name, (time.time() - age_h * 3600,) * 2)
    call = {"tool_name": "replace", "tool_input": {"file_path": "src/upload.py"}}
    send(GEMINI, "BeforeAgent", prompt="Change the file")
    send(GEMINI, "BeforeTool", **call)

    names = {each.name for each in held.iterdir()}
    assert "0123456789abcdef" not in names
    assert len(names) == 2


def test_gemini_is_denied_by_its_own_word(send, world):
    send(GEMINI, "BeforeAgent", prompt="<hook_context>brief</hook_context>\n\nFix the login")
    call = {"tool_name": "write_file", "tool_input": {"file_path": "src/auth.py", "content": "x"}}

    denied = send(GEMINI, "BeforeTool", **call)

    assert denied["decision"] == "deny"
    assert RULE in denied["reason"]
    (prompt,) = world.rows("select content from user_prompts")
    assert prompt["content"] == "Fix the login", "without the briefing"


def test_a_command_that_failed_in_gemini_is_a_failure():
    text = "Output: no rule to make target auth\nExit Code: 2\nProcess Group PGID: 1"
    call = {"tool_name": "run_shell_command", "tool_input": {"command": "make auth"}}
    event = {"hook_event_name": "AfterTool", "tool_response": {"llmContent": text}}

    ((module, payload),) = GEMINI.translate(call | event)

    assert (module, payload["tool_name"]) == ("post_tool_use_failure", "Bash")
    assert payload["error"] == text


@pytest.mark.parametrize(
    ("tool", "context", "name"),
    [
        ("mcp_ademem_memory_search", {"server_name": "ademem"}, "mcp__ademem__memory_search"),
        ("mcp_my_files_write", {"server_name": "my_files"}, "mcp__my_files__write"),
        ("mcp_ademem_memory_search", None, "mcp__ademem__memory_search"),
        ("google_web_search", None, "WebSearch"),
    ],
)
def test_tools_of_gemini_have_the_names_that_the_guard_knows(tool, context, name):
    event = {"hook_event_name": "BeforeTool", "tool_name": tool, "mcp_context": context}

    ((_, payload),) = GEMINI.translate(event)

    assert payload["tool_name"] == name


@pytest.mark.parametrize("agent", [CODEX, GEMINI])
@pytest.mark.parametrize("raw", [b"", b"[]", b"{", b'{"hook_event_name": "New"}'])
def test_what_is_no_event_of_ours_is_not_answered(agent, raw, world):
    assert answer(agent, raw, world.environment, world.now) == ""
