"""Find the turn of an event, and record its searches of memory and edits of memory files."""

from __future__ import annotations

import os

from ademem.core import regex
from ademem.core.client import Payload, Turn, TurnKey
from ademem.core.clock import timedelta
from ademem.core.value import as_dict
from ademem.guard.policy import SEARCHES, SHELL_TOOLS, ToolCall, own_tool
from ademem.session import flags
from ademem.store import ledger, logs, turns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.store.runtime import Runtime

VERBS = frozenset({"recall", "search"})
START_MS = 2000
"""Longest time between a command and its hook."""
CALL_WORDS = 3


def log_decision(
    call: ToolCall, key: TurnKey, decision: str, reason: str, runtime: Runtime
) -> None:
    logs.log_decision(
        runtime.store,
        "guard",
        runtime.now,
        **as_dict(key),
        tool_use_id=call.tool_use_id,
        kind=call.tool,
        subject=call.target,
        decision=decision,
        reason=reason,
    )


def key_of(payload: Payload, runtime: Runtime) -> TurnKey:
    """Return the turn of an event: a subagent is one turn; without prompt ids, the newest."""
    if payload.agent_id:
        return TurnKey(session_id=payload.session_id, agent_id=payload.agent_id)
    if payload.prompt_id:
        return TurnKey(session_id=payload.session_id, prompt_id=payload.prompt_id)
    return turns.latest(runtime.store, payload.session_id) or TurnKey(session_id=payload.session_id)


def new_key(payload: Payload, runtime: Runtime) -> TurnKey:
    prompt_id = payload.prompt_id
    if not prompt_id:
        from ademem.store import sessions  # clients of today name their prompts

        prompt_id = f"prompt-{sessions.count_prompts(runtime.store, payload.session_id) + 1}"
    return TurnKey(session_id=payload.session_id, prompt_id=prompt_id)


def query_of(turn: Turn, call: ToolCall, root: str) -> str:
    from ademem.core.redaction import redact
    from ademem.search.query import keywords

    if call.path:
        folder, _, name = os.path.relpath(call.path, root).rpartition(os.sep)
        target = f"{os.path.basename(folder)} {name.partition('.')[0] or name}"
    else:
        typed = call.command.split()[:8]
        target = " ".join(word for word in typed if word[0] not in "-\"'$" and "=" not in word)
    words = turn.hint.split()
    target = target.replace("_", " ") or call.tool.rpartition("__")[2].replace("_", " ")
    more = [word for word in keywords(redact(target).text, CALL_WORDS).split() if word not in words]
    return " ".join([*words, *more]) or call.tool


def set_flag(key: TurnKey, runtime: Runtime) -> None:
    """Let the shell answer by its lists of keys, unless the turn has to search memory first."""
    is_free = runtime.settings.guard.mode != "strict"
    if not is_free:
        turn = turns.get(runtime.store, key)
        is_free = turn is not None and (turn.turn_class != "required" or turn.searched)
    flags.set_quiet(runtime.project, key, is_free)


def mark_read(key: TurnKey, runtime: Runtime) -> None:
    """Count memories in denials as shown, as the model has read the results of its calls."""
    if logs.any_pending(runtime.store):
        logs.mark_read(runtime.store, key)
        flags.set_carrying(runtime.project, logs.any_pending(runtime.store))


def note_search(payload: Payload, runtime: Runtime) -> None:
    """Lift the guard for the turn after a search of memory, even one without hits."""
    key = key_of(payload, runtime)
    if own_tool(payload.tool_name, runtime.settings.guard.mcp_servers) in SEARCHES:
        how, has_searched = "by MCP tool", not payload.error
    else:
        how, has_searched = "on the command line", _has_run_search(payload, key, runtime)
    if not has_searched:
        return
    with runtime.store.transaction():
        turn = turns.get(runtime.store, key)
        if turn is None or turn.searched:
            return
        turns.note_search(runtime.store, key, runtime.now)
        logs.log_decision(
            runtime.store,
            "guard",
            runtime.now,
            **as_dict(key),
            tool_use_id=payload.tool_use_id,
            kind=payload.tool_name,
            subject=turn.hint,
            decision="lift",
            reason=f"memory was searched {how}",
        )
    flags.set_quiet(runtime.project, key, True)


def _has_run_search(payload: Payload, key: TurnKey, runtime: Runtime) -> bool:
    """Tell whether a command searched memory; in a subagent its searches become those of *key*."""
    if payload.tool_name not in SHELL_TOOLS or not _calls_search(payload.command):
        return False
    if payload.agent_id:
        began = runtime.now - timedelta(milliseconds=payload.duration_ms + START_MS)
        logs.assign_searches(runtime.store, key, began)
    # a search that succeeds leaves a row, but in a shell without a session
    needs_row = payload.error or runtime.environment.get("CLAUDE_CODE_SESSION_ID")
    return not needs_row or logs.has_searched(runtime.store, key)


def _calls_search(command: str) -> bool:
    if "ademem" not in command:
        return False
    from ademem.guard import shell

    script = shell.parse(command)
    return script is not None and any(
        len(words) > 1 and words[0].rpartition("/")[2] == "ademem" and words[1] in VERBS
        for words in shell.argvs(script)
    )


def _goes_on(command: str, payload: Payload) -> bool:
    """Return True if a command may leave something running that outlives its call."""
    if payload.tool_input.get("run_in_background") is True:
        return True
    return regex.search(_LEAVING, command) is not None


_LEAVING = r"(?<![&>|<\d])&(?![&>\d])|\b(?:at|batch|crontab|disown|nohup|setsid|systemd-run)\b"
"""`&` at the end of a command, and programs that start another and do not wait for it."""


def note_edit(call: ToolCall, payload: Payload, runtime: Runtime) -> None:
    """Record the memory files that a call is about to change; a shell command may change any."""
    from ademem.guard.touch import touch

    touched = touch(call.tool, payload.tool_input, payload.cwd, runtime.settings.guard)
    if not touched.changes:
        return
    if touched.argvs or call.tool in SHELL_TOOLS:
        command = call.command or str(payload.tool_input)
        paths = [ledger.ANY_TIME if _goes_on(command, payload) else ledger.ANY_FILE]
    else:
        root = runtime.project.root
        names = (os.path.relpath(os.path.realpath(path), root) for path in touched.writes)
        paths = [name for name in names if name.startswith(f".ade{os.sep}")]
    turn = f"{payload.session_id}:{payload.agent_id or key_of(payload, runtime).prompt_id}"
    for path in paths:
        ledger.renew(runtime.store, ledger.NAMED, f"{path}\t{turn}", runtime.now)
