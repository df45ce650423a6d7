"""The state of one turn, of the main thread or of a subagent, as the guard sees it."""

from __future__ import annotations

from ademem.core.value import Value


class TurnKey(Value):
    """Main thread: session and prompt. Subagent: session and agent, whatever prompt is running."""

    session_id: str
    agent_id: str = ""
    prompt_id: str = ""


class Turn(Value):
    key: TurnKey
    turn_class: str
    why: str
    hint: str
    """Words worth searching memory for; what a denial suggests."""
    searched: bool
    denied: tuple[str, ...]
    """tool_use_ids of the calls that were denied."""
    started_at: str
    ended: bool
