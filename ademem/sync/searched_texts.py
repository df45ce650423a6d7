"""In which blocks of the tracked files no secret was found, so that only changed ones are searched.

The record `run/searched` has the state of the rules, and a digest for each block of the files as
they are. A block of a file with a memory in each line ends where the line says, so that an edit
changes one block alone; a page is one block, as a secret may have several lines.
"""

from __future__ import annotations

from zlib import crc32

from ademem.core import confined
from ademem.core.bytecode import source_state
from ademem.core.errors import suppress
from ademem.core.redaction import redact
from ademem.core.text import sha256_hex
from ademem.core.value import Value
from ademem.files import LINE_FILES
from ademem.files.knowledge import without_derived_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ademem.core.project import Project
    from ademem.files.texts import Texts

BLOCK_LINES = 16
"""Lines of a block on average."""
MOST_LINES = 1000


class Block(Value):
    path: str
    first: int
    """Number of its first line."""
    text: str
    found: tuple[str, ...]
    """Names of the rules that matched."""


def find_secrets(texts: Texts, project: Project, *, is_recorded: bool) -> Iterator[Block]:
    """Yield the blocks with secrets; with *is_recorded* those known to have none are skipped."""
    rules = sha256_hex(str(source_state()))
    known = _read(project, rules) if is_recorded else frozenset()
    clean: set[str] = set()
    for path in texts:
        for first, text in _list_blocks(texts, path):
            digest = sha256_hex(text)
            if digest in known:
                clean.add(digest)
                continue
            searched = _without_keys(text) if path in LINE_FILES else text
            if found := redact(searched).found:
                yield Block(path=path, first=first, text=searched, found=found)
            else:
                clean.add(digest)
    if is_recorded and clean != known:
        with suppress(OSError):  # of a project that cannot be written
            lines = "\n".join((rules, *sorted(clean)))
            confined.write_text(project.root, _path(project), lines, sync=False)


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


def _read(project: Project, rules: str) -> frozenset[str]:
    with suppress(OSError, UnicodeDecodeError):
        noted, *digests = (confined.read_text(project.root, _path(project)) or "").split("\n")
        return frozenset(digests if noted == rules else ())
    return frozenset()


def _path(project: Project) -> str:
    return f"{project.run}/searched"
