"""Files of other programs that stay the source of memories imported from them."""

from __future__ import annotations

import os

from ademem.core.json_text import loads, quoted
from ademem.core.value import Value
from ademem.store.database import set_value, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ademem.store import Store

_NAME = "followed"
MOST = 200
"""Most files that are followed, as each session's start looks at all."""


class Source(Value):
    format: str
    path: str
    files: dict[str, str]
    """States by path."""


def list_all(store: Store) -> list[Source]:
    text = value(store.db, _NAME)
    return [Source(format=row[0], path=row[1], files=row[2]) for row in loads(text or "[]")]


def follow(store: Store, format: str, path: str, files: Iterable[str]) -> None:
    """Record the files of a source as they are now, instead of earlier states of it."""
    states = {each: state_of(each) for each in list(files)[:MOST]}
    source = Source(format=format, path=path, files=states)
    kept = [each for each in list_all(store) if (each.format, each.path) != (format, path)]
    rows = (
        f"[{quoted(each.format)},{quoted(each.path)},"
        f"{{{','.join(f'{quoted(name)}:{quoted(state)}' for name, state in each.files.items())}}}]"
        for each in (*kept, source)
    )
    with store.transaction() as db:
        set_value(db, _NAME, f"[{','.join(rows)}]")


def list_changed(source: Source) -> list[str]:
    return [path for path, state in source.files.items() if state_of(path) != state]


def state_of(path: str) -> str:
    """Return size and time of change; empty for a file that is not there."""
    try:
        found = os.stat(path)
    except OSError:
        return ""
    return f"{found.st_size} {found.st_mtime_ns}"
