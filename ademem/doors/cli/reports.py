"""Commands that report: status, cost, impressions, commits, guard, refusals."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from ademem import api
from ademem.core.text import counted
from ademem.doors.cli import show
from ademem.doors.cli.commands import app
from ademem.doors.cli.options import AsJson, Limit, Project, opened, warn

if TYPE_CHECKING:
    from typing import Any

guard = typer.Typer(help="Memory before mutation.", no_args_is_help=True)
app.add_typer(guard, name="guard")

Days = Annotated[int, typer.Option("--days", min=1, max=3650, help="How far to look back.")]


class Topic(StrEnum):
    COMMITS = "commits"
    COST = "cost"
    GUARD = "guard"
    IMPRESSIONS = "impressions"


@app.command()
def status(
    topic: Annotated[
        Topic | None, typer.Argument(metavar="TOPIC", help="One report instead.")
    ] = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Show what memory holds and what is due.

    Topics: commits (made outside of sessions), cost (of AI and hooks), guard (mode and turns),
    impressions (how often memories were shown and used).
    """
    match topic:
        case Topic.COMMITS:
            return digest(project, as_json)
        case Topic.COST:
            return cost(project=project, as_json=as_json)
        case Topic.GUARD:
            return guard_status(project, as_json)
        case Topic.IMPRESSIONS:
            return stats(project=project, as_json=as_json)
    with opened(project, catch_up=False) as memories:
        show.table(api.get_status(memories), as_json_=as_json)
    return None


@guard.command("status")
def guard_status(project: Project = None, as_json: AsJson = False) -> None:
    """Show the mode and the open turns."""
    with opened(project) as memories:
        show.table(api.get_guard_state(memories), as_json_=as_json)


@guard.command("explain")
def guard_explain(
    command: Annotated[str, typer.Argument(metavar="CMD", help="In quotes.")],
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Show whether a shell command counts as a mutation, and why."""
    judgement = api.judge_command(command, project)
    warn(project)
    if as_json:
        show.json(
            {
                "mutates": judgement.mutates,
                "reason": judgement.reason,
                "commands": list(judgement.commands),
            }
        )
    else:
        typer.echo(f"{'mutates' if judgement.mutates else 'reads'}: {judgement.reason}")


@guard.command("log")
def guard_log(limit: Limit = 20, project: Project = None, as_json: AsJson = False) -> None:
    """Show decisions of the guard, newest first."""
    with opened(project) as memories:
        decisions = api.list_decisions(memories, limit)
    if as_json:
        return show.json({"count": len(decisions), "decisions": decisions})
    for row in decisions:
        what = f"{row['decision']:<5} {row['tool']}: {row['target']}"
        show.say(f"{row['created_at']}  {what}  ({row['reason']})")
    if not decisions:
        typer.echo("the guard was not asked yet", err=True)


@app.command()
def refusals(limit: Limit = 20, project: Project = None, as_json: AsJson = False) -> None:
    """Show what the write gate refused, newest first."""
    with opened(project) as memories:
        rows = api.list_refusals(memories, limit)
    if as_json:
        return show.json({"count": len(rows), "refusals": rows})
    for row in rows:
        show.say(f"{row['created_at']}  {row['rule']}: {row['reason']}")
        if row["preview"]:
            show.say(f"    {row['preview']}")
    if not rows:
        typer.echo("nothing was refused", err=True)


@app.command()
def digest(project: Project = None, as_json: AsJson = False) -> None:
    """Show commits made outside of sessions that no session was shown."""
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
        typer.echo("no commit was made outside of sessions that a session does not know")


@app.command()
def stats(limit: Limit = 20, project: Project = None, as_json: AsJson = False) -> None:
    """Show how often memories were shown and used."""
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
        f"  [{row['category']}] {row['text'] or '(waits for review)'}"
        for row in found["by_memory"]
    )


@app.command()
def cost(days: Days = 30, project: Project = None, as_json: AsJson = False) -> None:
    """Show calls and cost of the AI, and what hooks put before the model."""
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
    return "price unknown" if usd is None else f"${usd:.4f}"
