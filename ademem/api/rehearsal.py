"""A whole session in a throw-away project, through the very command lines that are registered."""

from __future__ import annotations

import json
import os
import tempfile
from typing import TYPE_CHECKING, Any

from ademem.api import searching
from ademem.api.opening import init, open_memories
from ademem.core import process
from ademem.core.value import Value

if TYPE_CHECKING:
    from collections.abc import Mapping

LESSON = "rehearsals use a throw-away project"
TIMEOUT_S = 30
_BASH = {
    "tool_name": "Bash",
    "tool_input": {"command": f'bd comment T-1 "LEARNED: {LESSON}"'},
    "tool_use_id": "toolu_1",
}

SCENE: tuple[tuple[str, dict[str, Any]], ...] = (
    ("UserPromptSubmit", {"prompt": "please tidy the parser", "prompt_id": "p1"}),
    ("PreToolUse", _BASH | {"prompt_id": "p1"}),
    (
        "PostToolUse",
        _BASH
        | {"prompt_id": "p1", "tool_response": {"stdout": "", "stderr": "", "interrupted": False}},
    ),
    (
        "PostToolUseFailure",
        {
            "tool_name": "Bash",
            "tool_input": {"command": "false"},
            "tool_use_id": "toolu_2",
            "error": "Exit code 1",
            "prompt_id": "p1",
        },
    ),
    ("SubagentStart", {"agent_id": "a1", "agent_type": "Explore", "prompt_id": "p1"}),
    (
        "SubagentStop",
        {
            "agent_id": "a1",
            "agent_type": "Explore",
            "prompt_id": "p1",
            "last_assistant_message": "done",
        },
    ),
    ("PreCompact", {"trigger": "manual", "custom_instructions": ""}),
    ("Stop", {"prompt_id": "p1", "stop_hook_active": False, "last_assistant_message": "done"}),
    ("SessionEnd", {"reason": "other"}),
    ("SessionStart", {"source": "startup"}),
)
"""One payload an event; the session that starts last has to hear what was learned."""


class Report(Value):
    """How the rehearsal went; *recalled* is the lesson as the search gave it back."""

    fired: int
    faults: tuple[str, ...]
    recalled: str = ""


def rehearse(commands: Mapping[str, str], environment: Mapping[str, str]) -> Report:
    """Fire each command of the scene as the client would."""
    faults: list[str] = []
    fired = 0
    with tempfile.TemporaryDirectory(prefix="ademem-rehearsal-") as root:
        world = dict(environment) | {"ADEMEM_DATA_DIR": os.path.join(root, "data")}
        init(root, environment=world)
        world |= {"CLAUDE_PROJECT_DIR": root, "ADEMEM_JOBS_AUTO": "false"}
        for name in ("ADEMEM_PROJECT", "ADEMEM_DISABLE", "CLAUDE_ENV_FILE"):
            world.pop(name, None)
        said = ""
        for event, keys in SCENE:
            if event not in commands:
                faults.append(f"{event} is not registered")
                continue
            said, fault = _fire(commands[event], event, keys, root, world)
            fired += 1
            if fault:
                faults.append(fault)
        if LESSON not in said:
            faults.append("a new session was not told what was learned")
        recalled = _recall(root, world)
        if not recalled:
            faults.append("what was learned could not be recalled")
    return Report(fired=fired, faults=tuple(faults), recalled=recalled)


def _fire(
    command: str, event: str, keys: dict[str, Any], root: str, world: dict[str, str]
) -> tuple[str, str]:
    """What the hook printed, and what is wrong with it."""
    payload = {
        "session_id": "afterwards" if event == "SessionStart" else "rehearsal",
        "transcript_path": "",
        "cwd": root,
        "hook_event_name": event,
    } | keys
    try:
        ran = process.run(
            ["sh", "-c", 'cd "$1" && eval "$2"', "sh", root, command],
            stdin=json.dumps(payload).encode(),
            environment=world,
            timeout_s=TIMEOUT_S,
        )
    except TimeoutError:
        return "", f"{event} took longer than {TIMEOUT_S} s"
    log = os.path.join(root, ".ade", "log", "hooks.log")
    if os.path.exists(log):
        with open(log, encoding="utf-8") as file:
            fault = json.loads(file.readlines()[-1])["error"]
        os.unlink(log)
        return "", f"{event}: {fault}"
    if ran.code:
        return "", f"{event} ended with {ran.code}: {ran.errors.decode().strip()[:200]}"
    if event == "PreCompact" or not ran.output:
        return ran.text, ""
    try:
        return str(json.loads(ran.output)["hookSpecificOutput"]["additionalContext"]), ""
    except (ValueError, KeyError, TypeError):
        return "", f"{event} printed what the client cannot read"


def _recall(root: str, world: Mapping[str, str]) -> str:
    with open_memories(root, environment=world) as runtime:
        hits = searching.search(runtime, "throw-away").hits
        return hits[0].memory.content if hits else ""
