"""Resources, prompts and completions: texts of memory by their addresses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ademem import api
from ademem.core import untrusted
from ademem.core.memory import Category
from ademem.doors.calls import NOTICE
from ademem.doors.mcp.core import get_readable
from ademem.files.markdown import TOPICS, item_of, rank_memories, render_item
from ademem.search.engine import UNARCHIVED, Filters

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ademem.core.memory import Memory
    from ademem.store.runtime import Runtime

TEXT_BYTES = 25_000
"""Longest text of a resource."""
ENTRY_CHARS = 300
COMPLETIONS = 20


def _briefing(memories: Runtime, _: str) -> Iterator[str]:
    yield from api.get_context(memories, TEXT_BYTES - 1000)["text"].splitlines()


def _core(memories: Runtime, _: str) -> Iterator[str]:
    yield from api.read_brief(memories)


def _candidates(memories: Runtime, _: str) -> Iterator[str]:
    yield from _entries(each for each in api.review(memories, None) if not each.quarantine_reason)


def _topic(memories: Runtime, name: str) -> Iterator[str]:
    (category,) = (topic.category for topic in TOPICS if topic.name == name)
    found = api.list_memories(
        memories, Filters(categories=(category,), statuses=("promoted",)), None
    )
    for memory in rank_memories(each for each in found if not each.quarantine_reason):
        yield untrusted.escape(render_item(item_of(memory)))


def _item(memories: Runtime, id: str) -> Iterator[str]:
    memory = get_readable(memories, id)
    yield untrusted.entry(memory, ENTRY_CHARS)
    yield ""
    yield from untrusted.escape(memory.content).splitlines()


def _session(memories: Runtime, id: str) -> Iterator[str]:
    found = api.get_session(memories, id)
    yield untrusted.escape(f"Session {found['id']}, begun {found['started_at']}")
    if summary := found.get("summary"):
        yield untrusted.escape(summary)
    yield from _entries(api.list_session_memories(memories, id))


def _entries(found: Iterable[Memory]) -> Iterator[str]:
    return (untrusted.entry(memory, ENTRY_CHARS) for memory in found)


RENDERERS: dict[str, Callable[[Runtime, str], Iterator[str]]] = {
    "briefing": _briefing,
    "core": _core,
    "candidates": _candidates,
    "topics": _topic,
    "item": _item,
    "session": _session,
}
"""By the first part of the address."""


def read(memories: Runtime, uri: str) -> str:
    """Return the text at an address, whole lines, inside the fence; raises LookupError."""
    kind, _, name = uri.removeprefix("memory://").partition("/")
    if kind == "topics" and name not in [topic.name for topic in TOPICS]:
        raise LookupError(uri)
    lines: list[str] = []
    size = 0
    for line in RENDERERS[kind](memories, name):
        size += len(line.encode()) + 1
        if size > TEXT_BYTES - 500:
            lines.append("(there is more: memory_search finds it)")
            break
        lines.append(line)
    return f"{NOTICE}\n{untrusted.fence(lines)}\n"


def complete(memories: Runtime, name: str, prefix: str) -> list[str]:
    """Return values of an argument that begin like this."""
    if name == "topic":
        values: Iterable[str] = (topic.name for topic in TOPICS)
    elif name == "category":
        values = Category
    else:
        found = api.list_memories(memories, Filters(statuses=UNARCHIVED), None)
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


def fill(name: str, given: dict[str, str]) -> str:
    _, arguments, text = PROMPTS[name]
    return text.format(**{each: given.get(each, "") for each in arguments}) if arguments else text


def list_prompts() -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "description": about,
            "arguments": [
                {"name": each, "description": what, "required": True}
                for each, what in arguments.items()
            ],
        }
        for name, (about, arguments, _) in PROMPTS.items()
    ]
