"""Read an ended session once: ask the client's model, check the answer, store what holds."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress

from ademem.capture import gate, provenance, stating, transcript
from ademem.capture.teaching import may_state
from ademem.core import anchor
from ademem.core.clock import datetime
from ademem.core.errors import AdememError
from ademem.core.memory import STATEMENTS, Draft, Memory, Origin, Scope, Status, Trust
from ademem.core.settings import AISettings
from ademem.core.text import fold
from ademem.core.value import Value
from ademem.search import binding_keys, engine
from ademem.search.query import keywords
from ademem.store import (
    Store,
    evidence,
    ledger,
    logs,
    maintenance,
    memory_queries,
    sessions,
    transitions,
    turns,
)
from ademem.store.evidence import EvidenceKind
from ademem.store.filters import UNARCHIVED, of_session
from ademem.store.missions import SessionLocation
from ademem.store.runtime import Runtime
from ademem.store.sessions import Session
from ademem.store.transitions import Act
from ademem.synthesis import ai
from ademem.synthesis.reader import DAILY, PURPOSE, answer_form
from ademem.synthesis.reader.answer_checks import OF_PERSON, check_answer
from ademem.synthesis.reader.answer_form import CATEGORIES, Lesson, Refusal, Refuted, parse_answer
from ademem.synthesis.reader.session_record import (
    MOST_KNOWN,
    Known,
    Record,
    Speaker,
    build_record,
)

FEWEST_TURNS = 3
"""Turns from which a session is read in which nothing was heard."""
MODEL, EFFORT, TIMEOUT_S, MAX_USD = "haiku", "low", 120.0, "0.05"
PROMPTS_SEARCHED, HITS = 8, 5
"""Last prompts that are searched for known memories, and most hits of each."""
QUERY_WORDS = 24


class Reading(Value):
    """The result for one session."""

    lessons: int = 0
    refuted: int = 0
    refused: int = 0


class NoAnswer(AdememError):
    hint = "`ademem status cost` lists the calls"


def may_read(session_id: str, runtime: Runtime) -> bool:
    """Tell whether a session is to be read: a person typed in it, and it is long enough.

    None is read twice, in continuous integration, or after the last one of the day.
    """
    store, environment = runtime.store, runtime.environment
    if runtime.settings.learn.reader != "on" or environment.get("CI"):
        return False
    if "ADEMEM_ASKED" in environment or ledger.is_claimed(store, PURPOSE, session_id):
        return False
    if maintenance.count_calls_today(store, runtime.now, PURPOSE) >= DAILY:
        return False
    if maintenance.count_calls_today(store, runtime.now) >= runtime.settings.ai.daily_calls:
        return False
    if not ledger.list_endings(store, ledger.TYPED, f"{session_id}:"):
        return False
    return turns.count(store, session_id) >= FEWEST_TURNS or any(_list_heard(store, session_id))


def _list_heard(store: Store, session_id: str) -> Iterator[Memory]:
    found = memory_queries.of_session(store, id=session_id)
    return (each for each in found if each.is_heard and each.live)


def read_session(key: str, runtime: Runtime) -> Reading | None:
    """Read the session of the job *key*; None when it is not to be read.

    Raises NoAnswer, with nothing changed, when the model gave none.
    """
    location = SessionLocation.parse(key)
    session = sessions.get(runtime.store, location.session_id)
    if session is None or not may_read(location.session_id, runtime):
        return None
    record = record_session(session, runtime)
    if not any(each.speaker is Speaker.PERSON for each in record.messages):
        return None
    question = make_question(record, runtime)
    answer = ai.send(runtime, question, lambda data: parse_answer(data, ai.clean), most=DAILY)
    if answer is None:
        call = maintenance.last_call(runtime.store) or {}
        raise NoAnswer(f"the reader got no answer: {call.get('error') or call.get('outcome')}")

    def exists(path: str) -> bool:
        return os.path.exists(os.path.join(runtime.project.root, path))

    checked = check_answer(answer, record, exists)
    store = runtime.store
    with store.transaction():
        if not ledger.claim(store, PURPOSE, session.id, runtime.now):
            return None
        keeper = _Keeper(record, location, runtime)
        kept = sum(map(keeper.keep, checked.lessons))
        refuted = sum(map(keeper.archive, checked.refuted))
        for refusal in checked.refusals:
            keeper.log(refusal)
    return Reading(lessons=kept, refuted=refuted, refused=len(checked.refusals))


def make_question(record: Record, runtime: Runtime) -> ai.Question:
    most = runtime.settings.ai.daily_calls
    return ai.Question(
        settings=AISettings(provider="claude", model=MODEL, timeout_s=TIMEOUT_S, daily_calls=most),
        environment=runtime.environment,
        prompt=record.text,
        schema=answer_form.SCHEMA,
        purpose=PURPOSE,
        system=answer_form.PROMPT,
        options=("--effort", EFFORT),
        max_usd=MAX_USD,
    )


def record_session(session: Session, runtime: Runtime) -> Record:
    """Return the record of a session's transcript; without one it has no message."""
    typed = set(ledger.list_endings(runtime.store, ledger.TYPED, f"{session.id}:"))
    events = []
    with suppress(OSError):
        events = [*transcript.events(session.transcript, since=session.own_since)]
    prompts = [event.text for event in events if isinstance(event, transcript.Prompt)]
    known = _list_known(session.id, prompts, runtime)
    roots = (runtime.project.root, session.directory)
    return build_record(events, known, roots, lambda prompt_id: prompt_id in typed)


def _list_known(session_id: str, prompts: list[str], runtime: Runtime) -> list[Known]:
    """Return memories of the session, memories that it was shown, and those near to its prompts."""
    store, filters = runtime.store, of_session(runtime, UNARCHIVED)
    found = [*memory_queries.of_session(store, id=session_id)]
    found += memory_queries.list_shown(store, session_id, MOST_KNOWN)
    for prompt in prompts[-PROMPTS_SEARCHED:]:
        words = keywords(prompt, QUERY_WORDS)
        if words:
            hits = engine.search(words, store, filters, runtime.now, HITS).hits
            found += [hit.memory for hit in hits]
    known = {each.id: _known(each) for each in found if _may_be_known(each)}
    return list(known.values())[:MOST_KNOWN]


def _may_be_known(memory: Memory) -> bool:
    held_back = memory.quarantine_reason or memory.hidden or memory.is_personal
    return memory.live and memory.category in STATEMENTS and not held_back


def _known(memory: Memory) -> Known:
    stage = "confirmed" if memory.status is Status.PROMOTED else "not confirmed"
    return Known(id=memory.id, label=f"{memory.category}, {stage}", text=memory.whole_text)


class _Keeper:
    """Stores the parts of one answer."""

    def __init__(self, record: Record, location: SessionLocation, runtime: Runtime) -> None:
        self._record = record
        self._location = location
        self._runtime = runtime
        self._session = location.session_id
        self._trust = provenance.trust_of_session(self._session, runtime.store)
        self._now: datetime = runtime.now
        self._known = {
            each.id: each
            for each in memory_queries.by_ids(runtime.store, (it.id for it in record.known))
        }

    def keep(self, lesson: Lesson) -> bool:
        """Store a lesson with its evidence; False when the gate refuses it."""
        relation, known = next(
            ((name, self._known.get(id)) for name, id in lesson.relations), ("", None)
        )
        runtime = self._runtime
        if relation == "repeats" and known:
            self._add_evidence(lesson, known, runtime.store)
            return True
        draft = self._draft(lesson)
        if lesson.scope is answer_form.Scope.PERSON:
            runtime = runtime.open_personal(create=True) or runtime
        else:
            draft = self._location.assign(draft, runtime)
        written = gate.write(draft, runtime.store, runtime.settings.gate, self._now)
        memory = written.memory
        if memory is None:
            return False
        self._add_evidence(lesson, memory, runtime.store)
        if known and memory.id != known.id and runtime is self._runtime:
            stating.relate(relation, known, memory, self._act("read off the session"))
        return True

    def _draft(self, lesson: Lesson) -> Draft:
        end = "" if lesson.text.endswith((".", "!", "?")) else "."
        is_personal = lesson.scope is answer_form.Scope.PERSON
        return Draft(
            content=f"{lesson.text}{end} Reason: {lesson.why}" if lesson.why else lesson.text,
            category=CATEGORIES[lesson.kind],
            scope=Scope.AGENT if is_personal else Scope.PROJECT,
            anchors=tuple(self._anchors(lesson)),
            evidence=lesson.quotes[0].text,
            origin=Origin(trust=self._trust, source_type=PURPOSE, session_id=self._session),
        )

    def _anchors(self, lesson: Lesson) -> Iterator[str]:
        for key in (*lesson.files, *(f"`{command.strip('`')}`" for command in lesson.commands)):
            with suppress(AdememError):  # a place that cannot be one is left out
                binding_keys.parse_at(key, self._runtime.project.root)
                yield anchor.of_key(key, by_person=False)
        yield from map(anchor.of_occasion, lesson.when)

    def _add_evidence(self, lesson: Lesson, memory: Memory, store: Store) -> None:
        tainted = self._trust in provenance.SOURCES
        for quote in lesson.quotes:
            message = self._record.find(quote.message)
            is_typed = message is not None and message.speaker is Speaker.PERSON
            if is_typed and may_state(quote.text):
                evidence.add(
                    *(store, memory.id, EvidenceKind.SAID, self._now),
                    quote=quote.text,
                    session_id=self._session,
                    message=quote.message,
                )
        evidence.add(
            *(store, memory.id, EvidenceKind.READER, self._now),
            quote=lesson.text,
            session_id=self._session,
            tainted=tainted,
        )
        self._take_place_of_heard(lesson, memory, store)

    def _take_place_of_heard(self, lesson: Lesson, memory: Memory, store: Store) -> None:
        """Let a lesson take the place and the evidence of what was only heard in this session."""
        if store is not self._runtime.store:
            return
        said = [fold(quote) for quote in self._said_quotes(lesson)]
        for heard in [*_list_heard(store, self._session)]:
            sentences = [each.quote for each in evidence.list_of(store, heard.id)]
            if heard.id != memory.id and any(
                one in other or other in one
                for one in said
                for other in map(fold, filter(None, (heard.content, *sentences)))
            ):
                stating.hand_over(heard, memory, store, self._act(f"read as {memory.id}"))

    def _said_quotes(self, lesson: Lesson) -> Iterable[str]:
        found = ((self._record.find(quote.message), quote.text) for quote in lesson.quotes)
        return (text for message, text in found if message and message.speaker in OF_PERSON)

    def archive(self, refuted: Refuted) -> int:
        """Archive unconfirmed memories of the session that were captured in a refuted message."""
        message = self._record.find(refuted.quote.message)
        quote, text = fold(refuted.quote.text), fold(message.text) if message else ""
        found = [
            each
            for each in memory_queries.of_session(self._runtime.store, id=self._session)
            if each.live and each.status is Status.CANDIDATE and each.trust is not Trust.USER
            if (content := fold(each.content)) in text and (content in quote or quote in content)
        ]
        for memory in found:
            transitions.archive(memory.id, self._act(f"refuted in {refuted.by}"))
        return len(found)

    def log(self, refusal: Refusal) -> None:
        logs.log_decision(
            *(self._runtime.store, "gate", self._now),
            decision=refusal.check,
            reason=refusal.why,
            subject=refusal.subject,
            source_type=PURPOSE,
            session_id=self._session,
        )

    def _act(self, reason: str) -> Act:
        return Act(
            store=self._runtime.store,
            now=self._now,
            actor=self._trust,
            session_id=self._session,
            reason=reason,
        )
