"""Say at a call what memory is bound to it: deny the call with a rule, or add what is known."""

from __future__ import annotations

from itertools import islice

from ademem.core import client
from ademem.core.memory import STOP, is_rule
from ademem.core.value import replace
from ademem.guard import touch as touches
from ademem.guard.policy import Carry, Finding, Show, ToolCall, Wait, consult
from ademem.search import meeting, reader_lists
from ademem.search.common_words import rare_words
from ademem.search.meeting import GIVEN, GUESSED, NAMED, WORDED, Met
from ademem.session import (
    announcing,
    flags,
    hint_events,
    linked_files,
    shown_places,
    unbound_commands,
)
from ademem.session.turn_tracking import log_decision, set_flag
from ademem.store import ledger, logs, memories, outcomes, turns
from ademem.store.bindings import BROAD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from ademem.core.client import Payload, Turn, TurnKey
    from ademem.core.memory import Memory
    from ademem.guard.touch import Touch
    from ademem.search.instruction_meeting import MetItem
    from ademem.store import Store
    from ademem.store.runtime import Runtime

ADVISED = "advised_trust"
WAITING = (
    "ademem guard: the memories in the denial above are about this call too."
    " Read them first, then make it again if they allow it."
)
TEXT_CHARS = 20_000
"""Part of an edit whose words are compared with those of memories."""
MOST_ITEMS = 6
"""Items of instruction files that are judged for one call."""
SHARED = 1
"""Rare words of an edit that a memory has which only words bind to the file."""


def before_call(call: ToolCall, payload: Payload, key: TurnKey, runtime: Runtime) -> str | None:
    """Return a denial, or what is said beside the call; None where no memory applies to it."""
    shown_places.refresh(runtime)
    touch = touches.touch(
        payload.tool_name, payload.tool_input, payload.cwd, runtime.settings.guard
    )
    found = find(touch, payload, runtime)
    found += find_items(touch, payload, key, runtime)
    passes, answer = (True, None)
    if found:
        passes, answer = _decide(call, touch, found, key, payload, runtime)
    elif touch.looked_up and not touch.writes:
        unbound_commands.note(payload, touch, runtime)
    is_settled = passes and _note_passed(call, touch, found, key, payload, runtime)
    if answer or is_settled or reader_lists.lacks(runtime.project, key):
        write_rest_lists(payload, key, runtime)
    return answer


def _note_passed(
    call: ToolCall,
    touch: Touch,
    found: list[Met],
    key: TurnKey,
    payload: Payload,
    runtime: Runtime,
) -> bool:
    """Note what a call that runs tells about the denials of its turn; False if there is none."""
    store = runtime.store
    if not outcomes.list_waiting(store, key):
        return False
    met = [(each.memory.id, each.binding.place) for each in found]
    change = _line_of(call, payload, runtime) if touch.changes else ""
    with store.transaction():
        outcomes.note_passed(store, key, met, change)
        waits = outcomes.waits_for_change(store, key)
    if not waits:
        set_flag(key, runtime)
    return True


def _line_of(call: ToolCall, payload: Payload, runtime: Runtime) -> str:
    """Return a command as it is, another call with its tool: `Edit src/a.py`."""
    return call.command or f"{call.tool} {_what(call, payload, runtime)}"


def write_rest_lists(payload: Payload, key: TurnKey, runtime: Runtime) -> None:
    """Let the shell leave out what was said; what was not accepted here is said at each call.

    A memory whose denial waits for its outcome is asked for, as a call may overrule it.
    """
    store = runtime.store
    said = logs.list_said(store, key, runtime.now) if store.is_trusted else set()
    if said:
        from ademem.session import conversation_branch

        left = conversation_branch.find_left(payload.transcript_path, payload.tool_use_id)
        if left is None and reader_lists.may_be_rewound(runtime.project, key):
            return
        said = logs.list_said(store, key, runtime.now, left) if left else said
    said -= outcomes.list_waiting(store, key)
    hidden = memories.find_accepted(store, said)
    if memories.any_adopted(store):
        from ademem.store import adopted

        hidden |= adopted.find_said(store, runtime.project.root, said)
    from ademem.search import binding

    binding.write_rest(runtime.project, store, key, hidden)


def find(touch: Touch, payload: Payload, runtime: Runtime) -> list[Met]:
    """Return what a call meets on this branch, in the order in which it is said."""
    here = (None, runtime.branch)
    met = [
        each
        for each in meeting.meet(
            touch, runtime.project.root, runtime.store, payload.agent_type or ""
        )
        if each.memory.source_branch in here
        and not ledger.is_own_error(runtime.store, each.memory, payload.session_id)
    ]
    if met:
        read = linked_files.find_read([each.memory for each in met], payload, runtime)
        met = [each for each in met if each.memory.id not in read]
    met = put_in_order(met, touch)
    return _put_current_first(met, payload, runtime) if met else []


def put_in_order(met: Iterable[Met], touch: Touch) -> list[Met]:
    """Order what a call meets as it is said; drop what only words bind to a file, unless it shares
    rare words with the edit.
    """
    met = list(met)
    edited = rare_words(f"{touch.text}\n{touch.removed}"[:TEXT_CHARS])
    shared = {
        each.memory.id: len(edited & rare_words(each.memory.whole_text)) if edited else 0
        for each in met
    }
    met = [
        each
        for each in met
        if each.binding.strength not in (WORDED, GUESSED) or shared[each.memory.id] >= SHARED
    ]
    met.sort(
        key=lambda each: (
            each.binding.state in ("changed", "gone"),
            each.memory.status == "candidate",
            not is_rule(each.memory),
            each.rank,
            -shared[each.memory.id],
            each.binding.kind not in ("anchor", "path"),
            each.binding.reach,
            -len(each.binding.pattern or each.binding.key),
        )
    )
    return met


def find_items(touch: Touch, payload: Payload, key: TurnKey, runtime: Runtime) -> list[Met]:
    """Return the items of instruction files that a call meets, in the form of memories."""
    store, root = runtime.store, runtime.project.root
    if not memories.any_adopted(store):
        return []
    from ademem.search import instruction_meeting
    from ademem.store import adopted

    said = adopted.find_paths(store, root, logs.list_said(store, key, runtime.now))
    items = instruction_meeting.meet(touch, runtime, said, payload.cwd)
    return list(islice(filter(None, (as_met(each, runtime) for each in items)), MOST_ITEMS))


def as_met(item: MetItem, runtime: Runtime) -> Met | None:
    """Return an item in the form of a memory; None for one whose text poses as an order."""
    from ademem.search.instruction_search import poses_as_order
    from ademem.store import adopted

    memory = adopted.as_memory(item.row, runtime, may_stop=item.may_stop)
    if poses_as_order(memory.content):
        return None
    binding = replace(item.binding, strength=GIVEN if item.may_stop else NAMED)
    return Met(memory=memory, binding=binding, is_adopted=True)


def _put_current_first(met: list[Met], payload: Payload, runtime: Runtime) -> list[Met]:
    """Put a later memory that may be shown before what it says otherwise, or in its place."""
    by_id = {each.memory.id: each for each in met}
    states = [(each.memory, each.binding.state or "") for each in met]
    ordered = hint_events.put_current_first(states, payload, runtime)
    later = {memory.id: memory for memory, _ in ordered}
    first = met[0].binding
    return [by_id.get(id) or Met(memory=memory, binding=first) for id, memory in later.items()]


def judge(met: Sequence[Met], changes: bool, store: Store) -> list[Finding]:
    """Judge what a call meets, each by its binding; *changes* tells that the call does."""
    ids = [each.memory.id for each in met]
    confirmed = memories.find_confirmed(store, ids)
    doubted = {(one.memory_id, one.binding) for one in outcomes.list_doubted(store, ids)}
    return [
        to_finding(
            each,
            is_confirmed=each.memory.id in confirmed or announcing.is_typed(each.memory),
            may_deny=store.is_trusted and each.memory.claimed_author is None,
            changes=changes,
            doubted=doubted,
        )
        for each in met
    ]


def to_finding(
    each: Met,
    is_confirmed: bool,
    may_deny: bool,
    changes: bool,
    doubted: Iterable[tuple[str, str]] = (),
) -> Finding:
    """Judge a memory by the binding that a call meets; *changes* tells that the call does.

    What no person confirmed is a note, whatever its mark and its place.
    """
    from ademem.core.memory import Status

    binding, memory = each.binding, each.memory
    is_supported = memory.status is Status.CANDIDATE
    is_marked = STOP in memory.tags and not is_supported
    return Finding(
        id=memory.id,
        is_rule=is_rule(memory) and (is_confirmed or is_marked) and not is_supported,
        is_marked=is_marked,
        is_firm=announcing.is_firm(each, doubted),
        is_named=binding.state == BROAD
        or (binding.strength == NAMED and binding.kind in ("path", "dir", "program", "runs")),
        is_beside=changes,
        may_deny=may_deny and not is_supported,
    )


def _decide(
    call: ToolCall,
    touch: Touch,
    found: list[Met],
    key: TurnKey,
    payload: Payload,
    runtime: Runtime,
) -> tuple[bool, str | None]:
    """Tell whether the call runs, and what is said; parallel hooks count each denial once."""
    store = runtime.store
    is_on = runtime.settings.guard.mode != "off"
    by_id = {each.memory.id: each for each in found}
    with store.transaction():
        turn = _get_turn(key, runtime)
        is_counted = bool(call.tool_use_id) and call.tool_use_id in turn.denied
        findings = _judge_in_turn(found, touch, turn, payload, runtime)
        outcome = consult(
            findings,
            irreversible=touch.irreversible,
            was_denied=logs.was_denied(store, turn, call.target),
            is_counted=is_counted,
            denials=len(turn.denied),
            max_blocks=runtime.settings.guard.max_blocks if is_on else 0,
        )
        match outcome:
            case Carry(ids=ids):
                if not is_counted:
                    turns.deny(store, turn, call.tool_use_id)
                carried = [by_id[id] for id in ids]
                is_ruled = _has_rule(findings, ids)
                denial = _carry(call, carried, is_ruled, turn.key, is_counted, payload, runtime)
                return False, denial
            case Wait():
                return False, _hold(call, turn, key, runtime)
            case Show():
                return True, _show(call, outcome, by_id, key, payload, runtime)


def _get_turn(key: TurnKey, runtime: Runtime) -> Turn:
    """Return the turn of a call; one whose prompt was not seen begins with it."""
    turn = turns.get(runtime.store, key)
    if turn is None:
        why = "no prompt of this turn was seen"
        turns.begin(runtime.store, key, "required", why, "", runtime.now)
        turn = turns.get(runtime.store, key)
        assert turn is not None
    return turn


def _judge_in_turn(
    found: Sequence[Met], touch: Touch, turn: Turn, payload: Payload, runtime: Runtime
) -> list[Finding]:
    """Judge what a call meets, with what the turn and its context were told of it."""
    seen = _find_seen(turn, [each.memory.id for each in found], payload, runtime)
    findings = []
    for finding in judge(found, touch.changes, runtime.store):
        if past := seen.get(finding.id):
            finding = replace(
                finding,
                in_turn=past.in_turn,
                in_context=past.is_said,
                carried=past.carried,
            )
        findings.append(finding)
    return findings


def _has_rule(findings: Iterable[Finding], ids: Collection[str]) -> bool:
    return any(each.is_rule and each.is_firm for each in findings if each.id in ids)


def _hold(call: ToolCall, turn: Turn, key: TurnKey, runtime: Runtime) -> str:
    """Deny a call beside one whose denial carries the memories."""
    from ademem.store import injections

    why = "a denial in the same message carries the memories"
    log_decision(call, turn.key, "hold", why, runtime)
    injections.record(runtime, "pre_tool_use", WAITING, key, tool_use_id=call.tool_use_id)
    return client.deny(WAITING)


def _show(
    call: ToolCall,
    outcome: Show,
    by_id: Mapping[str, Met],
    key: TurnKey,
    payload: Payload,
    runtime: Runtime,
) -> str | None:
    """Return what is said beside a call that runs."""
    shown = [(by_id[id].memory, by_id[id].binding.state or "") for id in outcome.ids]
    if not shown:
        return None
    untrusted = [by_id[id].memory for id in outcome.rules]
    advice, lines = _advise_trust(untrusted, key, runtime)
    line = _line_of(call, payload, runtime)
    text = hint_events.show(
        *(payload, shown, _what(call, payload, runtime), key, runtime),
        again=outcome.ids,
        always=outcome.rules,
        end=advice,
    )
    lines = lines or _tell(text, shown, line, runtime)
    return client.context("PreToolUse", text, lines) or None


def _tell(text: str, shown: list[tuple[Memory, str]], call: str, runtime: Runtime) -> list[str]:
    """Return the line for the person about memories that the text has."""
    if not text:
        return []
    from ademem.session import notices

    given = [memory for memory, _ in shown if memory.id in text]
    return notices.describe_told(given, call, runtime)


def _carry(
    call: ToolCall,
    found: list[Met],
    is_ruled: bool,
    key: TurnKey,
    is_counted: bool,
    payload: Payload,
    runtime: Runtime,
) -> str:
    """Deny the call with the memories; the call that is made again passes."""
    from ademem.session import denials
    from ademem.store import injections

    carried = [each.memory for each in found]
    if not is_counted:
        shown = [logs.Shown(memory_id=one.memory.id, binding=one.binding.place) for one in found]
        logs.log_shown(
            *(runtime.store, "guard", shown, runtime.now),
            key=key,
            query=call.target,
            pending=not runtime.is_read_only,  # no later hook could count it as read
            call=outcomes.line(_line_of(call, payload, runtime)),
        )
        flags.set_quiet(runtime.project, key, False)  # until a call is made in its place
        why = f"carried {', '.join(memory.id for memory in carried)}"
        log_decision(call, key, "deny", why, runtime)
        flags.set_carrying(runtime.project, True)
    from ademem.search import binding

    entries = hint_events.format_entries(carried, runtime.store, hint_events.ENTRY_CHARS)
    reason = denials.explain(
        carried,
        binding.tell_place(found[0].binding, binding.TICK),
        entries,
        runtime.now,
        is_ruled=is_ruled,
        has_marks=bool(hint_events.mark_contradicted(carried, runtime.store)),
    )
    placed = injections.place_entries(carried, entries)
    injections.record(runtime, "pre_tool_use", reason, key, placed, tool_use_id=call.tool_use_id)
    return client.deny(reason)


def _what(call: ToolCall, payload: Payload, runtime: Runtime) -> str:
    return hint_events.name_target(payload, runtime) or call.path or call.tool


def _find_seen(
    turn: Turn, ids: Iterable[str], payload: Payload, runtime: Runtime
) -> dict[str, logs.Seen]:
    """Return what was said of these; not to prompts that the conversation has left since."""
    past = (runtime.store, turn.key, runtime.now, ids, turn.begins_after)
    seen = logs.find_seen(*past)
    if not any(each.is_said for each in seen.values()):
        return seen
    from ademem.session import conversation_branch

    left = conversation_branch.find_left(payload.transcript_path, payload.tool_use_id)
    return logs.find_seen(*past, left) if left else seen


def _advise_trust(rules: Iterable[Memory], key: TurnKey, runtime: Runtime) -> tuple[str, list[str]]:
    """Return how the first of the rules may stop calls, once a session; also for the person."""
    first = next(iter(rules), None)
    if first is None or not ledger.claim(runtime.store, ADVISED, key.session_id, runtime.now):
        return "", []
    from ademem.core.memory import FROM_HUB
    from ademem.session import notices

    author = first.claimed_author
    how = "ademem trust --database"
    if author is not None:
        how = "ademem review --imported" if author.startswith(FROM_HUB) else "ademem trust --files"
    advice = f"It was not accepted here; typed by the person, `{how}` lets it stop calls."
    return advice, notices.describe_untrusted(first, how, runtime)
