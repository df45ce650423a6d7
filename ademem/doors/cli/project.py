"""Commands that enrol a project and register the hooks."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer

from ademem import api
from ademem.core import caller
from ademem.core import project as project_
from ademem.core.errors import UsageError
from ademem.doors.cli import show
from ademem.doors.cli.commands import app
from ademem.doors.cli.options import AsJson, DryRun, Project, open_project
from ademem.files import enrolment
from ademem.session import install as install_
from ademem.session.install import Where, command_files, git_hooks

Shared = Annotated[bool, typer.Option("--shared", help="The team's .claude/settings.json.")]
User = Annotated[bool, typer.Option("--user", help="Your own settings, for every project.")]


@app.command()
def init(project: Project = None, as_json: AsJson = False) -> None:
    """Create the `.ade/` of a project."""
    root = _folder(project or ".")
    if not project:
        try:
            enrolment.check_home(root)
        except enrolment.HomeFolder as error:
            if not caller.typed_by_person(os.environ) or as_json:
                raise
            typer.confirm(f"{error}. Enrol it all the same?", abort=True)
    done = api.init(root)
    last = f"{root} is enrolled; `ademem install` registers the hooks"
    show.report({"root": root, "done": list(done)}, [*done, last], as_json=as_json)


@app.command()
def install(
    project: Project = None,
    shared: Shared = False,
    user: User = False,
    with_git: Annotated[
        bool, typer.Option("--git-hooks", help="Also import after each pull, checkout and rebase.")
    ] = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Register the hooks and slash commands with Claude Code."""
    root = _root(project)
    where = _where(shared, user)
    change = install_.install(
        root,
        where,
        python=sys.executable,
        hooks=install_.hooks_folder(),
        dry_run=dry_run,
    )
    claude, hooks = os.path.dirname(change.path), install_.hooks_folder()
    done = []
    if written := command_files.install(claude, hooks, dry_run=dry_run):
        done.append(f"{'would write' if dry_run else 'wrote'} {', '.join(written)}")
    if where is Where.LOCAL and not dry_run and command_files.hide(root):
        done.append("git ignores these files, as they are yours alone (.git/info/exclude)")
    found = project_.at(root)
    if not dry_run and os.path.exists(found.database):
        with open_project(found.root) as memories:
            enrolment.register_typed(found, memories.store, os.environ)
    if with_git:
        program = os.path.join(os.path.dirname(sys.executable), "ademem")  # git's PATH may differ
        done += git_hooks.install(root, program, dry_run=dry_run)
    lines = [_describe(change, dry_run, "registered in", "was registered already in"), *done]
    show.report(_change_json(change, done), lines, as_json=as_json)


@app.command()
def uninstall(
    project: Project = None,
    shared: Shared = False,
    user: User = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Remove the hooks from the settings file. `.ade/` stays."""
    root = _root(project)
    where = _where(shared, user)
    claude = os.path.dirname(install_.settings_path(root, where))
    removed = command_files.uninstall(claude, dry_run=dry_run)
    change = install_.uninstall(root, where, dry_run=dry_run)
    if not dry_run:
        if where is Where.LOCAL:
            command_files.unhide(root)
        enrolment.leave(project_.at(root))
        enrolment.forget(project_.at(root), os.environ)
    done = git_hooks.uninstall(root, dry_run=dry_run)
    if removed:
        done.insert(0, f"{'would remove' if dry_run else 'removed'} {', '.join(removed)}")
    lines = [_describe(change, dry_run, "removed from", "was not in"), *done]
    show.report(_change_json(change, done), lines, as_json=as_json)


def _root(project: str | None) -> str:
    """Return the root of the project, which need not be enrolled for the user's own settings."""
    return _folder(project) if project else project_.enclosing(os.getcwd())


def _folder(path: str) -> str:
    if not os.path.isdir(path):
        raise UsageError(f"there is no folder {path}", "name the project with --project DIR")
    return os.path.abspath(path)


def _where(shared: bool, user: bool) -> Where:
    return Where.SHARED if shared else Where.USER if user else Where.LOCAL


def _describe(change: install_.Change, dry_run: bool, did: str, had: str) -> str:
    if dry_run:
        return change.diff() or f"nothing to change in {change.path}"
    return f"{did if change.changes else had} {change.path}"


def _change_json(change: install_.Change, done: list[str]) -> dict[str, Any]:
    return {"path": change.path, "changes": change.changes, "diff": change.diff(), "done": done}
