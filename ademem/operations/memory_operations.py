"""Operations on memories that every door offers to programs and people.

Names, limits, defaults and keys of the answers are in the signatures, from which the tools of MCP
and the methods of JSON-RPC follow. Sizes of answers are characters of compact JSON. Each may raise
NoSuchMemory, and a refusal names the next step. Modules of what an operation needs are imported in
it, since a server lists its tools before any of them is called.
"""

from collections.abc import Iterable
from contextlib import ExitStack
from typing import Annotated, Any, Literal

from ademem import __version__
from ademem.core import anchor
from ademem.core.errors import Deleted, NoSuchMemory, NotFound, UsageError
from ademem.core.memory import SCOPES, Category, Draft, Importance, Memory, Scope
from ademem.core.text import preview
from ademem.core.value import replace as changed
from ademem.operations.rows import (
    Withheld,
    candidate_row,
    describe_gate_refusal,
    key_rows,
    memory_row,
    nearest_row,
    place_rows,
)
from ademem.operations.signatures import About, Answer, Call, Operations, Row
from ademem.store.runtime import Runtime

operation = Operations()

GET_CHARS, MARGIN_CHARS, REVISION_CHARS = 9000, 300, 3000
"""Size of a whole memory as it is sent, of what the door adds, and of its revisions."""

Query = Annotated[str, About(help="Plain words", chars=1000)]
Id = Annotated[str, About(help="Of a memory, or its beginning.", chars=64)]
ScopeName = Annotated[str, About(choices=SCOPES)]
Content = Annotated[
    str, About(help="One fact in one or two sentences, with why it holds", chars=50_000)
]
TopicKey = Annotated[str, About(help="A new text with the same key replaces the old one")]
Texts = Annotated[tuple[str, ...], About(items=20)]
PathGlob = Annotated[str, About(help="Glob of the files that it is about")]
Anchors = Annotated[tuple[str, ...], About(help="file:first-last, or `$ command`", items=20)]
Places = Annotated[
    tuple[str, ...],
    About(help="Where it applies: src/**, `npm install`, act:deploy", items=20),
]
Cursor = Annotated[int, About(least=0, most=2**31)]
Relation = Literal[
    "related", "compatible", "scoped", "conflicts_with", "supersedes", "not_conflict"
]


@operation(
    reads=True,
    repeats=True,
    joins=True,
    shows_text=True,
    always_loaded=True,
    empty={"query": "", "mode": "none", "relaxed": False, "count": 0, "total": 0, "memories": []},
)
def search(
    runtime: Runtime,
    call: Call,
    query: Query,
    limit: Annotated[int, About(least=1, most=20)] = 5,
    category: Category | None = None,
    type: str | None = None,
    scope: ScopeName | None = None,
    path: Annotated[str, About(help="Only about this file")] | None = None,
    branch: str | None = None,
    since: Annotated[str, About(help="ISO 8601, or ago: 3h, 2d")] | None = None,
    until: str | None = None,
    candidates: Annotated[bool, About(help="Unconfirmed ones too")] = False,
    archived: bool = False,
    all_projects: bool = False,
    cursor: Annotated[str, About(help="next_cursor of the page before")] = "",
) -> Annotated[
    Row,
    Answer(
        always=("query", "mode", "relaxed", "count", "total", "memories"),
        sometimes=("instructions", "next_cursor"),
    ),
]:
    """Search project memory by words of a task, a path or an error. Call it before you change
    anything.

    The page is best first. Raises UsageError for a cursor of another search, or an old one.
    """
    from ademem.core.times import parse_time
    from ademem.operations import browsing
    from ademem.search.engine import Filters
    from ademem.store.filters import choose_statuses

    filters = Filters(
        statuses=choose_statuses(candidates=candidates, archived=archived),
        categories=(category,) if category else (),
        types=(type,) if type else (),
        scopes=(Scope.parse(scope),) if scope else (),
        path=path,
        branch=branch,
        since=None if since is None else parse_time(since, runtime.clock()),
        until=None if until is None else parse_time(until, runtime.clock()),
    )
    model = runtime.settings.mcp.model
    options: Row = {"cursor": cursor, "place": "mcp", "key": call.turn, "model": model}
    with ExitStack() as opened:
        others = call.others
        if all_projects:
            from ademem.operations import projects

            others = opened.enter_context(projects.open_others(runtime))
        page = browsing.find(runtime, query, filters, limit, others=others, **options)
    if others:
        here = {"project": runtime.project.name}
        page["memories"] = [here | row for row in page["memories"]]
    return page


@operation(reads=True, repeats=True, shows_text=True, command="timeline")
def timeline(
    runtime: Runtime,
    call: Call,
    id: Id,
    before: Annotated[int, About(help="Earlier ones.", least=0, most=20)] = 3,
    after: Annotated[int, About(help="Later ones.", least=0, most=20)] = 3,
) -> Annotated[Row, Answer(always=("focus", "before", "after"), sometimes=("session", "left_out"))]:
    """What the same session saved before and after a memory."""
    from ademem.operations import browsing

    return browsing.timeline(runtime, get_readable(runtime, id).id, before, after)


@operation(reads=True, repeats=True, shows_text=True, always_loaded=True)
def get(
    runtime: Runtime,
    call: Call,
    id: Id,
    offset: Annotated[int, About(least=0, most=50_000)] = 0,
    history: bool = False,
    history_cursor: Cursor = 0,
) -> Annotated[
    Row,
    Answer(
        always=("memory", "text"), sometimes=("next_offset", "revisions", "next_history_cursor")
    ),
]:
    """A whole memory, with its history on request."""
    from ademem.operations import browsing, curation, placing, searching

    memory = get_readable(runtime, id)
    if memory.deleted_at:
        raise Deleted(memory.id, memory.deleted_at)
    row = memory_row(memory, drifted=searching.find_drifted(runtime, [memory]))
    related = searching.find_related(runtime, memory.id)
    row["flags"] += [f"conflicts-with:{other}" for other in related.get("conflicts with", ())]
    row["anchors"] = [text for text in row["anchors"] if not anchor.is_choice(text)]
    row["at"] = key_rows(placing.list_places(runtime, memory.id))
    del row["content"]
    revisions = {}
    if history:
        revisions = _newest(curation.list_revisions(runtime, memory.id), history_cursor)
    size = browsing.size_of((row, revisions)) + MARGIN_CHARS
    text, rest = browsing.read_part(memory.content, offset, GET_CHARS - size)
    return {"memory": row, "text": text, "next_offset": rest, **revisions}


def _newest(rows: list[Row], before: int) -> Row:
    """Return the newest revisions *before* one, if given, that fit, each with its first words."""
    from ademem.operations.browsing import size_of

    older = [row for row in reversed(rows) if not before or row["revision"] < before]
    fit: list[Row] = []
    for row in older:
        shown = {name: row[name] for name in ("revision", "operation", "actor", "created_at")}
        shown |= {"reason": row["reason"], "text": preview(row["snapshot"]["content"], 240)}
        if size_of([*fit, shown]) > REVISION_CHARS:
            break
        fit.append(shown)
    rest = fit[-1]["revision"] if 0 < len(fit) < len(older) else None
    return {"revisions": fit, "next_history_cursor": rest}


def get_readable(runtime: Runtime, id: str) -> Memory:
    """Return the memory; raise for a program where it is held back, deleted or superseded."""
    from ademem.operations import searching

    memory = searching.get(runtime, id)
    if runtime.by.is_person:
        return memory
    if memory.quarantine_reason:
        raise Withheld(memory)
    if memory.deleted_at:
        raise NoSuchMemory(id)
    if memory.superseded_by:
        raise NotFound(f"{memory.superseded_by} took the place of {id}", "memory_get with that id")
    return memory


@operation(reads=True, repeats=True, shows_text=True, empty={"text": "", "left_out": {}})
def context(
    runtime: Runtime,
    call: Call,
    max_chars: Annotated[int, About(least=1000, most=10_000)] = 8000,
    scope: ScopeName = "",
) -> Annotated[Row, Answer(always=("text", "left_out"))]:
    """What a session starts with: brief, conventions, decisions, recent work."""
    from ademem.operations import browsing

    size = max_chars - MARGIN_CHARS
    return browsing.get_context(runtime, size, measure=browsing.size_of, scope=scope)


@operation(
    reads=True,
    repeats=True,
    empty={"root": "", "how": "", "others": [], "session": "", "counts": {}, "model": {}}
    | dict.fromkeys(("queue", "guard", "version"), ""),
)
def status(
    runtime: Runtime, call: Call
) -> Annotated[
    Row,
    Answer(
        always=(
            *("root", "how", "others", "session", "counts"),
            *("model", "queue", "guard", "version"),
        )
    ),
]:
    """Which project and session this is, and how much memory there is."""
    from ademem.operations import reports

    found = reports.get_status(runtime)
    names = ("installed", "embedded", "queue_depth")
    return {
        "root": runtime.project.root,
        "how": call.how,
        "others": [each.name for each in call.projects if each.root != runtime.project.root],
        "session": call.turn.session_id,
        "counts": found["memories"],
        "model": {name: found["embeddings"][name] for name in names},
        "queue": found["jobs"],
        "guard": found["guard"]
        if _has_hooks(runtime, call)
        else "none: no hook runs in this session",
        "version": __version__,
    }


def _has_hooks(runtime: Runtime, call: Call) -> bool:
    """Tell whether a hook, and not a server, began the session."""
    from ademem.operations import sessions

    try:
        source = sessions.get_session(runtime, call.turn.session_id).get("source")
    except NotFound:
        return False
    return source not in (None, call.door)


@operation(shows_text=True, always_loaded=True)
def add(
    runtime: Runtime,
    call: Call,
    content: Content,
    category: Category | None = None,
    type: str | None = None,
    title: str | None = None,
    topic_key: TopicKey | None = None,
    tags: Texts = (),
    path: PathGlob | None = None,
    anchors: Anchors = (),
    at: Places = (),
    importance: Importance = Importance.MEDIUM,
    scope: ScopeName = "project",
    owner: str | None = None,
    repeats: Annotated[str, About(help="Id of one that says it")] = "",
    replaces: str = "",
    contradicts: str = "",
    heard: str = "",
    operation_id: Annotated[str, About(help="Makes a repeated call the same one", chars=128)] = "",
) -> Annotated[
    Row,
    Answer(
        always=(
            *("accepted", "durability", "deduped", "revision"),
            *("judgment_required", "candidates", "nearest"),
        ),
        sometimes=(
            *("id", "rule", "why", "next", "merged_into", "truncated", "notes"),
            *("at", "maybe_at", "topic_key_suggestion"),
        ),
    ),
]:
    """Save what would save a colleague an hour: a decision and why, a trap, a convention, the cause
    of a bug. Never a secret. A person confirms it later.

    Raises NoKey or CannotDo for a place, UsageError for two relations, and Conflict where
    *operation_id* wrote another text.
    """
    from ademem.capture import stating
    from ademem.operations import placing, writing

    related = {"repeats": repeats, "replaces": replaces, "contradicts": contradicts}
    stated = changed(stating.read_relation(**related), heard=heard)

    places, notes = placing.read_keys(runtime, at)
    draft = Draft(
        content=content,
        category=writing.categorize(category, type),
        importance=importance,
        title=title,
        topic_key=topic_key,
        tags=(*tags, *((type,) if type else ())),
        path=path,
        anchors=(*_check_anchors(anchors), *places),
        origin=call.origin(),
    )
    draft = writing.place_draft(runtime, draft, scope, owner)
    written = writing.write(runtime, draft, stated, operation_id=operation_id)
    if written.unanswered:
        notes = (*notes, f"no question {written.unanswered!r} waits: stored as a candidate")
    written = changed(written, notes=(*written.notes, *notes))
    memory = written.memory
    facts: Row = {
        "accepted": memory is not None,
        "durability": written.durability,
        "deduped": written.deduped,
        "judgment_required": bool(written.candidates),
        "candidates": [candidate_row(one) for one in written.candidates],
        "nearest": [nearest_row(one) for one in written.nearest if not one.quarantine_reason],
    }
    if memory is None:
        return facts | describe_gate_refusal(written.rule, written.reason)
    extra: Row = {}
    if written.candidates:
        extra["next"] = "memory_judge with each judgment_id, if you know how the two relate"
    if memory.quarantine_reason:
        from ademem.store.transitions import BY_PERSON, waits_for

        extra = {"why": waits_for(memory), "next": BY_PERSON}
    return {
        **extra,
        **describe_notes(written),
        **facts,
        "id": memory.id,
        "merged_into": written.merged_into_id,
        "revision": memory.revision_count,
        **_describe_places(placing.show_places(runtime, memory.id)),
        "topic_key_suggestion": suggest_topic_key(memory, type),
    }


def describe_notes(written: Any) -> Row:
    if not written.notes:
        return {}
    return {"notes": list(written.notes)} | ({"truncated": True} if written.is_cut else {})


def suggest_topic_key(memory: Memory, type: str | None) -> str | None:
    from ademem.operations import writing

    if memory.topic_key or memory.quarantine_reason:
        return None
    return writing.suggest_topic_key(type, memory.title, memory.content)


def _check_anchors(anchors: Iterable[str]) -> tuple[str, ...]:
    """Return the anchors; raises UsageError for one that would be stored as a person's choice."""
    found = tuple(anchors)
    if any(map(anchor.is_choice, found)):
        raise UsageError("an anchor is a file or a command", "choose a place with `at`")
    return found


def _describe_places(placed: Any) -> Row:
    """Return where the memory applies, or may; of a quarantined one nothing, as it names places."""
    if placed.memory.quarantine_reason:
        return {}
    found = place_rows(placed)
    maybe = {"maybe_at": found["candidates"]} if found["candidates"] else {}
    advice = {"advice": found["advice"]} if found["advice"] else {}
    return {"at": found["at"]} | maybe | advice


@operation(destroys=True, shows_text=True)
def update(
    runtime: Runtime,
    call: Call,
    id: Id,
    content: Content | None = None,
    find: str | None = None,
    replace: str | None = None,
    category: Category | None = None,
    type: str | None = None,
    title: str | None = None,
    topic_key: TopicKey | None = None,
    tags: Texts | None = None,
    path: PathGlob | None = None,
    anchors: Anchors | None = None,
    at: Places = (),
    importance: Importance | None = None,
    revision: Annotated[int, About(help="The one that you read")] | None = None,
) -> Annotated[
    Row,
    Answer(
        always=("id", "revision", "changed"), sometimes=("at", "maybe_at", "notes", "why", "next")
    ),
]:
    """Change a memory, or replace `find` by `replace` in its text.

    A person's memory stays, and the change waits beside it as a candidate. Raises Conflict at
    another *revision*, and OfPerson where only a person may.
    """
    from ademem.operations import curation, placing, writing
    from ademem.operations.curation import Updated
    from ademem.operations.placing import Choice

    memory = get_readable(runtime, id)
    changes: Row = {
        "content": content,
        "category": writing.categorize(category, type) if type is not None else category,
        "title": title,
        "topic_key": topic_key,
        "tags": tags,
        "file_scope_pattern": path,
        "importance": importance,
    }
    if anchors is not None:
        chosen = (text for text in memory.anchors if anchor.is_choice(text))
        changes["anchors"] = (*_check_anchors(anchors), *chosen)
    changes = {name: value for name, value in changes.items() if value is not None}
    is_edit = find is not None or replace is not None or bool(changes)
    if not is_edit and not at:
        raise UsageError("nothing to change", "content, find and replace, title, at, …")
    answer: Row = {}
    with runtime.holding(memory.id).store.transaction():
        updated = Updated(memory=memory, changed=())
        if is_edit:
            texts = {"find": find, "replacement": replace}
            updated = curation.update_by_agent(
                runtime, id, call.origin(), revision=revision, **texts, **changes
            )
        else:
            curation.require_revision(memory, revision)
        memory, names = updated.memory, list(updated.changed)
        if at:
            placed = placing.place(runtime, Choice(id=memory.id, at=at))
            memory = placed.memory
            names.append("at")
            answer |= _describe_places(placed)
            answer |= {"notes": list(placed.notes)} if placed.notes else {}
    answer |= {"id": memory.id, "revision": memory.revision_count, "changed": names}
    if updated.proposed_for:
        what = f"a person said or confirmed {updated.proposed_for}"
        answer["why"] = f"{what}: your text waits as a candidate"
        answer["next"] = "tell the person: `ademem review`"
    return answer


@operation(destroys=True, repeats=True)
def remove(
    runtime: Runtime,
    call: Call,
    id: Id,
    how: Literal["archive", "delete"] = "archive",
    reason: str = "",
) -> Annotated[Row, Answer(always=("id", "how", "undo"))]:
    """Archive or delete a memory that is wrong or outdated; `undo` restores it.

    Raises OfPerson for one that a person said or confirmed.
    """
    from ademem.operations import curation

    id = get_readable(runtime, id).id
    memory = curation.remove_by_agent(runtime, id, delete=how == "delete", reason=reason)
    return {"id": memory.id, "how": how, "undo": f"ademem restore {memory.id}"}


@operation(repeats=True)
def pin(
    runtime: Runtime, call: Call, id: Id, pinned: bool = True
) -> Annotated[Row, Answer(always=("id", "pinned"))]:
    """Show a memory in each briefing, or with pinned=false no longer.

    Raises CannotDo for one that is not confirmed, and where agents have pinned five.
    """
    from ademem.operations import curation

    memory = curation.pin_by_agent(runtime, get_readable(runtime, id).id, pinned=pinned)
    return {"id": memory.id, "pinned": memory.pinned}


@operation(repeats=True)
def judge(
    runtime: Runtime,
    call: Call,
    relation: Relation,
    judgment_id: Id = "",
    id: Id = "",
    other: Id = "",
    reason: str = "",
    evidence: str = "",
    confidence: Annotated[float, About(least=0, most=1)] = 1.0,
) -> Annotated[Row, Answer(always=("relation_id", "relation", "status", "effect"))]:
    """Tell how two memories relate, as memory_add asked or for any pair."""
    from ademem.operations import relating

    done = relating.judge(
        runtime,
        relation,
        judgment_id=judgment_id,
        id=id,
        other=other,
        reason=reason,
        evidence=evidence,
        confidence=confidence,
        actor=call.client,
    )
    return dict(done)


@operation(destroys=True)
def update_core(
    runtime: Runtime,
    call: Call,
    version: Annotated[int, About(help="The version that you read", least=0, most=2**31)],
    summary: Annotated[str, About(name="projectSummary")] | None = None,
    conventions: Annotated[tuple[str, ...], About(name="criticalConventions", items=20)]
    | None = None,
    preferences: Annotated[tuple[str, ...], About(name="userPreferences", items=20)] | None = None,
    focus: Annotated[tuple[str, ...], About(name="activeFocus", items=20)] | None = None,
    notes: Texts | None = None,
) -> Annotated[Row, Answer(always=("version", "updatedAt"))]:
    """Replace fields of the project brief; lists replace lists.

    Raises Conflict where the brief is not at *version*.
    """
    from ademem.operations import files

    fields = {
        "projectSummary": summary,
        "criticalConventions": conventions,
        "userPreferences": preferences,
        "activeFocus": focus,
        "notes": notes,
    }
    given = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in fields.items()
        if value is not None
    }
    document = files.update_brief(runtime, given, expect_version=version)
    return {"version": document.version, "updatedAt": document.updated_at.isoformat()}


OPERATIONS = tuple(operation.all)
