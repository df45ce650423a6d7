"""Recalled text is data: fenced, labelled, unable to leave its fence, known when it comes back."""

from __future__ import annotations

from ademem.core.confusables import skeleton, visible
from ademem.core.text import opening

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ademem.core.memory import Memory

OPEN = "<ademem-memory>"
CLOSE = "</ademem-memory>"

_TAG = (
    r"<(?=[\s/]*(?:ademem|system|assistant|user|human|tool|function|antml|invoke"
    r"|parameter|important)|\|)"
)
_OURS = (
    r"\b[0-9a-f]{12}\s+\[\w+\] "
    r"|\[\w+\] .*\((?:[0-9a-f]{12}, |[\w-]{4,64}, (?:user|agent|tool|web|import), \d{4}-)"
)
"""A memory as `ademem recall` or `entry` prints it."""


def fenced(lines: Iterable[str]) -> str:
    """The lines between the tags; each was made by `entry` or is our own."""
    return "\n".join((OPEN, *lines, CLOSE))


def escaped(text: str, angle: str = "&lt;") -> str:
    """*text* without unseen signs, or a tag that could end the fence or speak for somebody else.

    *angle* takes the place of what opens such a tag.
    A tag is judged by how it looks: full-width and other look-alike signs count as what they seem.
    """
    text = visible(text)
    if text.isascii() and "<" not in text:
        return text
    import re  # which a hook that shows plain texts need not load

    if text.isascii():
        return re.sub(_TAG, lambda _: angle, text, flags=re.I)
    looks: list[str] = []
    places: list[int] = []
    for place, char in enumerate(text):
        seeming = skeleton(char)
        looks.append(seeming)
        places += [place] * len(seeming)
    opening = {places[tag.start()] for tag in re.finditer(_TAG, "".join(looks))}
    if not opening:
        return text
    return "".join(angle if place in opening else char for place, char in enumerate(text))


def entry(memory: Memory, chars: int) -> str:
    """One line: category, the text or its first sentences, and who says so."""
    title = f"{memory.title}: " if memory.title else ""
    text = opening(title + memory.content, chars)
    told = text.removesuffix("…")  # which alone would have plain text looked at sign by sign
    return f"- [{memory.category}] {escaped(told)}{text[len(told) :]} ({provenance(memory)})"


def provenance(memory: Memory) -> str:
    """Id, who said it, when; and whether anybody confirmed it."""
    # `%Y` would load `time` and its locale for half a millisecond.
    parts = [memory.id, memory.trust.value, memory.created_at.date().isoformat()]
    if memory.status == "candidate":
        parts.append("unconfirmed")
    if memory.claimed_author is not None:
        parts.append(came_with_files(memory.claimed_author))
    return ", ".join(parts)


def came_with_files(author: str) -> str:
    """The label of what nobody here accepted; the name is a claim, and was made safe to show."""
    return f"came with the files, by {author}" if author else "came with the files"


def without_recalled(text: str) -> str:
    """*text* without what we ourselves had shown: fenced blocks, and single lines of them."""
    kept: list[str] = []
    inside = False
    for line in text.splitlines(keepends=True):
        if inside or OPEN in line:
            inside = CLOSE not in line
        elif not _is_ours(line):
            kept.append(line)
    return "".join(kept)


def _is_ours(line: str) -> bool:
    if "[" not in line:
        return False
    import re

    return re.search(_OURS, line) is not None
