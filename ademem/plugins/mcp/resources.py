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
    from collections.abc import Iterable, Iterator

    from ademem.store.runtime import Runtime

    Result = dict[str, Any]


RESOURCE_BYTES = 25_000
ENTRY_CHARS = 300
COMPLETIONS = 20
SESSIONS = 100
"""Newest sessions whose ids are completed."""


def _lines(memories: Runtime, kind: str, name: str) -> Iterable[str]:
    match kind:
        case "briefing":
            yield from browsing.get_context(memories, RESOURCE_BYTES - 1000)["text"].splitlines()
        case "core":
            yield from browsing.read_brief(memories)
        case "candidates":
            yield from _entries(
                each for each in curation.review(memories, None) if not each.quarantine_reason
            )
        case "topics":
            (category,) = (topic.category for topic in TOPICS if topic.name == name)
            filters = Filters(categories=(category,), statuses=("promoted",))
            found = searching.list_memories(memories, filters, None)
            for memory in rank_memories(each for each in found if not each.quarantine_reason):
                yield untrusted.escape(render_item(item_of(memory)))
        case "item":
            memory = memory_operations.get_readable(memories, name)
            yield untrusted.entry(memory, ENTRY_CHARS)
            yield ""
            yield from untrusted.escape(memory.content).splitlines()
        case "session":
            session = sessions.get_session(memories, name)
            yield untrusted.escape(f"Session {session['id']}, begun {session['started_at']}")
            if summary := session.get("summary"):
                yield untrusted.escape(summary)
            yield from _entries(sessions.list_session_memories(memories, name))


def _entries(found: Iterable[Memory]) -> Iterator[str]:
    return (untrusted.entry(memory, ENTRY_CHARS) for memory in found)


def read(memories: Runtime, uri: str) -> str:
    """Return the text at an address, whole lines, inside the fence; raises LookupError."""
    kind, _, name = uri.removeprefix("memory://").partition("/")
    if kind == "topics" and name not in [topic.name for topic in TOPICS]:
        raise LookupError(uri)
    lines: list[str] = []
    size = 0
    for line in _lines(memories, kind, name):
        size += len(line.encode()) + 1
        if size > RESOURCE_BYTES - 500:
            lines.append("(there is more: memory_search finds it)")
            break
        lines.append(line)
    return f"{NOTICE}\n{untrusted.fence(lines)}\n"


def complete(memories: Runtime, of: str, name: str, prefix: str) -> list[str]:
    """Return values of an argument that begin like this; *of* is a prompt or an address."""
    if of.startswith("memory://session/"):
        values: Iterable[str] = (each["id"] for each in sessions.list_sessions(memories, SESSIONS))
    elif name == "topic":
        values = (topic.name for topic in TOPICS)
    elif name == "category":
        values = Category
    elif name not in ("id", "topic_key"):
        values = ()
    else:
        found = searching.list_memories(memories, Filters(statuses=UNARCHIVED), None)
        shown = [each for each in found if not each.quarantine_reason]
        if name == "topic_key":
            values = dict.fromkeys(each.topic_key for each in shown if each.topic_key)
        else:
            values = (each.id for each in shown)
    return [str(value) for value in values if value.startswith(prefix)]


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
