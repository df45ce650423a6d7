"""Commands that capture what was said elsewhere."""

from __future__ import annotations

from typing import Annotated

import typer

from ademem import api
from ademem.core.errors import UsageError
from ademem.core.value import as_dict
from ademem.doors.cli import app, show
from ademem.doors.cli.options import AsJson, Project, opened, stdin

capture = typer.Typer(help="Lessons from what was said elsewhere.", no_args_is_help=True)
app.add_typer(capture, name="capture")


@capture.command()
def pr(
    source: Annotated[str, typer.Argument(metavar="FILE|-", help="- reads standard input.")],
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Keep what reviewers asked for. Reads the JSON that `gh` prints about a pull request."""
    with opened(project) as memories:
        captured = api.import_feedback(memories, _text(source))
    if as_json:
        return show.json(as_dict(captured))
    told = {name: len(ids) for name, ids in as_dict(captured).items() if isinstance(ids, tuple)}
    typer.echo(", ".join(f"{name} {count}" for name, count in told.items()))
    for reason in captured.refused:
        typer.echo(f"not kept: {reason}", err=True)


def _text(source: str) -> str:
    if source == "-":
        return stdin().read()
    try:
        with open(source, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError as error:
        raise UsageError(
            f"cannot read {source}: {error.strerror}", "name a file, or - for standard input"
        ) from error
