"""Build the episodes of sessions and missions, and extract candidates from transcripts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import chain
from typing import Any

from ademem.capture import gate, provenance, record, transcript
from ademem.capture.errors import COMMAND_CHARS
from ademem.capture.gate.rows import least_trusted
from ademem.capture.message_lessons import findings, learnings
from ademem.capture.record import category_of
from ademem.capture.teaching import may_teach
from ademem.capture.transcript import Event, Message, Prompt
from ademem.core.client import MISSION
from ademem.core.clock import parse
from ademem.core.memory import EPISODE, Category, Draft, Memory, Origin, Trust
from ademem.core.redaction import redact
from ademem.core.repository import git_root
from ademem.core.text import dedupe_key, preview, sha256_hex, truncate, unique
from ademem.core.value import replace
from ademem.guard.injection import instruction_in
from ademem.store import (
    Store,
    commits,
    episodes,
    ledger,
    maintenance,
    memories,
    memory_queries,
    missions,
    sessions,
    transitions,
)
from ademem.store.episodes import SESSION, Action, Episode
from ademem.store.missions import SessionLocation, assign_mission
from ademem.store.runtime import Runtime
from ademem.store.sessions import Session
from ademem.store.transitions import Act
from ademem.synthesis import ai
from ademem.synthesis.conversation import (
    FILES,
    ITEMS,
    TESTS,
    Conversation,
    describe_run,
    is_explained,
    relative,
)

PURPOSE = "episode"
"""The word for episodes in the ledger and in the list of AI calls."""
CHARS = 1_900
"""Longest text of an episode: the limit of the gate with some room."""
RULES_CONFIDENCE = 0.5
MODEL_CONFIDENCE = 0.7
TITLE_CHARS = 80
SHOWN = 8
"""Most items of a kind in the text; the data has all of them."""
TEST_RUNS_SHOWN = 3
MOST_COMMITS = 50
MOST_LISTED_FILES = 2_000
CLOCK_S = 0.01
"""Times of files are coarser than those of a conversation."""
EARLIER_SESSIONS = 3
ACTIONS_SHOWN = ("edit", "run", "test")
MOST_CANDIDATES = 30
MISSION_OUTCOMES = {"succeeded": "succeeded", "failed": "failed", "cancelled": "unknown"}

SCHEMA = ai.schema_of(
    task={"type": "string", "minLength": 3, "maxLength": 200},
    summary={"type": "string", "minLength": 3, "maxLength": 900},
    outcome={"type": "string", "enum": ["succeeded", "partial", "failed", "unknown"]},
    decisions={"type": "array", "items": {"type": "string", "maxLength": 300}, "maxItems": 10},
)
PROMPT = """\
Below is what one coding session did, as data. Say in `task` what was wanted, in one sentence
without "the user"; in `summary` how it was approached, what worked and what did not, so that
somebody who does the like next time learns from it; in `outcome` whether it was reached, `unknown`
unless the data shows it; in `decisions` what was settled and why, nothing that is not in the data.

"""


def build_session_episode(key: str, runtime: Runtime, now: datetime) -> Episode | None:
    """Build or extend the episode of the job *key*; None when there is nothing to keep.

    An episode stays as it is until its transcript grows, and after a person removed it.
    """
    session_id, _, mission_id = key.partition(" ")
    existing = episodes.of_session(runtime.store, session_id, mission_id)
    if _is_removed(existing, runtime.store):
        return None
    session = sessions.get(runtime.store, session_id)
    size = _transcript_size(session)
    if session is None or (existing and size <= existing.transcript_offset):
        return existing
    conversation = _read_conversation(session, runtime)
    if conversation.is_empty:
        return None
    _explain_errors(conversation, session_id, mission_id, runtime, now)
    scripted = _files_of_scripts(conversation, session, runtime)
    episode = Episode(
        memory_id="",
        session_id=session.id,
        mission_id=mission_id,
        task=_task_of(conversation),
        outcome=conversation.outcome,
        started_at=conversation.started_at or session.started_at,
        ended_at=conversation.ended_at or session.ended_at or session.started_at,
        actions=tuple(conversation.actions),
        files=unique((*conversation.files, *scripted))[:FILES],
        tests=tuple(conversation.tests),
        errors=tuple(conversation.errors),
        decisions=tuple(conversation.decisions.values()),
        corrections=tuple(conversation.corrections.values()),
        transcript_offset=size,
    )
    context = _describe_course(conversation, episode)
    trust = provenance.trust_of_session(session_id, runtime.store)
    return _write(episode, context, trust, mission_id, runtime, now)


def _is_removed(existing: Episode | None, store: Store) -> bool:
    return existing is not None and not memories.get(store, existing.memory_id).live


def _transcript_size(session: Session | None) -> int:
    with suppress(OSError):
        return os.path.getsize(session.transcript) if session and session.transcript else 0
    return 0


def _describe_course(conversation: Conversation, episode: Episode) -> list[str]:
    return [
        *(f"Asked: {prompt}" for prompt in conversation.prompts),
        *(f"Did ({action.kind}): {action.target}" for action in episode.actions),
        f"At the end: {conversation.last_message}",
    ]


def _task_of(conversation: Conversation) -> str:
    if conversation.task:
        return conversation.task
    if conversation.files:
        return f"Change {', '.join(list(conversation.files)[:3])}"
    if conversation.actions:
        return f"Run {conversation.actions[0].target}"
    return "Talk about the project"


def _read_conversation(session: Session, runtime: Runtime) -> Conversation:
    settings = runtime.settings
    roots = (runtime.project.root, session.directory)
    conversation = Conversation(roots, settings.guard, prompts=settings.capture.prompts)
    with suppress(OSError):
        for event in transcript.all_events(session.transcript, since=session.own_since):
            conversation.add(event)
    if not conversation.task:
        for text, at in sessions.prompts(runtime.store, session.id):
            conversation.add(Prompt(text=text, at=at))
    for memory in memory_queries.of_session(runtime.store, id=session.id):
        conversation.add_memory(memory)
    return conversation


def _files_of_scripts(conversation: Conversation, session: Session, runtime: Runtime) -> list[str]:
    """Return changed and committed files last written while a command of the session ran."""
    from ademem.core import git

    root = git_root(session.directory) or runtime.project.root
    spans = []
    for began, ended in conversation.runs:
        with suppress(ValueError, OverflowError):  # the client wrote these times
            spans.append((parse(began).timestamp(), parse(ended).timestamp()))
    if not spans:
        return []
    roots = (runtime.project.root, session.directory)
    made = commits.list_of_session(runtime.store, session.id)[-MOST_COMMITS:]
    listings: list[tuple[str, ...]] = [
        ("ls-files", "-z", "--modified", "--others", "--exclude-standard"),
        ("diff", "-z", "--name-only", "--cached"),
    ]
    if made:
        options = ("--no-walk", "-z", "--name-only", "--format=", "--ignore-missing")
        listings.append(("log", *options, *made, "--"))
    listed = [git.output(root, *words, environment=git.OFFLINE) or b"" for words in listings]
    paths = unique(b"\0".join(listed).decode("utf-8", "replace").split("\0"))
    found = []
    for path in filter(None, paths[:MOST_LISTED_FILES]):
        with suppress(OSError):
            whole = os.path.join(root, path)
            written, inside = os.lstat(whole).st_mtime, relative(whole, roots)
            in_time = any(first <= written <= last + CLOCK_S for first, last in spans)
            if in_time and not inside.startswith((os.sep, ".ade/")):
                found.append(preview(redact(inside).text, COMMAND_CHARS))
    return found


def _explain_errors(
    conversation: Conversation, session_id: str, mission_id: str, runtime: Runtime, now: datetime
) -> None:
    """Add to captured errors of the session their causes, as this or an earlier session has them.

    An error whose text a person wrote or confirmed, or that has a cause, stays as it is.
    """
    store = runtime.store
    for fingerprint, failure in conversation.failures.items():
        memory = memory_queries.find_error(store, fingerprint, mission_id or None)
        if memory is None or not _lacks_cause(memory, store):
            continue
        cause = failure.cause or _find_earlier_cause(fingerprint, session_id, runtime)
        if cause and not instruction_in(cause):
            act = Act(store=store, now=now, actor=Trust.TOOL, session_id=session_id)
            content = f"{memory.content}; {cause}"
            transitions.edit(memory.id, act, runtime.settings.gate, content=content)


def _lacks_cause(memory: Memory, store: Store) -> bool:
    if memory.trust is not Trust.TOOL or memory.quarantine_reason:
        return False
    if is_explained(memory.content):
        return False
    return not memories.find_confirmed(store, [memory.id])


def _find_earlier_cause(fingerprint: str, session_id: str, runtime: Runtime) -> str:
    """Return the cause that another session that met the error has; empty for none."""
    met = ledger.list_endings(runtime.store, ledger.ERROR, f"{fingerprint}:")
    for earlier in [each for each in met if each != session_id][-EARLIER_SESSIONS:]:
        session = sessions.get(runtime.store, earlier)
        failures = _read_conversation(session, runtime).failures if session else {}
        if (same := failures.get(fingerprint)) and same.cause:
            return same.cause
    return ""


def build_mission_episode(id: str, runtime: Runtime, now: datetime) -> Episode | None:
    """Build or renew the episode of an ended mission; None when there is nothing to keep.

    It belongs to the project, that of a cancelled mission to the mission. One that a person
    removed stays removed.
    """
    store = runtime.store
    mission = missions.get(store, id)
    if mission is None or mission.status == missions.RUNNING:
        return None
    existing = episodes.of_session(store, "", id)
    if _is_removed(existing, store):
        return None
    parts, own = _list_parts(id, store), _list_own(id, store)
    made = _combine(mission, parts, own)
    if existing and _is_same_course(existing, made):
        return existing
    if not own:
        return None
    context = _describe_parts(parts, own)
    trust = least_trusted(memory.trust for memory in own)
    home = id if mission.status == "cancelled" else ""
    return _write(made, context, trust, home, runtime, now)


def _list_parts(mission_id: str, store: Store) -> list[Episode]:
    """Return the episodes of the sessions of a mission, the oldest first."""
    parts = episodes.list_all(store, mission_id=mission_id)
    return [each for each in parts if each.session_id][::-1]


def _list_own(mission_id: str, store: Store) -> list[Memory]:
    """Return the memories of a mission that may be read."""
    own = memory_queries.of_mission(store, id=mission_id)
    return [memory for memory in own if not memory.quarantine_reason]


def _describe_parts(parts: Iterable[Episode], own: Iterable[Memory]) -> list[str]:
    learned = [memory.content for memory in own if memory.category is not Category.EPISODE]
    return [*map(_rules_text, parts), *(f"Learned: {text}" for text in learned)]


def _is_same_course(existing: Episode, made: Episode) -> bool:
    """Tell whether a new episode of a mission would say nothing new."""
    names = ("transcript_offset", "ended_at", "actions")
    is_same = all(getattr(existing, name) == getattr(made, name) for name in names)
    return is_same and made.outcome in (existing.outcome, "unknown")


def _combine(mission: missions.Mission, parts: Sequence[Episode], own: Sequence[Memory]) -> Episode:
    """Return the episode of a mission from those of its sessions, and what it decided."""
    decisions = [memory.content for memory in own if memory.category is Category.DECISION]
    reasons = [mission.reason] if mission.reason and mission.status != "succeeded" else []

    def values(name: str) -> list[Any]:
        """Return a field of all parts."""
        return [getattr(part, name) for part in parts]

    def joined(name: str, more: Sequence[str] = ()) -> tuple[Any, ...]:
        return (*chain.from_iterable(values(name)), *more)

    return Episode(
        memory_id="",
        session_id="",
        mission_id=mission.id,
        task=mission.goal or next(iter(values("task")), mission.id),
        outcome=MISSION_OUTCOMES[mission.status],
        started_at=min([mission.started_at, *values("started_at")]),
        ended_at=max([mission.ended_at or "", *values("ended_at")]),
        actions=tuple(
            Action(tool=SESSION, target=f"{part.task} ({part.outcome})", kind="delegate")
            for part in parts
        ),
        files=unique(joined("files"))[-FILES:],
        tests=joined("tests")[-TESTS:],
        errors=unique(joined("errors", reasons))[-ITEMS:],
        decisions=unique(joined("decisions", decisions))[-ITEMS:],
        corrections=unique(joined("corrections"))[-ITEMS:],
        transcript_offset=sum(values("transcript_offset")),
    )


def _write(
    episode: Episode,
    context: Iterable[str],
    trust: Trust,
    home: str,
    runtime: Runtime,
    now: datetime,
) -> Episode | None:
    """Write text and data in one transaction, in the mission *home* if given.

    An AI that is available words the text from the facts and the *context*. None when the gate
    refuses the text.
    """
    store = runtime.store
    text, confidence = _rules_text(episode), RULES_CONFIDENCE
    prompt = PROMPT + "\n".join([*text.splitlines(), *context])
    if answer := ai.ask(runtime, PURPOSE, prompt, SCHEMA):
        call = maintenance.last_call(store)
        # what tests showed stays: the AI only decides an unknown outcome
        outcome = answer["outcome"] if episode.outcome == "unknown" else episode.outcome
        episode = replace(
            episode,
            task=answer["task"],
            outcome=outcome,
            decisions=unique(filter(None, (*episode.decisions, *answer["decisions"]))),
            summarised_by=(call["model"] if call else "") or "model",
        )
        text, confidence = _rules_text(episode, answer["summary"]), MODEL_CONFIDENCE
    source = f"{episode.session_id or 'mission'} {episode.mission_id}".strip()
    draft = Draft(
        content=text,
        title=preview(episode.task, TITLE_CHARS),
        category=Category.EPISODE,
        confidence=confidence,
        topic_key=f"episode/{source}",
        origin=Origin(
            trust=trust,
            source_type=EPISODE,
            source_id=episode.session_id or episode.mission_id,
            session_id=episode.session_id or None,
        ),
    )
    with store.transaction():
        draft = assign_mission(draft, {MISSION: home}, store, now)
        written = gate.write(draft, store, runtime.settings.gate, now)
        if written.memory is None:
            return None
        episode = _place(episode, written.memory, store)
        ledger.claim(store, PURPOSE, source, now)
        ledger.credit(store, PURPOSE, source, episode.memory_id, "episode_memory_id")
        episodes.put(store, episode, now)
    return episode


def _place(episode: Episode, memory: Memory, store: Store) -> Episode:
    """Return the row of an episode with that text; a held text takes the place of no other."""
    earlier = episodes.of_session(store, episode.session_id, episode.mission_id)
    is_held = bool(memory.quarantine_reason)
    if earlier and is_held and not memories.get(store, earlier.memory_id).quarantine_reason:
        return replace(earlier, transcript_offset=episode.transcript_offset)
    return replace(episode, memory_id=memory.id)


def _rules_text(episode: Episode, *summary: str) -> str:
    lines = [f"Task: {episode.task}", f"Outcome: {episode.outcome}.", *summary]
    for title, items in _list_facts(episode):
        shown = list(unique(items))
        if len(shown) > SHOWN:
            shown = [*shown[: SHOWN // 2], "…", *shown[-SHOWN // 2 :]]
        if shown:
            lines.append(f"{title}: {'; '.join(shown)}")
    return truncate("\n".join(lines), CHARS)


def _list_facts(episode: Episode) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield the kinds of what an episode has, each with its items, in the order of the text."""
    done = (action for action in episode.actions if action.kind in ACTIONS_SHOWN)
    yield "Sessions", (action.target for action in episode.actions if action.tool == SESSION)
    yield "Did", map(_describe_action, done)
    yield "Changed", map(_as_code, episode.files)
    yield "Tests", map(describe_run, episode.tests[-TEST_RUNS_SHOWN:])
    yield "Decided", episode.decisions
    yield "Corrected", episode.corrections
    yield "Gotchas", (error for error in episode.errors if is_explained(error))
    yield "Met", (error for error in episode.errors if not is_explained(error))


def _describe_action(action: Action) -> str:
    code = _as_code(action.target)
    return f"edited {code}" if action.kind == "edit" else code


def _as_code(text: str) -> str:
    """Quote a path or a command; the judge of orders held bare lists of paths."""
    return f"`{text}`"


def extract_findings(key: str, runtime: Runtime) -> int:
    """Return the number of new candidates from a session's transcript; a second run adds none."""
    location = SessionLocation.parse(key)
    session = sessions.get(runtime.store, location.session_id)
    if session is None:
        return 0
    extraction, stored = _Extraction(session.id, location, runtime), 0
    with suppress(OSError):
        for event in transcript.events(session.transcript, since=session.own_since):
            made = extraction.capture(event)
            stored += sum(each.accepted and not each.deduped for each in made if each)
            if stored >= MOST_CANDIDATES:
                break
    return stored


class _Extraction:
    """Capture what stands in a transcript and was not captured when it was said."""

    def __init__(self, session_id: str, location: SessionLocation, runtime: Runtime) -> None:
        self.session_id = session_id
        self.assign = location.assign
        self.runtime = runtime
        trust = provenance.trust_of_session(session_id, runtime.store)
        self.passive = Origin(trust=trust, source_type="passive", session_id=session_id)
        self.typed = Origin(session_id=session_id)

    def capture(self, event: Event) -> list[gate.Written | None]:
        settings = self.runtime.settings
        if isinstance(event, Message) and settings.capture.learnings:
            listed = [(category_of(text), text) for text in learnings(event.text)]
            return [self._write(*each) for each in (*listed, *findings(event.text))]
        if isinstance(event, Prompt) and event.queued and settings.learn.ask:
            # typed into a running turn: some clients report no prompt
            return [self._capture_statement(may_teach(event.text))]
        return []

    def _write(self, category: Category, text: str) -> gate.Written | None:
        if self._is_captured(text):
            return None
        draft = Draft(content=text, category=category, origin=self.passive)
        return record.write_once(draft, self._once(text), self.runtime, self.assign)

    def _capture_statement(self, sentence: str | None) -> gate.Written | None:
        if not sentence or self._is_captured(sentence):
            return None
        once = self._once(sentence)
        return record.capture_heard(sentence, self.typed, once, self.runtime, self.assign)

    def _is_captured(self, text: str) -> bool:
        store = self.runtime.store
        return memory_queries.has_session_text(store, self.session_id, dedupe_key(text))

    def _once(self, text: str) -> str:
        return f"{self.session_id}:{sha256_hex(text)}"
