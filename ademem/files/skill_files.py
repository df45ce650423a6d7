"""Find and read the skill files of a project, and notice when one of them changed."""

from __future__ import annotations

import os

from ademem.core import confined, regex
from ademem.core.clock import UTC, datetime
from ademem.core.errors import suppress
from ademem.core.redaction import redact
from ademem.core.text import bytes_hex, clean, truncate
from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ademem.core.project import Project

FOLDERS = ((".ade/skills", "skill"), (".claude/skills", "skill"), (".claude/commands", "command"))
OWN = ".claude/commands/ademem"
"""Folder of the slash commands that the installer writes: nothing of the project's."""
SKILL_FILE = "skill.md"
"""Name, in lower case, of the one file that counts in its folder."""
MAX_BYTES = 1_000_000
NAME_CHARS = 100
FRONT_MATTER_CHARS = 10_000
"""Longest front matter: YAML is slow."""
_FRONT_MATTER = r"(?ms)\A---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)"
_LINE = r"(?m)^(\w[\w-]*):[ \t]*(\S.*)$"
_GLOB = r"(?m)^(\w+:[ \t]*|[ \t]*-[ \t]+)(\*[^'\n]*)$"
"""A pattern that stands without quotes, as Cursor writes it; YAML takes its `*` for an alias."""


def root(project: Project) -> str:
    """Return the main worktree: its skills are those of all worktrees that share its database."""
    main = os.path.dirname(project.home)
    return os.path.realpath(main if os.path.basename(project.home) == ".ade" else project.root)


def have_changed(project: Project) -> bool:
    seen = ""
    with suppress(OSError, UnicodeDecodeError):
        seen = confined.read_text(project.home_root, _path(project)) or ""
    return listing(root(project)) != seen


def note_scanned(project: Project, listing: str) -> None:
    confined.write_text(project.home_root, _path(project), listing)


def listing(root: str) -> str:
    lines = []
    for path, _ in pages(root):
        real, found = real_path(root, path), None
        with suppress(OSError):
            found = confined.status(root, real) if real else None
        state = f"{found.st_mtime_ns} {found.st_size}" if found else "gone"
        lines.append(f"{path} {state}\n")
    return "".join(lines)


def pages(root: str) -> list[tuple[str, str]]:
    """Return path below *root* and kind of every file, in a fixed order; a linked folder once."""
    seen: set[str] = set()
    return [(path, kind) for folder, kind in FOLDERS for path in _below(root, folder, seen, folder)]


def real_path(root: str, path: str) -> str | None:
    """Return the path with links followed; None outside the project.

    Below `.ade/` links are not followed, and the caller opens the path without following more.
    """
    whole = os.path.join(root, path)
    if path.startswith(".ade/"):
        return whole
    real = os.path.realpath(whole)
    return real if real.startswith(os.path.join(root, "")) else None


def _below(root: str, folder: str, seen: set[str], top: str) -> Iterator[str]:
    real = real_path(root, folder)
    if real is None or real in seen or folder == OWN:
        return
    seen.add(real)
    for name in _names_in(root, real, is_top=folder == top):
        path = f"{folder}/{name}"
        if name.lower().endswith(".md"):
            yield path
        elif (inner := real_path(root, path)) and confined.is_folder(root, inner):
            yield from _below(root, path, seen, top)


def _names_in(root: str, folder: str, *, is_top: bool) -> list[str]:
    """Return what is not hidden; of the folder of a skill its file alone."""
    try:
        names = [name for name in confined.names(root, folder) if not name.startswith(".")]
    except OSError:
        return []
    if is_top:
        return names
    return [name for name in names if name.lower() == SKILL_FILE] or names


def _path(project: Project) -> str:
    """Beside the database, as a scan is for all that share it."""
    return os.path.join(project.home, "run", "skills.seen")


class Skill(Value):
    """The content of a file, without secrets except in `raw`."""

    path: str
    """Relative to the project."""
    kind: str
    """skill | command."""
    name: str
    description: str
    text: str
    raw: str
    """The whole file; it is not stored."""
    digest: str
    modified: datetime


class SkillProblem(Value):
    path: str
    reason: str


def read_all(root: str) -> Iterator[Skill | SkillProblem]:
    """Yield every file; one with invalid front matter is both a problem and a skill."""
    for path, kind in pages(root):
        shown, real = redact(path).text, real_path(root, path)
        try:
            if real is None:
                raise ValueError("is a link that leads out of the project")
            with confined.open_file(root, real) as file:
                modified = os.fstat(file.fileno()).st_mtime
                data = file.read(MAX_BYTES + 1)
            if len(data) > MAX_BYTES:
                raise ValueError(f"is larger than {MAX_BYTES:,} bytes")
            if b"\0" in data:
                raise ValueError("is not text: it has NUL bytes")
            text = data.decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            yield SkillProblem(path=shown, reason=f"is not UTF-8 text (byte {error.start})")
        except (OSError, ValueError) as error:
            reason = getattr(error, "reason", None) or getattr(error, "strerror", None)
            yield SkillProblem(path=shown, reason=reason or str(error))
        else:
            yield from _parse(text, shown, kind, datetime.fromtimestamp(modified, UTC))


def digest_of(text: str) -> str:
    return bytes_hex(text.replace("\r\n", "\n").strip().encode("utf-8", "surrogatepass"))


def split_front_matter(text: str) -> tuple[dict[str, Any], str, str]:
    """Return the fields of the front matter, whose values are texts, lists and objects of them.

    Behind them come the text below it, and a YAML error if any. Of invalid YAML, the lines that
    hold a key and a text are returned.
    """
    found = regex.match(_FRONT_MATTER, text[:FRONT_MATTER_CHARS])
    body = regex.sub(_FRONT_MATTER, "", text, count=1)
    if found is None:
        return {}, body, ""
    import yaml  # only while a file is read

    front = regex.sub(_GLOB, r"\1'\2'", found[1])
    try:
        head = yaml.load(front, Loader=yaml.BaseLoader)  # BaseLoader makes nothing but text
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        reason = str(getattr(error, "problem", None) or type(error).__name__)
        line = f"line {mark.line + 2}: " if mark else ""
        return dict(regex.findall(_LINE, front)), body, f"{line}{reason}"
    if not isinstance(head, dict):
        return {}, body, ""
    texts = ((name, "" if value in ("null", "~") else value) for name, value in head.items())
    return {name: value for name, value in texts if isinstance(name, str)}, body, ""


def _stem_of(path: str) -> str:
    """Return the name that a path gives a skill: that of its folder, or of the file."""
    folder, file_name = os.path.split(path)
    is_skill_file = file_name.lower() == SKILL_FILE
    return os.path.basename(folder) if is_skill_file else file_name[: -len(".md")]


def _parse(text: str, path: str, kind: str, modified: datetime) -> Iterator[Skill | SkillProblem]:
    fields, rest, error = split_front_matter(text)
    head = {name: value for name, value in fields.items() if isinstance(value, str)}
    if error:
        yield SkillProblem(path=path, reason=f"its head is not YAML: {error}")
    body = clean(redact(rest).text)
    if not body and not head.get("description"):
        yield SkillProblem(path=path, reason="is empty")
        return
    stem = _stem_of(path)
    name = " ".join(clean(redact(head.get("name") or stem).text).split())
    yield Skill(
        path=path,
        kind=kind,
        name=truncate(name, NAME_CHARS) or stem,
        description=clean(redact(head.get("description") or _first_prose(body)).text),
        text=body,
        raw=text,
        digest=digest_of(text),
        modified=modified,
    )


def _first_prose(body: str) -> str:
    """Return the first paragraph that is no heading and no code."""
    parts = (part.strip() for part in body.split("\n\n"))
    return next((part for part in parts if part and not part.startswith(("#", "```"))), "")
