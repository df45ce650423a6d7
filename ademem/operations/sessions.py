"""Sessions and prompts: start, end, summarize, list, search and delete them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from ademem.core import client
from ademem.core.errors import AdememError, NotFound, UsageError
from ademem.core.memory import Draft, Memory
from ademem.core.redaction import redact
from ademem.core.text import clean, counted, preview
from ademem.core.value import replace
from ademem.operations.session_names import name_of
from ademem.store import episodes, injections, memory_queries, relations, sessions
from ademem.store.runtime import Runtime, on_store
from ademem.store.transitions import CannotDo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.capture.gate import Written

Row = dict[str, Any]

SUMMARY = "session_summary"
ID_CHARS = 200
PROMPT_CHARS, SUMMARY_CHARS = 200, 200
PROMPTS_READ = 5
"""First prompts of a session among which one is looked for that names it."""


class SessionEnded(AdememError):
    rule = "session"

    def __init__(self, id: str, free: str) -> None:
        super().__init__(f"session_already_ended: {id!r} ended", f"use the session {free!r}")
        self.id = free


list_episodes = on_store(episodes.list_all)


def start_session(
    runtime: Runtime, id: str, directory: str = "", *, source: str = "startup"
) -> Row:
    """Add a session, or fill the blanks of an open one; raises SessionEnded for an ended one."""
    from ademem.guard.injection import instruction_in

    id = _check_id(id)
    directory = "" if instruction_in(directory) else directory
    with runtime.store.transaction():
        require_open_session(runtime, id)
        sessions.add(runtime.store, id, directory, runtime.branch, source, runtime.clock())
    return get_session(runtime, id)


def require_open_session(runtime: Runtime, id: str) -> None:
    """Raise SessionEnded, with an id to use, where the session is over."""
    free, number = id, 1
    while any("ended_at" in row for row in sessions.list_sessions(runtime.store, 1, free)):
        number += 1
        free = f"{id}-{number}"
    if free != id:
        raise SessionEnded(id, free)


def end_session(runtime: Runtime, id: str, summary: str = "", *, reason: str = "ended") -> Row:
    get_session(runtime, id)
    if summary:
        summarize_session(runtime, summary, id)
    sessions.end_if_open(runtime.store, id, reason, runtime.clock())
    return get_session(runtime, id)


def summarize_session(runtime: Runtime, text: str, id: str | None = None) -> Written:
    """Write the summary of a session, by default of this process's, and store it with its row.

    It replaces the session's earlier summary; that of the session before is proposed as superseded.
    A quarantined one is in no row of a session, which a model reads.
    """
    from ademem.operations.writing import origin, write

    id = id or client.session_of(runtime.environment)
    if not id:
        raise UsageError("the summary of which session?", "--session ID")
    draft = Draft(
        content=text,
        category=SUMMARY,
        title=f"Summary of session {id}",
        topic_key=f"session/{id}",
        origin=replace(origin(runtime), session_id=id),
    )
    written = write(runtime, draft)
    memory = written.memory
    if memory and not memory.quarantine_reason:
        sessions.set_summary(runtime.store, id, memory.content)
        if earlier := memory_queries.latest_with_tag(runtime.store, SUMMARY, memory):
            with runtime.store.transaction():
                relations.add(
                    runtime.store,
                    earlier,
                    memory,
                    relations.SUPERSEDES,
                    score=1.0,
                    reason="a later session was summarized",
                    actor=memory.trust,
                    now=runtime.clock(),
                )
    return written


def list_sessions(
    runtime: Runtime,
    limit: int = 20,
    *,
    branch: str | None = None,
    agent: str | None = None,
    mission: str | None = None,
    after: str | None = None,
) -> list[Row]:
    """List sessions, the newest first, with counts and a name, as `name_of` chooses it.

    Those of an *agent* or a *mission* wrote a memory for it, or have an episode of it.
    """
    found = sessions.list_sessions(
        runtime.store, limit, branch=branch, agent=agent, mission=mission, after=after
    )
    ids = [row["id"] for row in found]
    asked = sessions.list_first_prompts(runtime.store, ids, PROMPTS_READ)
    records = sessions.map_transcripts(runtime.store, ids)
    return [
        row
        | {
            "summary": preview(row.get("summary", ""), SUMMARY_CHARS),
            "name": name_of(row, asked.get(row["id"], []), records.get(row["id"], "")),
        }
        for row in found
    ]


def name_session(runtime: Runtime, id: str) -> str:
    """Return the name of a session as lists have it; empty for one that is not known."""
    found = sessions.list_sessions(runtime.store, 1, id)
    if not found:
        return ""
    asked = sessions.list_first_prompts(runtime.store, [id], PROMPTS_READ)
    records = sessions.map_transcripts(runtime.store, [id])
    return name_of(found[0], asked.get(id, []), records.get(id, ""))


def get_session(runtime: Runtime, id: str) -> Row:
    found = sessions.list_sessions(runtime.store, 1, id)
    if not found:
        raise NotFound(f"no session has the id {id!r}", "`ademem session list` shows the ids")
    return found[0]


def list_session_memories(runtime: Runtime, id: str) -> list[Memory]:
    found = memory_queries.of_session(runtime.store, id=get_session(runtime, id)["id"])
    return [each for each in found if each.live and not each.quarantine_reason]


def list_sent(runtime: Runtime, id: str | None = None) -> tuple[str, list[injections.Sent]]:
    """Return a session's id, by default this process's or the latest, and what it was sent."""
    id = id or client.session_of(runtime.environment) or injections.latest_session(runtime.store)
    sent = injections.list_sent(runtime, id) if id else []
    if id and not sent:
        get_session(runtime, id)
    return id, sent


def delete_session(runtime: Runtime, id: str, *, dry_run: bool = False) -> None:
    if number := get_session(runtime, id)["memories"]:
        raise CannotDo(
            f"{id} has {counted(number, 'live memory')}", f"`ademem session show {id}` lists them"
        )
    if not dry_run:
        sessions.delete(runtime.store, id, runtime.clock())


def search_prompts(
    runtime: Runtime, words: str = "", session: str | None = None, limit: int = 20
) -> list[Row]:
    return [
        {name: row[name] for name in ("id", "session_id", "created_at")}
        | {"text": preview(redact(row["content"]).text, PROMPT_CHARS)}
        for row in sessions.search_prompts(runtime.store, words, session, limit)
    ]


def find_prompt(runtime: Runtime, session: str, at: datetime) -> str:
    found = sessions.find_prompt_at(runtime.store, session, at)
    return preview(redact(found).text, PROMPT_CHARS)


def add_prompt(runtime: Runtime, text: str, session: str) -> bool:
    """Store the redacted text; False if the session has it already.

    Raises CannotDo where the settings store no prompts, and for an instruction, as a program says
    that a person typed it.
    """
    from ademem.guard.injection import instruction_in

    if not runtime.settings.capture.prompts:
        raise CannotDo("the settings store no prompts", "`ademem config list capture.prompts`")
    content = clean(redact(text).text)
    if found := instruction_in(content):
        hint = "save it as a memory, which waits for a person"
        raise CannotDo(f"the prompt is not stored, as it {found}", hint)
    return sessions.add_prompt(runtime.store, _check_id(session), "", content, runtime.clock())


def delete_prompt(runtime: Runtime, id: str, *, dry_run: bool = False) -> str:
    """Delete a prompt by the beginning of its id, which is returned; no import brings it back."""
    found = sessions.find_prompts(runtime.store, id) if id else []
    if len(found) != 1:
        why = f"{'several prompts' if found else 'no prompt'} with the id {id!r}"
        raise NotFound(why, "`ademem prompts search` shows the ids")
    if not dry_run:
        sessions.delete_prompt(runtime.store, found[0], runtime.clock())
    return found[0]


def _check_id(id: str) -> str:
    from ademem.guard.injection import instruction_in

    id = clean(redact(id).text)
    if not id or len(id) > ID_CHARS or instruction_in(id):
        raise UsageError(f"an id of a session has 1 to {ID_CHARS} characters", "give another")
    return id
