"""Commands about the projects of this machine."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from ademem import api
from ademem.core import caller, clock
from ademem.core.text import counted
from ademem.core.value import as_dict
from ademem.doors.cli import show
from ademem.doors.cli.commands import app
from ademem.doors.cli.options import AsJson, argument

projects = typer.Typer(help="The projects of this machine.", no_args_is_help=True)
app.add_typer(projects, name="projects")

Force = Annotated[bool, typer.Option("--force", help="Different projects, too.")]


@projects.command("list")
def list_(as_json: AsJson = False) -> None:
    """List the projects, the last used first."""

    def lines(row: dict[str, str]) -> list[str]:
        return [f"{row['name']}  {row['root']}  {row['last_used'][:10]}  {row['remote']}".rstrip()]

    found = api.list_projects(os.environ, clock.now())
    show.listing("projects", found, lines, "no project yet: `ademem init` enrols one", as_json)


@projects.command()
def merge(
    names: list[str] = argument("FROM", "Names or folders; the last is kept."),
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Move the memory of projects into the last one named."""
    *sources, into = names
    _merge(sources, into, force, as_json)


@projects.command()
def consolidate(force: Force = False, as_json: AsJson = False) -> None:
    """Propose projects that may be one, to be merged."""
    groups = api.find_groups(os.environ)
    asks = not as_json and caller.typed_by_person(os.environ)
    if as_json:
        return show.json({"count": len(groups), "groups": groups})
    for into, *others in groups:
        named = ", ".join(f"{each.name} ({each.root})" for each in others)
        show.say(f"{named} → {into.name} ({into.root})")
        if asks and typer.confirm("merge?"):
            _merge([each.root for each in others], into.root, force, as_json=False)
    return show.echo(f"{counted(len(groups), 'group')} of projects that may be one", err=True)


@projects.command()
def forget(name: str = argument("NAME", "Or the folder."), as_json: AsJson = False) -> None:
    """Take a project off the list; its memory stays."""
    entry = api.forget_project(name, os.environ)
    show.report(as_dict(entry), [f"forgot {entry.name} ({entry.root})"], as_json=as_json)


def _merge(sources: list[str], into: str, force: bool, as_json: bool) -> None:
    merged = api.merge_projects(sources, into, os.environ, clock.now(), force=force)
    lines = [
        f"{each.source} → {each.into}: {counted(each.counts['unified_memories'], 'memory')};"
        f" before: {each.backup}"
        for each in merged
    ]
    show.report({"count": len(merged), "merged": merged}, lines, as_json=as_json)
