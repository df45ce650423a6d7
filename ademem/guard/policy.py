"""Decide if a tool call may run before memory was searched."""

from __future__ import annotations

import os

from ademem.core.text import counted
from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ademem.core.client import Turn
    from ademem.core.settings import GuardSettings

WRITING_TOOLS = frozenset({"Write", "Edit", "MultiEdit", "NotebookEdit"})
SHELL_TOOLS = frozenset({"Bash", "PowerShell", "Monitor"})
OUR_SERVERS = ("mcp__ademem__", "mcp__plugin_ademem_ademem__")
OUR_SEARCHES = frozenset(
    server + tool
    for server in OUR_SERVERS
    for tool in ("memory_search", "mem_search", "mem_context")
)


class ToolCall(Value):
    """A tool call about to happen."""

    tool: str
    path: str = ""
    command: str = ""
    tool_use_id: str = ""


class CallContext(Value):
    turn: Turn | None
    settings: GuardSettings
    ours: tuple[str, ...]
    """Folders that are never guarded: the client's memory and plans, and `.ade/`."""
    switches: tuple[str, ...]
    """Guarded files in those folders, which could switch the guard off."""
    empty_store: Callable[[], bool]


class Pass(Value):
    reason: str
    settled: bool = False
    """True if no later call of this turn can be denied."""


class Deny(Value):
    reason: str


def turn_is_free(call: ToolCall, known: CallContext) -> Pass | None:
    if known.settings.mode == "off":
        return Pass(reason="the guard is off", settled=True)
    if known.turn is None:
        return Pass(reason="no prompt of this turn was seen")
    if known.turn.turn_class != "required":
        return Pass(reason=f"the turn is {known.turn.turn_class}: {known.turn.why}", settled=True)
    if known.turn.searched:
        return Pass(reason="memory was consulted in this turn", settled=True)
    return None


def call_is_harmless(call: ToolCall, known: CallContext) -> Pass | None:
    if call.tool in WRITING_TOOLS:
        return _ours(call.path, known)
    if call.tool in SHELL_TOOLS:
        from ademem.guard.mutation import judge

        judgement = judge(call.command, known.settings)
        return None if judgement.mutates else Pass(reason=judgement.reason)
    if call.tool.startswith(OUR_SERVERS):
        return Pass(reason="memory's own tool")
    if call.tool.startswith("mcp__"):
        from ademem.guard import mcp_tools

        mutates = mcp_tools.changes(call.tool, known.settings)
        return None if mutates else Pass(reason="a reading MCP tool")
    return Pass(reason=f"{call.tool} changes nothing")


def was_denied_often(call: ToolCall, known: CallContext) -> Pass | None:
    denied = known.turn.denied if known.turn else ()
    if len(denied) >= known.settings.max_blocks and call.tool_use_id not in denied:
        times = counted(len(denied), "time")
        return Pass(reason=f"denied {times} in this turn; it is not denied again", settled=True)
    return None


def nothing_to_recall(call: ToolCall, known: CallContext) -> Pass | None:
    return Pass(reason="the store is empty") if known.empty_store() else None


RULES = (turn_is_free, call_is_harmless, was_denied_often, nothing_to_recall)


def decide(call: ToolCall, known: CallContext) -> Pass | Deny:
    """Return the first pass of a rule; else deny, because memory must be searched first."""
    for rule in RULES:
        outcome = rule(call, known)
        if outcome is not None:
            return outcome
    return Deny(reason="memory was not consulted in this turn")


def _ours(path: str, known: CallContext) -> Pass | None:
    real = os.path.realpath(path)
    lower = real.lower()  # a file system may ignore case
    for folder in known.ours:
        if real.startswith(folder + os.sep) and not any(
            f"{lower}/".startswith(f"{switch.lower()}/") for switch in known.switches
        ):
            return Pass(reason=f"{os.path.basename(folder)} is never guarded")
    return None
