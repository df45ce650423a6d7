"""A file of settings as text: one value changes, comments and order stay."""

from __future__ import annotations

import json
import re
import tomllib

from ademem.core.configuration.values import BadSetting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def with_value(text: str, name: str, value: Any) -> str:
    """Set `section.key`; raises BadSetting where the file has to be edited by hand."""
    section, _, key = name.partition(".")
    line = f"{key} = {written(value)}"
    try:
        wanted = tomllib.loads(text)
        wanted[section] = wanted.get(section, {}) | {key: tomllib.loads(line)[key]}
        changed = _with_line(text.splitlines(), section, key, line)
        if tomllib.loads(changed) == wanted:
            return changed
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise BadSetting(f"the file cannot be edited: {error}", "correct it by hand") from error
    raise BadSetting(
        "the file has a form that is not edited by program",
        f"write `{line}` below `[{section}]` by hand",
    )


def written(value: Any) -> str:
    """A value as TOML has it."""
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(written, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _with_line(lines: list[str], section: str, key: str, line: str) -> str:
    heads = [at for at, each in enumerate(lines) if each.lstrip().startswith("[")]
    here = [at for at in heads if re.match(rf"\s*\[\s*{section}\s*\]\s*(#|$)", lines[at])]
    dotted = re.compile(rf"\s*{section}\s*\.\s*{key}\s*=")
    plain = re.compile(rf"\s*{key}\s*=")
    for at in range(heads[0] if heads else len(lines)):
        if dotted.match(lines[at]):
            return _replaced(lines, at, f"{section}.{line}")
    if not here:
        return "\n".join([*lines, *([""] if lines else []), f"[{section}]", line, ""])
    end = next((at for at in heads if at > here[0]), len(lines))
    for at in range(here[0] + 1, end):
        if plain.match(lines[at]):
            return _replaced(lines, at, line)
    while not lines[end - 1].strip():
        end -= 1
    return "\n".join([*lines[:end], line, *lines[end:], ""])


def _replaced(lines: list[str], at: int, line: str) -> str:
    """Put *line* in place of the value that begins there; the comment behind it stays."""
    end = next(end for end in range(at + 1, len(lines) + 1) if _is_toml("\n".join(lines[at:end])))
    return "\n".join([*lines[:at], line + _comment(lines[end - 1]), *lines[end:], ""])


def _comment(line: str) -> str:
    """The comment at the end of a line, with the blanks before it."""
    for at, sign in enumerate(line):
        if sign == "#" and (_is_toml(line[:at]) or _is_toml(f"x = [{line[:at]}")):
            return line[len(line[:at].rstrip()) :]
    return ""


def _is_toml(text: str) -> bool:
    try:
        tomllib.loads(text)
    except ValueError:
        return False
    return True
