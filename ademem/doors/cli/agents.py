"""Commands about the agents that work here."""

from __future__ import annotations

from typing import Annotated

import typer

from ademem import api
from ademem.core.text import counted
from ademem.core.value import as_dict
from ademem.doors.cli import app, show
from ademem.doors.cli.options import AsJson, BriefField, BriefTexts, BriefVersion, Project, opened
from ademem.files import standing_brief as core_

agents = typer.Typer(help="Agents, and their standing briefs.", no_args_is_help=True)
app.add_typer(agents, name="agents")

Name = Annotated[str, typer.Argument(metavar="NAME", help="What the client calls the agent.")]


@agents.command("list")
def list_(project: Project = None, as_json: AsJson = False) -> None:
    """List the agents that worked here, have memories, or a brief."""
    with opened(project) as memories:
        found = api.list_agents(memories)
    if as_json:
        return show.json({"count": len(found), "agents": [as_dict(agent) for agent in found]})
    for agent in found:
        brief = f"brief at version {agent.version}" if agent.version else "no brief"
        held = counted(agent.memories, "memory")
        show.say(f"{agent.name}: {held}, {brief} (.ade/agents/{agent.folder})")
    if not found:
        typer.echo("no agent worked here yet", err=True)


@agents.command("show")
def show_(name: Name, project: Project = None, as_json: AsJson = False) -> None:
    """Show the standing brief of an agent."""
    with opened(project) as memories:
        document = api.get_brief(memories, name, labelled=not as_json)
    show.brief(document, f"ademem agents set {name}", as_json_=as_json)


@agents.command("set")
def set_(
    name: Name,
    field: BriefField,
    text: BriefTexts = None,
    version: BriefVersion = None,
    project: Project = None,
) -> None:
    """Replace one field of the standing brief of an agent."""
    with opened(project) as memories:
        changes = core_.field_of(field, text or ())
        document = api.update_brief(memories, changes, name, expect_version=version)
    typer.echo(f"the brief of {name} is at version {document.version}")
