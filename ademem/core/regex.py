"""Patterns of this package, with the code that `re` once made of them.

Loading `re` and compiling its patterns takes a fifth of a hook. So each process that had to do so
notes what it compiled beside the compiled modules, for the next. Only texts of this package may
stand in that file: what holds words of a person or of a project is a pattern for `re` itself.
"""

from __future__ import annotations

import marshal
import os

from ademem.core import bytecode
from ademem.core.caching import cache
from ademem.core.errors import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from re import Match as Match
    from re import Pattern as Pattern
    from typing import Any

    Table = dict[tuple[str, int], bytes]
    """Pattern and flags, and the arguments of `_sre.compile`, which `marshal` wrote."""

IGNORECASE, MULTILINE, DOTALL, ASCII = 2, 8, 16, 256
"""As `re` has them."""
MOST = 1000
LEFT_S = 60
"""Age from which a file that is being written was left by a process that was killed."""
_missing: list[tuple[str, int]] = []


@cache
def compile(pattern: str, flags: int = 0) -> Pattern[str]:
    made = _known().get((pattern, flags))
    if made is not None:
        import _sre  # type: ignore[import-not-found]

        with suppress(*bytecode.UNREADABLE, RuntimeError, OverflowError):  # of damaged code
            ready: Pattern[str] = _sre.compile(pattern, *marshal.loads(made))
            return ready
    import re

    _missing.append((pattern, flags))
    return re.compile(pattern, flags)


def search(pattern: str, text: str, flags: int = 0) -> Match[str] | None:
    return compile(pattern, flags).search(text)


def match(pattern: str, text: str, flags: int = 0) -> Match[str] | None:
    return compile(pattern, flags).match(text)


def fullmatch(pattern: str, text: str, flags: int = 0) -> Match[str] | None:
    return compile(pattern, flags).fullmatch(text)


def findall(pattern: str, text: str, flags: int = 0) -> list[Any]:
    return compile(pattern, flags).findall(text)


def finditer(pattern: str, text: str, flags: int = 0) -> Iterator[Match[str]]:
    return compile(pattern, flags).finditer(text)


def split(pattern: str, text: str) -> list[str | Any]:
    return compile(pattern).split(text)


def sub(
    pattern: str,
    by: str | Callable[[Match[str]], str],
    text: str,
    count: int = 0,
    flags: int = 0,
) -> str:
    return compile(pattern, flags).sub(by, text, count)


def keep() -> None:
    """Note for the next process what this one compiled, where the package has compiled modules."""
    if not _missing or bytecode.in_use is None or len(_known()) >= MOST:
        return
    path = bytecode.path(bytecode.in_use, "patterns")
    if not os.access(os.path.dirname(path), os.W_OK):  # of another user's installation
        return
    import time

    from ademem.core import confined, shared_files

    folder, name = os.path.split(path)
    with suppress(OSError):
        confined.remove_left(os.path.dirname(folder), folder, time.time() - LEFT_S, f"{name}.")
    with suppress(OSError, AttributeError, ImportError):  # of an `re` that is made otherwise
        table = _read() | {key: marshal.dumps(_code_of(*key)) for key in _missing}
        shared_files.write_bytes(path, marshal.dumps((_magic(), table)))


def _code_of(pattern: str, flags: int) -> Any:
    """Return the arguments with which `re` calls `_sre.compile` behind the pattern."""
    from importlib import import_module

    parser, compiler = import_module("re._parser"), import_module("re._compiler")
    parsed = parser.parse(pattern, flags)
    groups: dict[str, int] = parsed.state.groupdict
    names: list[str | None] = [None] * parsed.state.groups
    for name, at in groups.items():
        names[at] = name
    code = compiler._code(parsed, flags)
    return flags | parsed.state.flags, list(map(int, code)), len(names) - 1, groups, tuple(names)


@cache
def _known() -> Table:
    return _read()


def _read() -> Table:
    if bytecode.in_use is None:
        return {}
    with (
        suppress(*bytecode.UNREADABLE),
        open(bytecode.path(bytecode.in_use, "patterns"), "rb") as file,
    ):
        magic, table = marshal.loads(file.read())
        if magic == _magic() and isinstance(table, dict):
            return table
    return {}


def _magic() -> tuple[int, int]:
    import _sre

    return _sre.MAGIC, _sre.CODESIZE
