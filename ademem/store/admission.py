"""Admission of a database, decided before SQLite reads a byte of it.

A project's folder may come from a clone or an archive, and a database in it from anybody. Before it
is used, this module looks at its file, `inspection` at its schema, and `adoption` acts on what they
find. A database that git checked out, that is a link or no regular file, that belongs to another
user, or that is none of ours is renamed to `ade.db.foreign-N`; the store is then built from the
files.

Hooks open the database all day, so a close look is noted in the person's data folder with the state
it was made in: inode and device of the database and the state of git's index. The note decides
only how closely to look again, so it need not be hard to forge. An inode that is reused, or a
file that was replaced in place, is met by what happens at every opening: either the database's
secret of 128 bits, which only a reader of this person's database can know, is registered in the
data folder; or its whole schema is compared with the shipped one, and what it says counts as
imported. Git cannot replace a file without writing its index.
"""

from __future__ import annotations

import os
import stat

from ademem.core import confined, repository
from ademem.core.confined import Refused
from ademem.core.repository import index_state
from ademem.store.database import SIDECARS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.core.project import Project

DATABASE = "ade.db"
FOREIGN = ".foreign-"
ADOPTED = ".adopted"
"""End of the name of one whose rows were taken, so that nobody is told to import them."""
JOURNAL_END = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
"""The last bytes of a rollback journal that names a file which SQLite deletes afterwards."""
_SEPARATOR = " | "
_NAMES = tuple(DATABASE + suffix for suffix in ("", *SIDECARS))
SCRATCH = ("run", "log")
"""Folders below `.ade/` whose files are always of this machine."""


def state(project: Project) -> str:
    """Return in a line what a close look depends on; empty where one is always needed."""
    try:
        confined.check_database(project.database, project.home_root)
        found = os.lstat(project.database)
    except OSError:
        return ""
    # Our databases have a rollback journal only while they are made.
    if os.path.lexists(f"{project.database}-journal"):
        return ""
    for name in SCRATCH:
        if os.path.islink(os.path.join(project.ade, name)):
            return ""
    indexes = [index_state(folder) for folder in {project.root: 0, project.home_root: 0}]
    return _SEPARATOR.join([f"{found.st_dev} {found.st_ino}", *indexes])


def is_still_admitted(project: Project, noted: str, current: str) -> bool:
    """Tell whether the look that *noted* a state holds in the *current* one.

    Each commit writes git's index; then it is enough that git tracks none of our files.
    """
    if not current or current == noted:
        return bool(current)
    same_file = noted.partition(_SEPARATOR)[0] == current.partition(_SEPARATOR)[0]
    return same_file and not list_tracked(project, as_written=True)


def why_foreign(project: Project) -> str:
    if came := repository.list_tracked(project.home, _NAMES):
        return f"{came[0]} came with git"
    try:
        confined.check_database(project.database, project.home_root)
    except Refused as refused:
        if refused.path == project.home:
            raise
        return f"{os.path.basename(refused.path)} {refused.reason}"
    if _names_another_file(f"{project.database}-journal"):
        return f"{_NAMES[-1]} names another file"
    return ""


def list_tracked(project: Project, *, as_written: bool = False) -> list[str]:
    """Return machine-local files that git tracks; with *as_written* those that it wrote."""
    found = repository.list_tracked(project.home, _NAMES, as_written=as_written)
    scratch = [f"{name}/" for name in SCRATCH]
    below = repository.list_tracked(project.ade, scratch, as_written=as_written)
    return [
        *(os.path.join(project.home, name) for name in found),
        *(os.path.join(project.ade, name) for name in below),
    ]


def rename_database(
    project: Project, seen: os.stat_result | None, replacement: str = "", end: str = ""
) -> None:
    rename_as_foreign(project.home_root, project.home, _NAMES, seen, replacement, end)


def rename_as_foreign(
    root: str,
    folder: str,
    names: tuple[str, ...],
    seen: os.stat_result | None,
    replacement: str = "",
    end: str = "",
) -> None:
    """Give the *names* in *folder* that are there the next free name of a foreign database.

    Nothing is done where the first of them is no longer what was *seen*. A link is renamed, never
    what it leads to. Other names follow that of the database, which git ignores everywhere: `run`
    becomes `ade.db.foreign-1-run`.
    """
    handle = confined.open_folder(root, folder)
    try:
        there = set(os.listdir(handle))
        found = os.lstat(os.path.join(folder, names[0])) if names[0] in there else None
        if (found and (found.st_dev, found.st_ino)) != (seen and (seen.st_dev, seen.st_ino)):
            return
        number = 1
        while any(each.startswith(f"{DATABASE}{FOREIGN}{number}") for each in there):
            number += 1
        for name in there.intersection(names):
            rest = name.removeprefix(DATABASE) if name.startswith(DATABASE) else f"-{name}"
            new = f"{DATABASE}{FOREIGN}{number}{end}{rest}"
            os.rename(name, new, src_dir_fd=handle, dst_dir_fd=handle)
        if replacement:
            os.rename(replacement, os.path.join(folder, names[0]))
    finally:
        os.close(handle)


def list_foreign(project: Project) -> list[str]:
    start = DATABASE + FOREIGN
    found = confined.names(project.home_root, project.home)
    numbers = [name.removeprefix(start) for name in found if name.startswith(start)]
    ours = sorted(int(number) for number in numbers if number.isdecimal())
    return [os.path.join(project.home, f"{start}{number}") for number in ours]


def _names_another_file(journal: str) -> bool:
    try:
        handle = os.open(journal, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        size = os.fstat(handle).st_size
        is_file = stat.S_ISREG(os.fstat(handle).st_mode)
        return not is_file or (size >= 8 and os.pread(handle, 8, size - 8) == JOURNAL_END)
    finally:
        os.close(handle)
