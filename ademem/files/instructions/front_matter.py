"""Front matter of instruction files: keys with a text or a list, read without a parser of YAML.

Editors write globs without quotes (`globs: *.ts, *.tsx`), which is no YAML; a hook reads these
files, too, and has no time for one.
"""

from __future__ import annotations

import re

from ademem.core.globs import split_patterns
from ademem.core.value import Value

MOST_LINES = 200
_KEY = re.compile(r"([A-Za-z][\w-]*)[ \t]*:(?:[ \t]+(.*))?$")
_ENTRY = re.compile(r"[ \t]*-[ \t]+(.*)$")


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
    fields: dict[str, list[str]] = {}
    values: list[str] | None = None
    open_list = ""
    for line in lines[1:end]:
        text = _without_comment(line).rstrip()
        if open_list:
            open_list += " " + text.strip()
        elif entry := _ENTRY.match(text):
            if values is not None:
                values += _unquote(entry[1])
            continue
        elif (key := _KEY.match(text)) and not line.startswith((" ", "\t")):
            values = fields.setdefault(key[1], [])
            given = (key[2] or "").strip()
            if given.startswith("[") and "]" not in given:
                open_list = given
            elif given not in ("", "|", ">", "|-", ">-"):
                values += _read_value(given)
            continue
        elif values is not None and text.strip():
            values += _unquote(text.strip())
        if open_list.endswith("]"):
            if values is not None:
                values += _read_value(open_list)
            open_list = ""
    return FrontMatter(
        fields={key: tuple(found) for key, found in fields.items()},
        lines=end + 1,
    )


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
