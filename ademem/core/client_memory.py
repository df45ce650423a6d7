"""Folders in which Claude Code keeps a memory of its own, and the files that are read there.

Nothing is written below them. A project's settings can turn the client's memory off, and cannot
move it: else a clone would choose what is read.
"""

from __future__ import annotations

import os
import stat

from ademem.core import client, repository
from ademem.core.errors import suppress
from ademem.core.json_text import loads
from ademem.core.text import sha256_hex
from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from ademem.core.project import Project

INDEX = "MEMORY.md"
AGENTS = os.path.join(".claude", "agent-memory")
SUFFIX = ".md"
MAX_BYTES = 65_536
MOST_FILES = 200
"""Newest files that are read; the others are left alone."""
MOST_LOOKED_AT = 5000
"""Most names below a folder; of a larger one nothing is read."""
MOST_AGENTS = 50
SETTINGS_BYTES = 1_000_000
SLUG_CHARS = 200
"""Length of a path above which the client cuts it, and adds a hash."""
_TRUE = frozenset(("1", "true", "yes", "on"))
_FALSE = frozenset(("0", "false", "no", "off"))


class Folder(Value):
    path: str
    agent: str = ""
    """Type of the subagent whose memory it is; empty for that of the main thread."""

    @property
    def key(self) -> str:
        """Return digits that tell this folder from those of other projects."""
        return sha256_hex(self.path)[:8]


class Found(Value):
    path: str
    """Path below the folder, with slashes."""
    state: str
    """Size and time of the last change."""
    changed_s: float


class Listing(Value):
    files: tuple[Found, ...]
    names: frozenset[str]
    """Paths of all files, also of those that are left alone."""


def is_on(project: Project, environment: Mapping[str, str]) -> bool:
    """Tell whether the client uses its memory here, as its variable or the nearest setting says."""
    said = environment.get("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "").strip().lower()
    if said in _TRUE:
        return False
    if said in _FALSE:
        return True
    for settings in _settings(project, environment):
        if type(value := settings.get("autoMemoryEnabled")) is bool:
            return value
    return True


def list_folders(project: Project, environment: Mapping[str, str]) -> list[Folder]:
    """Return the folders of the main thread and of the subagents, which need not be there."""
    return [Folder(path=_main(project, environment)), *_of_agents(project, environment)]


def moved(environment: Mapping[str, str]) -> str:
    """Return the folder that the person's own settings of the client name; empty for none."""
    config = client.config_dir(environment)
    named = _read_settings(os.path.join(config, "settings.json")).get("autoMemoryDirectory")
    if not isinstance(named, str):
        return ""
    if named.startswith("~/"):
        named = os.path.join(environment.get("HOME", "/"), named[2:])
    path = os.path.normpath(named)
    return path if os.path.isabs(path) and len(path) > 2 else ""


def is_below(path: str, folder: Folder) -> bool:
    inside = folder.path + os.sep
    return path.startswith(inside) or os.path.realpath(path).startswith(
        os.path.realpath(folder.path) + os.sep
    )


def slug(directory: str) -> str:
    """Return the client's name for a folder: each UTF-16 unit but a letter or digit is a dash."""
    name = "".join(
        char if char.isascii() and char.isalnum() else "-" * client.units(char)
        for char in directory
    )
    if len(name) <= SLUG_CHARS:
        return name
    return f"{name[:SLUG_CHARS]}-{_hash(directory)}"


def look(folder: Folder) -> Listing | None:
    """List the files of a folder; None where it is absent, or holds too much to be a memory."""
    found: list[Found] = []
    names: set[str] = set()
    waiting, looked_at = [""], 0
    while waiting:
        below = waiting.pop()
        try:
            entries = list(os.scandir(os.path.join(folder.path, below)))
        except OSError:
            if not below:
                return None
            continue
        looked_at += len(entries)
        if looked_at > MOST_LOOKED_AT:
            return None
        for entry in entries:
            path = os.path.join(below, entry.name)
            if entry.name.startswith(".") or entry.is_symlink():
                names.add(path)
            elif entry.is_dir(follow_symlinks=False):
                waiting.append(path)
            elif entry.name.endswith(SUFFIX):
                names.add(path)
                found += _readable(path, entry)
    found.sort(key=lambda each: (-each.changed_s, each.path))
    return Listing(files=tuple(found[:MOST_FILES]), names=frozenset(names))


def _readable(path: str, entry: os.DirEntry[str]) -> list[Found]:
    """Return a regular file that is not too large, in a list; none for any other."""
    with suppress(OSError):
        status = entry.stat(follow_symlinks=False)
        if stat.S_ISREG(status.st_mode) and status.st_size <= MAX_BYTES:
            state = f"{status.st_size} {status.st_mtime_ns}"
            return [Found(path=path, state=state, changed_s=status.st_mtime)]
    return []


def read(folder: Folder, path: str) -> str | None:
    """Return the text of a file; None for what is no small regular file now."""
    careful = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        with open(os.open(os.path.join(folder.path, path), careful), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return None
            data = file.read(MAX_BYTES + 1)
    except OSError:
        return None
    return None if len(data) > MAX_BYTES else data.decode("utf-8", "replace")


def _main(project: Project, environment: Mapping[str, str]) -> str:
    config = client.config_dir(environment)
    if elsewhere := moved(environment):
        return elsewhere
    # Without a repository the client names the folder in which it was started.
    started = environment.get("CLAUDE_PROJECT_DIR") or project.root
    root = repository.git_root(project.main) or os.path.realpath(started)
    return os.path.join(config, "projects", slug(root), "memory")


def _of_agents(project: Project, environment: Mapping[str, str]) -> Iterator[Folder]:
    started = environment.get("CLAUDE_PROJECT_DIR", "")
    for root in dict.fromkeys((project.root, os.path.realpath(started or project.root))):
        path = os.path.join(root, AGENTS)
        if os.path.realpath(path) != path:  # a link in a clone may lead anywhere
            continue
        with suppress(OSError):
            entries = sorted(os.scandir(path), key=lambda each: each.name)
            for entry in entries[:MOST_AGENTS]:
                if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False):
                    yield Folder(path=entry.path, agent=client.safe_id(entry.name))


def _settings(project: Project, environment: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Yield the settings of the client, those that count most first."""
    started = environment.get("CLAUDE_PROJECT_DIR") or project.root
    for name in ("settings.local.json", "settings.json"):
        yield _read_settings(os.path.join(started, ".claude", name))
    yield _read_settings(os.path.join(client.config_dir(environment), "settings.json"))


def _read_settings(path: str) -> dict[str, Any]:
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return {}
            text = file.read(SETTINGS_BYTES)
        if b"autoMemory" not in text:
            return {}
        settings = loads(text.decode("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return settings if isinstance(settings, dict) else {}


def _hash(text: str) -> str:
    """Return the client's hash of a text: that of Java's strings, in base 36."""
    value = 0
    for char in text:
        code = ord(char)
        if code > 0xFFFF:  # as two UTF-16 units
            code -= 0x10000
            value = (value * 31 + 0xD800 + (code >> 10)) & 0xFFFFFFFF
            code = 0xDC00 + (code & 0x3FF)
        value = (value * 31 + code) & 0xFFFFFFFF
    value = abs(value - (1 << 32) if value >= 1 << 31 else value)
    digits = ""
    while value:
        value, digit = divmod(value, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
    return digits or "0"
