"""What a person dictates into memory: "remember: …" and its plain relatives."""

from __future__ import annotations

from ademem.core.untrusted import without_recalled

CUES = ("remember", "note ", "merk", "recuerda", "souviens", "ricorda", "lembra")
"""One of them is in every dictation; without any, the patterns need not be compiled."""

DICTATION = (
    r"(?i)\s*(?:please\s+)?"
    r"(?:remember(?:\s+that\b|(?P<duty>\s+to\b)|\s*:)"
    r"|note\s+(?:for|to)\s+(?:the\s+)?(?:future|memory|self)\s*:"
    r"|(?:merke?|recuerda|souviens-toi|ricorda|lembra)\s*:)"
    r"\s*(?P<said>.*)"
)
"""At the beginning of a line only, and never a question."""

MIN_CHARS = 8

_BULLET = r"\s*(?:[-*+\u2022]|\d+[.)])\s+(.*)"


def told(prompt: str) -> list[str]:
    """The dictated texts in order: the rest of the line, or the list below a bare "remember:"."""
    low = prompt.lower()
    if not any(cue in low for cue in CUES):
        return []
    import re

    found: list[str] = []
    lines = without_recalled(prompt).splitlines()
    for at, line in enumerate(lines):
        dictation = re.match(DICTATION, line)
        if dictation and not line.rstrip().endswith("?"):
            said = dictation["said"].strip()
            if dictation["duty"] and said:
                said = f"Remember to {said}"
            found += [said] if said else _list_below(lines[at + 1 :])
    from ademem.capture.placeholders import is_placeholder

    return [
        text for text in dict.fromkeys(found) if len(text) >= MIN_CHARS and not is_placeholder(text)
    ]


def _list_below(lines: list[str]) -> list[str]:
    import re

    items: list[str] = []
    for line in lines:
        bullet = re.match(_BULLET, line)
        if not bullet:
            break
        items.append(bullet[1].strip())
    return items
