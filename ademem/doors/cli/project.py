"""Commands about the project as a whole: enrolling, hooks, health, guard, work."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from ademem import api
from ademem.api import doctor, restoring
from ademem.core import clock
from ademem.core import project as project_
from ademem.core.errors import UsageError
from ademem.core.value import as_dict
from ademem.doors.cli import show
from ademem.doors.cli.commands import app
from ademem.doors.cli.options import AsJson, DryRun, Project, opened
from ademem.files import enrolment
from ademem.session import install as install_
from ademem.session.install import Where, git_hooks

Shared = Annotated[bool, typer.Option("--shared", help="The team's .claude/settings.json.")]
User = Annotated[bool, typer.Option("--user", help="Your own settings, for every project.")]


@app.command()
def init(project: Project = None) -> None:
    """Create the `.ade/` of a project."""
    root = _folder(project or ".")
    for done in api.init(root):
        typer.echo(done)
    typer.echo(f"{root} is enrolled; `ademem install` puts the hooks in")


@app.command()
def install(
    project: Project = None,
    shared: Shared = False,
    user: User = False,
    with_git: Annotated[
        bool, typer.Option("--git-hooks", help="Also import after each pull, checkout and rebase.")
    ] = False,
    dry_run: DryRun = False,
) -> None:
    """Register the hooks with Claude Code, and allow `recall`."""
    change = install_.install(
        _root(project),
        _where(shared, user),
        python=sys.executable,
        hooks=install_.hooks_folder(),
        dry_run=dry_run,
    )
    _tell(change, dry_run, "registered in", "was registered already in")
    found = project_.at(_root(project))
    if not dry_run and os.path.exists(found.database):
        with opened(found.root) as memories:
            enrolment.register_typed(found, memories.store, os.environ)
    if with_git:
        for done in git_hooks.install(_root(project), _own_program(), dry_run=dry_run):
            typer.echo(done)


@app.command()
def uninstall(
    project: Project = None, shared: Shared = False, user: User = False, dry_run: DryRun = False
) -> None:
    """Remove the hooks from the settings file. `.ade/` stays."""
    change = install_.uninstall(_root(project), _where(shared, user), dry_run=dry_run)
    if not dry_run:
        enrolment.leave(project_.at(_root(project)))
        enrolment.forget(project_.at(_root(project)), os.environ)
    _tell(change, dry_run, "removed from", "was not in")
    for done in git_hooks.uninstall(_root(project), dry_run=dry_run):
        typer.echo(done)


@app.command("doctor")
def doctor_(
    fix: Annotated[bool, typer.Option("--fix", help="Repair what can be repaired.")] = False,
    import_foreign: Annotated[
        bool,
        typer.Option("--import-foreign", help="Import memories of databases that were set aside."),
    ] = False,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Check the installation and the store. Exit code 1 on a problem."""
    found = project_.find(project, os.environ, os.getcwd())
    patient = doctor.Patient(project=found, environment=os.environ, now=clock.now())
    if fix:
        for done in doctor.fix(patient):
            typer.echo(f"fixed: {done}")
    if import_foreign:
        for done in restoring.restore(found, os.environ, clock.now()):
            typer.echo(done)
    findings = doctor.examine(patient)
    if as_json:
        show.json({"findings": [as_dict(finding) for finding in findings]})
    else:
        for finding in findings:
            typer.echo(f"{'ok  ' if finding.ok else 'FAIL'}  {finding.check:<10} {finding.message}")
            if finding.hint:
                typer.echo(f"{'':<17}{finding.hint}")
    raise typer.Exit(0 if all(finding.ok for finding in findings) else 1)


@app.command()
def work(
    once: Annotated[
        bool, typer.Option("--once", help="Return when nothing is due (the default).")
    ] = True,
    retry: Annotated[bool, typer.Option("--retry", help="Retry parked jobs.")] = False,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Wait for another running worker.")
    ] = True,
    project: Project = None,
) -> None:
    """Run the jobs that are due now."""
    bar = _progress if sys.stderr.isatty() else None
    with opened(project, catch_up=False) as memories:
        others = api.is_worker_running(memories)
        if others and wait:
            typer.echo("another worker is at it; waiting (`--no-wait` leaves it alone)", err=True)
        done = api.work(memories, retry=retry, wait=wait, on_progress=bar)
    if bar:
        bar("")
    if done:
        typer.echo(f"done: {', '.join(done)}")
    elif others and not wait:
        typer.echo("another worker is at it; `ademem status` tells how far")
    else:
        typer.echo("the other worker did it all" if others else "nothing was due")


@app.command()
def scrub(dry_run: DryRun = False, project: Project = None, as_json: AsJson = False) -> None:
    """Redact secrets in database, copies, logs and files."""
    with opened(project) as memories:
        done = api.scrub(memories, dry_run=dry_run)
    if as_json:
        return show.json(
            {
                "found": done.found,
                "rows": done.rows,
                "files": done.files,
                "left": [as_dict(left) for left in done.left],
            }
        )
    verb = "would clean" if dry_run else "cleaned"
    for where, count in (done.rows | done.files).items():
        typer.echo(f"{verb} {where}: {count}")
    if not done.found:
        typer.echo("nothing to clean")
    for left in done.left:
        typer.echo(f"not cleaned: {left.what} ({left.hint})", err=True)


def _own_program() -> str:
    """As git finds it, whose PATH may be another's."""
    return os.path.join(os.path.dirname(sys.executable), "ademem")


def _progress(line: str) -> None:
    typer.echo(f"\r\x1b[K{line}", nl=False, err=True)


def _root(project: str | None) -> str:
    """The project whose settings are meant; it need not be enrolled for the user's own."""
    return _folder(project) if project else project_.enclosing(os.getcwd())


def _folder(path: str) -> str:
    if not os.path.isdir(path):
        raise UsageError(f"there is no folder {path}", "name the project with --project DIR")
    return os.path.abspath(path)


def _where(shared: bool, user: bool) -> Where:
    return Where.SHARED if shared else Where.USER if user else Where.LOCAL


def _tell(change: install_.Change, dry_run: bool, did: str, had: str) -> None:
    if dry_run:
        typer.echo(change.diff() or f"nothing to change in {change.path}")
    else:
        typer.echo(f"{did if change.changes else had} {change.path}")
