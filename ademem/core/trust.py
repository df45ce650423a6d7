"""Agreements of the person, stored in their data folder and never inside a project."""

from __future__ import annotations

import os
import sys

from ademem.core import shared_files
from ademem.core.errors import suppress
from ademem.core.json_text import flat, loads
from ademem.core.text import sha256_hex
from ademem.core.value import Value, as_dict, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from datetime import datetime
    from typing import Any

_ABOUT_DATABASES = ("databases", "notices", "judged")
OWN = "own-records"
JUDGED = "judged.jsonl"
"""Texts that the person called harmless, a JSON object a line."""
MOST_OWN = 50_000
"""Digests of own records, in 1.7 MB: 25 times the largest project that a sweep allows."""


class Agreement(Value):
    settings: str = ""
    """SHA-256 of the personal keys in the tracked `config.toml`."""
    local: str = ""
    """SHA-256 of the `config.local.toml` that the person wrote or agreed to."""
    files: str = ""
    """Time stamp of the trust in memories that come with this repository."""
    store: str = ""
    """SHA-256 of the secret of the database at that time: another clone has another one."""
    commit: str = ""
    """Commit checked out at that time, which identifies the repository without its database."""
    remote: str = ""
    """Address of its remote at that time, which identifies it; empty without one."""
    authors: str = ""
    """Mail addresses of the authors that are trusted, one a line; empty for all."""

    @property
    def mails(self) -> frozenset[str]:
        return frozenset(self.authors.split())


def data_folder(environment: Mapping[str, str]) -> str:
    """Return ADEMEM_DATA_DIR, or a folder of the user's data that uninstalling leaves alone."""
    if named := environment.get("ADEMEM_DATA_DIR"):
        return os.path.abspath(named)
    usual = "Library/Application Support" if sys.platform == "darwin" else ".local/share"
    data = environment.get("XDG_DATA_HOME") or os.path.join(_home(environment), usual)
    return os.path.join(data, "ademem-data")


def personal_folder(environment: Mapping[str, str]) -> str:
    return os.path.join(data_folder(environment), "personal")


def has_personal(environment: Mapping[str, str]) -> bool:
    return os.path.exists(os.path.join(personal_folder(environment), "ade.db"))


def config_path(environment: Mapping[str, str]) -> str:
    config = environment.get("XDG_CONFIG_HOME") or os.path.join(_home(environment), ".config")
    return os.path.join(config, "ademem", "config.toml")


def register_store(secret: str, environment: Mapping[str, str]) -> None:
    shared_files.write_atomic(_path(environment, "stores", secret), "", mode=0o600)


def is_registered(secret: str, environment: Mapping[str, str]) -> bool:
    return bool(secret) and os.path.exists(_path(environment, "stores", secret))


def forget_store(secret: str, environment: Mapping[str, str]) -> None:
    shared_files.remove(_path(environment, "stores", secret))
    _remove_empty_folders(environment)


def own_records(environment: Mapping[str, str]) -> frozenset[str]:
    """Return digests of the records that this person's stores wrote into files of any project.

    A record in a clone with one of these digests is the person's own: they stay its author after
    they lose the database or clone anew. A reader of a public repository can repeat such a record
    and change nothing in it: a digest covers every field by which a record claims something (see
    `sync.provenance`), and no project reaches this file.
    """
    return frozenset(_read(os.path.join(data_folder(environment), OWN)).split())


def note_own_records(digests: Collection[str], environment: Mapping[str, str]) -> None:
    """Add digests, of which the newest MOST_OWN are kept; known ones cost no write."""
    path = os.path.join(data_folder(environment), OWN)
    noted_before = own_records(environment)
    if all(digest in noted_before for digest in digests):
        return
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    with shared_files.locked(f"{path}.lock"):
        noted = dict.fromkeys((shared_files.read_text(path) or "").split())
        noted |= dict.fromkeys(digests)
        shared_files.write_atomic(path, "\n".join(list(noted)[-MOST_OWN:]) + "\n", mode=0o600)


def note_inspection(database: str, state: str, environment: Mapping[str, str]) -> None:
    """Record the state, unflushed, as a lost note costs one more inspection."""
    path = _path(environment, "databases", database)
    shared_files.write_atomic(path, state, mode=0o600, sync=False)


def last_inspection(database: str, environment: Mapping[str, str]) -> str:
    return _read(_path(environment, "databases", database))


def last_judged_row(database: str, identity: str, environment: Mapping[str, str]) -> int:
    """Return the last row of a foreign database that was searched for orders, or 0."""
    of, _, last = _read(_path(environment, "judged", database)).partition(" ")
    return int(last) if of == sha256_hex(identity) and last.isdecimal() else 0


def note_judged_row(
    database: str, identity: str, last: int, environment: Mapping[str, str]
) -> None:
    path = _path(environment, "judged", database)
    shared_files.write_atomic(path, f"{sha256_hex(identity)} {last}", mode=0o600)


def claim_notice(about: str, database: str, environment: Mapping[str, str]) -> bool:
    """Return True the first time a notice *about* a database is due, and where no file can say."""
    path = _path(environment, "notices", database)
    line = sha256_hex(about)[:32]
    with suppress(OSError, ValueError):
        noted = shared_files.read_text(path) or ""
        if line in noted.splitlines():
            return False
        shared_files.write_atomic(path, f"{noted}{line}\n", mode=0o600)
    return True


def note_harmless(text: str, at: datetime, environment: Mapping[str, str]) -> None:
    """Add a text that the person called harmless, though it was held, to their own list."""
    from ademem.core.clock import stamp

    line = flat({"label": 0, "text": text, "at": stamp(at)})
    _change_judged(environment, lambda lines: [*lines, line])


def forget_harmless(text: str, environment: Mapping[str, str]) -> None:
    _change_judged(environment, lambda lines: [each for each in lines if _text_of(each) != text])


def _text_of(line: str) -> str:
    with suppress(ValueError, RecursionError, KeyError, TypeError):
        return str(loads(line)["text"])
    return ""


def _change_judged(
    environment: Mapping[str, str], change: Callable[[list[str]], list[str]]
) -> None:
    path = os.path.join(data_folder(environment), JUDGED)
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    with shared_files.locked(f"{path}.lock"):
        lines = change((shared_files.read_text(path) or "").splitlines())
        shared_files.write_atomic(path, "".join(f"{line}\n" for line in lines), mode=0o600)


def forget_database(database: str, environment: Mapping[str, str]) -> None:
    for kind in _ABOUT_DATABASES:
        shared_files.remove(_path(environment, kind, database))
    _remove_empty_folders(environment)


def is_under_trusted_root(
    root: str, patterns: Iterable[str], environment: Mapping[str, str]
) -> bool:
    """Match *patterns*, which are absolute or begin with `~/`; colons separate several in one."""
    if not patterns:
        return False
    from fnmatch import fnmatchcase

    home, whole = _home(environment), os.path.realpath(root)
    single = [each for pattern in patterns for each in pattern.split(":")]
    full = (home + each[1:] if each.startswith("~/") else each for each in single)
    return any(each.startswith(os.sep) and fnmatchcase(whole, each) for each in full)


def agreement(root: str, environment: Mapping[str, str]) -> Agreement:
    try:
        found = loads(_read(_project_path(root, environment)) or "{}")
    except (ValueError, RecursionError):
        return Agreement()
    record = found if isinstance(found, dict) else {}
    return Agreement(**{key: str(record[key]) for key in Agreement._fields if key in record})


def agree(root: str, environment: Mapping[str, str], **changes: Any) -> Agreement:
    agreed = replace(agreement(root, environment), **changes)
    noted = as_dict(agreed) | {"root": os.path.realpath(root)}
    shared_files.write_atomic(_project_path(root, environment), flat(noted) + "\n", mode=0o600)
    return agreed


def agree_to_files(
    root: str,
    secret: str,
    commit: str,
    moment: str,
    environment: Mapping[str, str],
    *,
    remote: str = "",
    authors: Iterable[str] = (),
) -> None:
    here = {"store": sha256_hex(secret), "commit": commit, "remote": remote}
    mails = "\n".join(sorted({mail.strip().lower() for mail in authors}))
    agree(root, environment, files=moment, authors=mails, **here)


def agreement_on_files(
    root: str,
    secret: str,
    remote: str,
    has_commit: Callable[[str], bool],
    environment: Mapping[str, str],
) -> Agreement | None:
    """Return the agreement if it is about the repository that is at *root* now.

    A repository is identified by its *remote*. One without a remote is by its database, also after
    a pull, and where that is new by the commit of that time, for which *has_commit* is asked; then
    its present database is recorded.
    """
    agreed = agreement(root, environment)
    if not agreed.files or agreed.remote != remote:
        return None
    if remote or (secret and agreed.store == sha256_hex(secret)):
        return agreed
    if not agreed.commit or not has_commit(agreed.commit):
        return None
    return agree(root, environment, store=sha256_hex(secret))


def forget(root: str, environment: Mapping[str, str]) -> None:
    shared_files.remove(_project_path(root, environment))
    _remove_empty_folders(environment)


def cache_path(config: str, environment: Mapping[str, str]) -> str:
    return f"{_path(environment, 'settings', config)}.json"


def _read(path: str) -> str:
    with suppress(OSError, ValueError):
        return shared_files.read_text(path) or ""
    return ""


def _path(environment: Mapping[str, str], kind: str, about: str) -> str:
    return os.path.join(data_folder(environment), kind, sha256_hex(about)[:32])


def _project_path(root: str, environment: Mapping[str, str]) -> str:
    return f"{_path(environment, 'projects', os.path.realpath(root))}.json"


def _remove_empty_folders(environment: Mapping[str, str]) -> None:
    """Remove empty folders of notes; without any note also parsed settings and the data folder."""
    folder = data_folder(environment)
    kinds = ("stores", "projects", *_ABOUT_DATABASES)
    notes = [os.path.join(folder, kind) for kind in kinds]
    parsed = os.path.join(folder, "settings")
    for path in notes:
        with suppress(OSError):  # missing, or not empty
            os.rmdir(path)
    if any(map(os.path.exists, notes)):
        return
    with suppress(OSError):
        for name in os.listdir(parsed):
            shared_files.remove(os.path.join(parsed, name))
        os.rmdir(parsed)
    with suppress(OSError):
        os.rmdir(folder)


def _home(environment: Mapping[str, str]) -> str:
    return environment.get("HOME") or os.path.expanduser("~")
