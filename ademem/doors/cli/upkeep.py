"""Commands that check, repair and maintain a project's memory."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import partial
from typing import Annotated

from ademem.core import clock, trust, who
from ademem.core import project as project_
from ademem.core.text import counted, preview
from ademem.core.value import as_dict
from ademem.doors.cli import show
from ademem.doors.cli.commands import command, on_project, open_project
from ademem.doors.cli.options import argument, flag, option
from ademem.doors.cli.parameters import DryRun, Project, confirm
from ademem.operations import curation, projects, searching, upkeep
from ademem.store.runtime import Runtime, personal_project
from ademem.synthesis.consolidation import Consolidated
from ademem.synthesis.sweeping import Swept

TEXT_CHARS = 80


@command("doctor")
def examine(
    fix: bool = flag("--fix", "Repair what can be repaired."),
    import_foreign: bool = flag(
        "--import-foreign", "Import memories of databases that were set aside."
    ),
    project: Project = None,
) -> None:
    """Check installation and store. Exit code 1 on a problem."""
    from ademem.operations import doctor, recovery

    found = project_.find(project, os.environ, os.getcwd())
    patient = doctor.Patient(project=found, environment=os.environ, now=clock.now())
    done = [f"fixed: {line}" for line in (doctor.fix(patient) if fix else ())]
    if import_foreign:
        done += recovery.import_foreign(found, os.environ, clock.now())
    findings = doctor.examine(patient)
    lines = done.copy()
    for finding in findings:
        lines.append(f"{'ok  ' if finding.ok else 'FAIL'}  {finding.check:<10} {finding.message}")
        lines += [f"{'':<17}{finding.hint}"] if finding.hint else []
    fails = not all(finding.ok for finding in findings)
    show.report({"findings": findings, "done": done}, lines, fails=fails)


@command()
def backup(
    listed: bool = flag("--list", "List the backups, newest first."),
    own: bool = flag("--personal", "Only that of your own memories of all projects."),
    project: Project = None,
) -> None:
    """Copy the database. The copy is in your data folder.

    Private memories are in it, too; your own of all projects get a file beside it. The newest three
    of each kind are kept: typed, weekly (by the worker), before a migration, and of databases that
    were replaced. `restore --backup` takes one back.
    """
    from ademem.operations import recovery
    from ademem.store import backup_files

    place = personal_project(os.environ)
    found = place if own else project_.find(project, os.environ, os.getcwd())
    if listed:
        rows = backup_files.list_all(found, os.environ)
        return show.listing(
            *("backups", rows),
            lambda each: [f"{each.at}  {each.kind:<9} {each.bytes:>12,} bytes  {each.path}"],
            f"no backup in {backup_files.folder(found, os.environ)}",
        )
    made = [recovery.back_up(found, os.environ, clock.now())]
    if not own and trust.has_personal(os.environ):
        made.append(recovery.back_up(place, os.environ, clock.now()))
    beside = {"personal": made[1] if len(made) > 1 else None}
    lines = [f"wrote {each.path} ({each.bytes:,} bytes)" for each in made]
    return show.report(as_dict(made[0]) | beside, lines)


@command(on=partial(open_project, catch_up=False))
def work(
    memories: Runtime,
    once: bool = option("--once", "Return when nothing is due (the default).", True),
    retry: bool = flag("--retry", "Retry parked jobs."),
    wait: bool = option("--wait/--no-wait", "Wait for another running worker.", True),
) -> None:
    """Run the jobs that are due now."""
    bar = show.progress if sys.stderr.isatty() else None
    others = upkeep.is_worker_running(memories)
    if others and wait:
        show.echo("another worker is running; waiting (`--no-wait` does not wait)", err=True)
    done = upkeep.work(memories, retry=retry, wait=wait, on_progress=bar)
    if bar:
        bar("")
    if done:
        summary = f"done: {', '.join(done)}"
    elif others and not wait:
        summary = "another worker is running; `ademem status` shows its progress"
    else:
        summary = "the other worker did it all" if others else "nothing was due"
    show.report({"done": done, "other_worker": others}, [summary])


@on_project()
def sweep(
    memories: Runtime,
    merge: bool = flag("--merge", "Merge memories of the same words instead."),
    dry_run: DryRun = False,
) -> None:
    """Age the memories now. Used ones are confirmed, unused ones archived."""
    if merge:
        done = upkeep.consolidate(memories, dry_run=dry_run)
        lines = [f"merge    {' '.join(x.members)} → {preview(x.content, 80)}" for x in done.merges]
        lines.append(_consolidation_summary(done, len(curation.list_conflicts(memories)), dry_run))
        return show.report({"dry_run": dry_run} | as_dict(done), lines)
    swept = upkeep.sweep(memories, dry_run=dry_run)
    return show.report(
        {"dry_run": dry_run} | as_dict(swept), _sweep_lines(memories, swept, dry_run)
    )


def _sweep_lines(memories: Runtime, swept: Swept, dry_run: bool) -> Iterator[str]:
    for move in swept.moves:
        yield f"{move.act:<8} {show.line(searching.get(memories, move.id), 80)}"
        yield f"         {move.before} → {move.after}: {move.why}"
    names = ("promoted", "demoted", "archived")
    moved = ", ".join(f"{getattr(swept, name)} {name}" for name in names)
    done = f"would be {moved}" if dry_run else moved + show.name_undo(swept.id)
    yield done if swept.moves else "every memory is where it belongs"


def _consolidation_summary(done: Consolidated, waiting: int, dry_run: bool) -> str:
    if done.outcome != "ok":
        return f"{done.outcome}: no memory has a vector (`ademem model install`, `ademem work`)"
    if not done.merges:
        if waiting:
            pairs = f"{counted(waiting, 'contradiction')} wait{'s' if waiting == 1 else ''}"
            return f"nothing new; {pairs} for you (`ademem review` shows them)"
        return "no three memories say the same in the same words"
    summary = f"{done.merged} merged into {done.created}"
    return f"would be {summary}" if dry_run else summary + show.name_undo(done.id)


@on_project()
def scrub(memories: Runtime, dry_run: DryRun = False) -> None:
    """Redact secrets in what is stored. It is database, copies, logs and files."""
    done = upkeep.scrub(memories, dry_run=dry_run)
    verb = "would clean" if dry_run else "cleaned"
    lines = [f"{verb} {where}: {count}" for where, count in (done.rows | done.files).items()]
    show.report(
        {"found": done.found} | as_dict(done),
        lines if done.found else [*lines, "nothing to clean"],
        (f"not cleaned: {left.what} ({left.hint})" for left in done.left),
    )


Force = Annotated[bool, option("--force", "Different projects, too.")]


@command("projects list")
def list_() -> None:
    """List the projects, the last used first."""
    show.listing(
        *("projects", projects.list_projects(os.environ, clock.now())),
        lambda it: [f"{it['name']}  {it['root']}  {it['last_used'][:10]}  {it['remote']}".rstrip()],
        "no project yet: `ademem init` enrols one",
    )


@command("projects merge")
def merge(
    names: list[str] = argument("FROM", "Names or folders; the last is kept."),
    force: Force = False,
    dry_run: DryRun = False,
) -> None:
    """Move the memory of projects into the last one named."""
    *sources, into = names
    _merge(sources, into, force, dry_run=dry_run)


@command("projects consolidate")
def consolidate(force: Force = False) -> None:
    """Propose projects that may be one, to be merged."""
    groups = projects.find_groups(os.environ)
    if show.as_json:
        return show.json({"count": len(groups), "groups": groups})
    asks = who.of_process().is_person
    for into, *others in groups:
        named = ", ".join(f"{each.name} ({each.root})" for each in others)
        show.say(f"{named} → {into.name} ({into.root})")
        if asks and confirm("merge?"):
            _merge([each.root for each in others], into.root, force)
    return show.echo(f"{counted(len(groups), 'group')} of projects that may be one", err=True)


@command("projects forget")
def forget(name: str = argument("NAME", "Or the folder.")) -> None:
    """Remove a project from the list; its memory stays."""
    entry = projects.forget_project(name, os.environ)
    show.report(as_dict(entry), [f"forgot {entry.name} ({entry.root})"])


def _merge(sources: list[str], into: str, force: bool, *, dry_run: bool = False) -> None:
    now = clock.now()
    merged = projects.merge_projects(
        sources, into, os.environ, now, force=force, dry_run=dry_run, by=who.of_process()
    )
    lines = [
        f"{each.source} → {each.into}: {counted(each.counts['unified_memories'], 'memory')}"
        + (f"; before: {each.backup}" if each.backup else " would move")
        for each in merged
    ]
    show.report({"count": len(merged), "merged": merged}, lines)
