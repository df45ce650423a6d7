"""What `verify` found, for a pull request: annotations of GitHub, SARIF, and a comment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ademem import __version__
from ademem.core.text import counted, preview
from ademem.plugins.verify.anchor_verification import Checked

TEXT_CHARS = 200
RULE = "stale-memory"
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_ESCAPED = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_IN_PROPERTY = _ESCAPED | {":": "%3A", ",": "%2C"}
"""Of workflow commands: docs.github.com, "Workflow commands for GitHub Actions"."""


def find_unsound(found: Iterable[Checked]) -> list[Checked]:
    return [each for each in found if not each.is_sound]


def to_annotations(found: Sequence[Checked]) -> list[str]:
    """Return a workflow command for each, at the lines where the value is today."""
    lines = []
    for each in found:
        path, first, last = _place_of(each)
        at = f",line={first},endLine={last}" if first else ""
        title = _escape(f"memory {each.memory.id} is no longer true", _IN_PROPERTY)
        text = _escape(_message(each), _ESCAPED)
        lines.append(f"::warning file={_escape(path, _IN_PROPERTY)}{at},title={title}::{text}")
    return lines


def to_sarif(found: Sequence[Checked]) -> dict[str, Any]:
    """Return a SARIF 2.1.0 log with one run."""
    rule = {
        "id": RULE,
        "shortDescription": {"text": "A memory says what the code no longer does"},
        "helpUri": "https://github.com/ademem/ademem",
    }
    driver = {"name": "ademem", "semanticVersion": __version__, "rules": [rule]}
    results = [_result(each) for each in found]
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }


def to_comment(found: Sequence[Checked]) -> str:
    """Return the comment of a pull request in Markdown; empty where every memory holds."""
    if not found:
        return ""
    verb = "is" if len(found) == 1 else "are"
    parts = [f"**{counted(len(found), 'memory')} of this project {verb} no longer true**"]
    for each in found:
        missing = "; ".join(each.shown for each in each.location.missing) or each.location.state
        parts.append(f"- `{each.location.noted.where}`: {_code(missing)}")
        parts.append(f"  > {_line(each.memory.content)}\n")  # or what follows is quoted, too
        now = f"now: {_line(each.corrected)} · " if each.corrected else ""
        parts.append(f"  {now}`ademem edit {each.memory.id}`\n")
    parts.append("Correct each with the code, or say in the pull request why it stays.")
    return "\n".join(parts) + "\n"


def _result(each: Checked) -> dict[str, Any]:
    path, first, last = _place_of(each)
    region = {"region": {"startLine": first, "endLine": last}} if first else {}
    place = {"artifactLocation": {"uri": path}, **region}
    return {
        "ruleId": RULE,
        "level": "warning",
        "message": {"text": _message(each)},
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {"memory": each.memory.id},
    }


def _place_of(each: Checked) -> tuple[str, int, int]:
    place = each.location.now or each.location.noted
    return place.path, place.first, place.last


def _message(each: Checked) -> str:
    text = f"{each.doubt}. The memory says: {preview(each.memory.content, TEXT_CHARS)}"
    if each.corrected:
        text += f"\nCorrected: {preview(each.corrected, TEXT_CHARS)}"
    return text


def _line(text: str) -> str:
    """Return one line that Markdown reads as text."""
    line = preview(text, TEXT_CHARS)
    return "".join(f"\\{char}" if char in "\\`*_[]<>#|@" else char for char in line)


def _code(text: str) -> str:
    return f"`{text.replace('`', chr(39))}`"


def _escape(text: str, signs: dict[str, str]) -> str:
    return "".join(signs.get(char, char) for char in text)
