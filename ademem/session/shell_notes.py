"""Notes that the shell line of a hook left for the next hook, which brings the store in step."""

from __future__ import annotations

import os
import time

from ademem.core import client, confined
from ademem.core.clock import Deadline
from ademem.core.errors import suppress
from ademem.core.json_text import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from ademem.core.client import Payload, TurnKey
    from ademem.core.project import Project
    from ademem.store.runtime import Runtime

READING_S = 0.5
"""Longest import of changed files before a prompt or a call, which else is left to the worker."""
LOADED_BYTES = 200_000
MOST_WATCHED = 300
FOLDERS = ("loaded", "late")


def follow(payload: Payload, runtime: Runtime) -> None:
    """Read what the notes are about: files that changed, and files that are before the model."""
    project = runtime.project
    runtime.loaded_files = list_loaded(project, payload.agent_id or payload.session_id)
    path = os.path.join(project.run, "changed")
    if not confined.is_file(project.root, path):
        return
    with suppress(OSError):
        confined.remove(project.root, path)
    from ademem.search import binding
    from ademem.session import session_start, shown_places

    session_start.import_changes(runtime, Deadline(time.monotonic, READING_S))
    session_start.follow_instructions(runtime)
    shown_places.refresh(runtime)
    binding.write_lists(project, runtime.store)


def list_loaded(project: Project, reader: str) -> frozenset[str]:
    """Return the files below the root that the client put before a session or a subagent."""
    path, found = os.path.join(project.run, "loaded", reader), set()
    if not _is_name(reader):
        return frozenset()
    with suppress(OSError, UnicodeDecodeError):
        for line in (confined.read_text(project.root, path, LOADED_BYTES) or "").splitlines():
            with suppress(ValueError, RecursionError, KeyError, TypeError):
                found.add(os.path.relpath(os.path.realpath(loads(line)["file_path"]), project.root))
    return frozenset(found)


def forget_loaded(project: Project, reader: str) -> None:
    """Begin anew after a compaction, behind which the client loads its files again."""
    if _is_name(reader):
        _remove(project, "loaded", reader)


def list_watched(runtime: Runtime) -> list[str]:
    """Return the paths that the client is to watch: memory files, HEAD, and instruction files.

    Empty for a client that has no event for them, or whose hooks are a plugin's.
    """
    project = runtime.project
    if not _has_late_events(runtime.environment):
        return []
    from ademem.core import repository
    from ademem.store import adopted

    top = repository.git_root(project.root)
    git = [os.path.join(repository.git_dir(top), "HEAD")] if top else []
    brief = os.path.join(project.ade, "cto", "core-memory.json")
    files = sorted(adopted.list_files(runtime.store, project.root))[:MOST_WATCHED]
    return [project.memory, brief, *git, *(os.path.join(project.root, path) for path in files)]


def note_late(key: TurnKey, runtime: Runtime) -> None:
    """Note that the search for a prompt is not over, where a late hook may go on with it."""
    if _has_late_events(runtime.environment) and _is_name(key.prompt_id):
        with suppress(OSError):
            confined.touch(
                runtime.project.root, os.path.join(runtime.project.run, "late", key.prompt_id)
            )


def take_late(project: Project, key: TurnKey) -> bool:
    """Take the note away; False if a hook that was faster, or the end of the turn, did."""
    return _is_name(key.prompt_id) and _remove(project, "late", key.prompt_id)


def _has_late_events(environment: Mapping[str, str]) -> bool:
    """Tell whether the client knows the newer events, and its hooks are no plugin's."""
    is_newer = client.version(environment) >= client.WATCHING
    return is_newer and not environment.get("CLAUDE_PLUGIN_ROOT")


def prune(project: Project, now: datetime) -> None:
    from ademem.session.flags import MAX_AGE_S

    for name in FOLDERS:
        with suppress(OSError):
            folder = os.path.join(project.run, name)
            confined.prune(project.root, folder, now.timestamp() - MAX_AGE_S)


def _remove(project: Project, folder: str, name: str) -> bool:
    with suppress(OSError):
        return confined.remove(project.root, os.path.join(project.run, folder, name))
    return False


def _is_name(name: str) -> bool:
    return name.replace("-", "").replace("_", "").isalnum()
