"""Engram's tools on the functions of ours; answers in its envelope, and its lines in `result`."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any

from ademem.capture.message_lessons import learnings
from ademem.core.errors import NoSuchMemory, UsageError
from ademem.core.memory import Draft, Memory, Scope
from ademem.core.text import counted, fold, preview
from ademem.core.value import replace as changed
from ademem.doors.calls import describe_gate_refusal
from ademem.operations import browsing, curation, projects, reports, searching, sessions, writing
from ademem.operations import doctor as examining
from ademem.plugins.mcp import core
from ademem.search.engine import Filters
from ademem.store import memories as rows
from ademem.store.transitions import CannotDo

if TYPE_CHECKING:
    from ademem.capture.gate import Written
    from ademem.plugins.mcp.access import Call
    from ademem.store.runtime import Runtime

Result = dict[str, Any]
Id = int | str
"""A row number, or an id of ours."""

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
    return core.get_readable(memories, id)


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


def search(
    memories: Runtime, call: Call, query: str, limit: int, all_projects: bool, **given: str
) -> Result:
    types = tuple(filter(None, [given.get("type")]))
    filters = Filters(types=types, scopes=scopes_of(given.get("scope", "")))
    with ExitStack() as opened:
        others = opened.enter_context(projects.open_others(memories)) if all_projects else {}
        page = call.find(memories, query, filters, limit, others=others)
    if given.get("match_mode") == "all" and page["relaxed"]:  # no memory has all words
        page |= {"memories": [], "total": 0}
    lines = []
    for row in page["memories"]:
        is_here = "project" not in row  # else its number is of another database
        number = _number(memories, row["id"]) if is_here else row["id"]
        title = row.get("title") or preview(row["text"], TITLE_CHARS)
        lines.append(f"#{number} [{row['category']}] {title}")
        if given.get("response_format") not in ("compact", "concise"):
            lines.append(f"    {row['text']}")
        for relation, others in row.get("relations", {}).items():
            if form := RELATIONS.get(relation):
                named = (_number(memories, each) if is_here else each for each in others)
                lines += [f"    {form.format(each)}" for each in named]
        row["number"] = number
    found = f"Found {counted(page['total'], 'memory')}" if lines else "No memories found"
    text = "\n".join([found, *lines])
    return {"result": text, "relaxed": page["relaxed"], "results": page["memories"]}


def save(memories: Runtime, call: Call, title: str, content: str = "", **given: Any) -> Result:
    content = content or given.get("observation", "")
    if not content:
        raise UsageError("the argument 'content' is missing", "give 'content'")
    draft = Draft(
        content=content,
        title=title,
        category=writing.categorize(None, given.get("type")),
        topic_key=given.get("topic_key"),
        tags=tuple(filter(None, [given.get("type")])),
        origin=changed(call.origin(), session_id=_session(memories, call, given)),
    )
    scope = given.get("scope")
    draft = writing.place_draft(memories, draft, "personal" if scope == "global" else scope)
    return _describe_saved(writing.write(memories, draft), given.get("type"))


def _describe_saved(written: Written, type: str | None = None) -> Result:
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
        **core.describe_notes(written),
        "judgment_required": bool(candidates),
        "candidates": candidates,
        "suggested_topic_key": core.suggest_topic_key(memory, type),
    }


def _session(memories: Runtime, call: Call, given: Result) -> str:
    """Return the session that was given, which has to be open, or that of the call."""
    id = given.get("session_id")
    if not id:
        return call.turn.session_id
    sessions.start_session(memories, id, source="mcp")
    return str(id)


def update(memories: Runtime, call: Call, id: Id, **given: Any) -> Result:
    memory = find_memory(memories, id)
    scope = given.pop("scope", "")
    if scope and Scope.parse(scope) is not memory.scope:
        raise CannotDo(f"the scope of {id} is {memory.shown_scope}", "mem_save it, then mem_delete")
    answer = core.update(memories, call, memory.id, **given)
    return {"result": f"Memory updated: #{id}", **answer}


def review(
    memories: Runtime, call: Call, action: str, limit: int, observation_id: Id = "", id: Id = ""
) -> Result:
    if action == "mark_reviewed":
        if not (observation_id or id):
            raise UsageError("which observation?", "give observation_id")
        memory = curation.mark_reviewed(memories, find_memory(memories, observation_id or id).id)
        number = number_of(memory)
        return {"result": f"Reviewed: #{number}", "id": number}
    due = [each for each in curation.list_due(memories, limit) if not each.quarantine_reason]
    lines = [f"#{number_of(memory)} [{memory.category}] {_title(memory)}" for memory in due]
    return {"result": "\n".join(lines) or "Nothing is due", "count": len(due)}


def pin(memories: Runtime, call: Call, id: Id, *, pinned: bool = True) -> Result:
    memory = curation.pin_by_agent(memories, find_memory(memories, id).id, pinned=pinned)
    done, number = "Pinned" if pinned else "Unpinned", number_of(memory)
    return {"result": f"{done}: #{number}", "id": number}


unpin = partial(pin, pinned=False)


def suggest_topic_key(memories: Runtime, call: Call, **given: str) -> Result:
    key = writing.suggest_topic_key(given.get("type"), given.get("title"), given.get("content", ""))
    return {"result": f"Suggested topic_key: {key}", "topic_key": key}


def delete(memories: Runtime, call: Call, id: Id, hard_delete: bool) -> Result:
    memory = find_memory(memories, id)
    if hard_delete:
        raise CannotDo(
            "deleting for good is for a person", f"a person: `ademem delete {memory.id} --hard`"
        )
    curation.remove_by_agent(memories, memory.id, delete=True)
    number = number_of(memory)
    return {"result": f"Memory deleted: #{number}", "id": number}


def save_prompt(memories: Runtime, call: Call, content: str, **given: Any) -> Result:
    session = _session(memories, call, given)
    is_new = sessions.add_prompt(memories, content, session)
    return {"result": "Prompt saved" if is_new else "Prompt was saved before"}


def context(
    memories: Runtime, call: Call, compact: bool, max_bytes: int, scope: str = ""
) -> Result:
    found = browsing.get_context(memories, max_bytes, compact=compact, scope=scope)
    return {"result": found["text"], "left_out": found["left_out"]}


def stats(memories: Runtime, call: Call) -> Result:
    found = reports.get_status(memories)
    counts = found["memories"]
    observations = counted(counts["promoted"] + counts["candidates"], "observation")
    text = f"{counted(found['sessions'], 'session')}, {observations}"
    return {"result": text, "sessions": found["sessions"], "observations": counts}


def timeline(memories: Runtime, call: Call, observation_id: Id, before: int, after: int) -> Result:
    found = browsing.timeline(memories, find_memory(memories, observation_id).id, before, after)
    rows = [*found["before"], found["focus"], *found["after"]]
    lines = [f"{'>' if row is found['focus'] else ' '} {row['text']}" for row in rows]
    return {"result": "\n".join(lines), "timeline": found}


def get_observation(
    memories: Runtime, call: Call, id: Id, include_history: bool, offset: int, **given: int
) -> Result:
    id = find_memory(memories, id).id
    found = core.get(memories, call, id, offset, include_history, **given)
    return {"result": found.pop("text"), **found}


def session_summary(memories: Runtime, call: Call, content: str, **given: Any) -> Result:
    session = _session(memories, call, given)
    return _describe_saved(sessions.summarize_session(memories, content, session))


def session_start(memories: Runtime, call: Call, id: str, directory: str = "") -> Result:
    session = sessions.start_session(memories, id, directory, source="mcp")
    return {"result": f"Session started: {id}", "session": session}


def session_end(memories: Runtime, call: Call, id: str, summary: str = "") -> Result:
    session = sessions.end_session(memories, id, summary)
    return {"result": f"Session ended: {id}", "session": session}


def capture_passive(memories: Runtime, call: Call, content: str, **given: Any) -> Result:
    origin = changed(call.origin(), session_id=_session(memories, call, given))
    drafts = (Draft(content=text, origin=origin) for text in learnings(content))
    written = [writing.write(memories, draft) for draft in drafts]
    saved = sum(each.accepted and not each.deduped for each in written)
    text = f"Extracted {len(written)}, saved {saved}"
    return {"result": text, "extracted": len(written), "saved": saved}


def merge_projects(memories: Runtime, call: Call, to: str, **given: str) -> Result:
    names = [*given["from"].split(","), to]
    if len({fold(name).replace("_", "-").replace(" ", "-") for name in names}) > 1:
        raise CannotDo("these are names of several projects", "a person merges them in a terminal")
    return {"result": "One folder is one project here: spellings are merged already"}


def current_project(memories: Runtime, call: Call) -> Result:
    status = core.status(memories, call)
    return {"result": memories.project.name, "available_projects": status["others"]}


def list_projects(memories: Runtime, call: Call) -> Result:
    names = [each.name for each in call.projects]
    return {"result": "\n".join(names), "projects": names}


def doctor(memories: Runtime, call: Call, check: str = "") -> Result:
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


def judge(memories: Runtime, call: Call, relation: str, judgment_id: str, **given: Any) -> Result:
    given.pop("session_id", None)
    done = core.judge(memories, call, relation, judgment_id=judgment_id, **given)
    return {"result": f"{done['relation']}: {done['effect']}", **done}


def compare(
    memories: Runtime, call: Call, memory_id_a: Id, memory_id_b: Id, relation: str, **given: Any
) -> Result:
    id, other = (find_memory(memories, each).id for each in (memory_id_a, memory_id_b))
    verdict = {"reason": given.get("reasoning", ""), "confidence": given["confidence"]}
    done = core.judge(memories, call, relation, id=id, other=other, **verdict)
    return {"result": f"{done['relation']}: {done['effect']}", **done}
