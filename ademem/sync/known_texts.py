"""Texts of the files by what they were rendered from, so that only what changed is rendered anew.

The record `run/rendered-texts` has digests that begin with the sources of ademem. One of a row,
without what an access counts, and of a line says that rendering the row gives the line; one of the
rows of a page and of the page says the same of them; one of a page alone says that no line of it is
a person's.
"""

from __future__ import annotations

import marshal
from functools import cache
from hashlib import sha256

from ademem.core import confined
from ademem.core.bytecode import source_state
from ademem.core.errors import suppress
from ademem.core.text import sha256_hex
from ademem.files import knowledge
from ademem.files.knowledge import KnownLine
from ademem.store import Store, database, memory_queries, stamps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from ademem.core.project import Project
    from ademem.core.registers import Record

DIGEST_CHARS = 32
_ID = memory_queries.LINE_COLUMNS.index("id")


class KnownTexts:
    def __init__(self, recorded: Iterable[str] = (), *, is_trusted: bool = True) -> None:
        self.digests: set[str] = set()
        """Of what the last rendering had."""
        self.states: dict[str, bytes] = {}
        """States of the rows, by id."""
        self.unchanged: set[str] = set()
        """Ids of the rows whose lines are not rendered."""
        self._recorded = frozenset(recorded)
        self._there: Mapping[str, str] = {}
        # Records are noted as the person's own only where the store is trusted.
        self._layout = sha256_hex(_sources(), str(is_trusted)).encode()

    def look_in(self, there: Mapping[str, str]) -> None:
        """Take these lines by id for those that are there."""
        self._there = there

    def find(self, row: tuple[Any, ...]) -> KnownLine | None:
        """Return the line that is there of a memory if rendering its row would give the same.

        *row* is one of `memory_queries.each_line`.
        """
        id = row[_ID]
        # Without references, which depend on what else has a value, by the second format.
        state = self.states[id] = sha256(self._layout + marshal.dumps(row, 2)).digest()
        if (text := self._there.get(id)) is not None and self._is_known(state, text):
            self.unchanged.add(id)
            return KnownLine(id, text, lambda: _read_record(row))
        return None

    def note(self, id: str, text: str) -> None:
        """Note the line that was rendered, unless its key has the id as another has the same."""
        is_rendered = id in self.states and id not in self.unchanged
        if is_rendered and not knowledge.has_id_in_key(text, id):
            self.digests.add(_digest(self.states[id], text))

    def is_page(self, name: str, states: Sequence[bytes], page: str) -> bool:
        """Tell whether rendering rows of these *states* gives the page of this digest."""
        is_of_rows = bool(states) and all(states)
        return is_of_rows and self._is_known(_state_of_page(name, states), page)

    def note_page(self, name: str, states: Sequence[bytes], page: str) -> None:
        if states and all(states):
            self.digests.add(_digest(_state_of_page(name, states), page))

    def is_plain(self, page: str) -> bool:
        """Tell of the digest of a page whether it is known to have no line of a person."""
        return self._is_known(_sources().encode(), page)

    def note_plain(self, page: str) -> None:
        self.digests.add(_digest(_sources().encode(), page))

    def _is_known(self, source: bytes, text: str) -> bool:
        if (digest := _digest(source, text)) not in self._recorded:
            return False
        self.digests.add(digest)
        return True


def _read_record(row: tuple[Any, ...]) -> Record | None:
    return database.read_row(memory_queries.line_values(row), stamps.record_of_row)


def _state_of_page(name: str, states: Iterable[bytes]) -> bytes:
    return sha256_hex(_sources(), name, *(state.hex() for state in states)).encode()


@cache
def _sources() -> str:
    return sha256_hex(str(source_state()))


def _digest(source: bytes, text: str) -> str:
    """Digest a text behind a digest; `sha256_hex` frames texts of any length, for more time."""
    return sha256(source + text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST_CHARS]


def read_known(project: Project, store: Store) -> KnownTexts:
    recorded = ""
    with suppress(OSError, UnicodeDecodeError):
        recorded = confined.read_text(project.root, _path(project)) or ""
    return KnownTexts(recorded.split(), is_trusted=store.is_trusted)


def save_known(project: Project, known: KnownTexts) -> None:
    with suppress(OSError):  # of a project that cannot be written
        text = "\n".join(sorted(known.digests))
        confined.write_text(project.root, _path(project), text, sync=False)


def _path(project: Project) -> str:
    return f"{project.run}/rendered-texts"
