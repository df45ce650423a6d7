"""Resources and prompts of the server, and completions of their arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ademem.core import untrusted
from ademem.core.memory import Category, Memory
from ademem.doors.calls import NOTICE
from ademem.files.markdown import TOPICS, item_of, rank_memories, render_item
from ademem.operations import (
    browsing,
    curation,
    memory_operations,
    searching,
    sessions,
)
from ademem.search.engine import UNARCHIVED, Filters

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ademem.store.runtime import Runtime

    Result = dict[str, Any]


RESOURCE_BYTES = 25_000
ENTRY_CHARS = 300
COMPLETIONS = 20
SESSIONS = 100
"""Newest sessions whose ids are completed."""


def _read_briefing(memories: Runtime, _: str) -> Iterable[str]:
    text: str = browsing.get_context(memories, RESOURCE_BYTES - 1000)["text"]
    return text.splitlines()


def _read_core(memories: Runtime, _: str) -> Iterable[str]:
    return browsing.read_brief(memories)


def _read_candidates(memories: Runtime, _: str) -> Iterable[str]:
    return _entries(_without_quarantined(curation.review(memories, None)))


def _read_topic(memories: Runtime, name: str) -> Iterable[str]:
    (category,) = (topic.category for topic in TOPICS if topic.name == name)
    filters = Filters(categories=(category,), statuses=("promoted",))
    found = searching.list_memories(memories, filters, None)
    for memory in rank_memories(_without_quarantined(found)):
        yield untrusted.escape(render_item(item_of(memory)))


def _read_item(memories: Runtime, id: str) -> Iterable[str]:
    memory = memory_operations.get_readable(memories, id)
    yield untrusted.entry(memory, ENTRY_CHARS)
    yield ""
    yield from untrusted.escape(memory.content).splitlines()


def _read_session(memories: Runtime, id: str) -> Iterable[str]:
    session = sessions.get_session(memories, id)
    yield untrusted.escape(f"Session {session['id']}, begun {session['started_at']}")
    if summary := session.get("summary"):
        yield untrusted.escape(summary)
    yield from _entries(sessions.list_session_memories(memories, id))


_KINDS: dict[str, Callable[[Runtime, str], Iterable[str]]] = {
    "briefing": _read_briefing,
    "core": _read_core,
    "candidates": _read_candidates,
    "topics": _read_topic,
    "item": _read_item,
    "session": _read_session,
}
"""What the addresses `memory://KIND` and `memory://KIND/NAME` show."""


def _without_quarantined(found: Iterable[Memory]) -> Iterator[Memory]:
    return (memory for memory in found if not memory.quarantine_reason)


def _entries(found: Iterable[Memory]) -> Iterator[str]:
    return (untrusted.entry(memory, ENTRY_CHARS) for memory in found)


def read(memories: Runtime, uri: str) -> str:
    """Return the text at an address, whole lines, inside the fence; raises LookupError."""
    kind, _, name = uri.removeprefix("memory://").partition("/")
    if kind == "topics" and name not in [topic.name for topic in TOPICS]:
        raise LookupError(uri)
    lines: list[str] = []
    size = 0
    for line in _KINDS[kind](memories, name) if kind in _KINDS else ():
        size += len(line.encode()) + 1
        if size > RESOURCE_BYTES - 500:
            lines.append("(there is more: memory_search finds it)")
            break
        lines.append(line)
    return f"{NOTICE}\n{untrusted.fence(lines)}\n"


def complete(memories: Runtime, of: str, name: str, prefix: str) -> list[str]:
    """Return values of an argument that begin like this; *of* is a prompt or an address."""
    find = _session_ids if of.startswith("memory://session/") else _VALUES.get(name)
    values = find(memories) if find else ()
    return [str(value) for value in values if value.startswith(prefix)]


def _session_ids(memories: Runtime) -> Iterable[str]:
    return (session["id"] for session in sessions.list_sessions(memories, SESSIONS))


def _shown(memories: Runtime) -> Iterator[Memory]:
    found = searching.list_memories(memories, Filters(statuses=UNARCHIVED), None)
    return _without_quarantined(found)


def _topic_keys(memories: Runtime) -> Iterable[str]:
    return dict.fromkeys(memory.topic_key for memory in _shown(memories) if memory.topic_key)


_VALUES: dict[str, Callable[[Runtime], Iterable[str]]] = {
    "topic": lambda _: (topic.name for topic in TOPICS),
    "category": lambda _: Category,
    "id": lambda memories: (memory.id for memory in _shown(memories)),
    "topic_key": _topic_keys,
}
"""Values of arguments by the names of these."""


PROMPTS: dict[str, tuple[str, dict[str, str], str]] = {
    "recall": (
        "Answer from project memory",
        {"words": "What you want to know"},
        "Call memory_search with: {words}\nThen answer from what it says, name the ids, and say so"
        " where memory has nothing on it.",
    ),
    "save": (
        "Save a lesson",
        {"lesson": "What was learned"},
        "Save this with memory_add, as one fact with why it holds, and judge what it names as"
        " candidates with memory_judge:\n{lesson}",
    ),
    "review_candidates": (
        "Go through unconfirmed memories",
        {},
        "Read memory://candidates. For each say whether the code and the conversation bear it out,"
        " and which to keep, correct or drop. Deciding is for the person: `ademem review`.",
    ),
    "session_summary": (
        "Summarize this session",
        {},
        "Save a summary of this session with memory_add, type session_summary, in these sections:"
        "\n## Goal\n## Instructions\n## Discoveries\n## Accomplished\n## Next Steps\n"
        "## Relevant Files",
    ),
}
"""Description, arguments and text of each prompt."""
