"""Exchange memories with other machines through folders."""

from __future__ import annotations

import os
from typing import Any

from ademem.core.errors import UsageError
from ademem.core.value import Value
from ademem.plugins.exchange import folder
from ademem.plugins.exchange.folder import Exchanged
from ademem.store import journal
from ademem.store.runtime import Runtime, on_store
from ademem.sync.provenance import provenance_of, sender_name


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
    return folder.exchange(
        runtime.store,
        project,
        runtime.settings.gate,
        folder.folder_at(path, project),
        runtime.clock(),
        name=sender_name(runtime),
        trusted=provenance_of(runtime).trusts_everybody,
        force=force,
    )


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


def get_status(runtime: Runtime) -> SyncStatus:
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
