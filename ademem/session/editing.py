"""Record tool calls that change memory files: their content is then the agent's."""

from __future__ import annotations

import os

from ademem.guard.mutation import judge
from ademem.guard.policy import SHELL_TOOLS, WRITING_TOOLS
from ademem.store import edits, turns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.core.client import Payload
    from ademem.guard.policy import Call
    from ademem.store.runtime import Runtime


def note(call: Call, payload: Payload, runtime: Runtime) -> None:
    """Record the memory file that a call is about to change; a shell command may change any."""
    root = runtime.project.root
    if call.tool in WRITING_TOOLS:
        path = os.path.relpath(os.path.realpath(call.path), root)
        if not path.startswith(f".ade{os.sep}"):
            return
    elif call.tool in SHELL_TOOLS and judge(call.command, runtime.settings.guard).mutates:
        path = edits.ANY
    else:
        return
    edits.note(runtime.store, path, f"{payload.session_id}:{_turn(payload, runtime)}", runtime.now)


def _turn(payload: Payload, runtime: Runtime) -> str:
    if payload.agent_id or payload.prompt_id:
        return payload.agent_id or payload.prompt_id
    running = turns.latest(runtime.store, payload.session_id)
    return running.prompt_id if running else ""
