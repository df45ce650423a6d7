"""Run due jobs, sweeps and consolidations now, and redact secrets in stored data."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

from ademem import worker
from ademem.capture import commits
from ademem.core import confined, failure_log, git, process
from ademem.core.errors import AdememError
from ademem.core.redaction import redact
from ademem.core.text import counted
from ademem.core.value import Value
from ademem.search.embedding import model_id
from ademem.store import Store, admission, backup_files, texts
from ademem.store.database import connect
from ademem.store.runtime import Runtime, personal_project
from ademem.sync import mirror
from ademem.synthesis import consolidation, sweeping
from ademem.synthesis.consolidation import Consolidated
from ademem.synthesis.sweeping import Swept
from ademem.worker import running


def work(
    runtime: Runtime,
    *,
    retry: bool = False,
    wait: bool = False,
    on_progress: Callable[[str], None] | None = None,
) -> list[str]:
    """Run due jobs, with *retry* parked ones, with *wait* those of another; return their kinds."""
    installed = running.find_model(runtime)
    shift = running.JobContext(runtime, runtime.clock, installed, on_progress=on_progress)
    return running.run_due(shift, retry=retry, wait=wait)


def is_worker_running(runtime: Runtime) -> bool:
    return worker.is_running(runtime.project)


def sweep(runtime: Runtime, *, dry_run: bool = False) -> Swept:
    if dry_run:
        return sweeping.preview_sweep(runtime.store, runtime.settings.lifecycle, runtime.clock())
    return sweeping.sweep_locked(runtime, runtime.clock())


def consolidate(runtime: Runtime, *, dry_run: bool = False) -> Consolidated:
    run = consolidation.ConsolidationRun(
        store=runtime.store,
        settings=runtime.settings,
        model=model_id(runtime.settings.embed),
    )
    if dry_run:
        return consolidation.preview(run)
    return consolidation.consolidate_locked(runtime, run, runtime.clock)


def sync_commits(runtime: Runtime) -> dict[str, Any] | None:
    return commits.sync(runtime.project, runtime.store, runtime.clock())


def download_model(runtime: Runtime) -> None:
    start = f"{worker.ADD_PATH}from ademem.doors.cli import program\nprogram()"
    command = [sys.executable, "-I", "-c", start, worker.package_folder(), "model", "install"]
    process.detach([*command, "--project", runtime.project.root], runtime.environment)


DATABASE = "ade.db"
WAIT_S = 10.0


class Left(Value):
    what: str
    hint: str


class Scrubbed(Value):
    rows: dict[str, int]
    files: dict[str, int]
    left: tuple[Left, ...]

    @property
    def found(self) -> int:
        return sum(self.rows.values()) + sum(self.files.values())


def scrub(runtime: Runtime, *, dry_run: bool = False) -> Scrubbed:
    """Mask secrets in the database, its copies and the files; tell what else has one."""
    rows = texts.scrub(runtime.store, runtime.now, dry_run=dry_run)
    of_copies, left = _scrub_copies(runtime, dry_run)
    if not dry_run:
        mirror.refresh(runtime)
    files = _scrub_files(runtime, dry_run)
    return Scrubbed(rows=rows | of_copies, files=files, left=(*left, *_list_leaks(runtime)))


def _scrub_copies(runtime: Runtime, dry_run: bool) -> tuple[dict[str, int], list[Left]]:
    """Mask secrets in backups and copies that were made here; raises nothing for another one."""
    rows: dict[str, int] = {}
    left = []
    for path, root in _list_copies(runtime).items():
        name = os.path.basename(path)
        if name.startswith(f"{DATABASE}{admission.FOREIGN}"):
            left.append(Left(what=f"{path}, which was not made here", hint="delete it"))
            continue
        try:
            confined.check_database(path, root)
            with closing(connect(path, WAIT_S)) as db:
                found = texts.scrub(Store(db, "", observer=None), runtime.now, dry_run=dry_run)
        except (sqlite3.Error, AdememError):
            left.append(Left(what=f"{path}, which cannot be cleaned", hint="delete it"))
        else:
            rows |= {f"{name}: {column}": count for column, count in found.items()}
    return rows, left


def _list_copies(runtime: Runtime) -> dict[str, str]:
    """Return paths of copies of the database, each with the folder that it is confined to."""
    project = runtime.project
    copies = {
        os.path.join(project.home, name): project.home_root
        for name in confined.names(project.home_root, project.home)
        if name.startswith(f"{DATABASE}.") and not name.endswith(("-wal", "-shm"))
    }
    for place in (project, personal_project(runtime.environment)):
        copies |= {each.path: "" for each in backup_files.list_all(place, runtime.environment)}
    return copies


def _scrub_files(runtime: Runtime, dry_run: bool) -> dict[str, int]:
    """Mask secrets in the texts of the project's folder; return how many each had."""
    cleaned: dict[str, int] = {}
    for root, path in _texts_below(runtime):
        text = _read(root, path)
        redacted = redact(text)
        if redacted.found and redacted.text != text:
            cleaned[os.path.relpath(path, runtime.project.root)] = len(redacted.found)
            if not dry_run:
                confined.write_text(root, path, redacted.text)
    return cleaned


def _list_leaks(runtime: Runtime) -> Iterator[Left]:
    """Yield what has a secret and only a person can clean: commits, and files of settings."""
    project = runtime.project
    arguments = ("log", "--all", "--format=commit %H", "-p", "--", ".ade")
    patches = git.text(project.root, *arguments, timeout_s=git.LONG_S).split("\ncommit ")
    leaking = [patch.removeprefix("commit ")[:12] for patch in patches if redact(patch).found]
    if leaking:
        newest = ", ".join(leaking[:3]) + (", …" if len(leaking) > 3 else "")
        yield Left(
            what=f"{counted(len(leaking), 'commit')} of git's history ({newest})",
            hint="give each key up where it was issued, whatever is cleaned here;"
            " `git filter-repo --replace-text` rewrites the history",
        )
    for root, path in ((project.root, project.config), (project.home_root, project.local_config)):
        if redact(_read(root, path)).found:
            yield Left(what=path, hint="take the secret out by hand; it is your file")


def _texts_below(runtime: Runtime) -> Iterator[tuple[str, str]]:
    project = runtime.project
    logs = failure_log.user_log_dir(runtime.environment)
    tops = {project.ade: project.root, project.home: project.home_root, logs: os.path.dirname(logs)}
    for top, root in tops.items():
        for path in confined.files_below(root, top):
            is_settings = path in (project.config, project.local_config)
            if not os.path.basename(path).startswith(DATABASE) and not is_settings:
                yield root, path


def _read(root: str, path: str) -> str:
    try:
        return confined.read_text(root, path) or ""
    except (UnicodeDecodeError, OSError):
        return ""
