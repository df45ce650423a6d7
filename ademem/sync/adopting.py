"""Keep the items of instruction files in step with the files, and know whose word a line is.

An item is the team's where the file has it on the default branch, upstream if there is one: the
same text below the same heading, behind the same sentence, with the same globs. Content is compared
and no commit asked. What a branch under review or an unpushed commit added is not there, whoever
its author claims to be, and a line that it only moved is; put below another heading, or a heading
that it changed, a line says something else.
"""

from __future__ import annotations

import os

from ademem.core import confined, git
from ademem.core.bytecode import source_state
from ademem.core.clock import UTC, datetime, stamp
from ademem.core.errors import UsageError, suppress
from ademem.core.globs import keys_of
from ademem.core.json_text import array, flat, loads
from ademem.core.text import sha256_hex
from ademem.core.value import Value, replace
from ademem.files.instructions import formats, reading
from ademem.files.instructions.reading import Adopted, Reading
from ademem.files.instructions.verdicts import Verdicts
from ademem.search import binding_keys
from ademem.store import adopted
from ademem.store.bindings import Binding
from ademem.sync import instruction_state as state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from ademem.core.project import Project
    from ademem.store import Store
    from ademem.store.adopted import Mark
    from ademem.store.runtime import Runtime

MOST_LISTED = 100_000
"""Files of a folder without git that are looked at."""
ALIKE = 0.6
"""Similarity above which an edited item keeps a person's mark."""


class Outcome(Value):
    """What adoption found, and what it changed."""

    reading: Reading
    added: int = 0
    changed: int = 0
    removed: int = 0
    lost: tuple[Mark, ...] = ()
    """Marks whose item is gone."""


def look(runtime: Runtime, verdicts: Verdicts | None = None) -> Reading:
    """Read the instruction files, and store nothing."""
    root = runtime.project.root
    patterns = runtime.settings.adopt.files
    if not state.is_on(runtime):
        return Reading()
    listed = list_paths(root)
    found = reading.find_files(listed, patterns)
    default = runtime.settings.mirror.default_branch
    merged = read_merged(root, [place.path for place in found], default)
    verdicts = verdicts or Verdicts()
    read = reading.read(root, listed, patterns, merged, verdicts)
    extra = [each.path for each in read.files if each.path not in merged]
    if extra:  # files that others import
        merged |= read_merged(root, extra, default)
        read = reading.read(root, listed, patterns, merged, verdicts)
    return read


def _read_verdicts(project: Project, rules: str) -> Verdicts:
    """Return what was found in texts when the rules were the same, or nothing."""
    with suppress(OSError, UnicodeDecodeError, ValueError, RecursionError):
        noted, _, found = (confined.read_text(project.root, _path(project)) or "").partition("\n")
        if noted == rules:
            return Verdicts(loads(found))
    return Verdicts()


def _save_verdicts(project: Project, rules: str, verdicts: Verdicts) -> None:
    if verdicts.asked.keys() != verdicts.known.keys():
        with suppress(OSError):  # of a project that cannot be written
            text = f"{rules}\n{flat(verdicts.asked)}"
            confined.write_text(project.root, _path(project), text, sync=False)


def _path(project: Project) -> str:
    return f"{project.run}/adopted-texts"


def adopt(runtime: Runtime) -> Outcome:
    """Read the instruction files, and bring the table in step with them."""
    project, store, rules = runtime.project, runtime.store, sha256_hex(str(source_state()))
    verdicts = _read_verdicts(project, rules)
    read, root = look(runtime, verdicts), project.root
    _save_verdicts(project, rules, verdicts)
    before = {row["id"]: row for row in adopted.list_items(store, root)}
    rows = [_row_of(each) for each in read.items]
    marks = {mark.id: mark for mark in adopted.list_marks(store)}
    by_id = {each.id: each for each in read.items}
    with store.transaction():
        _move_marks(store, marks, by_id, before.keys())
        marks = {mark.id: mark for mark in adopted.list_marks(store)}
        counts = adopted.replace_all(
            store,
            root,
            rows,
            {each.id: list(bindings_of(each, marks.get(each.id))) for each in read.items},
            [
                adopted.FileRow(
                    path=each.path, digest=each.digest, stamp=each.stamp, items=each.items
                )
                for each in read.files
            ],
        )
        roots = [each for each in adopted.list_roots(store) if os.path.isdir(each)]
        adopted.forget_roots(store, [*roots, root])
        adopted.note_state(
            store, root, state.current_state(runtime, [each.path for each in read.files])
        )
    lost = tuple(mark for mark in marks.values() if mark.id not in by_id)
    return Outcome(reading=read, lost=lost, **counts)


def _row_of(each: Adopted) -> dict[str, Any]:
    return {
        "id": each.id,
        "path": each.path,
        "first": each.first,
        "last": each.last,
        "heads": "\n".join(each.heads),
        "lead": each.lead,
        "text": each.text,
        "kind": each.kind,
        "folder": each.folder,
        "globs": array(each.scope.globs),
        "excluded": array(each.scope.excluded),
        "like_gitignore": int(each.scope.like_gitignore),
        "load": each.load,
        "places": "\n".join(map(binding_keys.show, each.places)),
        "sources": "\n".join(each.sources),
        "missing": "\n".join(each.missing),
        "merged": int(each.merged),
        "live": int(each.live),
    }


def bindings_of(each: Adopted, mark: Mark | None = None) -> Iterator[tuple[Binding, bool]]:
    """Yield the places of an item, and the keys of its file's globs with True."""
    if mark and mark.bound:
        for key in mark.bound:
            with suppress(UsageError):
                yield binding_keys.parse_at(key), False
        return
    for place in each.places:
        yield place, False
    if not each.scope.is_everything:
        for kind, key, pattern in keys_of(each.scope):
            yield Binding(kind=kind, key=key, pattern=pattern), True


def _move_marks(
    store: Store,
    marks: dict[str, Mark],
    items: dict[str, Adopted],
    before: Iterable[str],
) -> None:
    """Let an edited item keep its mark: below the same heading of the same file, and much alike."""
    lost = [mark for mark in marks.values() if mark.id not in items]
    if not lost:
        return
    from difflib import SequenceMatcher

    known = set(before)
    for mark in lost:
        fresh = [
            each
            for each in items.values()
            if each.path == mark.path
            and (each.heads[-1] if each.heads else "") == mark.head
            and each.id not in marks
            and each.id not in known
        ]
        rated = [(SequenceMatcher(None, mark.text, each.text).ratio(), each.id) for each in fresh]
        best, id = max(rated, default=(0.0, ""))
        if best > ALIKE:
            adopted.drop_mark(store, mark.id)
            adopted.put_mark(store, replace(mark, id=id, text=items[id].text))


def list_paths(root: str) -> list[str]:
    """Return the files of a project: those that git tracks or would add, or all without git."""
    asked = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate")
    printed = git.output(root, *asked, timeout_s=git.LONG_S)
    if printed is None:
        found = list(_walk(root))
    else:
        found = [path for path in printed.decode("utf-8", "replace").split("\0") if path]
        folders = {""} | {
            path.rpartition("/")[0] for path in found if formats.may_be_instructions(path)
        }
        for folder in sorted(folders):
            for name in formats.BESIDE:
                path = f"{folder}/{name}".lstrip("/")
                if os.path.isfile(os.path.join(root, path)):
                    found.append(path)
    return list(dict.fromkeys(path for path in found if path.isprintable()))


def _walk(root: str) -> Iterator[str]:
    count = 0
    for place, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in formats.LEFT_OUT)
        inside = os.path.relpath(place, root).replace(os.sep, "/")
        prefix = "" if inside == "." else f"{inside}/"
        for name in sorted(names):
            yield prefix + name
            count += 1
            if count == MOST_LISTED:
                return


def read_merged(
    root: str, paths: Sequence[str], configured: str = ""
) -> dict[str, list[str] | None]:
    """Map paths to their lines on the default branch; None for a file that it has not.

    A link is read where it leads.
    """
    ref = state.default_ref(root, configured)
    found: dict[str, list[str] | None] = dict.fromkeys(paths)
    real = os.path.realpath(root)
    targets = {path: os.path.realpath(os.path.join(root, path)) for path in paths}
    wanted = {
        path: os.path.relpath(target, real).replace(os.sep, "/")
        for path, target in targets.items()
        if target.startswith(real + os.sep) and target.isprintable()
    }
    if not ref or not wanted:
        return found
    asked = "".join(f"{ref}:./{target}\n" for target in wanted.values()).encode()
    try:
        ran = git.run(
            root, "cat-file", "--batch", stdin=asked, environment=git.OFFLINE, timeout_s=git.LONG_S
        )
    except OSError:
        return found
    for path, data in zip(wanted, git.parse_objects(ran.output), strict=False):
        if data is not None and len(data) <= reading.MOST_BYTES:
            text = data.decode("utf-8-sig", "replace")
            found[path] = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return found


def note_times(runtime: Runtime) -> int:
    """Note of each file the time of its last commit; the worker does."""
    root, store = runtime.project.root, runtime.store
    times = {}
    for path in adopted.list_undated(store, root):
        printed = git.text(root, "log", "-1", "--format=%at", "--", path).strip()
        if printed.isdigit():
            times[path] = stamp(datetime.fromtimestamp(int(printed), UTC))
    with store.transaction():
        adopted.set_author_times(store, root, times)
    return len(times)
