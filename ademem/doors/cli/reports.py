"""Commands that report: status with its topics, and the guard's judgement of a command."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from ademem import api
from ademem.core.text import counted
from ademem.doors.cli import show
from ademem.doors.cli.commands import app
from ademem.doors.cli.options import AsJson, Project, open_project, warn

if TYPE_CHECKING:
    from typing import Any

guard = typer.Typer(help="Recall before changes.", no_args_is_help=True)
app.add_typer(guard, name="guard")


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
    days: Annotated[int, typer.Option("--days", min=1, max=3650, help="Period of cost.")] = 30,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=1000, help="Most rows of impressions.")
    ] = 20,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Show what memory holds and what is due.

    Topics: commits (made outside of sessions), cost (of AI and hooks), guard (mode and turns),
    impressions (how often memories were shown and used).
    """
    with open_project(project, catch_up=topic is not None) as memories:
        match topic:
            case Topic.COMMITS:
                _show_commits(api.get_digest(memories), as_json)
            case Topic.COST:
                _show_cost(api.get_cost(memories, days), as_json)
            case Topic.GUARD:
                show.table(api.get_guard_state(memories), as_json=as_json)
            case Topic.IMPRESSIONS:
                _show_impressions(api.get_impressions(memories, limit), as_json)
            case None:
                show.table(api.get_status(memories), as_json=as_json)


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
        return show.json(
            {
                "mutates": judgement.mutates,
                "reason": judgement.reason,
                "commands": list(judgement.commands),
            }
        )
    return show.echo(f"{'mutates' if judgement.mutates else 'reads'}: {judgement.reason}")


def _show_commits(found: dict[str, Any], as_json: bool) -> None:
    if as_json:
        return show.json(found)
    if found["rewritten_from"]:
        show.echo(f"history was rewritten: {found['rewritten_from']} is no longer part of it")
    for each in found["commits"]:
        show.say(f"{each['sha'][:7]} {each['at'][:10]} {each['author']}: {each['subject']}")
    for folder, count in found["folders"].items():
        show.say(f"    {folder}: {count}")
    if not found["commits"]:
        show.echo("sessions made or were shown all commits")
    return None


def _show_impressions(found: dict[str, Any], as_json: bool) -> None:
    if as_json:
        return show.json(found)
    show.echo(
        f"shown: {counted(found['memories'], 'memory')}, {counted(found['shown'], 'time')};"
        f" used: {found['used_memories']:,}, {counted(found['used'], 'time')};"
        f" ranked lower, as unused: {found['sinking']:,}"
    )
    return show.fenced(
        f"{row['id']}  shown {row['shown']}, used {row['used']}, worth {row['worth']:.0%}"
        f"  [{row['category']}] {row['text'] or '(waits for review)'}"
        for row in found["by_memory"]
    )


def _show_cost(spent: dict[str, Any], as_json: bool) -> None:
    if as_json:
        return show.json(spent)
    show.echo(f"provider: {spent['provider']}")
    show.echo(f"calls today: {spent['calls_today']} of {spent['daily_calls']}")
    for row in spent["ai"]:
        show.echo(
            f"{row['day']}  {row['purpose']:<12} {row['answered']} of {row['calls']} answered,"
            f" {_tokens(row)}, {_usd(row['usd'])}"
        )
    asked = f"{_usd(spent['usd'])}, {_tokens(spent)}" if spent["ai"] else "nothing was asked"
    shown = counted(spent["characters"], "character")
    show.echo(f"in {counted(spent['days'], 'day')}: {asked}; hooks put {shown} before the model")
    for row in spent["hooks"]:
        show.echo(
            f"{row['day']}  {row['event']:<22} {row['answers']:>4} answers"
            f" {row['characters']:>10,} characters"
        )
    return None


def _tokens(row: dict[str, Any]) -> str:
    return f"{counted(row['tokens_in'], 'token')} in, {row['tokens_out']:,} out"


def _usd(usd: float | None) -> str:
    return "price unknown" if usd is None else f"${usd:.4f}"
