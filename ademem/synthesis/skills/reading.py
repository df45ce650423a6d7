"""A skill file as a value."""

from __future__ import annotations

import os
from datetime import UTC, datetime

from ademem.core import confined
from ademem.core.digest import bytes_hex
from ademem.core.redaction import redact
from ademem.core.text import bounded, clean
from ademem.core.value import Value
from ademem.synthesis.skills import folders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

LARGEST = 1_000_000
"""Bytes of a page above which it is not read."""
NAME_CHARS = 100


class Skill(Value):
    """What a file says, without secrets."""

    path: str
    """Relative to the project."""
    kind: str
    """skill | command."""
    name: str
    description: str
    """Of the head, else the first paragraph."""
    text: str
    """What follows the head."""
    raw: str
    """The file as it is; what is stored of it is not this."""
    digest: str
    """Of the file as it is; the ends of its lines and of the file do not count."""
    modified: datetime


class Problem(Value):
    """A file that could not be read, or not as it was meant."""

    path: str
    reason: str


def read_all(root: str) -> Iterator[Skill | Problem]:
    """Every page in turn; one whose head is no YAML is both."""
    for path, kind in folders.pages(root):
        yield from _read(root, path, kind)


def digest_of(text: str) -> str:
    unixed = text.replace("\r\n", "\n").strip()
    return bytes_hex(unixed.encode("utf-8", "surrogatepass"))


def opened(text: str) -> tuple[dict[str, str], str, str]:
    """The one door to YAML: the head, what follows it, and what is wrong with the head."""
    from ademem.synthesis.skills import front_matter

    try:
        return front_matter.read(text), front_matter.body(text), ""
    except front_matter.BadHead as error:
        return error.lines, front_matter.body(text), str(error)


def _read(root: str, path: str, kind: str) -> Iterator[Skill | Problem]:
    named = redact(path).text
    try:
        text, modified = _text(root, path)
    except UnicodeDecodeError as error:
        yield Problem(path=named, reason=f"is no UTF-8 text (byte {error.start})")
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None)
        yield Problem(path=named, reason=reason or str(error))
    else:
        yield from _parsed(text, named, kind, datetime.fromtimestamp(modified, UTC))


def _text(root: str, path: str) -> tuple[str, float]:
    """Text and time of change; raises OSError, UnicodeDecodeError, or ValueError for no page."""
    real = folders.real_path(root, path)
    if real is None:
        raise ValueError("is a link that leads out of the project")
    with confined.open_file(root, real) as file:
        modified = os.fstat(file.fileno()).st_mtime
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise ValueError(f"is larger than {LARGEST:,} bytes")
    if b"\0" in data:
        raise ValueError("is no text: it has NUL bytes")
    return data.decode("utf-8-sig").replace("\r\n", "\n"), modified


def _parsed(text: str, path: str, kind: str, modified: datetime) -> Iterator[Skill | Problem]:
    head, rest, trouble = opened(text)
    if trouble:
        yield Problem(path=path, reason=f"its head is no YAML: {trouble}")
    body = clean(redact(rest).text)
    if not body and not head.get("description"):
        yield Problem(path=path, reason="is empty")
        return
    yield Skill(
        path=path,
        kind=kind,
        name=_line(head.get("name") or _stem(path), NAME_CHARS) or _stem(path),
        description=clean(redact(head.get("description") or _first_paragraph(body)).text),
        text=body,
        raw=text,
        digest=digest_of(text),
        modified=modified,
    )


def _stem(path: str) -> str:
    """The name of the folder for a SKILL.md, of the file for any other."""
    folder, name = os.path.split(path)
    return os.path.basename(folder) if name.lower() == folders.SKILL_FILE else name[: -len(".md")]


def _first_paragraph(body: str) -> str:
    paragraphs = (part.strip() for part in body.split("\n\n"))
    return next((part for part in paragraphs if part and not part.startswith(("#", "```"))), "")


def _line(text: str, limit: int) -> str:
    return bounded(" ".join(clean(redact(text).text).split()), limit)
