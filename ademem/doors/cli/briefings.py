"""Commands that show what sessions are told, and what came of it."""

from __future__ import annotations

import typer

from ademem import api
from ademem.core.text import counted
from ademem.doors.cli import app, show
from ademem.doors.cli.options import AsJson, Limit, Project, opened


@app.command()
def digest(project: Project = None, as_json: AsJson = False) -> None:
    """Show what people committed and no session was told of."""
    with opened(project) as memories:
        found = api.get_digest(memories)
    if as_json:
        return show.json(found)
    if found["rewritten_from"]:
        typer.echo(f"history was rewritten: {found['rewritten_from']} is no longer part of it")
    for each in found["commits"]:
        show.say(f"{each['sha'][:7]} {each['at'][:10]} {each['author']}: {each['subject']}")
    for folder, count in found["folders"].items():
        show.say(f"    {folder}: {count}")
    if not found["commits"]:
        typer.echo("nothing was committed outside of sessions that was not told")


@app.command()
def stats(limit: Limit = 20, project: Project = None, as_json: AsJson = False) -> None:
    """Show how often memories were shown unasked, and used."""
    with opened(project) as memories:
        found = api.get_impressions(memories, limit)
    if as_json:
        return show.json(found)
    typer.echo(
        f"shown: {counted(found['memories'], 'memory')}, {counted(found['shown'], 'time')};"
        f" used: {found['used_memories']:,}, {counted(found['used'], 'time')};"
        f" sinking: {found['sinking']:,}"
    )
    show.fenced(
        f"{row['id']}  shown {row['shown']}, used {row['used']}, worth {row['worth']:.0%}"
        f"  [{row['category']}] {row['text'] or '(waits for your word)'}"
        for row in found["by_memory"]
    )
