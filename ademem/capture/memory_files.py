"""Parse a file of the client's own memory: front matter, one fact, and often why and how.

Front matter is read line by line, as the client writes it; one that cannot be read names no kind.
"""

from __future__ import annotations

from ademem.core import regex
from ademem.core.memory import Category
from ademem.core.text import sha256_hex
from ademem.core.value import Value
from ademem.store.client_files import PERSONAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

REFERENCE = "reference"
CATEGORIES = {
    PERSONAL: Category.PREFERENCE,
    "feedback": Category.CONVENTION,
    "project": Category.FACT,
    REFERENCE: Category.FACT,
}
"""Category by the kind that a file names; without one it is a fact."""

INDEX_LINES = 200
"""Lines of the index that the client loads."""
_FENCE = "---"
_FIELD = r"(\s*)([\w-]+):[ \t]*(.*)"
_PART = r"(?im)^[ \t]*(?:[-*][ \t]+)?\*\*(why|how to apply)[ \t]*:?\*\*[ \t]*:?[ \t]*"
_ITEM = r"[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+"
_LINK = r"\]\([^()\[\]\s]{1,200}\.md(?:#[^()\s]{0,200})?\)|\[\[[^\[\]]{1,200}\]\]"


class MemoryFile(Value):
    text: str
    why: str = ""
    how: str = ""
    about: str = ""
    """What its description says beside the body: by it the client decides when to read the file."""
    kind: str = ""
    """One of CATEGORIES; empty for none."""
    session_id: str = ""
    """The session in which the client wrote it."""

    @property
    def digest(self) -> str:
        """Hash of what it says; the stamps of the client are no part.

        Without a description it is that which stores have noted before descriptions counted.
        """
        about = (self.about,) if self.about else ()
        return sha256_hex(self.text, self.why, self.how, self.kind, *about)[:32]

    @property
    def content(self) -> str:
        """The text of its memory, with the reason and the way to apply it."""
        parts = (self.text, self.why and f"Why: {self.why}", self.how and f"How: {self.how}")
        return "\n".join(filter(None, parts))

    @property
    def category(self) -> Category:
        return CATEGORIES.get(self.kind, Category.FACT)

    @property
    def is_personal(self) -> bool:
        return self.kind == PERSONAL


def parse(text: str) -> MemoryFile:
    """Read a file; one whose body is empty states what its description says."""
    fields, lines = _split_front_matter(text.lstrip("\ufeff").splitlines())
    text, *rest = regex.split(_PART, "\n".join(lines))
    parts: dict[str, str] = {}
    for name, part in zip(rest[::2], rest[1::2], strict=True):
        parts.setdefault(name.lower(), " ".join(part.split()))
    kind, about = fields.get("type", "").lower(), fields.get("description", "").strip()
    text = text.strip() or about  # which says nothing beside itself
    return MemoryFile(
        text=text,
        about=about if about.lower() not in text.lower() else "",
        why=parts.get("why", ""),
        how=parts.get("how to apply", ""),
        kind=kind if kind in CATEGORIES else "",
        session_id=fields.get("originsessionid", ""),
    )


def _split_front_matter(lines: list[str]) -> tuple[dict[str, str], list[str]]:
    """Return the fields, and the lines below them."""
    if not lines or lines[0].rstrip() != _FENCE:
        return {}, lines
    ends = [at for at, line in enumerate(lines) if at and line.rstrip() == _FENCE]
    if ends:
        return _read_fields(lines[1 : ends[0]]), lines[ends[0] + 1 :]
    # It was never closed: what looks like a field is none of the text.
    blank = (at for at, line in enumerate(lines) if not line.strip())
    return {}, lines[next(blank, len(lines)) :]


def list_statements(index: str) -> Iterator[str]:
    """Yield the entries of an index that link no file, each as one text.

    An indented line goes on with the entry above it; headings and code are none.
    """
    for entry in _join_entries(_blank_code(index.splitlines()[:INDEX_LINES])):
        if not regex.search(_LINK, entry):
            yield entry


def _blank_code(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines, headings and code as empty ones."""
    is_code = False
    for line in lines:
        is_fence = line.lstrip().startswith("```")
        is_code ^= is_fence
        is_heading = line.startswith("#") or line.rstrip() == _FENCE
        yield "" if is_code or is_fence or is_heading else line


def _join_entries(lines: Iterable[str]) -> Iterator[str]:
    entry = ""
    for line in lines:
        text = line.strip()
        if entry and text and line[0].isspace() and not regex.match(_ITEM, line):
            entry = f"{entry} {text}"
            continue
        if entry:
            yield entry
        entry = regex.sub(rf"\A{_ITEM}", "", line).strip()
        if entry.startswith("```"):
            entry = ""
    if entry:
        yield entry


def _read_fields(lines: list[str]) -> dict[str, str]:
    """Return the values by name in lower case, also those one step below `metadata`.

    An entry that is neither a field, a continuation nor a comment makes all of it unreadable.
    """
    fields: dict[str, str] = {}
    above = ""
    for line in lines:
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        found = regex.fullmatch(_FIELD, line)
        if found is None:
            if line[:1].isspace() or line.startswith("- "):  # a list, or a folded text
                continue
            return {}
        indent, name, value = found.groups()
        if not indent:
            above = name.lower()
        if not indent or above == "metadata":
            fields.setdefault(name.lower(), _unquoted(value.strip()))
    return fields


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        inner = value[1:-1]
        return inner.replace("''", "'") if value[0] == "'" else inner.replace('\\"', '"')
    return value
