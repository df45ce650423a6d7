"""Engram's tools as adapters of our operations: names, arguments and texts are its contract.

An answer has its envelope, and its lines in `result`.
"""

from contextlib import ExitStack
from typing import Annotated, Any, Literal

from ademem.capture.gate import Written
from ademem.capture.message_lessons import learnings
from ademem.core.errors import NoSuchMemory, UsageError
from ademem.core.memory import Draft, Memory, Scope
from ademem.core.text import counted, fold, preview
from ademem.core.value import replace as changed
from ademem.operations import (
    browsing,
    curation,
    memory_operations,
    projects,
    reports,
    searching,
    sessions,
    writing,
)
from ademem.operations import doctor as examining
from ademem.operations.memory_operations import Cursor, Relation
from ademem.operations.rows import describe_gate_refusal
from ademem.operations.signatures import About, Answer, Call, Operations
from ademem.search.engine import Filters
from ademem.store import memories as rows
from ademem.store.runtime import Runtime
from ademem.store.transitions import CannotDo

Row = dict[str, Any]
Result = Annotated[Row, Answer(always=("project_source", "project_path", "result"))]
Id = int | str
"""A row number, or an id of ours."""
GivenId = Annotated[Id, About(help="A number or an id")]
Neighbours = Annotated[int, About(least=0, most=20)]
ScopeName = Literal["project", "personal", "global"]
Confidence = Annotated[float, About(least=0, most=1)]

tool = Operations(shows_text=True)
EMPTY = {"project_source": "", "project_path": "", "result": ""}
reading = Operations(into=tool, reads=True, repeats=True, empty=EMPTY)
"""Of the names with which it asks again for the project, `project` is enough here."""

TITLE_CHARS = 60
NUMBER_DIGITS = 11
"""Digits of the longest row number; an id of ours has one more, and may be of digits alone."""
RELATIONS = {
    "supersedes": "supersedes: #{}",
    "superseded_by": "superseded_by: #{}",
    "conflicts_with": "conflicts: #{}",
    "contested_by": "conflict: contested by #{} (pending)",
}


def find_memory(memories: Runtime, id: Id) -> Memory:
    """Return the memory by our id, which may be of digits alone, or by its row number."""
    if isinstance(id, int) or (id.isascii() and id.isdecimal() and len(id) <= NUMBER_DIGITS):
        found = rows.list_by_number(memories.store, [int(id)])
        if not found:
            raise NoSuchMemory(str(id))
        id = found[0].id
    return memory_operations.get_readable(memories, id)


def _number(memories: Runtime, id: str) -> Id:
    try:
        memory = searching.get(memories, id)
    except NoSuchMemory:
        return id
    return number_of(memory)


def number_of(memory: Memory) -> Id:
    """Return the row number of a memory; its id where that is a number of another database."""
    return memory.id if memory.shown_scope == "personal" else memory.seq


def _title(memory: Memory) -> str:
    return memory.title or preview(memory.content, TITLE_CHARS)


def scopes_of(name: str) -> tuple[Scope, ...]:
    return (Scope.PROJECT if name == "project" else Scope.AGENT,) if name else ()


@reading()
def search(
    memories: Runtime,
    call: Call,
    query: Annotated[str, About(chars=1000)],
    type: str = "",
    scope: ScopeName | None = None,
    all_projects: bool = False,
    match_mode: Literal["all", "any"] | None = None,
    response_format: str = "",
    limit: Annotated[int, About(least=1, most=20)] = 10,
) -> Result:
    """Search memory by words."""
    filters = Filters(types=(type,) if type else (), scopes=scopes_of(scope or ""))
    options: Row = {"place": call.place, "key": call.turn, "model": call.model}
    with ExitStack() as opened:
        others = opened.enter_context(projects.open_others(memories)) if all_projects else {}
        page = browsing.find(memories, query, filters, limit, others=others, **options)
    if match_mode == "all" and page["relaxed"]:  # no memory has all words
        page |= {"memories": [], "total": 0}
    is_brief = response_format in ("compact", "concise")
    lines: list[str] = []
    for row in page["memories"]:
        lines += _describe_hit(memories, row, is_brief=is_brief)
    found = f"Found {counted(page['total'], 'memory')}" if lines else "No memories found"
    text = "\n".join([found, *lines])
    return {"result": text, "relaxed": page["relaxed"], "results": page["memories"]}


def _describe_hit(memories: Runtime, row: Row, *, is_brief: bool) -> list[str]:
    """Return the lines of a hit, and add its number to its row."""
    is_here = "project" not in row  # else its number is of another database
    row["number"] = _number(memories, row["id"]) if is_here else row["id"]
    title = row.get("title") or preview(row["text"], TITLE_CHARS)
    lines = [f"#{row['number']} [{row['category']}] {title}"]
    if not is_brief:
        lines.append(f"    {row['text']}")
    for relation, ids in row.get("relations", {}).items():
        if form := RELATIONS.get(relation):
            named = (_number(memories, id) if is_here else id for id in ids)
            lines += [f"    {form.format(id)}" for id in named]
    return lines


@tool()
def save(
    memories: Runtime,
    call: Call,
    title: str,
    content: str = "",
    type: str | None = None,
    scope: ScopeName | None = None,
    observation: Annotated[str, About(help="An older name of content")] = "",
    topic_key: str | None = None,
    capture_prompt: Annotated[bool, About(help="Prompts are saved by hooks")] = False,
    session_id: str = "",
    project_choice_reason: str = "",
    recovery_token: str = "",
) -> Result:
    """Save an observation: what, why, where, learned."""
    content = content or observation
    if not content:
        raise UsageError("the argument 'content' is missing", "give 'content'")
    draft = Draft(
        content=content,
        title=title,
        category=writing.categorize(None, type),
        topic_key=topic_key,
        tags=(type,) if type else (),
        origin=changed(call.origin(), session_id=_session(memories, call, session_id)),
    )
    draft = writing.place_draft(memories, draft, "personal" if scope == "global" else scope)
    return _describe_saved(writing.write(memories, draft), type)


def _describe_saved(written: Written, type: str | None = None) -> Row:
    memory = written.memory
    if memory is None:
        return describe_gate_refusal(written.rule, written.reason)
    candidates = [
        {"id": number_of(one.memory), "title": _title(one.memory), "judgment_id": one.judgment_id}
        for one in written.candidates
    ]
    return {
        "result": f'Memory saved: "{_title(memory)}" ({memory.category})',
        "id": number_of(memory),
        "sync_id": memory.sync_id,
        "deduped": written.deduped,
        **memory_operations.describe_notes(written),
        "judgment_required": bool(candidates),
        "candidates": candidates,
        "suggested_topic_key": memory_operations.suggest_topic_key(memory, type),
    }


def _session(memories: Runtime, call: Call, id: str) -> str:
    """Return the session that was given, which has to be open, or that of the call."""
    if not id:
        return call.turn.session_id
    sessions.start_session(memories, id, source="mcp")
    return id


@tool(destroys=True)
def update(
    memories: Runtime,
    call: Call,
    id: GivenId,
    title: str | None = None,
    content: str | None = None,
    type: str | None = None,
    scope: ScopeName | None = None,
    topic_key: str | None = None,
    find: str | None = None,
    replace: str | None = None,
) -> Result:
    """Change an observation, or replace `find` by `replace` in it."""
    memory = find_memory(memories, id)
    if scope and Scope.parse(scope) is not memory.scope:
        raise CannotDo(f"the scope of {id} is {memory.shown_scope}", "mem_save it, then mem_delete")
    edited = memory_operations.update(
        memories,
        call,
        memory.id,
        title=title,
        content=content,
        type=type,
        topic_key=topic_key,
        find=find,
        replace=replace,
    )
    row = memory_operations.edited_row(memories, call, edited)
    return {"result": f"Memory updated: #{id}", **row}


@tool(repeats=True)
def review(
    memories: Runtime,
    call: Call,
    action: Literal["list", "mark_reviewed"] = "list",
    observation_id: GivenId = "",
    id: GivenId = "",
    limit: Annotated[int, About(least=1, most=100)] = 20,
) -> Result:
    """List observations that are due for review, or mark one as reviewed."""
    if action == "mark_reviewed":
        if not (observation_id or id):
            raise UsageError("which observation?", "give observation_id")
        memory = curation.mark_reviewed(memories, find_memory(memories, observation_id or id).id)
        number = number_of(memory)
        return {"result": f"Reviewed: #{number}", "id": number}
    due = [each for each in curation.list_due(memories, limit) if not each.quarantine_reason]
    lines = [f"#{number_of(memory)} [{memory.category}] {_title(memory)}" for memory in due]
    return {"result": "\n".join(lines) or "Nothing is due", "count": len(due)}


@tool(repeats=True)
def pin(memories: Runtime, call: Call, id: GivenId) -> Result:
    """Show an observation first in the context."""
    return _pin(memories, id, pinned=True)


@tool(repeats=True)
def unpin(memories: Runtime, call: Call, id: GivenId) -> Result:
    """Show an observation first no longer."""
    return _pin(memories, id, pinned=False)


def _pin(memories: Runtime, id: Id, *, pinned: bool) -> Row:
    memory = curation.pin_by_agent(memories, find_memory(memories, id).id, pinned=pinned)
    done, number = "Pinned" if pinned else "Unpinned", number_of(memory)
    return {"result": f"{done}: #{number}", "id": number}


@reading()
def suggest_topic_key(
    memories: Runtime,
    call: Call,
    type: str | None = None,
    title: str | None = None,
    content: str = "",
) -> Result:
    """Suggest a stable key for a topic that evolves."""
    key = writing.suggest_topic_key(type, title, content)
    return {"result": f"Suggested topic_key: {key}", "topic_key": key}


@tool(destroys=True, repeats=True)
def delete(memories: Runtime, call: Call, id: GivenId, hard_delete: bool = False) -> Result:
    """Delete an observation."""
    memory = find_memory(memories, id)
    if hard_delete:
        raise CannotDo(
            "deleting for good is for a person", f"a person: `ademem delete {memory.id} --hard`"
        )
    curation.remove_by_agent(memories, memory.id, delete=True)
    number = number_of(memory)
    return {"result": f"Memory deleted: #{number}", "id": number}


@tool()
def save_prompt(
    memories: Runtime,
    call: Call,
    content: str,
    session_id: str = "",
    project_choice_reason: str = "",
    recovery_token: str = "",
) -> Result:
    """Save what the person asked."""
    session = _session(memories, call, session_id)
    is_new = sessions.add_prompt(memories, content, session)
    return {"result": "Prompt saved" if is_new else "Prompt was saved before"}


@reading()
def context(
    memories: Runtime,
    call: Call,
    compact: bool = False,
    max_bytes: Annotated[int, About(least=1000, most=9000)] = 8000,
    scope: ScopeName | None = None,
) -> Result:
    """What earlier sessions left: pinned, recent, prompts."""
    found = browsing.get_context(memories, max_bytes, compact=compact, scope=scope or "")
    return {"result": found["text"], "left_out": found["left_out"]}


@reading()
def stats(memories: Runtime, call: Call) -> Result:
    """Totals of sessions, observations and prompts."""
    found = reports.get_status(memories)
    counts = found["memories"]
    observations = counted(counts["promoted"] + counts["candidates"], "observation")
    text = f"{counted(found['sessions'], 'session')}, {observations}"
    return {"result": text, "sessions": found["sessions"], "observations": counts}


@reading()
def timeline(
    memories: Runtime,
    call: Call,
    observation_id: GivenId,
    before: Neighbours = 5,
    after: Neighbours = 5,
) -> Result:
    """What the same session saved around an observation."""
    found = browsing.timeline(memories, find_memory(memories, observation_id).id, before, after)
    rows = [*found["before"], found["focus"], *found["after"]]
    lines = [f"{'>' if row is found['focus'] else ' '} {row['text']}" for row in rows]
    return {"result": "\n".join(lines), "timeline": found}


@reading()
def get_observation(
    memories: Runtime,
    call: Call,
    id: GivenId,
    include_history: bool = False,
    history_cursor: Cursor = 0,
    offset: Annotated[int, About(least=0, most=50_000)] = 0,
) -> Result:
    """The whole of an observation."""
    own = find_memory(memories, id).id
    whole = memory_operations.get(memories, call, own, offset, include_history, history_cursor)
    found = memory_operations.whole_row(memories, call, whole)
    return {"result": found.pop("text"), **found}


@tool()
def session_summary(
    memories: Runtime,
    call: Call,
    content: str,
    session_id: str = "",
    project_choice_reason: str = "",
    recovery_token: str = "",
) -> Result:
    """Save the summary of a session: Goal, Instructions, Discoveries, Accomplished, Next Steps,
    Relevant Files."""
    session = _session(memories, call, session_id)
    return _describe_saved(sessions.summarize_session(memories, content, session))


@tool(repeats=True)
def session_start(memories: Runtime, call: Call, id: str, directory: str = "") -> Result:
    """Register a session."""
    session = sessions.start_session(memories, id, directory, source="mcp")
    return {"result": f"Session started: {id}", "session": session}


@tool(repeats=True)
def session_end(memories: Runtime, call: Call, id: str, summary: str = "") -> Result:
    """End a session."""
    session = sessions.end_session(memories, id, summary)
    return {"result": f"Session ended: {id}", "session": session}


@tool(repeats=True)
def capture_passive(
    memories: Runtime, call: Call, content: str, source: str = "", session_id: str = ""
) -> Result:
    """Save the items below `Key Learnings` of a text."""
    origin = changed(call.origin(), session_id=_session(memories, call, session_id))
    drafts = (Draft(content=text, origin=origin) for text in learnings(content))
    written = [writing.write(memories, draft) for draft in drafts]
    saved = sum(each.accepted and not each.deduped for each in written)
    text = f"Extracted {len(written)}, saved {saved}"
    return {"result": text, "extracted": len(written), "saved": saved}


@tool(destroys=True)
def merge_projects(
    memories: Runtime, call: Call, from_: Annotated[str, About(name="from")], to: str
) -> Result:
    """Merge spellings of one project's name."""
    names = [*from_.split(","), to]
    if len({fold(name).replace("_", "-").replace(" ", "-") for name in names}) > 1:
        raise CannotDo("these are names of several projects", "a person merges them in a terminal")
    return {"result": "One folder is one project here: spellings are merged already"}


@reading()
def current_project(memories: Runtime, call: Call) -> Result:
    """Which project this is, and how it was found."""
    others = [each.name for each in call.projects if each.root != memories.project.root]
    return {"result": memories.project.name, "available_projects": others}


@reading()
def list_projects(memories: Runtime, call: Call) -> Result:
    """The projects that can be reached from here."""
    names = [each.name for each in call.projects]
    return {"result": "\n".join(names), "projects": names}


@reading()
def doctor(memories: Runtime, call: Call, check: str = "") -> Result:
    """Check memory for damage."""
    patient = examining.Patient(
        project=memories.project, environment=memories.environment, now=memories.clock()
    )
    checks = (
        examining.settings_are_readable,
        examining.database_is_sound,
        examining.sessions_are_whole,
        examining.journal_is_sound,
    )
    findings = [examining.run_check(each, patient) for each in checks]
    if check:
        names = ", ".join(each.check for each in findings)
        findings = [each for each in findings if each.check == check]
        if not findings:
            raise UsageError(f"no check {check!r}", names)
    lines = [f"{'ok' if each.ok else 'bad'} {each.check}: {each.message}" for each in findings]
    return {"result": "\n".join(lines), "ok": all(each.ok for each in findings)}


@tool(repeats=True)
def judge(
    memories: Runtime,
    call: Call,
    judgment_id: str,
    relation: Relation,
    reason: str = "",
    evidence: str = "",
    confidence: Confidence = 1.0,
    session_id: str = "",
) -> Result:
    """Tell how two observations relate, as mem_save asked; below 0.7 ask the person."""
    verdict: Row = {"reason": reason, "evidence": evidence, "confidence": confidence}
    done = memory_operations.judge(memories, call, relation, judgment_id, **verdict)
    return {"result": f"{done['relation']}: {done['effect']}", **done}


@tool(repeats=True)
def compare(
    memories: Runtime,
    call: Call,
    memory_id_a: GivenId,
    memory_id_b: GivenId,
    relation: Relation,
    reasoning: str = "",
    model: str = "",
    confidence: Confidence = 1.0,
) -> Result:
    """Tell how any two observations relate."""
    id, other = (find_memory(memories, each).id for each in (memory_id_a, memory_id_b))
    verdict: Row = {"reason": reasoning, "confidence": confidence}
    done = memory_operations.judge(memories, call, relation, id=id, other=other, **verdict)
    return {"result": f"{done['relation']}: {done['effect']}", **done}


TOOLS = tuple(tool.all)
