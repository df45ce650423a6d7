"""Run a selection of a hook again for one memory, with the numbers of each stage."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from ademem.api.searching import explain_search, load_embedder
from ademem.core import client
from ademem.core.client import mission_of
from ademem.core.clock import parse, stamp
from ademem.core.errors import NotFound
from ademem.core.memory import Memory
from ademem.core.redaction import redact
from ademem.core.value import Value
from ademem.guard.prompts import TurnClass, classify
from ademem.search import engine, evidence, hints
from ademem.session import briefing, hint_events
from ademem.session.briefing import Reader
from ademem.store import injections, ledger, memories, session_queries
from ademem.store.injections import Sent
from ademem.store.runtime import Runtime, program

LOOKED_UP = ("recall", "search", "mcp")
"""Places of what the model asked for itself, which is shown again however often it asks."""
PROMPTS = 500
"""Newest prompts of a session that are looked through."""


class Stage(Value):
    name: str
    passed: bool
    figures: dict[str, Any]
    """Numbers and states by their meaning, in order."""


class Reconsidered(Value):
    """One memory in a selection, as recorded and as it is run again."""

    memory: Memory
    at: str
    about: str
    """The prompt, or the occasion."""
    was_shown: bool
    left_out: str
    """The recorded reason; empty where none is."""
    stages: tuple[Stage, ...]


class NoSuchMoment(NotFound):
    hint = "the page of the session shows its moments"


def explain_selection(runtime: Runtime, session: str, at: str, id: str) -> Reconsidered:
    """Run the selection of a session at a moment again, on the memories of now.

    *at* is the stamp of a prompt or a text. Nothing is recorded. Raises NoSuchMemory, or
    NoSuchMoment.
    """
    memory, sent = memories.get(runtime.store, id), injections.list_sent(runtime.store, session)
    prompts = session_queries.search_prompts(runtime.store, "", session, PROMPTS)
    there = [each for each in sent if each.created_at == at]
    text = next((each for each in there if each.event), there[0] if there else None)
    prompt = next((row["content"] for row in prompts if row["created_at"] == at), "")
    if text is None and not prompt:
        raise NoSuchMoment(f"the session {session!r} has no selection at {at}")
    rows = session_queries.list_sessions(runtime.store, 1, session)
    moment = Moment(
        at=at,
        session=session,
        branch=rows[0].get("branch") if rows else runtime.branch,
        seen=_list_seen(sent, at, text.agent_id if text else ""),
    )
    place = text.place if text else "prompt"
    stages = [_state(memory, moment)]
    if prompt and place in ("prompt", ""):
        stages += _for_prompt(prompt, memory, moment, runtime)
    elif text and place == "briefing" and not text.agent_id:
        stages += _for_briefing(text, memory, moment, runtime)
    elif text and place == "site":
        stages.append(_for_site(text.query, memory, runtime))
    elif text and place == "failure":
        stages.append(_for_error(text.query, memory, runtime))
    elif text and place in LOOKED_UP:
        stages.append(_for_search(text.query, memory, runtime))
    if place not in LOOKED_UP:
        stages.append(_context(memory, moment, runtime))
    parts = [part for part in text.parts if part.memory_id == memory.id] if text else []
    return Reconsidered(
        memory=memory,
        at=at,
        about=redact(prompt).text or (text.reason if text else ""),
        was_shown=any(not part.left_out for part in parts),
        left_out=next((part.left_out for part in parts if part.left_out), ""),
        stages=tuple(stages),
    )


class Moment(Value):
    at: str
    session: str
    branch: str | None
    seen: frozenset[str]
    """Memories that the context had been shown."""


def _list_seen(sent: Sequence[Sent], at: str, agent: str) -> frozenset[str]:
    """Return what the session or subagent was shown before, since its last compaction."""
    seen: set[str] = set()
    for each in sent:
        if each.created_at >= at or each.agent_id != agent:
            continue
        if each.place == "briefing" and each.query == "compact":
            seen.clear()
        seen.update(part.memory_id for part in each.parts if not part.left_out)
    return frozenset(seen)


def _state(memory: Memory, moment: Moment) -> Stage:
    existed = stamp(memory.created_at) <= moment.at
    is_here = memory.source_branch in (None, moment.branch)
    return Stage(
        name="May be shown",
        passed=existed and memory.live and not memory.quarantine_reason and is_here,
        figures={
            "existed then": existed,
            "changed since": stamp(memory.updated_at) > moment.at,
            "status": memory.status.value,
            "quarantined": bool(memory.quarantine_reason),
            "scope": memory.shown_scope,
            "of this branch or all": is_here,
        },
    )


def _for_prompt(prompt: str, memory: Memory, moment: Moment, runtime: Runtime) -> Iterator[Stage]:
    most = runtime.settings.briefing.prompt
    classified = classify(prompt, settings=runtime.settings.guard)
    yield Stage(
        name="The prompt may need memory",
        passed=classified.turn is not TurnClass.NONE and most > 0,
        figures={"turn": classified.turn.value, "because": classified.why},
    )
    found = engine.consider(
        prompt, memory, runtime, moment.branch, parse(moment.at), load_embedder(runtime)
    )
    signals, floor = found.signals, evidence.PROMPT
    yield Stage(
        name="Candidate",
        passed=bool(signals),
        figures={
            "search": found.mode,
            "place by words": found.word_rank,
            "place by meaning": found.meaning_rank,
            "share of the words": signals.get("share"),
            "BM25": signals.get("bm25"),
            "cosine": signals.get("cosine"),
        },
    )
    mine = signals.get("evidence")
    least = evidence.least_shown([found.best] if found.best is not None else [], floor)
    yield Stage(
        name="Evidence",
        passed=mine is not None and mine >= least,
        figures={
            "evidence": mine,
            "needed by the best": floor,
            "of the best": found.best,
            "needed beside the best": None if math.isinf(least) else least,
        },
    )
    yield Stage(
        name="Ranked",
        passed=found.rank is not None and found.rank <= evidence.LOOKED_AT and not found.later,
        figures={
            "place": found.rank,
            "of": found.candidates,
            "looked at": evidence.LOOKED_AT,
            "score": signals.get("composite"),
            "replaced by a later one": found.later,
        },
    )
    yield Stage(
        name="Among the shown",
        passed=memory.id in found.chosen,
        figures={"shown": len(found.chosen), "at most": most},
    )


def _for_briefing(text: Sent, memory: Memory, moment: Moment, runtime: Runtime) -> Iterator[Stage]:
    reader = Reader(
        store=runtime.store,
        settings=runtime.settings.briefing,
        now=parse(moment.at),
        session=moment.session,
        root=runtime.project.root,
        mission=mission_of(runtime.environment),
        branch=moment.branch,
        seen=moment.seen if text.query in briefing.GOES_ON else frozenset(),
    )
    name = program(runtime.environment)
    brief = briefing.news(reader) if reader.seen else briefing.session(reader, name)
    for step in brief.steps:
        own = [entry for entry in step.entries if entry.memory and entry.memory.id == memory.id]
        order = sorted(step.entries, key=lambda entry: -entry.worth)
        least = min((entry.worth for entry in step.fitting), default=None)
        yield Stage(
            name=f"Section “{step.title}”",
            passed=bool(own) and own[0] in step.fitting,
            figures={
                "place by worth": order.index(own[0]) + 1 if own else None,
                "of": len(step.entries),
                "worth": own[0].worth if own else None,
                "least worth shown": least,
                "characters": own[0].chars if own else None,
                "room": step.room,
                "shown": len(step.fitting),
                "at most": step.most,
            },
        )


def _for_site(what: str, memory: Memory, runtime: Runtime) -> Stage:
    payload = client.read(b"{}")
    found = hint_events.find_at(what, payload, runtime, is_path=True)
    found += hint_events.find_at(what, payload, runtime, is_path=False)
    ids = [each.id for each, _ in found]
    settings = runtime.settings.briefing
    return Stage(
        name="Tied to the file or command",
        passed=memory.id in ids[: settings.hints],
        figures={
            "sites": ", ".join(site.pattern for site in hints.find_sites(memory)) or "none",
            "place": _place(memory, ids),
            "of": len(ids),
            "at most": settings.hints,
            "tokens at most": hint_events.MOST_TOKENS,
        },
    )


def _for_error(line: str, memory: Memory, runtime: Runtime) -> Stage:
    found = hint_events.find_on_error(client.read(b"{}"), line, runtime)
    ids = [each.id for each, _ in found]
    most = runtime.settings.briefing.hints
    return Stage(
        name="Known for the error",
        passed=memory.id in ids[:most],
        figures={
            "place": _place(memory, ids),
            "of": len(ids),
            "at most": most,
            "evidence needed": evidence.PROMPT,
        },
    )


def _for_search(query: str, memory: Memory, runtime: Runtime) -> Stage:
    found = explain_search(runtime, query)
    hits = [*found.results.hits, *(hit for hit, _ in found.left_out)]
    shown = [hit.memory.id for hit in found.results.hits]
    mine = next((hit for hit in hits if hit.memory.id == memory.id), None)
    return Stage(
        name="Found by the search",
        passed=memory.id in shown,
        figures={
            "place": _place(memory, shown),
            "shown": len(shown),
            "score": mine.score if mine else None,
            "least score shown": min((hit.score for hit in found.results.hits), default=None),
            "evidence": mine.signals.get("evidence") if mine else None,
            "left out as": next((why for hit, why in found.left_out if hit is mine), None),
        },
    )


def _context(memory: Memory, moment: Moment, runtime: Runtime) -> Stage:
    is_seen = memory.id in moment.seen
    is_own = ledger.is_own_error(runtime.store, memory, moment.session)
    return Stage(
        name="New to the context",
        passed=not is_seen and not is_own,
        figures={"shown before": is_seen, "this session's own error": is_own},
    )


def _place(memory: Memory, ids: Sequence[str]) -> int | None:
    """Return the place of the memory, from 1; None where it is not among them."""
    return ids.index(memory.id) + 1 if memory.id in ids else None
