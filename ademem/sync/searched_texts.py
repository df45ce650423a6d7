"""What was found in the blocks of the tracked files, so that only changed ones are searched.

The record `run/searched` has the state of the rules, and a line for each block of the files as they
are: its digest, and as JSON the lines with a secret in it. A block of a file with a memory in each
line ends where the line says, so that an edit changes one block alone; a page is one block, as a
secret may have several lines.
"""

from __future__ import annotations

from zlib import crc32

from ademem.core import confined
from ademem.core.bytecode import source_state
from ademem.core.errors import suppress
from ademem.core.json_text import compact, loads
from ademem.core.redaction import redact
from ademem.core.text import sha256_hex
from ademem.core.value import Value
from ademem.files import LINE_FILES
from ademem.files.knowledge import without_derived_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ademem.core.project import Project
    from ademem.files.texts import Texts

    _Lines = list[list[Any]]
    """Number of a line of the block, from 0, or None; and names of rules."""

BLOCK_LINES = 16
"""Lines of a block on average."""
MOST_LINES = 1000


class Secret(Value):
    path: str
    line: int | None
    """None where several lines make one."""
    names: tuple[str, ...]
    """Of the rules that matched."""


def find_secrets(texts: Texts, project: Project, *, is_recorded: bool) -> Iterator[Secret]:
    """Yield what looks like a secret; with *is_recorded* only blocks not yet searched are."""
    rules = sha256_hex(str(source_state()))
    known = _read(project, rules) if is_recorded else {}
    found: dict[str, _Lines] = {}
    for path in texts:
        for first, text in _list_blocks(texts, path):
            digest = sha256_hex(text)
            if digest not in found:
                searched = _without_keys(text) if path in LINE_FILES else text
                found[digest] = known[digest] if digest in known else _search(searched)
            for below, names in found[digest]:
                line = None if below is None else first + below
                yield Secret(path=path, line=line, names=tuple(names))
    if is_recorded and found != known:
        written = [f"{digest}\t{compact(lines)}" for digest, lines in sorted(found.items())]
        with suppress(OSError):  # of a project that cannot be written
            confined.write_text(
                project.root, _path(project), "\n".join((rules, *written)), sync=False
            )


def _search(text: str) -> _Lines:
    """Return how many lines below the first a secret is, and the names of its rules."""
    if not (names := redact(text).found):
        return []
    lines = ((below, redact(line).found) for below, line in enumerate(text.split("\n")))
    return [[below, [*found]] for below, found in lines if found] or [[None, [*names]]]


def _without_keys(text: str) -> str:
    """Leave out derived keys, `fact-42195-metres`: names of a text, which look like a password."""
    return "\n".join(map(without_derived_key, text.split("\n")))


def _list_blocks(texts: Texts, path: str) -> Iterator[tuple[int, str]]:
    """Yield the number of the first line, and the text, of each block."""
    if path not in LINE_FILES:
        yield 1, texts[path]
        return
    first, block = 1, []
    for line in texts.lines(path):
        block.append(line)
        if len(block) == MOST_LINES or crc32(line.encode()) % BLOCK_LINES == 0:
            yield first, "\n".join(block)
            first, block = first + len(block), []
    if block:
        yield first, "\n".join(block)


def _read(project: Project, rules: str) -> dict[str, _Lines]:
    with suppress(OSError, ValueError):
        noted, *lines = (confined.read_text(project.root, _path(project)) or "").split("\n")
        fields = (line.split("\t", 1) for line in lines if noted == rules)
        return {digest: loads(found) for digest, found in fields}
    return {}


def _path(project: Project) -> str:
    return f"{project.run}/searched"
