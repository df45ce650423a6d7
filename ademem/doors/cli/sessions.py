"""Commands about sessions and prompts."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from ademem.core import who
from ademem.core.text import counted
from ademem.doors.cli import show
from ademem.doors.cli.commands import command, on_project, open_project
from ademem.doors.cli.options import argument, option
from ademem.doors.cli.parameters import DryRun, Limit, Project, text_or_stdin
from ademem.doors.views import effects
from ademem.doors.views import session as views
from ademem.operations import reports, sessions
from ademem.store.effects import Effects
from ademem.store.injections import Sent
from ademem.store.runtime import Runtime

SessionId = Annotated[str, argument("ID", "The client's id of the session.")]
OfSession = Annotated[str | None, option("--session ID", "Of this session alone.")]


@on_project("session start")
def start(
    memories: Runtime,
    id: SessionId,
    directory: str | None = option("--directory", "Where it works; else the current folder."),
) -> None:
    """Start a session, or fill the blanks of an open one."""
    found = sessions.start_session(memories, id, directory or os.getcwd())
    show.report(found, _lines(found), fence=True)


@on_project("session end")
def end(
    memories: Runtime,
    id: SessionId,
    summary: str = option("--summary", "What was done; - reads input.", ""),
) -> None:
    """End a session for good."""
    found = sessions.end_session(memories, id, text_or_stdin(summary))
    show.report(found, _lines(found), fence=True)


@on_project("session summary")
def summary(
    memories: Runtime,
    text: str = argument("TEXT", "What was done; - reads standard input.", "-"),
    of: OfSession = None,
) -> None:
    """Write the summary of a session as a memory."""
    show.verdict(sessions.summarize_session(memories, text_or_stdin(text), of))


@on_project("session list")
def list_(memories: Runtime, limit: Limit = 20) -> None:
    """List sessions, newest first."""
    show.listing("sessions", sessions.list_sessions(memories, limit), _lines, "no session yet")


@on_project("session show")
def show_(memories: Runtime, id: SessionId) -> None:
    """Show a session with its memories."""
    found = sessions.get_session(memories, id)
    learned = sessions.list_session_memories(memories, id)
    values = {"session": found, "memories": [show.memory_json(each) for each in learned]}
    show.report(values, (*_lines(found), *map(show.line, learned)), fence=True)


@on_project("session delete")
def delete(memories: Runtime, id: SessionId, dry_run: DryRun = False) -> None:
    """Delete a session that has no memories, and its prompts."""
    if sessions.get_session(memories, id)["prompts"] and not dry_run:
        who.require_person(who.of_process(), f"`ademem session delete {id}`")
    sessions.delete_session(memories, id, dry_run=dry_run)
    _show_deleted(id, dry_run)


@on_project()
def why(
    memories: Runtime,
    words: list[str] | None = argument("SESSION|TEXT", "None: this session, or the latest.", None),
    wrong: int | None = option("--wrong N", "Effect #N is not right: it counts no more.", None),
) -> None:
    """Show what a session was sent. Of a text that is held, show why."""
    if wrong is not None:
        return _reject_effect(memories, wrong)
    text = " ".join(words or ())
    if not text.isascii() or " " in text:
        return _explain_text(text)
    id, found = sessions.list_sent(memories, text or None)
    done = reports.list_effects(memories, session=id) if id else Effects()
    return _show_sent(id, found, done)


def _show_sent(id: str, found: Sequence[Sent], done: Effects) -> None:
    proofs = {row.memory_id: effects.proof(row) for row in done.rows if row.row}
    if show.as_json:
        texts = [views.to_json(each, show.is_withheld, proofs) for each in found]
        values = {"session": id or None, "effects": done.counts, "count": len(texts)}
        return show.json(values | {"texts": texts})
    if not found:
        return show.echo("no session was sent anything yet", err=True)
    counts = effects.listed(done.counts)
    show.say(f"session {id}{f': {counts}' if counts else ''}")
    return show.fenced(
        line for each in found for line in views.to_lines(each, show.is_withheld, proofs)
    )


def _reject_effect(memories: Runtime, number: int) -> None:
    who.require_person(who.of_process(), f"`ademem why --wrong {number}`")
    taken = reports.reject_effect(memories, number)
    line = f"no longer counted: {taken.call or 'an answer'} ({taken.memory_id})"
    show.report({"memory": taken.memory_id, "call": taken.call}, [line])


def _explain_text(text: str) -> None:
    from ademem.doors.views import held
    from ademem.operations import judging

    explained = judging.explain_text(text)
    values = held.explanation_json(explained)
    show.report(values, held.explanation_lines(explained), fence=True)


@on_project("prompts search")
def search(
    memories: Runtime,
    words: list[str] | None = argument("WORDS", "What was typed; none: the newest.", None),
    recent: int = option("--recent -n", "So many.", 20, min=1, max=1000),
    of: OfSession = None,
) -> None:
    """Find prompts by words, or list the newest. Exit code 1 without hits."""
    found = sessions.search_prompts(memories, " ".join(words or ()), of, recent)
    show.listing(
        *("prompts", found),
        lambda row: [f"{row['id']}  {row['created_at'][:16]}  {row['text']}"],
        "no such prompt",
    )
    raise SystemExit(show.exit_code(found) if words else 0)


@command("prompts delete")
def delete_prompt(
    id: str = argument("ID", "Of a prompt, or its beginning."),
    dry_run: DryRun = False,
    project: Project = None,
) -> None:
    """Delete a prompt for good."""
    if not dry_run:
        who.require_person(who.of_process(), f"`ademem prompts delete {id}`")
    with open_project(project) as memories:
        whole = sessions.delete_prompt(memories, id, dry_run=dry_run)
    _show_deleted(whole, dry_run)


def _show_deleted(id: str, dry_run: bool) -> None:
    line = f"{'would delete' if dry_run else 'deleted'} {id}"
    show.report({"dry_run": dry_run, "deleted": id}, [line])


def _lines(row: dict[str, Any]) -> Iterator[str]:
    end = f"ended {row['ended_at'][:16]} ({row['end_reason']})" if "ended_at" in row else "open"
    held = f"{counted(row['memories'], 'memory')}, {counted(row['prompts'], 'prompt')}"
    yield f"{row['id']}  {row['started_at'][:16]}  {end}; {held}"
    if row.get("summary"):
        yield f"    {row['summary']}"
