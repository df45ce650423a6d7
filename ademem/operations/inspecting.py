"""One memory in full: its uses, neighbours, anchors, sites and lines, and why a hook showed it."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ademem.core import client
from ademem.core.client import mission_of
from ademem.core.clock import datetime, parse, stamp
from ademem.core.errors import NotFound
from ademem.core.memory import Memory, Origin, Status
from ademem.core.value import Value, replace
from ademem.operations.curation import get_speaker
from ademem.search.ranking import UNASKED
from ademem.session import linked_files
from ademem.store import logs, memories, sessions
from ademem.store.filters import UNARCHIVED, Filters
from ademem.store.runtime import Runtime, program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.capture.gate import RuleEffect
    from ademem.search.ranking import Hit
    from ademem.session.briefing import Reader
    from ademem.store.bindings import Binding
    from ademem.store.injections import Sent
    from ademem.synthesis.anchoring import Doubt

FILE_BYTES = 64_000_000
USES = 50


class Line(Value):
    path: str
    number: int
    text: str


class Similar(Value):
    by_words: tuple[Memory, ...]
    by_meaning: tuple[tuple[Memory, float], ...] | None
    """Nearest first, with the cosines; None without a vector."""


def list_uses(runtime: Runtime, id: str) -> list[dict[str, Any]]:
    runtime = runtime.holding(id)
    return logs.list_uses(runtime.store, memories.get(runtime.store, id).id, USES)


def compare(runtime: Runtime, id: str, limit: int = 3) -> Similar:
    """Find the nearest unarchived memories."""
    from ademem.operations.searching import find_similar
    from ademem.search.embedding import model_id
    from ademem.store import embeddings
    from ademem.store.filters import visible

    runtime = runtime.holding(id)
    store, memory = runtime.store, memories.get(runtime.store, id)
    by_words, by_meaning = tuple(find_similar(runtime, memory, limit)), None
    model = model_id(runtime.settings.embed)
    if size := embeddings.dimensions(store, model):
        from ademem.search import dense

        cosines = dense.Cosines.of_row(memory.seq, dense.load_vectors(store, model, size))
        if cosines is not None:
            filters = Filters(statuses=UNARCHIVED, here=runtime.branch)
            nearest = [seq for seq in cosines.nearest(FIRST_LOOK * limit) if seq != memory.seq]
            found = visible(nearest, store, filters, UNARCHIVED, limit)
            _, plain = cosines.compare([each.seq for each in found])
            by_meaning = tuple((each, plain[each.seq]) for each in found)
    return Similar(by_words=by_words, by_meaning=by_meaning)


FIRST_LOOK = 10
"""Nearest rows that are looked at for each one that is shown; some are hidden."""


def list_embedded(runtime: Runtime, ids: Iterable[str]) -> frozenset[str]:
    from ademem.search.embedding import model_id
    from ademem.store import embeddings

    return frozenset(embeddings.blobs(runtime.store, model_id(runtime.settings.embed), ids))


def list_doubtful(runtime: Runtime) -> list[Doubt]:
    """List memories whose code lost a value, as far as the last check saw it."""
    from ademem.synthesis import anchoring

    verifier = anchoring.verifier()
    return verifier.list_doubts(runtime.project, runtime.store) if verifier else []


def check_anchors(runtime: Runtime) -> None:
    """Compare all anchors with the code, and store their states."""
    from ademem.synthesis import anchoring

    if verifier := anchoring.verifier():
        verifier.verify(runtime.project, runtime.store, runtime.clock())


def list_bindings(runtime: Runtime, id: str) -> list[Binding]:
    from ademem.store import bindings

    memory = memories.get(runtime.holding(id).store, id)
    is_showable = memory.live and memory.status is Status.PROMOTED
    if not is_showable or memory.quarantine_reason or memory.superseded_by:
        return []
    return bindings.list_of(runtime.holding(id).store, memory)


def find_lines(runtime: Runtime, id: str) -> list[Line]:
    from ademem.core import confined
    from ademem.files import FOLDER

    memory = memories.get(runtime.holding(id).store, id)
    root, folder = runtime.project.root, FOLDER.rstrip("/")
    found = []
    for name in sorted(confined.names(root, os.path.join(root, folder))):
        path = f"{folder}/{name}"
        try:
            text = confined.read_text(root, os.path.join(root, path), FILE_BYTES) or ""
        except (OSError, UnicodeDecodeError):
            continue
        if memory.id in text or memory.sync_id in text:
            found += [
                Line(path=path, number=number, text=line)
                for number, line in enumerate(text.splitlines(), 1)
                if memory.id in line or memory.sync_id in line
            ]
    return found


def preview_edit(runtime: Runtime, id: str, **changes: Any) -> list[RuleEffect]:
    from ademem.capture.gate import writing

    runtime = runtime.holding(id)
    memory = memories.get(runtime.store, id)
    origin = Origin(trust=get_speaker(runtime), source_type=memory.source_type)
    draft = replace(
        writing.draft_change(memory, changes, origin),
        topic_key=changes.get("topic_key", memory.topic_key),
        knowledge_key=memory.knowledge_key,
        promoted=memory.status == "promoted",
    )
    settings, now = runtime.settings.gate, runtime.clock()
    return writing.explain(draft, runtime.store, settings, now, apart_from=memory.id)


LOOKED_UP = ("recall", "search", "mcp")
"""Places of what the model asked for itself, which is shown again however often it asks."""
PROMPTS = 500


class Stage(Value):
    name: str
    passed: bool
    figures: dict[str, Any]


class Reconsidered(Value):
    """A memory in a selection, as recorded and as the selection runs again."""

    memory: Memory
    at: str
    about: str
    """The prompt, or the occasion."""
    was_shown: bool
    left_out: str
    stages: tuple[Stage, ...]


class Moment(Value):
    """What a session was sent at one time, and what it had been sent before."""

    at: str
    session: str
    prompt: str
    text: Sent | None
    branch: str | None
    seen: frozenset[str]
    """Memories that the session or subagent had been shown since its last compaction."""

    @property
    def place(self) -> str:
        return self.text.place if self.text else "prompt"


def explain_selection(runtime: Runtime, session: str, at: str, id: str) -> Reconsidered:
    """Run the selection of the stamp *at* again, on the memories of now; record nothing."""
    from ademem.core.redaction import redact

    holder = runtime.holding(id)
    memory = memories.get(holder.store, id)
    moment = _read_moment(runtime, session, at)
    stages = [
        _may_be_shown(memory, moment, runtime),
        *_select_again(moment, memory, runtime, holder),
    ]
    if moment.place not in LOOKED_UP:
        stages.append(_is_new(moment, memory, runtime))
    text = moment.text
    parts = [part for part in text.parts if part.memory_id == memory.id] if text else []
    return Reconsidered(
        memory=memory,
        at=at,
        about=redact(moment.prompt).text or (text.reason if text else ""),
        was_shown=any(not part.left_out for part in parts),
        left_out=next((part.left_out for part in parts if part.left_out), ""),
        stages=tuple(stages),
    )


def _read_moment(runtime: Runtime, session: str, at: str) -> Moment:
    from ademem.store import injections

    sent = injections.list_sent(runtime, session)
    text, prompt = _sent_at(sent, at), _prompt_at(runtime, session, at)
    if text is None and not prompt:
        why = f"the session {session!r} has no selection at {at}"
        raise NotFound(why, "the page of the session shows its moments")
    rows = sessions.list_sessions(runtime.store, 1, session)
    agent = text.agent_id if text else ""
    before = [each for each in sent if each.created_at < at and each.agent_id == agent]
    return Moment(
        at=at,
        session=session,
        prompt=prompt,
        text=text,
        branch=rows[0].get("branch") if rows else runtime.branch,
        seen=_seen_in(before),
    )


def _sent_at(sent: Iterable[Sent], at: str) -> Sent | None:
    """Return what was sent at a moment, that of an event before others."""
    there = [each for each in sent if each.created_at == at]
    return next((each for each in there if each.event), there[0] if there else None)


def _prompt_at(runtime: Runtime, session: str, at: str) -> str:
    prompts = sessions.search_prompts(runtime.store, "", session, PROMPTS)
    return next((str(row["content"]) for row in prompts if row["created_at"] == at), "")


def _seen_in(sent: Iterable[Sent]) -> frozenset[str]:
    seen: set[str] = set()
    for each in sent:
        if each.place == "briefing" and each.query == "compact":
            seen.clear()
        seen.update(part.memory_id for part in each.parts if not part.left_out)
    return frozenset(seen)


def _may_be_shown(memory: Memory, moment: Moment, runtime: Runtime) -> Stage:
    existed = stamp(memory.created_at) <= moment.at
    is_here = memory.source_branch in (None, moment.branch)
    of_main = moment.place in ("prompt", "briefing") and not (moment.text and moment.text.agent_id)
    is_loaded = of_main and memory.id in linked_files.loaded_ids(runtime)
    is_open = memory.live and not memory.quarantine_reason and not is_loaded
    return Stage(
        name="May be shown",
        passed=existed and is_open and is_here,
        figures={
            "existed then": existed,
            "changed since": stamp(memory.updated_at) > moment.at,
            "status": memory.status.value,
            "quarantined": bool(memory.quarantine_reason),
            "scope": memory.shown_scope,
            "of this branch or all": is_here,
            "loaded by the client itself": is_loaded,
        },
    )


def _select_again(
    moment: Moment, memory: Memory, runtime: Runtime, holder: Runtime
) -> Iterable[Stage]:
    from ademem.session import briefing
    from ademem.session.briefing import Reader

    text, place = moment.text, moment.place
    if moment.prompt and place in ("prompt", ""):
        return _for_prompt(moment.prompt, memory, moment.branch, parse(moment.at), holder)
    if text is None:
        return ()
    if place == "briefing" and not text.agent_id:
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
        return _for_briefing(reader, memory, program(runtime.environment))
    if place in ("site", "failure"):
        return (_for_hint(place, text.query, memory, holder),)
    return (_for_search(text.query, memory, holder),) if place in LOOKED_UP else ()


def _is_new(moment: Moment, memory: Memory, runtime: Runtime) -> Stage:
    from ademem.store import ledger

    is_seen = memory.id in moment.seen
    is_own = ledger.is_own_error(runtime.store, memory, moment.session)
    return Stage(
        name="New to the context",
        passed=not is_seen and not is_own,
        figures={"shown before": is_seen, "this session's own error": is_own},
    )


def _for_prompt(
    prompt: str, memory: Memory, branch: str | None, now: datetime, runtime: Runtime
) -> Iterator[Stage]:
    from ademem.guard.prompts import TurnClass, classify
    from ademem.operations.searching import load_embedder
    from ademem.search import engine, evidence, ranking
    from ademem.store import relations
    from ademem.store.filters import of_session

    most = runtime.settings.briefing.prompt
    classified = classify(prompt, settings=runtime.settings.guard)
    yield Stage(
        name="The prompt may need memory",
        passed=classified.turn is not TurnClass.NONE and most > 0,
        figures={"turn": classified.turn.value, "because": classified.why},
    )
    store, embedder = runtime.store, load_embedder(runtime)
    filters = replace(of_session(runtime, UNARCHIVED), here=branch)
    limit = max(most, evidence.LOOKED_AT)
    asked = engine.ask(prompt, store, filters, now, limit, embedder, UNASKED)
    by_words, by_meaning = ranking.find_rows(asked, UNARCHIVED, UNASKED.pool)
    hits = ranking.rank_live(asked)
    ranked = ranking.choose_best(hits, len(hits), asked.first)
    rank = next((at for at, hit in enumerate(ranked, 1) if hit.memory.seq == memory.seq), None)
    signals = ranked[rank - 1].signals if rank else {}
    yield Stage(
        name="Candidate",
        passed=bool(signals),
        figures={
            "search": asked.mode,
            "place by words": _place_in(by_words, memory.seq),
            "place by meaning": _place_in(by_meaning, memory.seq),
            "share of the words": signals.get("share"),
            "BM25": signals.get("bm25"),
            "cosine": signals.get("cosine"),
        },
    )
    yield _has_evidence(signals.get("helps"), hits, evidence.prompt_floor(asked.mode))
    later = relations.find_later(store, [memory]).get(memory.id)
    is_replaced = bool(later and later.replaces)
    yield Stage(
        name="Ranked",
        passed=rank is not None and rank <= evidence.LOOKED_AT and not is_replaced,
        figures={
            "place": rank,
            "of": len(hits),
            "looked at": evidence.LOOKED_AT,
            "score": signals.get("composite"),
            "replaced by a later one": is_replaced,
        },
    )
    shown = engine.suggest(prompt, store, filters, now, most=most, embedder=embedder)
    yield Stage(
        name="Among the shown",
        passed=any(hit.memory.id == memory.id for hit in shown),
        figures={"shown": len(shown), "at most": most},
    )


def _place_in(rows: Iterable[int], row: int) -> int | None:
    return next((place for place, each in enumerate(rows, 1) if each == row), None)


def _has_evidence(mine: float | None, hits: Iterable[Hit], floor: float) -> Stage:
    from ademem.search import evidence

    best = max((hit.signals["helps"] for hit in hits), default=None)
    least = evidence.least_shown([] if best is None else [best], floor)
    return Stage(
        name="Evidence",
        passed=mine is not None and mine >= least,
        figures={
            "evidence": mine,
            "needed by the best": floor,
            "of the best": best,
            "needed beside the best": None if math.isinf(least) else least,
        },
    )


def _for_briefing(reader: Reader, memory: Memory, name: str) -> Iterator[Stage]:
    from ademem.session import briefing

    brief = briefing.news(reader) if reader.seen else briefing.session(reader, name)
    for step in brief.steps:
        entries = (each for each in step.entries if each.memory and each.memory.id == memory.id)
        own = next(entries, None)
        order = sorted(step.entries, key=lambda entry: -entry.worth)
        least = min((entry.worth for entry in step.fitting), default=None)
        yield Stage(
            name=f"Section “{step.title}”",
            passed=own in step.fitting,
            figures={
                "place by worth": order.index(own) + 1 if own else None,
                "of": len(step.entries),
                "worth": own.worth if own else None,
                "least worth shown": least,
                "characters": own.chars if own else None,
                "room": step.room,
                "shown": len(step.fitting),
                "at most": step.most,
            },
        )


def _for_hint(place: str, what: str, memory: Memory, runtime: Runtime) -> Stage:
    from ademem.search import evidence
    from ademem.search.binding import tell_place
    from ademem.session import hint_events
    from ademem.store import bindings

    payload, most = client.read(b"{}"), runtime.settings.briefing.hints
    if place == "site":
        name, found = "Bound to the file or command", _bound_to(what, payload, runtime)
        at = ", ".join(map(tell_place, bindings.list_of(runtime.store, memory))) or "no place"
        figures: dict[str, Any] = {"at": at}
        limit: dict[str, Any] = {"tokens at most": hint_events.MOST_TOKENS}
    else:
        name, found = "Known for the error", hint_events.find_on_error(payload, what, runtime)
        figures, limit = {}, {"evidence needed": evidence.ERROR}
    ids = [each.id for each, _ in found]
    figures |= {"place": _place(memory, ids), "of": len(ids), "at most": most} | limit
    return Stage(name=name, passed=memory.id in ids[:most], figures=figures)


def _bound_to(what: str, payload: client.Payload, runtime: Runtime) -> list[tuple[Memory, str]]:
    """Return what a command, or a change of a file, of this name meets."""
    from ademem.guard import touch as touches
    from ademem.session import consulting

    root, guard = runtime.project.root, runtime.settings.guard
    met = []
    for tool, given in (("Write", {"file_path": what}), ("Bash", {"command": what})):
        met += consulting.find(touches.touch(tool, given, root, guard), payload, runtime)
    return list({each.memory.id: (each.memory, "") for each in met}.values())


def _for_search(query: str, memory: Memory, runtime: Runtime) -> Stage:
    from ademem.operations.searching import explain_search

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


def _place(memory: Memory, ids: Sequence[str]) -> int | None:
    return ids.index(memory.id) + 1 if memory.id in ids else None
