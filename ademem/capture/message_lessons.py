"""Lessons in a message: sections of learnings, and labelled findings ("Root cause: …")."""

from __future__ import annotations

from ademem.capture import is_placeholder
from ademem.core import regex
from ademem.core.memory import Category
from ademem.core.text import fold, is_cjk
from ademem.core.untrusted import without_recalled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

TITLES = (
    "(?:key )?learnings?",
    "(?:key )?takeaways?",
    "lessons? learn(?:ed|t)",
    "what (?:i|we) learned",
    "aprendizajes(?: clave| principales)?",
    "lecciones aprendidas",
    "conclusiones clave",
)

MAX_ITEMS = 20
MIN_LEARNING = (20, 4, 8)
MIN_FINDING = (24, 5, 10)
"""Fewest characters and words, and fewest characters of a text in Chinese, Japanese or Korean."""

_HEADING = regex.compile(
    r"(?:#{1,6}\s+(?P<title>.+?)\s*#*|(?P<bold>\*\*|__)(?P<pseudo>.+?)(?P=bold)\s*:?)\s*$"
)
_TITLE = regex.compile(rf"(?:\W*)(?:{'|'.join(TITLES)})\W*$", regex.IGNORECASE)
_NUMBERED = regex.compile(r"\s*\d+[.)]\s+(.*)")
_BULLET = regex.compile(r"\s*[-*+\u2022]\s+(.*)")
_EMPHASIS = regex.compile(r"(\*\*|__|(?<!\w)[*_]|[*_](?!\w)|`)")


def learnings(message: str) -> list[str]:
    """Return the items of the last section with any: numbered ones, else bullets."""
    sections: list[list[str]] = []
    is_inside = False
    for line in _prose(message):
        if heading := _HEADING.match(line.strip()):
            is_inside = bool(_TITLE.match(heading["title"] or heading["pseudo"]))
            if is_inside:
                sections.append([])
        elif is_inside:
            sections[-1].append(line)
    for section in reversed(sections):
        for shape in (_NUMBERED, _BULLET):
            if kept := _list_items(section, shape):
                return kept[:MAX_ITEMS]
    return []


def _list_items(section: Iterable[str], shape: regex.Pattern[str]) -> list[str]:
    """Return the items of this shape that say something, each once."""
    matches = filter(None, map(shape.match, section))
    items = (_EMPHASIS.sub("", found[1]).strip() for found in matches)
    kept: dict[str, str] = {}
    for item in items:
        if _has_length(item, *MIN_LEARNING) and not is_placeholder(item):
            kept.setdefault(fold(item), item)
    return list(kept.values())


def _prose(message: str) -> list[str]:
    lines, closing = [], ""
    for line in without_recalled(message).splitlines():
        bare = line.strip()
        if closing:
            closing = "" if bare.startswith(closing) else closing
        elif bare.startswith(("```", "~~~")):
            closing = bare[:3]
        else:
            lines.append(line)
    return lines


def _has_length(text: str, chars: int, words: int, cjk_chars: int) -> bool:
    if is_cjk(text):
        return len(text) >= cjk_chars
    return len(text) >= chars and len(text.split()) >= words


LABELS = {
    "gotcha|pitfall|caveat|trap|watch out|root cause|cause|achtung|ursache": Category.GOTCHA,
    "decision|decided|entscheidung|décision|decisión": Category.DECISION,
    "convention|rule|konvention|regel": Category.CONVENTION,
    "pattern|muster": Category.PATTERN,
    "lesson(?: learned)?|learned|learning|finding|discovery|insight|fact": Category.FACT,
}

MAX_FINDING_CHARS = 400
MAX_FINDINGS = 10

_EDGE = r"(?:[^\S\n]|[>*_#\-\u2022\d.)])*"
_LABEL = regex.compile(
    rf"^{_EDGE}(?P<label>{'|'.join(LABELS)})[\W_]{{0,3}}:[\W_]{{0,3}}(?P<finding>\S.*)$",
    regex.IGNORECASE | regex.MULTILINE,
)
_FINDING_EMPHASIS = regex.compile(r"\*\*|__|(?<!\w)[*_]|[*_](?!\w)")


def findings(message: str) -> list[tuple[Category, str]]:
    prose = "\n".join(_prose(message))
    found: dict[str, tuple[Category, str]] = {}
    for line in _LABEL.finditer(prose):
        finding = _FINDING_EMPHASIS.sub("", line["finding"]).strip()
        is_statement = len(finding) <= MAX_FINDING_CHARS and not finding.endswith(("?", ":"))
        is_blank = is_placeholder(line[0].partition(":")[2])
        if is_statement and _has_length(finding, *MIN_FINDING) and not is_blank:
            kinds = (
                kind
                for label, kind in LABELS.items()
                if regex.fullmatch(label, line["label"], regex.IGNORECASE)
            )
            found.setdefault(fold(finding), (next(kinds), finding))
    return list(found.values())[:MAX_FINDINGS]
