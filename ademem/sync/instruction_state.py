"""Tell cheaply whether instruction files may have changed since they were read."""

from __future__ import annotations

import os

from ademem.core import repository
from ademem.core.errors import suppress
from ademem.core.text import counted, sha256_hex
from ademem.store import adopted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ademem.store.runtime import Runtime

OFF = "off"
LOST_CHARS = 80
INLINE_BYTES = 60_000
"""Size of all instruction files up to which a hook reads them itself."""


MAIN_FILES = ("CLAUDE.md", ".claude/CLAUDE.md", "AGENTS.md")


def describe_undecided(runtime: Runtime) -> str:
    """Return “CLAUDE.md has 14 rules” of the first main file with rules.

    Returns "" if there is none, or if somebody decided about adoption.
    """
    if adopted.is_taken(runtime.store) or not is_on(runtime):
        return ""
    root = runtime.project.root
    for path in (each for each in MAIN_FILES if os.path.isfile(f"{root}/{each}")):
        from ademem.files.instructions import reading

        rules = sum(item.kind == "rule" for item in reading.read(root, (path,)).items)
        if rules:
            return f"{path} has {counted(rules, 'rule')}"
    return ""


def is_on(runtime: Runtime) -> bool:
    return runtime.settings.adopt.files != (OFF,)


def is_behind(runtime: Runtime) -> bool:
    """Tell whether a file, the commit, the index, the default branch or a setting changed."""
    store, root = runtime.store, runtime.project.root
    if not adopted.is_taken(store):
        return False
    known = adopted.state(store, root)
    return known != current_state(runtime, adopted.list_files(store, root))


def needs_worker(runtime: Runtime) -> bool:
    """Tell whether the files are too much for a hook, or were not read yet."""
    files = adopted.list_files(runtime.store, runtime.project.root)
    sizes = [int(each.stamp.partition(" ")[0] or 0) for each in files.values()]
    return not files or sum(sizes) > INLINE_BYTES


def current_state(runtime: Runtime, paths: Iterable[str]) -> str:
    root = runtime.project.root
    top = repository.git_root(root)
    shared = repository.common_dir(top) if top else None
    ref = default_ref(root, runtime.settings.mirror.default_branch)
    return sha256_hex(
        ",".join(runtime.settings.adopt.files),
        repository.commit(root) or "",
        (repository.tip(shared, ref) or "") if shared and ref else "",
        repository.index_state(root),
        *(f"{path} {_stamp(root, path)}" for path in sorted(paths)),
    )


def default_ref(root: str, configured: str = "") -> str:
    """Return the ref of the default branch, upstream if there is one; empty without any."""
    top = repository.git_root(root)
    shared = repository.common_dir(top) if top else None
    name = repository.default_branch(root, configured)
    if shared is None or name is None:
        return ""
    upstream = f"refs/remotes/origin/{name}"
    return upstream if repository.tip(shared, upstream) else f"refs/heads/{name}"


def describe_lost(runtime: Runtime) -> list[str]:
    """Return a line for each decision about a line of a file that is gone."""
    from ademem.core.text import preview

    return [
        f"decided about a line of {mark.path} that is gone: {preview(mark.text, LOST_CHARS)}"
        f" (`ademem adopt --id {mark.id} --plain`)"
        for mark in adopted.list_lost(runtime.store, runtime.project.root)
    ]


def _stamp(root: str, path: str) -> str:
    with suppress(OSError):
        found = os.stat(os.path.join(root, path))
        return f"{found.st_size} {found.st_mtime_ns}"
    return ""
