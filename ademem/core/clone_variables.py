"""Take back the variables that a clone sets: its settings of the client have an `env` table.

Claude Code starts hooks and commands with these variables, as if the person had exported them.
"""

from __future__ import annotations

import os

from ademem.core.errors import suppress
from ademem.core.json_text import flat, loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, MutableMapping

PREFIX = "ADEMEM_"
CARRIED = f"{PREFIX}OF_CLONE"
"""Names and values of such settings as JSON: they count as those of the tracked `config.toml`."""
FOLDERS = ("XDG_CONFIG_HOME", "XDG_DATA_HOME")
"""Where the person's own settings and agreements are, without a variable of ademem."""

SHARED_FILE = "settings.json"
OWN_FILE = "settings.local.json"
"""The person's own, unless git tracks it."""
MAX_BYTES = 1_000_000


def withdraw(environment: MutableMapping[str, str]) -> None:
    """Remove what the clone around the working folder sets, and keep it aside under CARRIED.

    The files are read only where a variable is set that could be theirs.
    """
    carried = environment.pop(CARRIED, None)  # of the process that started this one, or the clone's
    ours = [name for name in environment if name.startswith(PREFIX) or name in FOLDERS]
    found = _parse(carried or "{}")
    if ours:
        set_there = _set_around(environment)
        for name in ours:
            if name in set_there and set_there[name] == environment[name]:
                found[name] = environment.pop(name)
    if found:
        environment[CARRIED] = flat(found)


def _set_around(environment: Mapping[str, str]) -> dict[str, str]:
    """Return what the clones around the project and the working folder set."""
    starts = [environment["CLAUDE_PROJECT_DIR"]] if "CLAUDE_PROJECT_DIR" in environment else []
    with suppress(FileNotFoundError):  # the model may remove its working folder
        starts.append(os.getcwd())
    return _variables(folder for start in starts for folder in _above(start))


def carried(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that were taken back, by name."""
    return _parse(environment.get(CARRIED, "{}"))


def _above(start: str) -> Iterator[str]:
    """Yield the folders from *start* up to that of the repository or project, without the home."""
    folder, home = os.path.abspath(start), os.path.expanduser("~")
    while folder not in (home, os.path.dirname(folder)):
        yield folder
        if any(os.path.lexists(os.path.join(folder, name)) for name in (".git", ".ade")):
            return
        folder = os.path.dirname(folder)


def _variables(folders: Iterable[str]) -> dict[str, str]:
    """Return the union of what the files in *folders* set."""
    found: dict[str, str] = {}
    for folder in dict.fromkeys(folders):
        for name in (SHARED_FILE, OWN_FILE):
            try:
                with open(os.path.join(folder, ".claude", name), "rb") as file:
                    text = file.read(MAX_BYTES).decode("utf-8", "replace")
            except OSError:
                continue
            variables = _environment_of(text)
            if variables and name == OWN_FILE and not _is_tracked(folder, name):
                continue
            found |= variables
    return found


def _environment_of(text: str) -> dict[str, str]:
    try:
        settings = loads(text)
    except (ValueError, RecursionError):  # the client ignores such a file, too
        return {}
    variables = settings.get("env") if isinstance(settings, dict) else None
    return _texts(variables)


def _parse(text: str) -> dict[str, str]:
    try:
        return _texts(loads(text))
    except (ValueError, RecursionError):
        return {}


def _texts(variables: object) -> dict[str, str]:
    if not isinstance(variables, dict):
        return {}
    return {
        name: value if isinstance(value, str) else str(value).lower()
        for name, value in variables.items()
        if isinstance(value, (str, int, float))
    }


def _is_tracked(folder: str, name: str) -> bool:
    from ademem.core.repository import list_tracked

    return bool(list_tracked(os.path.join(folder, ".claude"), [name], as_written=False))
