"""Commands about settings, and about trust in what came with a project."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from ademem import caller, enrolment
from ademem.api import configuring
from ademem.api.toml_text import written
from ademem.cli import app, shape, show
from ademem.cli.options import AsJson, Project, opened
from ademem.configuration.values import key_of
from ademem.errors import UsageError
from ademem.text import counted

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ademem.api.configuring import Arrived, Setting

config = typer.Typer(help="Settings, and where they come from.", no_args_is_help=True)
app.add_typer(config, name="config")

Key = Annotated[str, typer.Argument(metavar="KEY", help="Such as guard.mode.")]


@config.command("list")
def list_(project: Project = None, as_json: AsJson = False) -> None:
    """Show every setting: its value, where that comes from, and whose the key is."""
    settings, warnings = configuring.list_settings(project)
    if as_json:
        rows = [_as_json(setting) for setting in settings]
        return show.json({"settings": rows, "warnings": [str(each) for each in warnings]})
    for setting in settings:
        value = written(setting.value)
        show.say(f"{setting.key} = {value}  ({setting.source}; {setting.owner})")
    for warning in warnings:
        show.say(f"warning: {warning}", err=True)
    return None


@config.command("get")
def get(key: Key, project: Project = None, as_json: AsJson = False) -> None:
    """Show one setting."""
    settings, warnings = configuring.list_settings(project)
    shape.warn(warnings)
    key_of(key)
    (setting,) = (each for each in settings if each.key == key)
    if as_json:
        return show.json(_as_json(setting))
    return show.say(written(setting.value) if not isinstance(setting.value, str) else setting.value)


@config.command("set")
def set_(
    key: Key,
    value: Annotated[str, typer.Argument(metavar="VALUE", help="Words of a list: with commas.")],
    local: Annotated[
        bool, typer.Option("--local", help="For you, in this project (the default).")
    ] = False,
    shared: Annotated[bool, typer.Option("--shared", help="For the team, in git.")] = False,
    user: Annotated[bool, typer.Option("--user", help="For you, in every project.")] = False,
    project: Project = None,
) -> None:
    """Change one setting in a file."""
    if local + shared + user > 1:
        raise UsageError("--local, --shared and --user exclude each other", "give one of them")
    where = "shared" if shared else "user" if user else "local"
    done = configuring.set_value(key, value, where, root=project)
    typer.echo(f"{key} is set in {done.path}")
    if done.others_are_asked:
        typer.echo("it counts for others only after their own `ademem trust`")
    if not done.in_force:
        typer.echo(f"but the value in force is that of {done.source}", err=True)


@app.command()
def trust(
    settings: Annotated[bool, typer.Option("--settings", help="Only the settings.")] = False,
    files: Annotated[bool, typer.Option("--files", help="Only memories of the files.")] = False,
    database: Annotated[
        bool, typer.Option("--database", help="Only a database that was not made here.")
    ] = False,
    show_: Annotated[
        bool, typer.Option("--show", help="Ask nothing; exit code 1 if something waits.")
    ] = False,
    revoke: Annotated[bool, typer.Option("--revoke", help="Forget what you agreed to.")] = False,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Agree to what came with a project, part by part. Asks in a terminal of yours."""
    if revoke:
        configuring.revoke(root=project)
        typer.echo("what you agreed to for this project is forgotten")
        return
    if not show_:
        caller.require_person(os.environ, "trust in a project")
    arrived = configuring.arrived(project)
    if as_json:
        show.json(_arrived_as_json(arrived))
    if show_:
        if not as_json:
            _show(arrived)
        raise typer.Exit(1 if arrived else 0)
    every = not (settings or files or database)
    asked = [
        (database or every) and _ask_about_database(project),
        _ask(arrived, settings=settings or every, files=files or every, project=project),
    ]
    if not any(asked):
        typer.echo("nothing waits for your trust")


def _ask_about_database(project: str | None) -> bool:
    """Return True when there was something to ask."""
    with opened(project) as memories:
        runtime = memories.runtime
        store = runtime.store
        if store.is_trusted:
            return False
        claims = store.db.execute(
            "select ifnull(sum(trust = 'user'), 0) as told, ifnull(sum(pinned), 0) as pinned"
            " from main.unified_memories where deleted_at is null"
        ).fetchone()
        typer.echo(
            f"{runtime.project.database} was not made here. It calls"
            f" {counted(claims['told'], 'memory')} a person's word and has"
            f" {counted(claims['pinned'], 'memory')} pinned."
        )
        if typer.confirm("Is this database yours?"):
            enrolment.trust_database(runtime.project, store, runtime.environment)
    return True


def _ask(arrived: Arrived, *, settings: bool, files: bool, project: str | None) -> bool:
    waits = False
    if settings and arrived.settings:
        waits = True
        _show_settings(arrived)
        if typer.confirm("Shall these count for you, until one of them changes?"):
            configuring.agree(arrived, settings=True, root=project)
    if settings and arrived.local:
        waits = True
        _show_local(arrived)
        if typer.confirm("Is this file yours?"):
            configuring.agree(arrived, local=True, root=project)
    if files and (arrived.memories or arrived.briefs):
        waits = True
        _show_memories(arrived)
        if typer.confirm("Shall they count like your own, now and after later pulls?"):
            configuring.agree(arrived, came=True, root=project)
    return waits


def _show(arrived: Arrived) -> None:
    if arrived.settings:
        _show_settings(arrived)
    if arrived.local:
        _show_local(arrived)
    if arrived.memories or arrived.briefs:
        _show_memories(arrived)
    if not arrived:
        typer.echo("nothing waits for your trust")


def _show_settings(arrived: Arrived) -> None:
    typer.echo("config.toml of this project sets what is yours to set:")
    _show_values(arrived.settings)


def _show_local(arrived: Arrived) -> None:
    typer.echo("config.local.toml was not written by `ademem config set` here. It sets:")
    if arrived.local:
        _show_values(arrived.local.values)
        for warning in arrived.local.warnings:
            show.say(f"  ignored: {warning}")


def _show_memories(arrived: Arrived) -> None:
    what = counted(arrived.memories, "memory")
    typer.echo(f"{what} came with the files (`ademem review --imported` shows them)")
    if arrived.briefs:
        typer.echo("standing briefs came with the files; they say:")
        for text in arrived.briefs:
            show.say(f"  {text}")


def _show_values(values: Mapping[str, Any]) -> None:
    for key, value in values.items():
        show.say(f"  {key} = {written(value)}")


def _as_json(setting: Setting) -> dict[str, Any]:
    return {
        "key": setting.key,
        "value": setting.value,
        "source": setting.source,
        "owner": setting.owner,
    }


def _arrived_as_json(arrived: Arrived) -> dict[str, Any]:
    return {
        "waits": bool(arrived),
        "settings": arrived.settings,
        "local": arrived.local.values if arrived.local else None,
        "memories": arrived.memories,
        "briefs": list(arrived.briefs),
    }
