"""What memory costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ademem import api
from ademem.core.text import counted
from ademem.doors.cli import app, show
from ademem.doors.cli.options import AsJson, Project, opened

if TYPE_CHECKING:
    from typing import Any

Days = Annotated[int, typer.Option("--days", min=1, max=3650, help="How far to look back.")]


@app.command()
def cost(days: Days = 30, project: Project = None, as_json: AsJson = False) -> None:
    """Show what the AI was asked and cost. And how much hooks put before the model."""
    with opened(project) as memories:
        spent = api.get_cost(memories, days)
    if as_json:
        return show.json(spent)
    typer.echo(f"provider: {spent['provider']}")
    typer.echo(f"calls today: {spent['calls_today']} of {spent['daily_calls']}")
    for row in spent["ai"]:
        typer.echo(_asked(row))
    tokens = f"{counted(spent['tokens_in'], 'token')} in, {spent['tokens_out']:,} out"
    asked = f"{_usd(spent['usd'])}, {tokens}" if spent["ai"] else "nothing was asked"
    shown = counted(spent["characters"], "character")
    typer.echo(f"in {counted(days, 'day')}: {asked}; hooks put {shown} before the model")
    for row in spent["hooks"]:
        typer.echo(
            f"{row['day']}  {row['event']:<22} {row['answers']:>4} answers"
            f" {row['characters']:>10,} characters"
        )


def _asked(row: dict[str, Any]) -> str:
    return (
        f"{row['day']}  {row['purpose']:<12} {row['answered']} of {row['calls']} answered,"
        f" {counted(row['tokens_in'], 'token')} in, {row['tokens_out']:,} out, {_usd(row['usd'])}"
    )


def _usd(usd: float | None) -> str:
    return "price not told" if usd is None else f"${usd:.4f}"
