"""Functions of the core tools, each of which calls an operation; resources and prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ademem import __version__
from ademem.core import anchor, untrusted
from ademem.core.errors import NoSuchMemory, NotFound, UsageError
from ademem.core.memory import Category, Draft, Memory, Scope
from ademem.core.text import preview
from ademem.core.value import replace
from ademem.doors.calls import NOTICE, describe_gate_refusal
from ademem.doors.cli import show
from ademem.doors.times import parse_time
from ademem.files.markdown import TOPICS, item_of, rank_memories, render_item
from ademem.operations import (
    browsing,
    curation,
    files,
    placing,
    projects,
    relating,
    reports,
    searching,
    sessions,
    writing,
)
from ademem.operations.browsing import size_of
from ademem.operations.curation import Updated, require_revision
from ademem.operations.placing import Choice
from ademem.search.engine import UNARCHIVED, Filters
from ademem.store.filters import choose_statuses
from ademem.store.transitions import BY_PERSON, waits_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

    from ademem.capture.gate import Written
    from ademem.operations.placing import Placed
    from ademem.plugins.mcp.access import Call
    from ademem.store.runtime import Runtime

    Result = dict[str, Any]


GET_CHARS, MARGIN_CHARS, REVISION_CHARS = 9000, 300, 3000
"""Size of a whole memory as it is sent, of what the door adds, and of its revisions."""


def search(
    memories: Runtime,
    call: Call,
    query: str,
    others: Mapping[str, Runtime] | None = None,
    all_projects: bool = False,
    **given: Any,
) -> Result:
    if all_projects:
        with projects.open_others(memories) as found:
            return search(memories, call, query, found, **given)
    filters = Filters(
        statuses=choose_statuses(candidates=given["candidates"], archived=given["archived"]),
        categories=tuple(filter(None, [given.get("category")])),
        types=tuple(filter(None, [given.get("type")])),
        scopes=(Scope.parse(given["scope"]),) if "scope" in given else (),
        path=given.get("path"),
        branch=given.get("branch"),
        since=_time(memories, given.get("since")),
        until=_time(memories, given.get("until")),
    )
    cursor = given.get("cursor", "")
    page = call.find(memories, query, filters, given["limit"], cursor=cursor, others=others or {})
    if others:
        here = {"project": memories.project.name}
        page["memories"] = [here | row for row in page["memories"]]
    return page


def _time(memories: Runtime, text: str | None) -> datetime | None:
    if text is None:
        return None
    return parse_time(text, memories.clock())


def context(memories: Runtime, call: Call, max_chars: int, scope: str = "") -> Result:
    return browsing.get_context(memories, max_chars - MARGIN_CHARS, measure=size_of, scope=scope)


def timeline(memories: Runtime, call: Call, id: str, before: int, after: int) -> Result:
    return browsing.timeline(memories, get_readable(memories, id).id, before, after)


def get(
    memories: Runtime, call: Call, id: str, offset: int, history: bool, history_cursor: int = 0
) -> Result:
    memory = get_readable(memories, id)
    row = show.memory_json(memory, drifted=searching.find_drifted(memories, [memory]))
    related = searching.find_related(memories, memory.id)
    row["flags"] += [f"conflicts-with:{other}" for other in related.get("conflicts with", ())]
    row["anchors"] = [text for text in row["anchors"] if not anchor.is_choice(text)]
    row["at"] = show.keys_json(placing.list_places(memories, memory.id))
    del row["content"]
    revisions = (
        _newest(curation.list_revisions(memories, memory.id), history_cursor) if history else {}
    )
    size = size_of((row, revisions)) + MARGIN_CHARS
    text, rest = browsing.read_part(memory.content, offset, GET_CHARS - size)
    return {"memory": row, "text": text, "next_offset": rest, **revisions}


def _newest(rows: list[Result], before: int) -> Result:
    """Return the newest revisions *before* one, if given, that fit, each with its first words."""
    older = [row for row in reversed(rows) if not before or row["revision"] < before]
    fit: list[Result] = []
    for row in older:
        shown = {name: row[name] for name in ("revision", "operation", "actor", "created_at")}
        shown |= {"reason": row["reason"], "text": preview(row["snapshot"]["content"], 240)}
        if size_of([*fit, shown]) > REVISION_CHARS:
            break
        fit.append(shown)
    rest = fit[-1]["revision"] if 0 < len(fit) < len(older) else None
    return {"revisions": fit, "next_history_cursor": rest}


def get_readable(memories: Runtime, id: str) -> Memory:
    """Return the memory; raise where it is held back, deleted, or another took its place."""
    memory = searching.get(memories, id)
    if memory.quarantine_reason:
        raise show.Withheld(memory)
    if memory.deleted_at:
        raise NoSuchMemory(id)
    if memory.superseded_by:
        raise NotFound(f"{memory.superseded_by} took the place of {id}", "memory_get with that id")
    return memory


def _check_anchors(anchors: Iterable[str]) -> tuple[str, ...]:
    """Return the anchors; raises UsageError for one that would be stored as a person's choice."""
    found = tuple(anchors)
    if any(map(anchor.is_choice, found)):
        raise UsageError("an anchor is a file or a command", "choose a place with `at`")
    return found


def add(memories: Runtime, call: Call, **given: Any) -> Result:
    places, notes = placing.read_keys(memories, given.get("at", ()))
    draft = Draft(
        content=given["content"],
        category=writing.categorize(given.get("category"), given.get("type")),
        importance=given["importance"],
        title=given.get("title"),
        topic_key=given.get("topic_key"),
        tags=(*given.get("tags", ()), *filter(None, [given.get("type")])),
        path=given.get("path"),
        anchors=(*_check_anchors(given.get("anchors", ())), *places),
        origin=call.origin(),
    )
    draft = writing.place_draft(memories, draft, given["scope"], given.get("owner"))
    written = writing.write(memories, draft, operation_id=given.get("operation_id", ""))
    written = replace(written, notes=(*written.notes, *notes))
    memory = written.memory
    facts: Result = {
        "accepted": memory is not None,
        "durability": written.durability,
        "deduped": written.deduped,
        "judgment_required": bool(written.candidates),
        "candidates": [show.candidate_json(one) for one in written.candidates],
    }
    if memory is None:
        return facts | describe_gate_refusal(written.rule, written.reason)
    extra: Result = {}
    if written.candidates:
        extra["next"] = "memory_judge with each judgment_id, if you know how the two relate"
    if memory.quarantine_reason:
        extra = {"why": waits_for(memory), "next": BY_PERSON}
    return {
        **extra,
        **describe_notes(written),
        **facts,
        "id": memory.id,
        "merged_into": written.merged_into_id,
        "revision": memory.revision_count,
        **_describe_places(placing.show_places(memories, memory.id)),
        "topic_key_suggestion": suggest_topic_key(memory, given.get("type")),
    }


def _describe_places(placed: Placed) -> Result:
    """Return where the memory applies; of a quarantined one nothing, as its text names places."""
    return {} if placed.memory.quarantine_reason else {"at": show.keys_json(placed.at)}


def suggest_topic_key(memory: Memory, type: str | None) -> str | None:
    if memory.topic_key or memory.quarantine_reason:
        return None
    return writing.suggest_topic_key(type, memory.title, memory.content)


def describe_notes(written: Written) -> Result:
    if not written.notes:
        return {}
    return {"notes": list(written.notes)} | ({"truncated": True} if written.is_cut else {})


def judge(memories: Runtime, call: Call, relation: str, **given: Any) -> Result:
    return dict(relating.judge(memories, relation, **given, actor=call.client))


def status(memories: Runtime, call: Call) -> Result:
    found = reports.get_status(memories)
    names = ("installed", "embedded", "queue_depth")
    return {
        "root": memories.project.root,
        "how": call.how,
        "others": [each.name for each in call.projects if each.root != memories.project.root],
        "session": call.turn.session_id,
        "counts": found["memories"],
        "model": {name: found["embeddings"][name] for name in names},
        "queue": found["jobs"],
        "guard": found["guard"]
        if _has_hooks(memories, call)
        else "none: no hook runs in this session",
        "version": __version__,
    }


def _has_hooks(memories: Runtime, call: Call) -> bool:
    """Tell whether a hook, and not this server, began the session."""
    try:
        source = sessions.get_session(memories, call.turn.session_id).get("source")
    except NotFound:
        return False
    return source not in (None, call.caller.door)


def update(
    memories: Runtime,
    call: Call,
    id: str,
    revision: int | None = None,
    find: str | None = None,
    replace: str | None = None,
    at: Iterable[str] = (),
    **changes: Any,
) -> Result:
    if "path" in changes:
        changes["file_scope_pattern"] = changes.pop("path")
    if "type" in changes:
        changes |= {"category": writing.categorize(changes.get("category"), changes.pop("type"))}
    memory, keys = get_readable(memories, id), tuple(at)
    if "tags" in changes:
        changes["tags"] = tuple(changes["tags"])
    if "anchors" in changes:
        chosen = (text for text in memory.anchors if anchor.is_choice(text))
        changes["anchors"] = (*_check_anchors(changes["anchors"]), *chosen)
    is_edit = find is not None or replace is not None or bool(changes)
    if not is_edit and not keys:
        raise UsageError("nothing to change", "content, find and replace, title, at, …")
    answer: Result = {}
    with memories.holding(memory.id).store.transaction():
        updated = Updated(memory=memory, changed=())
        if is_edit:
            texts = {"find": find, "replacement": replace}
            updated = curation.update_by_agent(
                memories, id, call.origin(), revision=revision, **texts, **changes
            )
        else:
            require_revision(memory, revision)
        memory, changed = updated.memory, list(updated.changed)
        if keys:
            placed = placing.place(memories, Choice(id=memory.id, at=keys))
            memory = placed.memory
            changed.append("at")
            answer |= _describe_places(placed)
            answer |= {"notes": list(placed.notes)} if placed.notes else {}
    answer |= {"id": memory.id, "revision": memory.revision_count, "changed": changed}
    if updated.proposed_for:
        what = f"a person said or confirmed {updated.proposed_for}"
        answer["why"] = f"{what}: your text waits as a candidate"
        answer["next"] = "tell the person: `ademem review`"
    return answer


def remove(memories: Runtime, call: Call, id: str, how: str, reason: str = "") -> Result:
    id = get_readable(memories, id).id
    memory = curation.remove_by_agent(memories, id, delete=how == "delete", reason=reason)
    return {"id": memory.id, "how": how, "undo": f"ademem restore {memory.id}"}


def pin(memories: Runtime, call: Call, id: str, pinned: bool) -> Result:
    memory = curation.pin_by_agent(memories, get_readable(memories, id).id, pinned=pinned)
    return {"id": memory.id, "pinned": memory.pinned}


def update_core(memories: Runtime, call: Call, *, version: int, **fields: Any) -> Result:
    document = files.update_brief(memories, fields, expect_version=version)
    return {"version": document.version, "updatedAt": document.updated_at.isoformat()}


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
            memory = get_readable(memories, name)
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
