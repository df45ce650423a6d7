"""PreToolUse: the guard, and what memory has on the thing about to be touched."""

from __future__ import annotations

import os

from ademem.core import client
from ademem.guard import flags
from ademem.guard.policy import SHELL_TOOLS, CallContext, Deny, Pass, ToolCall, decide
from ademem.session.turn_tracking import key_of, note_edit
from ademem.store import existence, logs, turns
from ademem.store.runtime import program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.core.client import Payload, Turn, TurnKey
    from ademem.core.project import Project
    from ademem.store.runtime import Runtime

TARGET_CHARS = 200
READ_CHARS = 20_000
"""How much of a command is looked at for its log line."""
MEMORY = ".ade"
"""What a call has in its path or command that names a file of memory; the shell line knows it."""


def handle(payload: Payload, runtime: Runtime) -> str | None:
    """Deny a mutation in a turn that has to consult memory first; else tell what is known of it."""
    key = key_of(payload, runtime)
    call = ToolCall(
        tool=payload.tool_name,
        path=os.path.join(payload.cwd, payload.path) if payload.path else "",
        command=payload.command,
        tool_use_id=payload.tool_use_id,
    )
    if approved := _approval(call, runtime):
        return client.deny(
            f"ademem guard: {approved} would approve what is held back, or agree to what a clone"
            " brings. That is for a person, in a terminal of their own: leave it, and tell them"
            " what waits (`ademem review --list`)."
        )
    if MEMORY in call.path or MEMORY in call.command:
        note_edit(call, payload, runtime)
    match decide(call, known(turns.get(runtime.store, key), runtime)):
        case Pass(settled=settled):
            if settled:
                flags.set_quiet(runtime.project, key, True)
            from ademem.session import hint_events  # a denial tells nothing else

            return hint_events.before(payload, key, runtime)
        case Deny():
            return _deny(call, key, runtime)


def _approval(call: ToolCall, runtime: Runtime) -> str | None:
    """The command that only a person may run; asked of few calls, so read for these alone."""
    guard = runtime.settings.guard
    if call.tool not in SHELL_TOOLS or guard.mode == "off" or not _names_us(call.command):
        return None
    from ademem.guard import approvals

    return approvals.refusal(
        call.command, guard, lambda id: existence.any_quarantined(runtime.store, id)
    )


def _names_us(command: str) -> bool:
    """Whether the program's name may be in it, be it in quotes or behind a variable."""
    bare = command.replace("'", "").replace('"', "").replace("\\", "")
    return "ademem" in bare or any(f" {verb}" in bare for verb in ("promote", "trust", "review"))


def known(turn: Turn | None, runtime: Runtime) -> CallContext:
    """The facts a decision rests on, as they are on this machine."""
    config = os.path.realpath(client.config_dir(runtime.environment))
    ade = runtime.project.ade
    return CallContext(
        turn=turn,
        settings=runtime.settings.guard,
        ours=(*_memory_folders(config), os.path.join(config, "plans"), ade),
        switches=_switches(runtime.project),
        empty_store=lambda: not existence.any_promoted(runtime.store),
    )


def _switches(project: Project) -> tuple[str, ...]:
    return project.config, project.local_config, project.run, project.database


def _memory_folders(config: str) -> list[str]:
    """The client keeps its own memory in `projects/<slug>/memory` of its configuration."""
    projects = os.path.join(config, "projects")
    try:
        return [os.path.join(projects, slug, "memory") for slug in os.listdir(projects)]
    except OSError:
        return []


def _deny(call: ToolCall, key: TurnKey, runtime: Runtime) -> str | None:
    """Deny once more under the write lock, where parallel calls and twin hooks cannot miscount."""
    mode = runtime.settings.guard.mode
    with runtime.store.transaction():
        turn = turns.get(runtime.store, key)
        if turn is None or isinstance(decide(call, known(turn, runtime)), Pass):
            return None
        if turns.deny(runtime.store, turn, call.tool_use_id):
            logs.decided(
                runtime.store,
                key,
                tool_use_id=call.tool_use_id,
                tool=call.tool,
                target=_target(call),
                decision="warn" if mode == "warn" else "deny",
                reason=turn.why,
                now=runtime.now,
            )
        if mode == "warn":
            return client.context("PreToolUse", reason(turn, runtime))
        return client.deny(_assist(turn, runtime) if mode == "assist" else reason(turn, runtime))


def reason(turn: Turn, runtime: Runtime) -> str:
    """Which rule, why, and the command that gets past it."""
    words = turn.hint or "what you are about to change"
    return (
        f"ademem guard: this turn changes things ({turn.why})"
        " and project memory was not consulted yet."
        f' Run `{program(runtime.environment)} recall "{words}"` in Bash, on its own,'
        " read what it says, then make this call again."
        " No hits is fine: having looked is what counts."
    )


def _assist(turn: Turn, runtime: Runtime) -> str:
    """The denial carries what a search would have said, so it is the consultation itself."""
    from ademem.core import untrusted
    from ademem.search import engine
    from ademem.search.parameters import Parameters
    from ademem.store.missions import mission_of

    parameters = Parameters(answer_words=0.0)
    mission = mission_of(runtime.environment)
    filters = engine.Filters(here=runtime.branch, elsewhere=False, mission=mission)
    found = engine.search(
        turn.hint, runtime.store, filters, runtime.now, limit=5, parameters=parameters
    )
    hits = engine.current(found)
    turns.searched(runtime.store, turn.key, runtime.now)
    flags.set_quiet(runtime.project, turn.key, True)
    shown = engine.as_shown(hits)
    logs.shown(runtime.store, "guard", shown, runtime.now, key=turn.key, query=turn.hint)
    lines = [untrusted.entry(hit.memory, runtime.settings.briefing.prompt_chars) for hit in hits]
    told = untrusted.fenced(lines) if lines else "Nothing in it answers this turn."
    return (
        "ademem guard: project memory comes before changes. It says:\n"
        f"{told}\n"
        "Now make the call again."
    )


def _target(call: ToolCall) -> str:
    from ademem.core.redaction import redact
    from ademem.core.text import whole_words

    target = whole_words(call.path or call.command, READ_CHARS)
    return " ".join(redact(target).text.split())[:TARGET_CHARS]
