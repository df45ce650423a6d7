"""Names of sessions: the title that the client made, else a prompt that says what is to be done."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ademem.core.clock import parse
from ademem.core.errors import suppress
from ademem.core.json_text import loads
from ademem.core.redaction import redact
from ademem.core.text import preview
from ademem.core.transcript_lines import read_lines

NAME_CHARS = 120
MOST_READ = 2_000
"""Characters of a prompt that its session's name is made from."""
TAIL_BYTES = 64_000
"""End of a transcript in which the client's title is looked for, as it repeats it there."""
_TITLES = {"custom-title": "customTitle", "ai-title": "aiTitle"}
"""Rows of a transcript with a title, and its field; what the person typed comes first."""
_HAS_TITLE = re.compile(rb'"type"\s*:\s*"(?:custom|ai)-title"')


def name_of(row: Mapping[str, Any], prompts: Iterable[str], transcript: str = "") -> str:
    """Return the client's title, the summary, a prompt that asks for something, or the time."""
    named = read_title(transcript) or str(row.get("summary") or "")
    if not named:
        named = next(filter(_says_what, prompts), "")
    if not named:
        return f"Session of {parse(row['started_at']).astimezone():%H:%M}"
    return preview(redact(named[:MOST_READ]).text, NAME_CHARS)


def read_title(transcript: str) -> str:
    """Return the last title in a transcript; empty where it has none or cannot be read."""
    found: dict[str, str] = {}
    if transcript:
        with suppress(OSError):
            for line in read_lines(transcript, tail=TAIL_BYTES):
                if _HAS_TITLE.search(line):
                    found |= _title_in(line)
    return next((found[kind] for kind in _TITLES if found.get(kind)), "")


def _title_in(line: bytes) -> dict[str, str]:
    row: Any = None
    with suppress(ValueError, RecursionError):
        row = loads(line.decode("utf-8", "replace"))
    kind = str(row.get("type")) if isinstance(row, dict) else ""
    title = row.get(_TITLES[kind]) if kind in _TITLES else None
    return {kind: title} if isinstance(title, str) and title.isprintable() else {}


def _says_what(prompt: str) -> bool:
    """Tell whether a prompt says what its session is about: not a rule, a command or small talk."""
    from ademem.capture.prompt_lessons import dictations
    from ademem.capture.teaching import may_teach
    from ademem.guard.prompts import TurnClass, classify

    text = prompt[:MOST_READ]
    if text.lstrip().startswith("/") or dictations(text) or may_teach(text):
        return False
    return classify(text).turn is not TurnClass.NONE
