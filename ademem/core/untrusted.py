"""Show untrusted text as data: fenced, labelled, and without hidden characters."""

from __future__ import annotations

from ademem.core import regex
from ademem.core.memory import FROM_HUB, Memory, claimed_name
from ademem.core.text import in_one_line, opening

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


OPEN = "<ademem-memory>"
CLOSE = "</ademem-memory>"

_TAG = (
    r"<(?=[\s/]*(?:ademem|system|assistant|user|human|tool|function|antml|invoke"
    r"|parameter|important)|\|)"
)
_OURS = (
    r"\b[0-9a-f]{12}\s+\[\w+\] "
    r"|\[\w+\] .*\((?:[0-9a-f]{12}, |[\w-]{4,64}, (?:user|agent|tool|web|import), \d{4}-)"
    r"|\((?:project|your) memory, (?:said by you|from |by |imported)"
)

SHORT_CHARS = 300


def fence(lines: Iterable[str]) -> str:
    return "\n".join((OPEN, *lines, CLOSE))


def escape(text: str, angle: str = "&lt;") -> str:
    """Remove hidden characters, and replace brackets of tags, also of those that only look so."""
    text = visible(text)
    if text.isascii() and "<" not in text:
        return text
    if text.isascii():
        return regex.sub(_TAG, lambda _: angle, text, flags=regex.IGNORECASE)
    if not any("<" in skeleton(char) for char in set(text)):
        return text
    looks: list[str] = []
    places: list[int] = []
    for place, char in enumerate(text):
        seeming = skeleton(char)
        looks.append(seeming)
        places += [place] * len(seeming)
    opening = {places[tag.start()] for tag in regex.finditer(_TAG, "".join(looks))}
    if not opening:
        return text
    return "".join(angle if place in opening else char for place, char in enumerate(text))


def entry(memory: Memory, chars: int = SHORT_CHARS, mark: str = "", newer: str = "") -> str:
    """Write a memory as an item of a list, with what is said to be *newer* below it."""
    title = f"{memory.title}: " if memory.title else ""
    text = opening(title + memory.content, chars)
    about = f"{provenance(memory)}, {mark}" if mark else provenance(memory)
    whole = text.removesuffix("…")  # which alone would have plain text looked at sign by sign
    below = f"\n  {escape(in_one_line(newer))}" if newer else ""
    return f"- [{memory.category}] {escape(whole)}{text[len(whole) :]} ({about}){below}"


def provenance(memory: Memory) -> str:
    # `%Y` would load `time` and its locale for half a millisecond.
    parts = [memory.id, memory.trust.value, memory.created_at.date().isoformat()]
    if memory.status == "candidate":
        parts.append("unconfirmed")
    if memory.claimed_author is not None:
        parts.append(import_label(memory.claimed_author))
    return ", ".join(parts)


def import_label(author: str) -> str:
    """Label what came from elsewhere; the author is a claim, and safe to show."""
    came = "came from the hub" if author.startswith(FROM_HUB) else "came with the files"
    name = claimed_name(author)
    return f"{came}, by {name}" if name else came


def without_recalled(text: str) -> str:
    visible: list[str] = []
    inside = False
    for line in text.splitlines(keepends=True):
        if inside or OPEN in line:
            inside = CLOSE not in line
        elif "[" in line or " memory, " in line:
            if not regex.search(_OURS, line):
                visible.append(line)
        else:
            visible.append(line)
    return "".join(visible)


_LATIN = "aceijopsuvxyhdqwkmntb"
_SEEMING = (
    *("\u0430\u03b1", "\u0441\u03f2", "\u0435", "\u0456\u03b9", "\u0458\u03f3"),
    *("\u043e\u03bf\u0585", "\u0440\u03c1", "\u0455", "\u057d", "\u03bd\u0475", "\u0445\u03c7"),
    *("\u0443\u03b3\u04af", "\u04bb\u0570", "\u0501", "\u051b", "\u051d", "\u043a\u03ba"),
    *("\u043c", "\u0578", "\u0442\u03c4", "\u0432"),
)
_AS_LATIN = {
    ord(seeming): latin
    for latin, letters in zip(_LATIN, _SEEMING, strict=True)
    for seeming in letters
}
"""Cyrillic, Greek and Armenian letters that are confusable with Latin ones (UTS 39)."""

_ANGLES = dict.fromkeys(map(ord, "\uff1c\ufe64\u2039\u2329\u3008\u27e8\u276e\u02c2\u1438"), "<")
_SLASHES = dict.fromkeys(map(ord, "\u2044\u2215\u29f8\uff0f\u2571"), "/")
_SKELETON = _AS_LATIN | _ANGLES | _SLASHES

UNSEEN = (
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\ufeff\u00ad\u180e\u115f\u1160\u3164\uffa0"
    r"\u200e\u200f\u061c\u202a-\u202e\u2060-\u206f"  # controls of the writing direction
    r"\ufff9-\ufffb\U000e0000-\U000e007f]"  # tags, which spell whole messages
)
"""Characters without a glyph that no script needs inside a sentence."""

_FLAG = "\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{2,6}\U000e007f"
"""The one use of tags that Unicode recommends: the flags of regions."""

_SMUGGLING = (
    r"[\u200b\ufeff\u202a-\u202e\u2060-\u206f\U000e0000-\U000e007f]"
    r"|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2}"  # variation selectors in a row carry bytes
    r"|(?:\u00ad[^\u00ad]{0,20}){4}|[\u115f\u1160\u3164\uffa0]"
    r"|(?<![\u1800-\u18ae])\u180e"
    r"|[\u200c\u200d]{2}|(?a:(?<=[a-zA-Z])[\u200c\u200d](?=[a-zA-Z]))"
)


def has_hidden_characters(text: str) -> bool:
    if text.isascii():
        return False
    return bool(regex.search(_SMUGGLING, regex.sub(_FLAG, "", text)))


def visible(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    return regex.sub(UNSEEN, "", text)


def skeleton(char: str) -> str:
    """Return the folded Latin look of one character; empty for an invisible one."""
    if char.isascii():
        return char.lower()
    import unicodedata  # which a hook whose text is ASCII need not load

    plain = unicodedata.normalize("NFKC", char).lower().translate(_SKELETON)
    if unicodedata.category(plain[:1] or "a") in ("Cf", "Mn", "Me"):
        return ""
    return plain


def as_displayed(text: str) -> str:
    """Fold a text by its look: case, compatibility forms and look-alikes."""
    return text.lower() if text.isascii() else "".join(map(skeleton, text))


def is_disguised(text: str) -> bool:
    """True if a word mixes Latin letters with look-alikes of another script."""
    if text.isascii():
        return False
    return any(map(_is_mixed, regex.findall(r"\w{3,}", text)))


def _is_mixed(word: str) -> bool:
    foreign = [char for char in word.lower() if ord(char) in _AS_LATIN]
    others = "".join(char for char in word if char.isalpha() and char.lower() not in foreign)
    return bool(foreign) and bool(others) and others.isascii()
