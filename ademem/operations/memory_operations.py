"""Operations on memories that every door offers to programs and people.

Names, limits, defaults and keys of the answers are in the signatures, from which the commands, the
tools of MCP, the methods of JSON-RPC and the forms of the page follow. An operation returns what
was found or done; a row of it is what programs get. Sizes of answers are characters of compact
JSON. Each may raise NoSuchMemory, and a refusal names the next step. Modules of what an operation
needs are imported in it, since a server lists its tools before any of them is called.
"""

from __future__ import annotations

from ademem import __version__
from ademem.core import anchor, who
from ademem.core.actor import By
from ademem.core.errors import Deleted, NoSuchMemory, NotFound, UsageError, suppress
from ademem.core.memory import (
    MAIN_AGENT,
    NOTE,
    RULE,
    STOP,
    SYNONYMS,
    Category,
    Draft,
    Importance,
    Memory,
    Scope,
    Status,
    Trust,
)
from ademem.core.text import preview
from ademem.core.value import Value
from ademem.core.value import replace as changed
from ademem.operations import parameters
from ademem.operations.parameters import LIMIT, SCOPE
from ademem.operations.rows import (
    Withheld,
    candidate_row,
    describe_gate_refusal,
    key_rows,
    memory_row,
    nearest_row,
    place_rows,
)
from ademem.operations.signatures import (
    About,
    Annotated,
    Answer,
    Call,
    Literal,
    Operations,
    Row,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from ademem.capture.gate import RuleEffect, Written
    from ademem.operations.curation import Updated
    from ademem.operations.placing import Placed
    from ademem.search.engine import Filters
    from ademem.store.bindings import Binding
    from ademem.store.runtime import Runtime

operation = Operations()

GET_CHARS, MARGIN_CHARS, REVISION_CHARS = 9000, 300, 3000
"""Size of a whole memory as it is sent, of what the door adds, and of its revisions."""
TERMINAL = "cli"
"""The door of persons' calls."""

Query = Annotated[str, About(help="Plain words", chars=1000)]
Id = Annotated[str, parameters.ID]
CategoryName = Annotated[Category, parameters.CATEGORY]
ImportanceName = Annotated[Importance, parameters.IMPORTANCE]
TypeName = Annotated[str, parameters.TYPE]
ScopeName = Annotated[str, SCOPE]
Owner = Annotated[str, parameters.OWNER]
Branch = Annotated[str, parameters.BRANCH]
Content = Annotated[
    str,
    About(help="A fact in a sentence or two, and why it holds", chars=50_000, spelled="TEXT"),
]
Title = Annotated[str, parameters.TITLE]
TopicKey = Annotated[str, parameters.TOPIC_KEY]
Tags = Annotated[tuple[str, ...], parameters.TAGS]
Texts = Annotated[tuple[str, ...], About(items=20)]
PathGlob = Annotated[str, About(help="Glob of files it is about", spelled="--path --file GLOB")]
Anchors = Annotated[tuple[str, ...], parameters.ANCHORS]
Commands = Annotated[tuple[str, ...], parameters.BEFORE]
Places = Annotated[tuple[str, ...], parameters.PLACES]
Occasions = Annotated[tuple[str, ...], parameters.OCCASIONS]
DryRun = Annotated[bool, parameters.DRY_RUN]
All = Annotated[bool, About(help="Archived memories too", spelled="--all")]
Cursor = Annotated[int, About(least=0, most=2**31)]
How = Literal["archive", "delete"]
Topic = Literal["commits", "cost", "guard", "impressions"]
Revision = Annotated[int, parameters.REVISION]
Reason = Annotated[str, About(help="Why", is_plain=True)]
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
    limit: Annotated[int, changed(LIMIT, most=20)] = 5,
    category: CategoryName | None = None,
    type: TypeName | None = None,
    scope: ScopeName | None = None,
    owner: Owner | None = None,
    path: Annotated[str, parameters.PATH] | None = None,
    branch: Branch | None = None,
    since: Annotated[str, About(help="ISO 8601, or ago: 3h, 2d", spelled="--since TIME")]
    | None = None,
    until: Annotated[
        str, About(help="ISO 8601, or ago: 3h, 2d", is_plain=True, spelled="--until TIME")
    ]
    | None = None,
    candidates: Annotated[bool, parameters.CANDIDATES] = False,
    archived: Annotated[
        bool, About(help="Weak hits and archived memories too", is_plain=True, spelled="--all")
    ] = False,
    all_projects: Annotated[
        bool, About(help="The other projects of this machine, too", is_plain=True)
    ] = False,
    cursor: Annotated[str, About(help="next_cursor of a page")] = "",
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
    from contextlib import ExitStack

    from ademem.core.times import parse_time
    from ademem.operations import browsing
    from ademem.store.filters import choose_statuses

    if not query.strip():
        raise UsageError("search for what?", "give some words")
    filters = changed(
        make_filters(category, type, scope, owner, branch),
        statuses=choose_statuses(candidates=candidates, archived=archived),
        path=path,
        since=None if since is None else parse_time(since, runtime.clock()),
        until=None if until is None else parse_time(until, runtime.clock()),
    )
    key = call.turn if call.turn.session_id else None
    options: Row = {"cursor": cursor, "place": call.place, "key": key, "model": call.model}
    with ExitStack() as opened:
        others = call.others
        if all_projects:
            from ademem.operations import projects

            others = opened.enter_context(projects.open_others(runtime))
        page = browsing.find(runtime, query, filters, limit, others=others, **options)
    if others and call.door != TERMINAL:
        here = {"project": runtime.project.name}
        page["memories"] = [here | row for row in page["memories"]]
    return page


def make_filters(
    category: str | None, type: str | None, scope: str | None, owner: str | None, branch: str | None
) -> Filters:
    """Return filters of these values; raises UsageError for the scope of agents without a name."""
    from ademem.search.engine import Filters

    if scope == Scope.AGENT and not owner:
        hint = "name it by --owner; `ademem core show --agents` lists them"
        raise UsageError("each agent has its own memories", hint)
    if scope == "user":
        owner = owner or MAIN_AGENT
    return Filters(
        categories=(category,) if category else (),
        types=(type,) if type else (),
        scopes=(Scope.parse(scope),) if scope else (),
        owner=owner,
        mission=owner,
        branch=branch,
    )


@operation(audience="people")
def list_memories(
    runtime: Runtime,
    call: Call,
    limit: Annotated[int, LIMIT] = 100,
    category: CategoryName | None = None,
    status: Annotated[Status, About(help=", ".join(Status))] | None = None,
    type: TypeName | None = None,
    scope: ScopeName | None = None,
    owner: Owner | None = None,
    branch: Branch | None = None,
    archived: All = False,
    at: Annotated[
        str, About(help="As they were: ISO 8601, or ago: 45m, 3h, 2d", spelled="--at TIME")
    ]
    | None = None,
) -> list[Memory]:
    """List memories, newest first; *at* a moment all that there were."""
    from ademem.operations import searching
    from ademem.store.filters import choose_statuses

    if at is not None:
        if any((category, status, type, scope, owner, branch)):
            raise UsageError(
                "--at lists all memories of that moment", "leave out the other filters"
            )
        from ademem.core.times import parse_time
        from ademem.operations import curation

        return list(curation.list_at(runtime, parse_time(at, runtime.clock()), limit).memories)
    statuses = (status,) if status else choose_statuses(candidates=True, archived=archived)
    filters = changed(make_filters(category, type, scope, owner, branch), statuses=statuses)
    return searching.list_memories(runtime, filters, limit)


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


class Whole(Value):
    """A memory with what is known of it, and which part of its text or history was asked for."""

    memory: Memory
    drifted: dict[str, str]
    related: dict[str, list[str]]
    places: tuple[Binding, ...]
    offset: int | None = None
    revisions: tuple[Row, ...] | None = None
    before: int = 0
    """Revision before which the history was asked for; 0: from the newest on."""

    def row(self, row: Row) -> Row:
        """Complete the row of the memory."""
        pairs = self.related.get("conflicts with", ())
        flags = [*row["flags"], *(f"conflicts-with:{other}" for other in pairs)]
        return row | {"flags": flags, "at": key_rows(self.places)}

    def part(self, size: int = GET_CHARS) -> tuple[str, int | None]:
        """Return the text from the offset on, and the offset of the rest."""
        from ademem.operations import browsing

        return browsing.read_part(self.memory.content, self.offset or 0, size)


def whole_row(runtime: Runtime, call: Call, whole: Whole) -> Row:
    from ademem.operations.browsing import size_of

    row = whole.row(memory_row(whole.memory, drifted=whole.drifted))
    row["when"] = list(anchor.occasions(row["anchors"]))
    row["anchors"] = [text for text in row["anchors"] if not anchor.is_choice(text)]
    del row["content"]
    told = _newest(whole.revisions, whole.before) if whole.revisions is not None else {}
    text, rest = whole.part(GET_CHARS - size_of((row, told)) - MARGIN_CHARS)
    return {"memory": row, "text": text, "next_offset": rest, **told}


@operation(row=whole_row, reads=True, repeats=True, shows_text=True, always_loaded=True)
def get(
    runtime: Runtime,
    call: Call,
    id: Id,
    offset: Annotated[
        int, About(help="The text in parts, from here on", least=0, most=50_000, is_plain=True)
    ]
    | None = None,
    history: Annotated[bool, About(help="Its revisions instead", is_plain=True)] = False,
    history_cursor: Annotated[int, About(least=0, most=2**31, audience="programs")] = 0,
    deleted: Annotated[
        bool, About(help="Also one that was deleted and may be restored", audience="people")
    ] = False,
) -> Annotated[
    Whole,
    Answer(
        always=("memory", "text"), sometimes=("next_offset", "revisions", "next_history_cursor")
    ),
]:
    """A whole memory, with its history on request."""
    from ademem.operations import searching

    is_typed = call.door == TERMINAL  # where nothing is held back from a script of a person
    memory = searching.get(runtime, id) if is_typed else get_readable(runtime, id)
    if memory.deleted_at and not deleted:
        raise Deleted(memory.id, memory.deleted_at)
    from ademem.operations import placing

    return Whole(
        memory=memory,
        drifted=searching.find_drifted(runtime, [memory]),
        related=searching.find_related(runtime, memory.id),
        places=tuple(placing.list_places(runtime, memory.id)),
        offset=offset,
        revisions=tuple(list_revisions(runtime, call, memory.id)) if history else None,
        before=history_cursor,
    )


@operation(audience="people")
def list_revisions(runtime: Runtime, call: Call, id: Id) -> list[Row]:
    """List the revisions of a memory, oldest first; of one deleted for good the end remains.

    A model reads nothing of those in quarantine.
    """
    from ademem.operations import curation

    rows = curation.list_revisions(runtime, id)
    is_read_by_model = runtime.by.by is By.AGENT or call.door != TERMINAL
    if runtime.by.is_person or not is_read_by_model:
        return rows
    return [
        row | {"snapshot": dict.fromkeys(row["snapshot"]) | {"content": curation.QUARANTINED}}
        if row["snapshot"]["quarantine_reason"]
        else row
        for row in rows
    ]


def _newest(rows: Sequence[Row], before: int) -> Row:
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


@operation(
    reads=True,
    repeats=True,
    shows_text=True,
    command="context",
    empty={"text": "", "left_out": {}},
)
def context(
    runtime: Runtime,
    call: Call,
    max_chars: Annotated[int, About(least=1000, most=10_000, audience="programs")] = 8000,
    scope: ScopeName | None = None,
    max_bytes: Annotated[
        int, About(help="Size of the text", least=0, most=65_536, audience="people")
    ] = 16_384,
    compact: Annotated[bool, About(help="Shorter entries", audience="people")] = False,
) -> Annotated[Row, Answer(always=("text", "left_out"))]:
    """What a session starts with: brief, conventions, decisions, recent work."""
    from ademem.operations import browsing

    if call.door == TERMINAL:  # which shows the text alone
        return browsing.get_context(runtime, max_bytes, compact=compact, scope=scope or "")
    size = max_chars - MARGIN_CHARS
    return browsing.get_context(runtime, size, measure=browsing.size_of, scope=scope or "")


def status_row(runtime: Runtime, call: Call, found: Row) -> Row:
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


@operation(
    row=status_row,
    reads=True,
    repeats=True,
    empty={"root": "", "how": "", "others": [], "session": "", "counts": {}, "model": {}}
    | dict.fromkeys(("queue", "guard", "version"), ""),
)
def status(
    runtime: Runtime,
    call: Call,
    topic: Annotated[Topic, About(help="One report instead", audience="people", spelled="TOPIC")]
    | None = None,
    days: Annotated[int, About(help="Period of cost", least=1, most=3650, audience="people")] = 30,
    limit: Annotated[int, changed(LIMIT, help="Most rows of impressions", audience="people")] = 20,
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

    match topic:
        case "commits":
            return reports.get_digest(runtime)
        case "cost":
            return reports.get_cost(runtime, days)
        case "guard":
            return reports.get_guard_state(runtime)
        case "impressions":
            return reports.get_impressions(runtime, limit)
    return reports.get_status(runtime)


def _has_hooks(runtime: Runtime, call: Call) -> bool:
    """Tell whether a hook, and not a server, began the session."""
    from ademem.operations import sessions

    try:
        source = sessions.get_session(runtime, call.turn.session_id).get("source")
    except NotFound:
        return False
    return source not in (None, call.door)


class Added(Value):
    """What became of a text: nothing was written in a dry run."""

    written: Written | None
    type: str | None
    placed: Placed | None = None
    steps: tuple[RuleEffect, ...] = ()


def added_row(runtime: Runtime, call: Call, added: Added) -> Row:
    written = added.written
    assert written
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
    if written.unanswered:
        note = f"no question {written.unanswered!r} waits: stored as a candidate"
        written = changed(written, notes=(*written.notes, note))
    return {
        **extra,
        **describe_notes(written),
        **facts,
        "id": memory.id,
        "merged_into": written.merged_into_id,
        "revision": memory.revision_count,
        **_describe_places(added.placed),
        "topic_key_suggestion": suggest_topic_key(memory, added.type),
    }


@operation(row=added_row, shows_text=True, always_loaded=True)
def add(
    runtime: Runtime,
    call: Call,
    content: Content,
    category: CategoryName | None = None,
    type: TypeName | None = None,
    title: Title | None = None,
    topic_key: TopicKey | None = None,
    tags: Tags = (),
    path: PathGlob | None = None,
    anchors: Anchors = (),
    command: Commands = (),
    at: Places = (),
    when: Occasions = (),
    importance: ImportanceName = Importance.MEDIUM,
    scope: ScopeName | None = None,
    owner: Owner | None = None,
    repeats: Annotated[str, parameters.REPEATS] = "",
    replaces: Annotated[str, parameters.REPLACES] = "",
    contradicts: Annotated[str, parameters.CONTRADICTS] = "",
    heard: Annotated[str, parameters.HEARD] = "",
    operation_id: Annotated[str, About(help="Once for repetitions", chars=128)] = "",
    pin: Annotated[bool, About(help="Always in the briefing", audience="people")] = False,
    rule: Annotated[
        bool,
        About(help="It may deny a call at its place, once in a conversation", audience="people"),
    ] = False,
    note: Annotated[bool, About(help="It is only said beside a call", audience="people")] = False,
    stop: Annotated[
        bool, About(help="A rule that denies again in every turn", audience="people")
    ] = False,
    strict: Annotated[
        bool,
        About(help="Confirm a convention, pattern, gotcha or decision at once", audience="people"),
    ] = False,
    dry_run: DryRun = False,
    explain: Annotated[
        bool, About(help="Show how each result came about", audience="people")
    ] = False,
) -> Annotated[
    Added,
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
    from ademem.core.typed_text import read_dictation
    from ademem.operations import placing, writing

    content = read_dictation(content) or content  # as people begin what they dictate in a prompt
    related = {"repeats": repeats, "replaces": replaces, "contradicts": contradicts}
    stated = changed(stating.read_relation(**related), heard=heard)
    origin, by_agent = call.origin(), runtime.by.by is By.AGENT
    is_typed = origin.trust is Trust.USER
    if is_typed and not (category or type):
        from ademem.capture.record import category_of

        category = category_of(content)  # as of what a prompt dictates
    places, notes = placing.choose_places(runtime, at, by_person=is_typed)
    draft = Draft(
        content=content,
        category=writing.categorize(category, type),
        importance=importance,
        title=title,
        topic_key=topic_key,
        tags=(*tags, *((type,) if type else ()), *_marks(rule, note, stop)),
        path=_below_root(path),
        anchors=(
            *_check_anchors(anchors),
            *map(anchor.of_command, command),
            *places,
            *placing.choose_occasions(when),
        ),
        pinned=pin and not by_agent,
        strict=strict and not by_agent,
        origin=origin,
    )
    draft = writing.place_draft(runtime, draft, scope, owner, start_mission=not dry_run)
    steps = tuple(writing.explain(runtime, draft)) if dry_run or explain else ()
    if dry_run:
        return Added(written=None, type=type, steps=steps)
    written = writing.write(runtime, draft, stated, operation_id=operation_id)
    notes = (*notes, *_describe_scope(scope, written.memory))
    written = changed(written, notes=(*written.notes, *notes))
    placed = placing.show_places(runtime, written.memory.id) if written.memory else None
    return Added(written=written, type=type, placed=placed, steps=steps)


def _describe_scope(word: str | None, memory: Memory | None) -> Iterator[str]:
    """Say what a scope is here that another program names in its own way."""
    if memory and word and word.strip().lower() in SYNONYMS:
        what = "agent" if memory.scope is Scope.AGENT else "mission"
        yield f"scope {word.strip().lower()} is that of the {what} {memory.scope_owner_id!r} here"


def _marks(rule: bool, note: bool, stop: bool) -> tuple[str, ...]:
    if note and (rule or stop):
        raise UsageError("a note denies nothing", "leave out --note, or --rule and --stop")
    return tuple(name for name, is_set in ((STOP, stop), (RULE, rule), (NOTE, note)) if is_set)


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
    if placed is None or placed.memory.quarantine_reason:
        return {}
    found = place_rows(placed)
    maybe = {"maybe_at": found["candidates"]} if found["candidates"] else {}
    advice = {"advice": found["advice"]} if found["advice"] else {}
    return {"at": found["at"]} | maybe | advice


class Edited(Value):
    updated: Updated
    placed: Placed | None = None

    @property
    def memory(self) -> Memory:
        """The memory after all changes."""
        return self.placed.memory if self.placed else self.updated.memory


def edited_row(runtime: Runtime, call: Call, edited: Edited) -> Row:
    updated, placed = edited.updated, edited.placed
    memory, names = edited.memory, list(updated.changed)
    answer: Row = {}
    if placed:
        names.append("at")
        answer |= _describe_places(placed)
        answer |= {"notes": list(placed.notes)} if placed.notes else {}
    answer |= {"id": memory.id, "revision": memory.revision_count, "changed": names}
    if updated.proposed_for:
        what = f"a person said or confirmed {updated.proposed_for}"
        answer["why"] = f"{what}: your text waits as a candidate"
        answer["next"] = "tell the person: `ademem review`"
    return answer


@operation(row=edited_row, destroys=True, shows_text=True)
def update(
    runtime: Runtime,
    call: Call,
    id: Id,
    content: Annotated[
        str,
        About(
            help="A fact in a sentence or two, and why it holds",
            chars=50_000,
            spelled="--content TEXT",
        ),
    ]
    | None = None,
    find: Annotated[str, About(help="Part of the text, which `replace` changes", is_plain=True)]
    | None = None,
    replace: Annotated[str, About(help="What takes the place of `find`", is_plain=True)]
    | None = None,
    category: CategoryName | None = None,
    type: TypeName | None = None,
    title: Title | None = None,
    topic_key: TopicKey | None = None,
    tags: Tags | None = None,
    path: PathGlob | None = None,
    anchors: Anchors | None = None,
    command: Commands | None = None,
    at: Places = (),
    when: Occasions = (),
    importance: ImportanceName | None = None,
    stop: Annotated[
        bool,
        About(
            help="Deny calls that it is about until they are made again",
            audience="people",
            spelled="--stop/--no-stop",
        ),
    ]
    | None = None,
    revision: Annotated[int, changed(parameters.REVISION, audience="")] | None = None,
) -> Annotated[
    Edited,
    Answer(
        always=("id", "revision", "changed"), sometimes=("at", "maybe_at", "notes", "why", "next")
    ),
]:
    """Change a memory, or replace `find` by `replace` in its text.

    A person's memory stays, and the change waits beside it as a candidate. Raises Conflict at
    another *revision*, and OfPerson where only a person may.
    """
    from ademem.operations import curation, placing, writing
    from ademem.operations.placing import Choice

    memory = get_readable(runtime, id)
    changes: Row = {
        "content": content,
        "find": find,
        "replacement": replace,
        "category": writing.categorize(category, type) if type is not None else category,
        "title": title,
        "topic_key": topic_key,
        "tags": tags if stop is None else _mark_stop(memory.tags if tags is None else tags, stop),
        "file_scope_pattern": _below_root(path),
        "importance": importance,
        "anchors": _change_anchors(memory, anchors, command, in_parts=call.door == TERMINAL),
    }
    changes = {name: value for name, value in changes.items() if value is not None}
    if not (changes or at or when):
        raise UsageError("nothing to change", "content, find and replace, title, at, …")
    with runtime.holding(memory.id).store.transaction():
        updated = curation.update(runtime, memory, call.origin, revision=revision, **changes)
        choice = Choice(id=updated.memory.id, at=at, when=when, is_beside=bool(changes))
        placed = placing.place(runtime, choice) if choice.decides else None
    return Edited(updated=updated, placed=placed)


def _change_anchors(
    memory: Memory, given: Sequence[str] | None, commands: Sequence[str] | None, *, in_parts: bool
) -> tuple[str, ...] | None:
    """Return the anchors beside the places that were chosen; *in_parts* files or commands stay."""
    chosen = tuple(filter(anchor.is_choice, memory.anchors))
    if in_parts and (given is not None or commands is not None):
        others = tuple(text for text in memory.anchors if text not in chosen)
        given = anchor.replace_parts(others, given, commands)
    return None if given is None else (*_check_anchors(given), *chosen)


def _below_root(glob: str | None) -> str | None:
    """Return a glob of files without the `./` of a shell, as paths are compared with it."""
    return glob.removeprefix("./") if glob else glob


def _mark_stop(tags: Iterable[str], stop: bool) -> tuple[str, ...]:
    return (*(tag for tag in tags if tag != STOP), *((STOP,) if stop else ()))


def removed_row(runtime: Runtime, call: Call, memory: Memory) -> Row:
    how = "delete" if memory.deleted_at else "archive"
    return {"id": memory.id, "how": how, "undo": f"ademem restore {memory.id}"}


@operation(row=removed_row, destroys=True, repeats=True)
def remove(
    runtime: Runtime,
    call: Call,
    id: Id,
    how: How = "archive",
    reason: Reason = "",
    hard: Annotated[bool, About(help="For good: no byte of it stays", audience="people")] = False,
    dry_run: DryRun = False,
    revision: Revision | None = None,
) -> Annotated[Memory, Answer(always=("id", "how", "undo"))]:
    """Archive or delete a memory that is wrong or outdated; `undo` restores it.

    Raises OfPerson for one that a person said or confirmed, and Conflict at another *revision*.
    """
    from ademem.operations import curation

    if hard and not dry_run:
        who.require_person(runtime.by, "to delete for good")
    memory = get_readable(runtime, id)
    if dry_run:
        return memory
    if hard:
        return curation.delete(runtime, id, hard=True, revision=revision)
    return curation.remove_by_agent(
        runtime, memory.id, delete=how == "delete", reason=reason, revision=revision
    )


def state_row(runtime: Runtime, call: Call, memory: Memory) -> Row:
    return {"id": memory.id, "status": memory.status, "revision": memory.revision_count}


@operation(row=state_row, destroys=True)
def reject(
    runtime: Runtime,
    call: Call,
    id: Id,
    reason: Reason = "",
    confirmed: Annotated[
        bool, About(help="Archive it, where it is confirmed", audience="people")
    ] = False,
    revision: Revision | None = None,
) -> Annotated[Memory, Answer(always=("id", "status", "revision"))]:
    """Archive a candidate, and refuse its text from now on.

    Raises CannotDo for one that is *confirmed*, unless that is given, and Conflict at another
    *revision*.
    """
    from ademem.operations import curation

    decide = curation.refuse if confirmed else curation.reject
    return decide(runtime, id, reason=curation.clean_reason(reason), revision=revision)


@operation(row=state_row)
def restore(
    runtime: Runtime,
    call: Call,
    id: Id,
    to: Annotated[
        int,
        About(
            help="Earlier revision, of which it gets text and labels",
            least=1,
            most=2**31,
            spelled="--to N",
        ),
    ]
    | None = None,
    dry_run: DryRun = False,
    revision: Revision | None = None,
) -> Annotated[Memory, Answer(always=("id", "status", "revision"))]:
    """Bring back an archived or deleted memory, or what an earlier revision said.

    Raises CannotDo for one that is live where *to* is missing, OfPerson for what a person removed
    or said, and Conflict at another *revision*.
    """
    from ademem.operations import curation, searching
    from ademem.store import database

    # The receipt is in the store of the project, where the memory is a person's own, too.
    with (
        suppress(database.DryRun),
        runtime.store.transaction(),
        runtime.holding(id).store.transaction(),
    ):
        memory = searching.get(runtime, id)
        curation.require_revision(memory, revision)
        if to is None:
            restored = curation.restore(runtime, memory.id)
        else:
            require_person(runtime, memory.id, "edit")
            restored = curation.put_back(runtime, memory, to)
        if dry_run:
            raise database.DryRun
    return restored


def pinned_row(runtime: Runtime, call: Call, memory: Memory) -> Row:
    return {"id": memory.id, "pinned": memory.pinned}


@operation(row=pinned_row, repeats=True)
def pin(
    runtime: Runtime,
    call: Call,
    id: Id,
    pinned: Annotated[
        bool,
        About(
            help="In every briefing, or only when it is relevant",
            is_plain=True,
            spelled="--pinned/--off",
        ),
    ] = True,
    revision: Revision | None = None,
) -> Annotated[Memory, Answer(always=("id", "pinned"))]:
    """Show a memory in each briefing, or with pinned=false no longer.

    Raises CannotDo for one that is not confirmed, and where agents have pinned five; Conflict at
    another *revision*.
    """
    from ademem.operations import curation

    id = get_readable(runtime, id).id
    if curation.get_speaker(runtime) is Trust.USER:
        return curation.pin(runtime, id, pinned=pinned, revision=revision)
    return curation.pin_by_agent(runtime, id, pinned=pinned)


@operation(audience="people")
def promote(
    runtime: Runtime,
    call: Call,
    id: Id,
    pinned: Annotated[bool, About(help="Show it in every briefing, too")] = False,
    revision: Revision | None = None,
) -> Memory:
    """Confirm a candidate, or approve a quarantined one.

    Raises NotByPerson, and Conflict at another *revision*.
    """
    from ademem.operations import curation

    require_person(runtime, id, "promote")
    return curation.promote(runtime, id, pinned=pinned, revision=revision)


def require_person(runtime: Runtime, id: str, verb: str) -> None:
    """Require a terminal for a quarantined memory; to confirm or pin any, a person."""
    from ademem.operations import searching

    memory = searching.get(runtime, id)
    if memory.quarantine_reason:
        who.require_person(runtime.by, f"to {verb} {memory.id}, which is quarantined,")
    elif verb != "edit":
        slash = f"{who.SLASH_COMMANDS[verb]} {memory.id}"
        who.require_person(runtime.by, f"to {verb} {memory.id}", slash)


@operation(repeats=True)
def judge(
    runtime: Runtime,
    call: Call,
    relation: Annotated[Relation, About(spelled="VERB")],
    judgment_id: Id = "",
    id: Id = "",
    other: Annotated[
        str,
        About(help="The other memory, without a proposal", chars=64, spelled="--other ID"),
    ] = "",
    reason: Reason = "",
    evidence: Annotated[str, About(help="What shows it", is_plain=True)] = "",
    confidence: Annotated[
        float, About(help="How sure it is", least=0, most=1, is_plain=True)
    ] = 1.0,
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
