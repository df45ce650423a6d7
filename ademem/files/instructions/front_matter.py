"""Front matter of instruction files: keys with a text or a list, read without a parser of YAML.

Editors write globs without quotes (`globs: *.ts, *.tsx`), which is no YAML; a hook reads these
files, too, and has no time for one.
"""

from __future__ import annotations

from ademem.core import regex
from ademem.core.globs import split_patterns
from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MOST_LINES = 200
_KEY = regex.compile(r"([A-Za-z][\w-]*)[ \t]*:(?:[ \t]+(.*))?$")
_ENTRY = regex.compile(r"[ \t]*-[ \t]+(.*)$")
_OPEN_LIST = regex.compile(r"\s*\[[^\]]*$")


class FrontMatter(Value):
    fields: dict[str, tuple[str, ...]] = {}
    """Texts of each key; a list has several, as has a text with commas."""
    lines: int = 0
    """Lines that it takes, its fences included; 0 without one."""

    def text(self, key: str) -> str:
        return ", ".join(self.fields.get(key, ()))

    def is_true(self, key: str) -> bool:
        return self.text(key).lower() in ("true", "yes")


def read_front_matter(lines: list[str]) -> FrontMatter:
    """Read what stands between two lines `---` at the beginning; an open one is none."""
    if not lines or lines[0].rstrip() != "---":
        return FrontMatter()
    ends = (at for at, line in enumerate(lines[1:MOST_LINES], 1) if line.rstrip() in ("---", "..."))
    end = next(ends, 0)
    if not end:
        return FrontMatter()
    fields = _read_fields(lines[1:end])
    return FrontMatter(
        fields={key: tuple(found) for key, found in fields.items()},
        lines=end + 1,
    )


def _read_fields(lines: Iterable[str]) -> dict[str, list[str]]:
    """Return the values by key; those in the lines below a key are its own, too."""
    fields: dict[str, list[str]] = {}
    values: list[str] = []
    for text in _join_lists(lines):
        if entry := _ENTRY.match(text):
            values += _unquote(entry[1])
        elif key := _KEY.match(text):
            values = fields.setdefault(key[1], [])
            given = (key[2] or "").strip()
            if given not in ("", "|", ">", "|-", ">-"):
                values += _read_value(given)
        elif text.strip():
            values += _unquote(text.strip())
    return fields


def _join_lists(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines without comments, a list in brackets as one line, an open one as its key."""
    joined = ""
    for line in lines:
        text = _without_comment(line).rstrip()
        if joined:
            joined += f" {text.strip()}"
        elif (key := _KEY.match(text)) and _OPEN_LIST.match(key[2] or ""):
            joined = text
        else:
            yield text
        if joined.endswith("]"):
            yield joined
            joined = ""
    yield joined.partition("[")[0]


def _read_value(text: str) -> list[str]:
    if text.startswith("[") and text.endswith("]"):
        return split_patterns(text[1:-1])
    return [text[1:-1]] if _is_quoted(text) else split_patterns(text)


def _unquote(text: str) -> list[str]:
    text = text.strip()
    return [text[1:-1]] if _is_quoted(text) else [text] if text else []


def _is_quoted(text: str) -> bool:
    return len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" and text[0] not in text[1:-1]


def _without_comment(line: str) -> str:
    at = line.find(" #")
    return line if at < 0 or line[:at].count('"') % 2 or line[:at].count("'") % 2 else line[:at]
