"""The merge base: the files as they and the store last agreed, in this worktree."""

from __future__ import annotations

import codecs
import json
import os

from ademem.core import confined
from ademem.core.text import LONG, sha256_hex
from ademem.core.value import Value
from ademem.files.texts import Texts, digests_of, parts_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from ademem.core.project import Project

_END = 20
"""Digits at the end of the record: the offset of its last line."""


class Base(Value):
    database: str = ""
    """Its identity: a new database has no base yet."""
    commit: str | None = None
    """The commit checked out at the time; None without commits or git."""
    branch: str | None = None
    """The branch checked out; empty when detached, None if unknown."""
    texts: Mapping[str, str] | Texts = {}
    """By their path in the project."""
    refused: tuple[str, ...] = ()
    """Lines in it that could not be imported."""


def load(project: Project, database: str) -> Base:
    """Read the base; it is empty before the first, and when the record cannot be read."""
    try:
        recorded = _recorded(project)
        if recorded["database"] == database:
            return Base(
                database=database,
                commit=recorded["commit"],
                branch=recorded.get("branch"),
                texts=_texts(project, recorded),
                refused=tuple(recorded.get("refused", ())),
            )
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return Base(database=database)


def save(project: Project, base: Base) -> None:
    """Write the texts one after the other, and their offsets in the last line."""
    recorded: dict[str, Any] = {
        "database": base.database,
        "commit": base.commit,
        "branch": base.branch,
        "refused": sorted(base.refused),
    }
    digests = digests_of(base.texts)
    if _is_recorded(project, recorded, digests):
        return
    at = 0
    files = recorded["files"] = {}
    aside = f"{path(project)}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
    try:
        with confined.create_file(project.root, aside) as file:
            for name in sorted(digests):
                size = sum(
                    file.write(part.encode("utf-8", "surrogatepass"))
                    for part in parts_of(base.texts, name)
                )
                files[name] = [digests[name], at, size]
                at += size
            file.write(json.dumps(recorded, ensure_ascii=False).encode("utf-8", "surrogatepass"))
            file.write(b"%020d" % at)
            file.flush()
            os.fsync(file.fileno())
        confined.rename(project.root, aside, os.path.basename(path(project)))
    except BaseException:
        confined.remove(project.root, aside)
        raise
    confined.remove(project.root, _older_path(project))


def _is_recorded(project: Project, wanted: Mapping[str, Any], digests: Mapping[str, str]) -> bool:
    try:
        there = _recorded(project)
        known = {name: place[0] for name, place in there.pop("files").items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False
    return there == wanted and known == digests


def _recorded(project: Project) -> dict[str, Any]:
    """Read the last line of the record, or a record of ademem 0.1, which is one JSON object."""
    try:
        with confined.open_file(project.root, path(project)) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(size - _END)
            start = int(file.read())
            file.seek(start)
            found = json.loads(file.read(size - _END - start))
    except FileNotFoundError:
        found = json.loads(confined.read_bytes(project.root, _older_path(project)) or b"")
    return dict(found)


def _texts(project: Project, recorded: Mapping[str, Any]) -> Mapping[str, str] | Texts:
    if "texts" in recorded:
        return dict(recorded["texts"])
    places = {name: (start, size) for name, (_, start, size) in recorded["files"].items()}

    def load(name: str) -> str | None:
        start, size = places[name]
        with confined.open_file(project.root, path(project)) as file:
            file.seek(start)
            text = file.read(size).decode("utf-8", "surrogatepass")
        if sha256_hex(text) != recorded["files"][name][0]:  # damaged: nothing is agreed any more
            confined.remove(project.root, path(project))
        return text

    def stream(name: str) -> Iterator[str]:
        start, size = places[name]
        decoder = codecs.getincrementaldecoder("utf-8")("surrogatepass")
        with confined.open_file(project.root, path(project)) as file:
            file.seek(start)
            while data := file.read(min(size, LONG)):
                size -= len(data)
                yield decoder.decode(data, final=not size)

    return Texts(load, {name: place[0] for name, place in recorded["files"].items()}, stream)


def forget(project: Project) -> None:
    """Remove the base: the next import reads all files as new."""
    for recorded in (path(project), _older_path(project)):
        confined.remove(project.root, recorded)


def path(project: Project) -> str:
    """Return the path of the record."""
    return os.path.join(project.run, "agreed")


def _older_path(project: Project) -> str:
    return os.path.join(project.run, "agreed.json")
