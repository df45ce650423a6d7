"""Commands about sessions of a client and what a person typed in them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from ademem import api
from ademem.core.text import counted
from ademem.doors.cli import show
from ademem.doors.cli.commands import app
from ademem.doors.cli.options import (
    AsJson,
    Limit,
    Project,
    argument,
    open_project,
    option,
    text_or_stdin,
)
from ademem.doors.views import session as views

session = typer.Typer(help="Sessions of Claude Code and other programs.", no_args_is_help=True)
prompts = typer.Typer(help="What you typed in sessions.", no_args_is_help=True)
app.add_typer(session, name="session")
app.add_typer(prompts, name="prompts")

SessionId = Annotated[str, typer.Argument(metavar="ID", help="The client's id of the session.")]
OfSession = Annotated[
    str | None, typer.Option("--session", metavar="ID", help="Of this session alone.")
]


@session.command()
def start(
    id: SessionId,
    directory: str | None = option("--directory", "Where it works; else the current folder."),
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Start a session, or fill the blanks of an open one."""
    with open_project(project) as memories:
        _show(api.start_session(memories, id, directory or os.getcwd()), as_json)


@session.command()
def end(
    id: SessionId,
    summary: str = option("--summary", "What was done; - reads input.", ""),
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """End a session for good."""
    with open_project(project) as memories:
        _show(api.end_session(memories, id, text_or_stdin(summary)), as_json)


@session.command()
def summary(
    text: str = argument("TEXT", "What was done; - reads standard input.", "-"),
    of: OfSession = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Write the summary of a session as a memory."""
    with open_project(project) as memories:
        show.verdict(api.summarize_session(memories, text_or_stdin(text), of), as_json)


@session.command("list")
def list_(limit: Limit = 20, project: Project = None, as_json: AsJson = False) -> None:
    """List sessions, newest first."""
    with open_project(project) as memories:
        found = api.list_sessions(memories, limit)
    show.listing("sessions", found, _lines, "no session yet", as_json)


@session.command("show")
def show_(id: SessionId, project: Project = None, as_json: AsJson = False) -> None:
    """Show a session with its memories."""
    with open_project(project) as memories:
        found = api.get_session(memories, id)
        learned = api.list_session_memories(memories, id)
    if as_json:
        show.json({"session": found, "memories": [show.memory_json(each) for each in learned]})
    else:
        show.fenced((*_lines(found), *map(show.line, learned)))


@session.command()
def delete(id: SessionId, project: Project = None, as_json: AsJson = False) -> None:
    """Delete a session that has no memories, and its prompts."""
    with open_project(project) as memories:
        api.delete_session(memories, id)
    show.report({"deleted": id}, [f"deleted {id}"], as_json=as_json)


@app.command()
def why(
    id: str | None = argument("SESSION", "None: this one, or the latest.", None),
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Show what a session was sent, and which memories it used."""
    with open_project(project) as memories:
        id, found = api.list_sent(memories, id)
    if as_json:
        texts = [views.to_json(each, show.is_withheld) for each in found]
        return show.json({"session": id or None, "count": len(texts), "texts": texts})
    if not found:
        return show.echo("no session was sent anything yet", err=True)
    show.say(f"session {id}")
    return show.fenced(line for each in found for line in views.to_lines(each, show.is_withheld))


@prompts.command()
def search(
    words: list[str] | None = argument("WORDS", "What was typed; none: the newest.", None),
    recent: int = option("--recent -n", "So many.", 20, min=1, max=1000),
    of: OfSession = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Find prompts by words, or list the newest."""
    with open_project(project) as memories:
        found = api.search_prompts(memories, " ".join(words or ()), of, recent)

    def lines(row: dict[str, Any]) -> list[str]:
        return [f"{row['id']}  {row['created_at'][:16]}  {row['text']}"]

    show.listing("prompts", found, lines, "no such prompt", as_json)


@prompts.command("delete")
def delete_prompt(
    id: str = argument("ID", "Of a prompt, or its beginning."),
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Delete a prompt for good."""
    with open_project(project) as memories:
        api.delete_prompt(memories, id)
    show.report({"deleted": id}, [f"deleted {id}"], as_json=as_json)


def _show(found: dict[str, Any], as_json: bool) -> None:
    if as_json:
        show.json(found)
    else:
        show.fenced(_lines(found))


def _lines(row: dict[str, Any]) -> Iterator[str]:
    end = f"ended {row['ended_at'][:16]} ({row['end_reason']})" if "ended_at" in row else "open"
    held = f"{counted(row['memories'], 'memory')}, {counted(row['prompts'], 'prompt')}"
    yield f"{row['id']}  {row['started_at'][:16]}  {end}; {held}"
    if row.get("summary"):
        yield f"    {row['summary']}"
