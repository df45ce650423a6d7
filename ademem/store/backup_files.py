"""The backups of a project's database, which are files in the person's data folder."""

from __future__ import annotations

import os

from ademem.core import regex
from ademem.core.errors import suppress
from ademem.core.text import sha256_hex
from ademem.core.trust import data_folder
from ademem.core.value import StrEnum, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ademem.core.project import Project

_NAME = r"(\d{4}-\d\d-\d\dT)(\d\d-\d\d-\d\d\.\d{3}Z)-([a-z]+)\.db"


class Kind(StrEnum):
    TYPED = "typed"
    WEEKLY = "weekly"
    MIGRATION = "migration"
    REPLACED = "replaced"


class Backup(Value):
    path: str
    at: str
    kind: Kind
    bytes: int


def folder(project: Project, environment: Mapping[str, str]) -> str:
    name = regex.sub(r"[^\w.-]+", "-", project.name)[:60]
    return os.path.join(
        data_folder(environment), "backups", f"{name}-{sha256_hex(project.database)[:12]}"
    )


def list_all(project: Project, environment: Mapping[str, str]) -> list[Backup]:
    place, found = folder(project, environment), []
    for name in sorted(os.listdir(place), reverse=True) if os.path.isdir(place) else ():
        if match := regex.fullmatch(_NAME, name):
            day, time, kind = match.groups()
            with suppress(OSError, ValueError):
                path, at = os.path.join(place, name), day + time.replace("-", ":")
                size = os.lstat(path).st_size
                found.append(Backup(path=path, at=at, kind=Kind(kind), bytes=size))
    return found
