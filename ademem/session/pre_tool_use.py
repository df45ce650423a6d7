"""PreToolUse: the guard, and memories of the file or command of the call."""

from __future__ import annotations

import os

from ademem.core import client
from ademem.core.errors import suppress
from ademem.guard.policy import (
    SHELL_TOOLS,
    WRITING_TOOLS,
    CallContext,
    Outcome,
    ToolCall,
    decide,
    is_harmless,
    own_tool,
)
from ademem.session import flags
from ademem.session.turn_tracking import key_of, log_decision, note_edit, query_of
from ademem.store import turns
from ademem.store.runtime import Runtime, program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.core.client import Payload, Turn, TurnKey

MEMORY = ".ade"
"""Part of the path or command of a call that names a file of memory; `start.sh` knows it too."""
UNASKED = frozenset({"bypassPermissions", "auto"})
"""Modes of the client in which a question about its own files reaches nobody."""


def handle(payload: Payload, runtime: Runtime) -> str | None:
    key = key_of(payload, runtime)
    if own_tool(payload.tool_name, runtime.settings.guard.mcp_servers):
        turns.note_mcp_call(runtime.store, payload.tool_use_id, key, runtime.now)
        return None
    call = ToolCall(
        tool=payload.tool_name,
        path=os.path.join(payload.cwd, payload.path) if payload.path else "",
        command=payload.command,
        tool_use_id=payload.tool_use_id,
    )
    if refusal := _find_refusal(call, payload, runtime):
        return _refuse(*refusal, call, key, runtime)
    if file := _changes_client(call, payload, runtime):
        return _ask(file, call, payload, key, runtime)
    if runtime.settings.guard.mode == "strict":
        outcome = decide(call, make_context(turns.get(runtime.store, key), runtime))
        if outcome is Outcome.DENY:
            return _deny(call, key, runtime)
        if outcome is Outcome.PASS_TURN:
            flags.set_quiet(runtime.project, key, True)
    if _is_of_client(call, runtime):
        return None
    from ademem.session import consulting  # a refusal says nothing else

    return consulting.before_call(call, payload, key, runtime)


def _find_refusal(call: ToolCall, payload: Payload, runtime: Runtime) -> tuple[str, str] | None:
    """Return why a call may never run, for the model and for the log; None if it may.

    An edit of memory files is noted on the way, for whom it is counted.
    """
    if approved := _approval(call, runtime):
        return (
            f"ademem guard: {approved} would approve what is held back, agree to what a clone"
            " brings, change a setting that is the person's, or act in a terminal as they do. That"
            " is for a person: leave it, and tell them what waits (`ademem review --list`).",
            f"{approved} is for a person",
        )
    names_memory = MEMORY in call.path or MEMORY in call.command
    if names_memory and _writes_settings(call, runtime):
        return (
            "ademem guard: this writes the settings of ademem. Use `ademem config set KEY"
            " VALUE`; what loosens the guard is for a person, in their own terminal.",
            "it writes the settings of ademem",
        )
    if names_memory or (call.tool.startswith("mcp__") and MEMORY in str(payload.tool_input)):
        note_edit(call, payload, runtime)
    if place := _own_place(call, payload, runtime):
        return (
            f"ademem guard: this writes {place}, which only ademem and the person write. Use the"
            " commands of ademem, or leave it and tell the person.",
            "it writes a place of ademem",
        )
    return None


def _is_of_client(call: ToolCall, runtime: Runtime) -> bool:
    """Tell whether the call writes what is never guarded: the client's memory, plans, or ours."""
    return call.tool in WRITING_TOOLS and is_harmless(call, make_context(None, runtime))


def _refuse(reason: str, why: str, call: ToolCall, key: TurnKey, runtime: Runtime) -> str:
    from ademem.store import injections

    with suppress(runtime.store.db.Error), runtime.store.transaction():
        log_decision(call, key, "deny", why, runtime)
        injections.record(runtime, "pre_tool_use", reason, key, tool_use_id=call.tool_use_id)
    return client.deny(reason)


def _approval(call: ToolCall, runtime: Runtime) -> str | None:
    guard = runtime.settings.guard
    if call.tool not in SHELL_TOOLS or guard.mode == "off":
        return None
    bare = call.command.replace("'", "").replace('"', "").replace("\\", "")
    verbs = (" promote", " trust", " review")  # behind a variable
    if "ademem" not in bare and not any(verb in bare for verb in verbs):
        return None
    from ademem.guard import approvals

    return approvals.refusal(
        call.command, guard, lambda id: turns.any_quarantined(runtime.store, id)
    )


def _writes_settings(call: ToolCall, runtime: Runtime) -> bool:
    guard, project = runtime.settings.guard, runtime.project
    if guard.mode == "off":
        return False
    if call.tool in WRITING_TOOLS:
        path = os.path.realpath(call.path).lower()  # a file system may ignore case
        return path in (project.config.lower(), project.local_config.lower())
    from ademem.guard import approvals

    return call.tool in SHELL_TOOLS and approvals.writes_settings(call.command, guard)


def _own_place(call: ToolCall, payload: Payload, runtime: Runtime) -> str:
    """Return the place of ademem that the call would write, in every mode but `off`."""
    if runtime.settings.guard.mode == "off":
        return ""
    if call.tool in WRITING_TOOLS and "ade" not in os.path.realpath(call.path).lower():
        return ""
    project = runtime.project
    from ademem.guard import own_places

    places = list_own_places(runtime)
    if call.tool not in SHELL_TOOLS:  # the commands that write settings were refused
        places += (project.config, project.local_config)
    return own_places.named_in(
        *(call.tool, call.path, call.command, payload.tool_input, places, runtime.settings.guard),
        folder=payload.cwd or project.root,
    )


def list_own_places(runtime: Runtime) -> tuple[str, ...]:
    """List what only ademem and the person write: data, settings, program and database."""
    import sys

    from ademem.core import trust

    environment, project = runtime.environment, runtime.project
    home = environment.get("HOME") or os.path.expanduser("~")
    package = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    installed = os.path.join(sys.prefix, "share", "ademem")
    program = (os.path.join(package, "ademem"), os.path.join(package, "hooks"), installed)
    return (
        trust.data_folder(environment),
        os.path.dirname(trust.config_path(environment)),
        os.path.join(client.config_dir(environment), "skills", "ademem-client"),
        os.path.join(home, ".local", "share", "ademem"),
        os.path.join(home, ".local", "bin", "ademem"),
        *(() if package == project.root else program),
        f"{project.database}*",
        project.run,
    )


def _changes_client(call: ToolCall, payload: Payload, runtime: Runtime) -> str:
    """Return the client's settings file whose hooks or variables the call may change."""
    if runtime.settings.guard.mode == "off":
        return ""
    is_foreign = call.tool.startswith("mcp__")
    texts = (call.path, call.command, str(payload.tool_input) if is_foreign else "")
    if not any("settings" in text or "plugin" in text for text in texts):
        return ""
    from ademem.guard import client_settings

    return client_settings.changed_by(
        *(call.tool, call.path, call.command, payload.tool_input),
        *(client.config_dir(runtime.environment), runtime.project.root),
        runtime.settings.guard,
        folder=payload.cwd or runtime.project.root,
    )


def _ask(file: str, call: ToolCall, payload: Payload, key: TurnKey, runtime: Runtime) -> str:
    with suppress(runtime.store.db.Error), runtime.store.transaction():
        log_decision(call, key, "ask", "it changes hooks or variables of the client", runtime)
    reason = (
        f"ademem guard: this may change hooks or variables in {file}, with which Claude Code starts"
        " programs, ademem's among them. A person decides."
    )
    # A client that skips permissions, or lets a model grant them, takes the question as allowed
    # where it would ask about the file itself; without a person it does so, too.
    if client.is_unattended(runtime.environment) or payload.permission_mode in UNASKED:
        return client.deny(f"{reason} Tell them what to change; a mode that asks lets you do it.")
    return client.ask(reason)


def make_context(turn: Turn | None, runtime: Runtime) -> CallContext:
    config = os.path.realpath(client.config_dir(runtime.environment))
    project = runtime.project
    folders: list[str] = []
    with suppress(OSError):  # the client's memory of each project
        folders = os.listdir(os.path.join(config, "projects"))
    memory = [os.path.join(config, "projects", slug, "memory") for slug in folders]
    return CallContext(
        turn=turn,
        settings=runtime.settings.guard,
        ours=(*memory, os.path.join(config, "plans"), project.ade),
        switches=(project.config, project.local_config, project.run, project.database),
        empty_store=lambda: not turns.any_promoted(runtime.store),
    )


def _deny(call: ToolCall, key: TurnKey, runtime: Runtime) -> str | None:
    """Decide again under the write lock, so that parallel hooks count each denial once."""
    from ademem.store import injections

    with runtime.store.transaction():
        turn = turns.get(runtime.store, key)
        if turn is None or decide(call, make_context(turn, runtime)) is not Outcome.DENY:
            return None
        if turns.deny(runtime.store, turn, call.tool_use_id):
            log_decision(call, key, "deny", turn.why, runtime)
        query = query_of(turn, call, runtime.project.root)
        reason = (
            f"ademem guard: this turn changes things ({turn.why})"
            " and project memory was not consulted yet."
            f' Run `{program(runtime.environment)} recall "{query}"` in Bash, on its own,'
            " read what it says, then make this call again."
            " No hits is fine: having looked is what counts."
        )
        injections.record(runtime, "pre_tool_use", reason, key, tool_use_id=call.tool_use_id)
        return client.deny(reason)
