"""Exchange memories with other machines through folders and Engram."""

from __future__ import annotations

import os
from typing import Any

from ademem.capture.gate import relating
from ademem.core import git
from ademem.core.errors import UsageError
from ademem.core.value import Value
from ademem.files import engram
from ademem.store import journal, stamps
from ademem.store.memories import new_event
from ademem.store.runtime import Runtime, on_store
from ademem.sync import engram_chunks, folder
from ademem.sync.engram_chunks import Received, Sent
from ademem.sync.folder import Exchanged
from ademem.sync.provenance import provenance_of, safe_name
from ademem.sync.record_import import make_admission_rule


class Preview(Value):
    path: str
    is_new: bool
    """The folder is not enrolled yet."""
    unread: tuple[str, ...]
    entries: tuple[dict[str, Any], ...]
    held_back: tuple[str, ...]
    """Ids of memories with a secret, which it would not send."""


class FolderState(Value):
    path: str
    is_there: bool
    waiting: int
    """Records that are to be sent; those of the first exchange are not counted."""
    unread: tuple[str, ...] = ()
    replicas: tuple[str, ...] = ()


class SyncStatus(Value):
    folders: tuple[FolderState, ...]
    deferred: int
    oldest: str
    dead: tuple[str, ...]


def sync_folder(runtime: Runtime, path: str, *, force: bool = False) -> Exchanged:
    """Read what other machines wrote into the folder, and write what they lack.

    The first exchange enrols the folder. With *force* also one of another project name, or one
    that is empty though it was used before.
    """
    project = runtime.project
    exchanged = folder.exchange(
        runtime.store,
        project,
        runtime.settings.gate,
        folder.folder_at(path, project),
        runtime.clock(),
        name=_author(runtime),
        trusted=provenance_of(runtime).trusts_everybody,
        force=force,
    )
    if exchanged.changed:
        relating.relate_imported(runtime.store, runtime.clock())
    return exchanged


def _author(runtime: Runtime) -> str:
    name = runtime.settings.sync.author
    if not name:
        found = git.output(runtime.project.root, "config", "user.name")
        name = (found or b"").decode("utf-8", "replace")
    return safe_name(name)


def preview_sync(runtime: Runtime, path: str, *, force: bool = False) -> Preview:
    place = folder.folder_at(path, runtime.project)
    if not force:
        folder.check(runtime.store, place, runtime.project)
    held_back: list[str] = []
    entries = tuple(folder.outgoing(runtime.store, place, held_back))
    return Preview(
        path=place.path,
        is_new=place.path not in folder.list_enrolled(runtime.store),
        unread=tuple(folder.unread(runtime.store, place)),
        entries=entries,
        held_back=tuple(held_back),
    )


list_folders = on_store(folder.list_enrolled)


def get_exchange_status(runtime: Runtime) -> SyncStatus:
    store, states = runtime.store, []
    deferred = journal.find_deferred(store)
    for path in list_folders(runtime):
        waiting = len(journal.rows_since(store, folder.TARGET + path))
        try:
            place = folder.folder_at(path, runtime.project)
            unread, found = folder.unread(store, place), folder.manifests(place)
        except (UsageError, OSError):
            states.append(FolderState(path=path, is_there=False, waiting=waiting))
            continue
        states.append(
            FolderState(
                path=path,
                is_there=True,
                waiting=waiting,
                unread=tuple(unread),
                replicas=tuple(sorted(each.replica for each in found)),
            )
        )
    return SyncStatus(
        folders=tuple(states), deferred=deferred.count, oldest=deferred.oldest, dead=deferred.dead
    )


def leave_folder(runtime: Runtime, path: str) -> bool:
    """Leave the files there; return False if it was not enrolled."""
    return journal.leave(runtime.store, folder.TARGET + os.path.realpath(path))


def leave_engram(runtime: Runtime) -> bool:
    """Note no more changes for Engram's chunks, which stay; False if none was noted."""
    return journal.leave(runtime.store, engram.TARGET)


class EngramStatus(Value):
    is_enrolled: bool
    """There was an export, and what changes is noted for the next one."""
    chunks: int
    unread: tuple[str, ...]
    waiting: Sent
    is_conflicted: bool
    """The manifest has both sides of a merge; the next import or export makes it one."""


def send_to_engram(runtime: Runtime, *, force: bool = False, dry_run: bool = False) -> Sent:
    """Write what changed since the last export into a chunk of `.engram/`; *force* writes all."""
    store, project, author = runtime.store, runtime.project, _author(runtime)
    return engram_chunks.send(
        store, project, runtime.clock(), author=author, anew=force, dry_run=dry_run
    )


def receive_from_engram(runtime: Runtime, *, dry_run: bool = False) -> Received:
    now = runtime.clock()
    is_ours = provenance_of(runtime).trusts_everybody
    job = engram.Job(
        store=runtime.store,
        settings=runtime.settings.gate,
        now=now,
        admit=make_admission_rule(
            runtime.store, runtime.settings.gate, now, None if is_ours else ""
        ),
        event_id=new_event(),
        is_shared=True,
    )
    received = engram_chunks.receive(runtime.project, job, dry_run=dry_run)
    if any(each.inserted or each.updated for each in received.reports) and not dry_run:
        relating.relate_imported(runtime.store, runtime.clock())
    return received


def get_engram_status(runtime: Runtime) -> EngramStatus:
    manifest = engram_chunks.read_manifest(runtime.project)
    return EngramStatus(
        is_enrolled=engram.TARGET in stamps.targets(runtime.store.db),
        chunks=len(manifest.chunks),
        unread=tuple(engram_chunks.unread(runtime.store, manifest)),
        waiting=send_to_engram(runtime, dry_run=True),
        is_conflicted=manifest.is_conflicted,
    )
