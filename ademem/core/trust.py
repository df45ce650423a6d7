"""What this person agreed to, kept in their data folder and never inside a project."""

from __future__ import annotations

import os
import sys

from ademem.core import shared_files
from ademem.core.json_text import flat, loads
from ademem.core.text import sha256_hex
from ademem.core.value import Value, as_dict, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from typing import Any

MOST_OWN = 50_000
"""Digests that are kept, in 1.7 MB: those of a project as large as a sweep allows, 25 times."""


class Agreement(Value):
    """What the person agreed to for one project, named by its root."""

    settings: str = ""
    """SHA-256 of the personal keys in the tracked `config.toml` that the person agreed to."""
    local: str = ""
    """SHA-256 of the `config.local.toml` that the person wrote or agreed to."""
    files: str = ""
    """When the person trusted the memories that come with this repository, as a time stamp."""
    store: str = ""
    """SHA-256 of the secret of the database that stood there then: another clone has another."""
    commit: str = ""
    """The commit that was checked out then, by which a repository is known without its database."""
    noticed: str = ""
    """SHA-256 of the secret of the database with which the person was told what came with it."""


def data_folder(environment: Mapping[str, str]) -> str:
    """ADEMEM_DATA_DIR, or a folder of the user's data.

    It is not the folder of the installed program, which uninstalling removes.
    """
    if named := environment.get("ADEMEM_DATA_DIR"):
        return os.path.abspath(named)
    usual = "Library/Application Support" if sys.platform == "darwin" else ".local/share"
    data = environment.get("XDG_DATA_HOME") or os.path.join(_home(environment), usual)
    return os.path.join(data, "ademem-data")


def config_path(environment: Mapping[str, str]) -> str:
    """The person's own settings for all projects."""
    config = environment.get("XDG_CONFIG_HOME") or os.path.join(_home(environment), ".config")
    return os.path.join(config, "ademem", "config.toml")


def register_store(secret: str, environment: Mapping[str, str]) -> None:
    """Note that the database with this secret was made or accepted by the person."""
    shared_files.write_atomic(_store_path(secret, environment), "", mode=0o600)


def is_registered(secret: str, environment: Mapping[str, str]) -> bool:
    return bool(secret) and os.path.exists(_store_path(secret, environment))


def forget_store(secret: str, environment: Mapping[str, str]) -> None:
    shared_files.remove(_store_path(secret, environment))
    _drop_empty(environment)


def own_records(environment: Mapping[str, str]) -> frozenset[str]:
    """Digests of what stores of this person wrote into files of any project.

    A record that is found in a clone and has one of these digests is the person's own: they can
    lose a database or clone anew and stay the author. Whoever reads a public repository can repeat
    such a record word for word, and nothing else: a digest covers every field by which a record
    claims something (see `mirror.provenance`), and this file is where no project reaches.
    """
    try:
        return frozenset((shared_files.read_text(_own_path(environment)) or "").split())
    except (OSError, ValueError):
        return frozenset()


def note_own_records(digests: Collection[str], environment: Mapping[str, str]) -> None:
    """Remember them, the newest MOST_OWN of all; what is known already costs no write."""
    from ademem.core.shared_files import locked

    path = _own_path(environment)
    known = own_records(environment)
    if all(digest in known for digest in digests):
        return
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    with locked(f"{path}.lock"):
        noted = dict.fromkeys((shared_files.read_text(path) or "").split())
        noted |= dict.fromkeys(digests)
        shared_files.write_atomic(path, "\n".join(list(noted)[-MOST_OWN:]) + "\n", mode=0o600)


def note_inspected(database: str, state: str, environment: Mapping[str, str]) -> None:
    """Note the *state* in which the files of a database were looked at closely.

    Losing the note costs a second look, so nothing waits for the disk.
    """
    path = _database_path(database, environment)
    aside = f"{path}.{os.getpid()}.tmp"
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    with open(aside, "w", encoding="utf-8") as file:
        file.write(state)
    os.replace(aside, path)


def inspected(database: str, environment: Mapping[str, str]) -> str:
    """The state that was noted last; empty where there is none."""
    try:
        return shared_files.read_text(_database_path(database, environment)) or ""
    except (OSError, ValueError):
        return ""


def judged_rows(database: str, identity: str, environment: Mapping[str, str]) -> int:
    """The last row of a database not made here that was searched for orders; 0 for none."""
    try:
        noted = shared_files.read_text(_database_path(database, environment, "judged")) or ""
    except (OSError, ValueError):
        return 0
    of, _, last = noted.partition(" ")
    return int(last) if of == sha256_hex(identity) and last.isdecimal() else 0


def note_judged_rows(
    database: str, identity: str, last: int, environment: Mapping[str, str]
) -> None:
    path = _database_path(database, environment, "judged")
    shared_files.write_atomic(path, f"{sha256_hex(identity)} {last}", mode=0o600)


def claim_notice(about: str, database: str, environment: Mapping[str, str]) -> bool:
    """True the first time the person is to be told *about* something of a database."""
    path = _database_path(database, environment, "notices")
    line = sha256_hex(about)[:32]
    try:
        noted = shared_files.read_text(path) or ""
        if line in noted.splitlines():
            return False
        shared_files.write_atomic(path, f"{noted}{line}\n", mode=0o600)
    except (OSError, ValueError):  # where nothing can be noted, it is told again
        return True
    return True


def forget_database(database: str, environment: Mapping[str, str]) -> None:
    """Remove what was noted about a database; `forget_store` is for its secret."""
    for kind in ("databases", "notices", "judged"):
        shared_files.remove(_database_path(database, environment, kind))
    _drop_empty(environment)


def is_under_trusted_root(
    root: str, patterns: Iterable[str], environment: Mapping[str, str]
) -> bool:
    """True if a pattern, such as `/workspaces/*`, says that stores at *root* are the person's.

    A pattern is absolute or begins with `~/`; several may stand with a colon between them.
    """
    if not patterns:
        return False
    from fnmatch import fnmatchcase

    home, whole = _home(environment), os.path.realpath(root)
    single = [each for pattern in patterns for each in pattern.split(":")]
    full = (home + each[1:] if each.startswith("~/") else each for each in single)
    return any(each.startswith(os.sep) and fnmatchcase(whole, each) for each in full)


def agreement(root: str, environment: Mapping[str, str]) -> Agreement:
    """What was agreed for the project; nothing where the note is missing or damaged."""
    try:
        found = loads(shared_files.read_text(_project_path(root, environment)) or "{}")
    except (OSError, ValueError, RecursionError):
        return Agreement()
    known = found if isinstance(found, dict) else {}
    return Agreement(**{key: str(known[key]) for key in Agreement._fields if key in known})


def agree(root: str, environment: Mapping[str, str], **changes: Any) -> Agreement:
    """Note the changes and return what is agreed now."""
    agreed = replace(agreement(root, environment), **changes)
    noted = as_dict(agreed) | {"root": os.path.realpath(root)}
    shared_files.write_atomic(_project_path(root, environment), flat(noted) + "\n", mode=0o600)
    return agreed


def agree_to_files(
    root: str, secret: str, commit: str, moment: str, environment: Mapping[str, str]
) -> None:
    """Note that the person trusts the files of the repository that is at *root* now.

    *secret* is its database's, and *commit* the one that is checked out, empty where there is none.
    """
    agree(root, environment, files=moment, store=sha256_hex(secret), commit=commit)


def trusts_files(
    root: str, secret: str, has_commit: Callable[[str], bool], environment: Mapping[str, str]
) -> bool:
    """Whether the person trusts the files of the repository that is at *root* now.

    It is the same with the database of that time, also after a pull. Where that was lost or cloned
    anew, *has_commit* is asked for the commit of that time, and the database of now is noted.
    """
    agreed = agreement(root, environment)
    if not agreed.files:
        return False
    if secret and agreed.store == sha256_hex(secret):
        return True
    if not agreed.commit or not has_commit(agreed.commit):
        return False
    agree(root, environment, store=sha256_hex(secret))
    return True


def claim_first_contact(root: str, secret: str, environment: Mapping[str, str]) -> bool:
    """True the first time the person is to be told what came with the files of this clone."""
    here = sha256_hex(secret)
    if agreement(root, environment).noticed == here:
        return False
    agree(root, environment, noticed=here)
    return True


def forget(root: str, environment: Mapping[str, str]) -> None:
    """Remove what was agreed for the project, and our folders where that leaves them empty."""
    shared_files.remove(_project_path(root, environment))
    _drop_empty(environment)


def cache_path(config: str, environment: Mapping[str, str]) -> str:
    """Where the parsed values of a file of settings are kept."""
    return os.path.join(data_folder(environment), "settings", f"{sha256_hex(config)[:32]}.json")


def _own_path(environment: Mapping[str, str]) -> str:
    return os.path.join(data_folder(environment), "own-records")


def _store_path(secret: str, environment: Mapping[str, str]) -> str:
    return os.path.join(data_folder(environment), "stores", sha256_hex(secret)[:32])


def _database_path(database: str, environment: Mapping[str, str], kind: str = "databases") -> str:
    return os.path.join(data_folder(environment), kind, sha256_hex(database)[:32])


def _project_path(root: str, environment: Mapping[str, str]) -> str:
    name = sha256_hex(os.path.realpath(root))[:32]
    return os.path.join(data_folder(environment), "projects", f"{name}.json")


def _drop_empty(environment: Mapping[str, str]) -> None:
    folder = data_folder(environment)
    notes = [os.path.join(folder, name) for name in ("stores", "projects", "databases", "notices")]
    for empty in (*notes, folder):
        try:
            os.rmdir(empty)
        except OSError:  # not there, or not empty
            if empty == folder and not any(map(os.path.exists, notes)):
                _drop_cache(folder)


def _drop_cache(folder: str) -> None:
    """Remove the parsed settings, and the folder if nothing else is in it."""
    settings = os.path.join(folder, "settings")
    try:
        for name in os.listdir(settings):
            shared_files.remove(os.path.join(settings, name))
        os.rmdir(settings)
        os.rmdir(folder)
    except OSError:
        return


def _home(environment: Mapping[str, str]) -> str:
    return environment.get("HOME") or os.path.expanduser("~")
