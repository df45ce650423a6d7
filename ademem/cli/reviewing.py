"""Commands by which people review what waits: one after the other here, or in a pull request."""

from __future__ import annotations

from typing import Annotated

import typer

from ademem.cli import app, show
from ademem.cli.options import AsJson, DryRun, Limit, Project, opened


@app.command()
def review(limit: Limit = 100, project: Project = None, as_json: AsJson = False) -> None:
    """List what waits for a person, and why: what is quarantined, then what nobody confirmed."""
    with opened(project) as memories:
        show.waiting(memories.review(limit), as_json_=as_json)


@app.command()
def propose(
    branch: Annotated[
        str | None, typer.Option("--branch", help="A new one; else ademem/candidates.")
    ] = None,
    dry_run: DryRun = False,
    project: Project = None,
) -> None:
    """Commit the candidates as a sheet to a branch of its own, for a pull request."""
    with opened(project) as memories:
        proposal = memories.propose(branch, dry_run=dry_run)
    if dry_run:
        typer.echo(f"would commit to {proposal.branch}:\n")
        return show.say(proposal.text)
    noun = "candidate" if proposal.count == 1 else "candidates"
    typer.echo(f"committed {proposal.count} {noun} to {proposal.branch}")
    typer.echo(f"`git push -u origin {proposal.branch}` sends them to be reviewed")
