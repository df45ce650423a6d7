"""Look memory up before a change: deny it with what it has to follow, or add what is known."""

from __future__ import annotations

import os

from ademem.core import client
from ademem.core.redaction import redact
from ademem.core.value import as_dict
from ademem.guard.policy import (
    MOST_CARRIED,
    SHELL_TOOLS,
    CallContext,
    Carry,
    Finding,
    Show,
    ToolCall,
    Wait,
    consult,
    is_harmless,
)
from ademem.search.binding import lacks_lists
from ademem.session import flags, hint_events
from ademem.session.turn_tracking import log_decision
from ademem.store import ledger, logs, memories, turns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ademem.core.client import Payload, TurnKey
    from ademem.core.memory import Memory
    from ademem.session.hint_events import Tied
    from ademem.store.runtime import Runtime

LOOKED_AT = 30
"""Hits of a search that are read for rules about the call."""
QUERY_WORDS = 12
LISTED_CHARS = 300
ADVISED = "advised_trust"
WAITING = (
    "ademem guard: the memories in the denial above are about this call too."
    " Read them first, then make it again if they allow it."
)


def before_call(
    call: ToolCall, payload: Payload, key: TurnKey, context: CallContext, runtime: Runtime
) -> str | None:
    """Deny a change that memory stops, once a turn and memory; else return what is new about it."""
    listed = flags.list_calls(runtime.project, key)
    line = payload.path or call.command or call.tool
    if len(line) > LISTED_CHARS or redact(line).found:
        line = ""
    if is_harmless(call, context):
        answer = hint_events.before_call(payload, key, runtime)
        _list_calls(key, runtime, [*listed, line])
        return answer
    if not turns.any_confirmed(runtime.store):
        flags.set_quiet(runtime.project, key, True)
        return None
    paths = hint_events.find_paths(payload, runtime)
    marks = _mark_calls(call, paths, runtime) or [line]
    searches = not {*marks} <= {*listed}
    found, stopping = _look_up(call, paths, payload, key, runtime, searches=searches)
    is_done, answer = True, None
    if found:
        is_done, answer = _decide(call, found, stopping, key, payload, runtime)
    if is_done:
        _list_calls(key, runtime, [*listed, *marks, line])
    return answer


def _list_calls(key: TurnKey, runtime: Runtime, calls: list[str]) -> None:
    if not runtime.settings.guard.changes:  # which the shell cannot compare
        flags.write_calls(runtime.project, key, calls)
    if lacks_lists(runtime.project, key):
        hint_events.write_rest_lists(key, runtime)


def _decide(
    call: ToolCall,
    found: list[Tied],
    stopping: set[str],
    key: TurnKey,
    payload: Payload,
    runtime: Runtime,
) -> tuple[bool, str | None]:
    """Return False if the call is to be looked up again, and the answer.

    Parallel hooks count each denial once.
    """
    from ademem.store import injections

    what = hint_events.name_target(payload, runtime) or call.tool
    irreversible = _is_irreversible(call, runtime)
    store = runtime.store
    with store.transaction():
        turn = turns.get(store, key)
        if turn is None:
            turns.begin(store, key, "required", "no prompt of this turn was seen", "", runtime.now)
            turn = turns.get(store, key)
            assert turn is not None
        is_counted = bool(call.tool_use_id) and call.tool_use_id in turn.denied
        by_id = {memory.id: (memory, state) for memory, state in found}
        seen = logs.find_seen(store, turn.key, runtime.now, by_id, turn.begins_after)
        findings = [
            Finding(
                id=memory.id,
                stops=memory.id in stopping,
                may_deny=store.is_trusted and memory.claimed_author is None,
                **(as_dict(seen[memory.id]) if memory.id in seen else {}),
            )
            for memory, _ in found
        ]
        outcome = consult(
            findings,
            irreversible=irreversible,
            was_denied=logs.was_denied(store, turn, call.target),
            is_counted=is_counted,
            denials=len(turn.denied),
            max_blocks=runtime.settings.guard.max_blocks,
        )
        match outcome:
            case Carry(ids=ids):
                if not is_counted:
                    turns.deny(store, turn, call.tool_use_id)
                    logs.log_shown(
                        store,
                        "guard",
                        [logs.Shown(memory_id=id) for id in ids],
                        runtime.now,
                        key=turn.key,
                        query=call.target,
                        pending=True,
                    )
                    log_decision(call, turn.key, "deny", f"carried {', '.join(ids)}", runtime)
                    flags.set_carrying(runtime.project, True)
                carried = [by_id[id][0] for id in ids]
                from ademem.core import untrusted

                entries = hint_events.format_entries(carried, store, hint_events.ENTRY_CHARS)
                named = hint_events.named(what)
                why = f"project memory has a rule for `{named}`:"
                if irreversible and stopping.isdisjoint(ids):
                    why = f"`{named}` cannot be undone, and project memory has notes about it:"
                reason = (
                    f"ademem guard: {why}\n{untrusted.fence(entries)}\nNothing was run. Follow it;"
                    " if it does not apply here, make the same call again."
                )
                placed = injections.place_entries(carried, entries)
                injections.record(
                    runtime, "pre_tool_use", reason, key, placed, tool_use_id=call.tool_use_id
                )
                from ademem.session import notices

                lines = [] if is_counted else notices.describe_carried(carried, runtime)
                return False, client.deny(reason, lines)
            case Wait():
                why = "a denial in the same message carries the memories"
                log_decision(call, turn.key, "hold", why, runtime)
                injections.record(
                    runtime, "pre_tool_use", WAITING, key, tool_use_id=call.tool_use_id
                )
                return False, client.deny(WAITING)
            case Show(ids=ids, rules=rules):
                shown = [by_id[id] for id in ids]
                untrusted_rules = [by_id[id][0] for id in rules]
                advice, lines = _advise_trust(untrusted_rules, key, runtime)
                text = hint_events.show(
                    payload, shown, what, key, runtime, again=ids, always=rules, end=advice
                )
                if text:
                    hint_events.write_rest_lists(key, runtime)
                return not rules, client.context("PreToolUse", text, lines) or None


def _advise_trust(rules: list[Memory], key: TurnKey, runtime: Runtime) -> tuple[str, list[str]]:
    """Return how the first of the rules may stop calls, once a session; also for the person."""
    if not rules or not ledger.claim(runtime.store, ADVISED, key.session_id, runtime.now):
        return "", []
    from ademem.core.memory import FROM_HUB
    from ademem.session import notices

    author = rules[0].claimed_author
    how = "ademem trust --database"
    if author is not None:
        how = "ademem review --imported" if author.startswith(FROM_HUB) else "ademem trust --files"
    advice = f"It was not accepted here; typed by the person, `{how}` lets it stop calls."
    return advice, notices.describe_untrusted(rules[0], how, runtime)


def _is_irreversible(call: ToolCall, runtime: Runtime) -> bool:
    is_mcp = call.tool.startswith("mcp__")
    if call.tool not in SHELL_TOOLS and not is_mcp:
        return False
    from ademem.guard import mutation

    if is_mcp:
        return mutation.is_irreversible_tool(call.tool)
    return bool(mutation.find_irreversible(call.command, runtime.settings.guard))


def _mark_calls(call: ToolCall, paths: Iterable[str], runtime: Runtime) -> list[str]:
    """Name the files and the programs with subcommands of a command, each searched for once."""
    if call.tool not in SHELL_TOOLS:
        return []
    from ademem.guard import mutation, shell

    script = shell.parse(call.command)
    parts = mutation.parts_in(script, runtime.settings.guard) if script else ()
    programs = [part.key for part in parts if mutation.judge_part(part).mutates]
    files = (redact(path[: hint_events.READ_CHARS]).text for path in paths)
    return [f"{flags.MARK}{name}" for name in (*programs, *files)]


def _look_up(
    call: ToolCall,
    paths: list[str],
    payload: Payload,
    key: TurnKey,
    runtime: Runtime,
    *,
    searches: bool,
) -> tuple[list[Tied], set[str]]:
    """Find memories tied to the call, then rules that name it, then those that answer it.

    Also return the ids of those that stop it: marked ones, and those whose wording a person typed
    or reviewed, here or where the files come from.
    """
    from ademem.core.memory import STOP, Trust
    from ademem.guard import wording

    tied = hint_events.find_tied(payload, runtime, paths)
    rules: list[Memory] = []
    answers: list[Memory] = []
    if searches:
        tied_ids = {memory.id for memory, _ in tied}
        for memory, answers_call in _search(call, payload, key, runtime):
            if memory.id in tied_ids:
                continue
            if _names_command(memory, call) or any(
                wording.is_about_path(memory.content, path) for path in paths
            ):
                rules.append(memory)
            elif answers_call:
                answers.append(memory)
    found = [*tied, *((memory, "") for memory in (*rules, *answers))]
    about = [memory for memory, _ in tied] + rules
    about += [one for one in answers if STOP in one.tags or not wording.names_target(one.content)]
    if paths and not any(os.path.lexists(f"{runtime.project.root}/{path}") for path in paths):
        about = [
            one
            for one in about
            if STOP in one.tags
            or not all(wording.spares_new_file(one.content, path) for path in paths)
            or _names_command(one, call)
        ]
    marked = {memory.id for memory in about if STOP in memory.tags}
    worded = [one for one in about if one.id not in marked and wording.is_rule(one.content)]
    # A confirmed one of the files was confirmed by a person; without a label, by a trusted one.
    typed = {one.id for one in worded if one.trust in (Trust.USER, Trust.IMPORT)}
    others = [one.id for one in worded if one.id not in typed]
    stopping = marked | typed | memories.find_confirmed(runtime.store, others)
    found = [
        (memory, state)
        for memory, state in found
        if memory.id in stopping or not ledger.is_own_error(runtime.store, memory, key.session_id)
    ]
    return found, stopping


def _names_command(memory: Memory, call: ToolCall) -> bool:
    if call.tool not in SHELL_TOOLS:
        return False
    from ademem.guard import wording
    from ademem.search.hint_patterns import parse_commands

    return wording.is_about_command(memory.content, parse_commands(call.command))


def _search(
    call: ToolCall, payload: Payload, key: TurnKey, runtime: Runtime
) -> list[tuple[Memory, bool]]:
    """Search by the words of the call and of the order; True for a memory that is about them."""
    import re

    from ademem.core.memory import Status
    from ademem.core.text import unique
    from ademem.guard.wording import COMMON
    from ademem.search import evidence
    from ademem.search.engine import current, search
    from ademem.search.ranking import UNASKED
    from ademem.store.filters import of_session, visible
    from ademem.worker import warm

    turn = turns.get(runtime.store, key)
    what = hint_events.name_target(payload, runtime) or call.tool
    text = redact(what[: hint_events.READ_CHARS]).text.lower()
    words = [word for word in re.findall(r"[^\W_]+", text) if word not in COMMON and len(word) > 1]
    words = words[:QUERY_WORDS]
    query = " ".join(unique((*words, *(turn.hint.lower().split() if turn else ()))))
    if not query:
        return []
    filters = of_session(runtime, (Status.PROMOTED,), payload.agent_type or None)
    hits = current(
        search(query, runtime.store, filters, runtime.now, LOOKED_AT, parameters=UNASKED)
    )
    found = {hit.memory.id: hit.memory for hit in hits}
    near = warm.suggest(runtime, query, floor=evidence.DENIAL, most=MOST_CARRIED)
    if near is None:
        about = {hit.memory.id for hit in hits if hit.signals["evidence"] >= evidence.DENIAL}
    else:
        seqs = [seq for seq, *_ in near]
        best = visible(seqs, runtime.store, filters, filters.statuses, MOST_CARRIED)
        about = {memory.id for memory in best}
        found = {memory.id: memory for memory in best} | found
    return [(memory, id in about) for id, memory in found.items()]
