"""The parts beside the core: which there are, what each adds, and why one is absent.

A part is a folder of `ademem/plugins`, or a package of somebody else with an entry point of the
group `ademem`. Its `__init__` imports nothing of its own; each constant with the name of a seam
says what the part adds there. docs/architecture.md lists the seams.
"""

from __future__ import annotations

import os
import sys

from ademem.core.caching import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType
    from typing import Any

GROUP = "ademem"
PACKAGE = "ademem.plugins"
FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "plugins")

RECORD = os.path.join(os.path.dirname(FOLDER), "__pycache__", "parts")
"""What parts of other packages have at seams that hooks read: a seam and a module on a line."""

faults: dict[str, str] = {}
"""Why a part is absent, by its name; `ademem doctor` tells."""


@cache
def built_in() -> tuple[ModuleType, ...]:
    """Return the parts that came with this package; none with the core alone."""
    folders = sorted(os.listdir(FOLDER)) if os.path.isdir(FOLDER) else []
    return tuple(filter(None, map(named, folders)))


def named(name: str) -> ModuleType | None:
    """Return the part of this package with a name, and load no other."""
    is_there = name.isidentifier() and os.path.isfile(f"{FOLDER}/{name}/__init__.py")
    return _load(name, f"{PACKAGE}.{name}") if is_there else None


@cache
def of_others() -> tuple[ModuleType, ...]:
    """Return the parts of other packages; no hook looks for them."""
    if not _are_declared():
        return ()
    from importlib.metadata import entry_points

    found = entry_points(group=GROUP)
    return tuple(filter(None, (_load(each.name, each.value) for each in found)))


def _are_declared() -> bool:
    """Tell whether a package has entry points of the group; reading all of them takes 50 ms."""
    for folder in sys.path:
        names = os.listdir(folder) if os.path.isdir(folder) else []
        for name in names:
            if name.endswith((".dist-info", ".egg-info")):
                try:
                    with open(os.path.join(folder, name, "entry_points.txt"), "rb") as file:
                        if f"[{GROUP}]".encode() in file.read():
                            return True
                except OSError:  # most packages have no such file
                    continue
    return False


def added(seam: str, *, by_others: bool = False) -> Iterator[tuple[ModuleType, Any]]:
    """Yield each part that adds something at a seam, with what it adds."""
    for part in (*built_in(), *(of_others() if by_others else ())):
        if given := getattr(part, seam, None):
            yield part, given


def modules(seam: str, *, by_others: bool = False) -> Iterator[Any]:
    """Yield the module that each part names at a seam which hooks read, too.

    Of this package the record in `ademem.plugins` says which parts do, and of others the one that
    `note_others` wrote, as a hook looks for none. A record that is stale loses a part.
    """
    record = getattr(_load("record", PACKAGE), "MODULES", {}) if os.path.isdir(FOLDER) else {}
    parts = (*map(named, record.get(seam, ())), *(of_others() if by_others else ()))
    for part in filter(None, parts):
        name = getattr(part, seam, "")
        if name and (module := _load(part.__name__.rpartition(".")[2], name)):
            yield module
    if not by_others:
        yield from filter(None, map(load, noted(seam)))


def note_others() -> None:
    """Write down the modules that other packages name at seams; raises OSError."""
    lines = [
        f"{seam} {module}\n"
        for part in of_others()
        for seam, module in vars(part).items()
        if seam.isupper() and isinstance(module, str)
    ]
    if lines or os.path.exists(RECORD):
        os.makedirs(os.path.dirname(RECORD), exist_ok=True)
        with open(RECORD, "w", encoding="utf-8") as file:
            file.writelines(lines)


def noted(seam: str) -> list[str]:
    try:
        with open(RECORD, encoding="utf-8") as file:
            pairs = [line.split() for line in file]
    except (OSError, UnicodeDecodeError):
        return []
    return [pair[1] for pair in pairs if pair[0] == seam and len(pair) == 2]


def attempt(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function of a part; return None where it fails, with its fault noted."""
    try:
        return function(*arguments)
    except Exception as error:
        faults[function.__module__] = f"{type(error).__name__}: {error}"
        return None


def modules_by_word(seam: str, *, by_others: bool = True) -> dict[str, list[str]]:
    """Return the modules that parts name at a seam, by each word of what they say of them."""
    found: dict[str, list[str]] = {}
    for _, given in added(seam, by_others=by_others):
        for module, words in given.items():
            for word in words.split():
                found.setdefault(word, []).append(module)
    return found


def load(module: str) -> ModuleType | None:
    """Return a module that a part names; None with its fault noted where it cannot be loaded."""
    return _load(module, module)


def _load(name: str, module: str) -> ModuleType | None:
    try:
        __import__(module)  # as `importlib` loads `warnings`, too
        return sys.modules[module]
    except Exception as error:  # whatever breaks a part leaves the others
        faults[name] = f"{type(error).__name__}: {error}"
        return None
