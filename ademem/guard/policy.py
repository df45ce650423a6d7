"""Decide if a tool call may run: what memory has to say on it, or that it was searched before."""

from __future__ import annotations

import os

from ademem.core.value import StrEnum, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ademem.core.client import Turn
    from ademem.core.settings import GuardSettings

WRITING_TOOLS = frozenset({"Write", "Edit", "MultiEdit", "NotebookEdit"})
SHELL_TOOLS = frozenset({"Bash", "PowerShell", "Monitor"})
SEARCHES = frozenset({"memory_search", "memory_context", "mem_search", "mem_context"})
"""Tools of our MCP server after which memory counts as searched."""
TARGET_CHARS = 200
READ_CHARS = 20_000
"""Length of a command that is redacted for its log line."""


class ToolCall(Value):
    tool: str
    path: str = ""
    command: str = ""
    tool_use_id: str = ""

    @property
    def target(self) -> str:
        from ademem.core.redaction import redact
        from ademem.core.text import whole_words

        target = whole_words(self.path or self.command or self.tool, READ_CHARS)
        return " ".join(redact(target).text.split())[:TARGET_CHARS]


def own_tool(tool: str, servers: Sequence[str] = ("ademem",)) -> str:
    """Return the name of a tool of our MCP server without the server's; empty for others."""
    for server in servers if tool.startswith("mcp__") else ():
        for prefix in (f"mcp__{server}__", f"mcp__plugin_ademem_{server}__"):
            if tool.startswith(prefix):
                return tool[len(prefix) :]
    return ""


class CallContext(Value):
    turn: Turn | None
    settings: GuardSettings
    ours: tuple[str, ...]
    """Folders that are never guarded: the client's memory and plans, and `.ade/`."""
    switches: tuple[str, ...]
    """Guarded files in those folders, which could switch the guard off."""
    empty_store: Callable[[], bool]


class Outcome(StrEnum):
    DENY = "deny"
    PASS = "pass"
    PASS_TURN = "pass turn"
    """No later call of this turn can be denied either."""


MOST_CARRIED = 2
MOST_BESIDE = 2


class Finding(Value):
    """A memory that a call meets, in the order in which memories are said."""

    id: str
    is_rule: bool
    """A person or the memory's author says that it binds."""
    is_marked: bool
    """A rule that stops its calls again in every turn."""
    is_firm: bool
    """The place was chosen, or a person's rule names it; others may be wrong and deny nothing."""
    is_named: bool
    """Its text names the path or the program: enough for what cannot be undone."""
    is_beside: bool
    """It may be said beside the call."""
    may_deny: bool
    """It is of this clone, or accepted in it; a rule that is not is a note at each call."""
    in_turn: bool = False
    """Said since the order that the turn began with; a briefing does not count."""
    in_context: bool = False
    """Said since the context began or was compacted; a briefing does not count."""
    carried: bool = False
    """Carried by a denial in the model's message that is under way, which it has not read."""

    @property
    def waits(self) -> bool:
        """It would stop the call if it were accepted in this clone."""
        return self.is_firm and self.is_rule and not self.may_deny

    def stops(self, irreversible: bool) -> bool:
        if self.is_firm and self.is_marked:
            return not self.in_turn
        if self.is_firm and self.is_rule:
            return not self.in_context
        return irreversible and (self.is_firm or self.is_named) and not self.in_context


class Carry(Value):
    """Deny the call; the denial carries these memories."""

    ids: tuple[str, ...]


class Wait(Value):
    """Deny the call, as a denial in the same message carries the memories on it."""


class Show(Value):
    """Let the call pass, with these memories beside it."""

    ids: tuple[str, ...]
    rules: tuple[str, ...] = ()
    """Of them, first, the rules that would stop the call if they were accepted here."""


def consult(
    findings: Sequence[Finding],
    *,
    irreversible: bool,
    was_denied: bool,
    is_counted: bool,
    denials: int,
    max_blocks: int,
) -> Carry | Wait | Show:
    """Decide about a call that meets memories; *findings* are the best first.

    *was_denied* tells that a call with the same target was denied in this turn, *is_counted* that
    the hook of a second installation denied this one. *denials* are those of the turn: twice as
    many are made for marked rules and for what cannot be undone.
    """
    stopping = [one for one in findings if one.may_deny and one.stops(irreversible)]
    if stopping and is_counted:
        return _carry(stopping)
    fresh = _not_carried(stopping)
    if fresh and not was_denied and denials < _most_denials(fresh, irreversible, max_blocks):
        return _carry(fresh)
    return Wait() if len(fresh) < len(stopping) else _show(findings, stopping)


def _not_carried(findings: Sequence[Finding]) -> list[Finding]:
    return [finding for finding in findings if not finding.carried]


def _most_denials(fresh: Sequence[Finding], irreversible: bool, max_blocks: int) -> int:
    is_grave = irreversible or any(finding.is_marked for finding in fresh)
    return max_blocks * 2 if is_grave else max_blocks


def _carry(findings: Sequence[Finding]) -> Carry:
    return Carry(ids=tuple(finding.id for finding in findings[:MOST_CARRIED]))


def _show(findings: Sequence[Finding], stopping: Sequence[Finding]) -> Show:
    """Show rules that would stop the call, then what would have and what stands beside it."""
    rules = [one.id for one in findings if one.waits][:MOST_CARRIED]
    shown = [one for one in findings if one in stopping or (one.is_beside and not one.in_context)]
    beside = [one.id for one in shown if one.id not in rules]
    return Show(ids=(*rules, *beside[:MOST_BESIDE]), rules=tuple(rules))


def decide(call: ToolCall, context: CallContext) -> Outcome:
    """Decide about a call where memory must be searched before a change."""
    settings, turn = context.settings, context.turn
    if settings.mode == "off":
        return Outcome.PASS_TURN
    if turn is None:  # no prompt of it was seen
        return Outcome.PASS
    if turn.turn_class != "required" or turn.searched:
        return Outcome.PASS_TURN
    if is_harmless(call, context):
        return Outcome.PASS
    if len(turn.denied) >= settings.max_blocks and call.tool_use_id not in turn.denied:
        return Outcome.PASS_TURN
    return Outcome.PASS if context.empty_store() else Outcome.DENY


def is_harmless(call: ToolCall, context: CallContext) -> bool:
    if call.tool in WRITING_TOOLS:
        real = os.path.realpath(call.path)
        lower = f"{real.lower()}/"  # a file system may ignore case
        if any(lower.startswith(f"{switch.lower()}/") for switch in context.switches):
            return False
        return any(real.startswith(folder + os.sep) for folder in context.ours)
    if call.tool in SHELL_TOOLS:
        from ademem.guard.mutation import judge

        return not judge(call.command, context.settings).mutates
    if call.tool.startswith("mcp__") and not own_tool(call.tool, context.settings.mcp_servers):
        from ademem.guard.programs import mcp_tool_changes

        return not mcp_tool_changes(call.tool, context.settings)
    return True
