"""Redact secrets and private spans before a text is hashed, stored or logged."""

from __future__ import annotations

from ademem.core.redaction.patterns import hinted, mask
from ademem.core.redaction.sentences import may_give_away
from ademem.core.value import Value

_PRIVATE = "[private]"

_TAG = r"""(?ix) < \s* (?:
    (?P<closing> / ) \s* (?a:private) (?: \s [^<>]* )? >
  | (?a:private) (?:
        [\s/]* >
      | \s [^<>=]* = [^<>]* >?           # attributes, which `<private key>` has not
      | (?: \s [^<>]* )? (?= < | \Z )    # the tag itself was never finished
    )
)"""

_ROUNDS = 5
_WORD_CHARS = 12
"""Longest word of letters alone that is no secret for sure."""


class Redacted(Value):
    text: str
    found: tuple[str, ...] = ()


def redact(text: str) -> Redacted:
    """Replace private spans by `[private]` and secrets by `[redacted:<name>]`; idempotent.

    A replacement can join parts of another secret, so this repeats until nothing is found; a text
    that goes on to produce secrets is withheld whole.
    """
    if len(text) <= _WORD_CHARS and text.isalpha():
        return Redacted(text=text)
    found: tuple[str, ...] = ()
    for _ in range(_ROUNDS):
        cleaned, spans = _without_private_spans(text)
        cleaned, secrets = mask(cleaned)
        names = ("private",) * spans + secrets
        if cleaned == text:
            return Redacted(text=text, found=found)
        text, found = cleaned, (*found, *names)
    return Redacted(text=_PRIVATE, found=(*found, "private"))


def suspicious(text: str) -> bool:
    """Pass clean text by plain string tests, without compiling a pattern."""
    return _may_have_tags(text) or any(hinted(text)) or may_give_away(text.lower())


def _may_have_tags(text: str) -> bool:
    return "<" in text and "private" in text.lower()


def _without_private_spans(text: str) -> tuple[str, int]:
    if not _may_have_tags(text):
        return text, 0
    import re

    kept: list[str] = []
    depth = spans = end = 0
    for tag in re.finditer(_TAG, text):
        if depth == 0:
            kept.append(text[end : tag.start()])
        end = tag.end()
        if tag["closing"]:
            depth = max(depth - 1, 0)
            continue
        if depth == 0:
            kept.append(_PRIVATE)
            spans += 1
        depth += 1
    if depth == 0:
        kept.append(text[end:])
    return "".join(kept), spans
