"""Notice searches of memory, on the command line or by MCP."""

from __future__ import annotations

from ademem.guard.policy import OUR_SEARCHES, SHELL_TOOLS
from ademem.session.turn_key import key_of, lift
from ademem.store import logs, turns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.core.client import Payload, TurnKey
    from ademem.store.runtime import Runtime

VERBS = frozenset({"recall", "search"})


def notice(payload: Payload, runtime: Runtime) -> None:
    """Lift the guard for the turn after a search, even one without hits."""
    if payload.tool_name in OUR_SEARCHES:
        if not payload.error:
            lift(payload, runtime, "memory was searched by MCP tool")
    elif payload.tool_name in SHELL_TOOLS and "ademem" in payload.command:
        turn = turns.get(runtime.store, key_of(payload, runtime))
        if (
            turn
            and not turn.searched
            and _calls_search(payload.command)
            and _ran(payload, turn.key, runtime)
        ):
            lift(payload, runtime, "memory was searched on the command line")


def _ran(payload: Payload, key: TurnKey, runtime: Runtime) -> bool:
    """A search leaves a row under its session; without a session id the exit status counts."""
    if logs.searched_in(runtime.store, key):
        return True
    return not payload.error and not runtime.environment.get("CLAUDE_CODE_SESSION_ID")


def _calls_search(command: str) -> bool:
    """Tell whether a search of memory is one of the commands."""
    from ademem.guard import shell

    script = shell.parse(command)
    return script is not None and any(
        len(words) > 1 and words[0].rpartition("/")[2] == "ademem" and words[1] in VERBS
        for words in shell.argvs(script)
    )
